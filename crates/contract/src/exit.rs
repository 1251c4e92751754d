//! Process exit codes (`suite-file.md` §9.5).

/// How the process ended, for scripts and CI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// The run passed (or the command did its work).
    Passed,
    /// The run's decision is `failed`, and nothing else gives this code.
    Failed,
    /// The request cannot be carried out as written: usage, an invalid or
    /// unsupported suite, an import gate or a policy.
    Usage,
    /// A credential is missing or was rejected.
    Credentials,
    /// Setup or billing failed, or an artifact could not be written.
    Setup,
    /// Inconclusive, aborted, integrity problem, or no decision at all.
    NoDecision,
}

impl ExitCode {
    /// Returns the number the process exits with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Credentials => 3,
            Self::Setup => 4,
            Self::NoDecision => 5,
        }
    }

    /// Returns the worse of two suites' codes: 1 > 3 > 4 > 5 > 0.
    ///
    /// `Usage` is returned at once by the caller and therefore wins here too.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        const ORDER: [ExitCode; 6] = [
            ExitCode::Usage,
            ExitCode::Failed,
            ExitCode::Credentials,
            ExitCode::Setup,
            ExitCode::NoDecision,
            ExitCode::Passed,
        ];
        ORDER
            .into_iter()
            .find(|code| *code == self || *code == other)
            .unwrap_or(other)
    }
}
