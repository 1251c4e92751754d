//! Process exit codes (`suite-file.md` §9.5).

use crate::words::vocabulary;

vocabulary! {
    /// How the process ended, for scripts and CI.
    ///
    /// Of several suites in one invocation the worst code wins:
    /// 1, then 3, 4, 5, 0; 2 is returned at once.
    ExitCode ("exit code") {
        Passed = "0", "passed",
            "The run passed, or the command did its work.";
        Failed = "1", "failed",
            "The run's decision is `failed`, or a gate that was asked for does not hold; nothing else gives this code.";
        Usage = "2", "the request cannot be carried out as written",
            "Usage, an invalid or unsupported suite, an import gate or a policy.";
        Credentials = "3", "credentials",
            "A credential is missing or was rejected.";
        Setup = "4", "setup",
            "Setup or billing failed, or an artifact could not be written.";
        NoDecision = "5", "no decision",
            "Inconclusive, aborted, an integrity problem, or no decision at all.";
    }
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
