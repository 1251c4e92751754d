//! A scripted model: the turns that a case writes instead of a model.
//!
//! A case carries either one list of turns or `{iterations: [[turn…], …]}`.
//! A turn is `{say?, call?: [{tool, arguments?}], fail?, delayMs?, usage?}`.
//! Strings may refer to what earlier calls returned ([`Reference`]).

mod parse;
mod reference;

pub use parse::{ScriptProblem, Segment};
pub use reference::{CallResult, Reference, ReferenceError, References};

use serde_json::Value;

use crate::run::Usage;

/// The turns of a scripted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    iterations: Vec<Vec<ScriptTurn>>,
}

/// One answer of a scripted model.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptTurn {
    /// What the model does.
    pub act: ScriptAct,
    /// How long the answer takes, ms.
    pub delay_ms: u64,
    /// Tokens that the answer claims to have used.
    pub usage: Option<Usage>,
}

/// What a scripted model does in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptAct {
    /// It says something, calls tools, or both.
    Answer {
        /// Text, with references.
        say: Option<String>,
        /// Tool calls of this turn, in order.
        calls: Vec<ScriptCall>,
    },
    /// The provider fails instead of answering.
    Fail(ScriptFailure),
}

/// A tool call of a scripted model.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptCall {
    /// The server's own tool name.
    pub tool: String,
    /// Arguments, with references. A string stands for arguments that are no
    /// JSON object, as a model may write them.
    pub arguments: Value,
}

/// How the provider fails in a scripted turn; at least one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFailure {
    /// HTTP status.
    pub status: Option<u16>,
    /// The provider's error code, or the word of our own kind (`timed_out`).
    pub code: Option<String>,
}

impl Script {
    /// Reads a script as authored in a case.
    ///
    /// # Errors
    ///
    /// Returns every problem found, each with its path inside the script.
    pub fn parse(value: &Value) -> Result<Self, Vec<ScriptProblem>> {
        parse::parse(value)
    }

    /// Returns the turns of a trial, counted from 0.
    ///
    /// With fewer lists than trials the lists are used in rotation.
    #[must_use]
    pub fn turns(&self, iteration_number: u32) -> &[ScriptTurn] {
        let count = self.iterations.len();
        let index = usize::try_from(iteration_number).unwrap_or(0);
        self.iterations
            .get(index.checked_rem(count).unwrap_or(0))
            .map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
