//! Why something could not be done: what, where, why, and what to do.

use std::fmt::{self, Display};

use strandline_contract::exit::ExitCode;
use strandline_report::escape;
use strandline_store::StoreError;

/// Longest text of a store's error, characters.
const MAX_TEXT: usize = 2_000;

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whose side it is on, as a process would end.
    pub exit: ExitCode,
    /// What happened, where and why; one or more lines.
    pub message: String,
    /// What to do next, one line each.
    pub hints: Vec<String>,
}

impl Failure {
    /// Makes a failure that ends a process with `exit`.
    pub fn new(exit: ExitCode, message: impl Display) -> Self {
        Self {
            exit,
            message: message.to_string(),
            hints: Vec::new(),
        }
    }

    /// Makes a failure of the request itself (exit code 2).
    pub fn usage(message: impl Display) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Missing { .. }
            | StoreError::NotFound { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::BadCursor { .. }
            | StoreError::RunIsLive { .. } => ExitCode::Usage,
            _ => ExitCode::Setup,
        };
        let failure = Self::new(exit, escape::block(&error.to_string(), MAX_TEXT));
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
