//! Assertions and tool-call matching (`assertions.md`).
//!
//! | question | module | section |
//! |---|---|---|
//! | what does a trial's grade consist of | [`grade`] | §1, §7 |
//! | which match options apply | [`options`] | §2.1 |
//! | do calls match expectations | [`matching`] | §2 |
//! | what is each turn expected to call | [`expectations`] | §3.1 |
//! | did a turn call it | [`turn`] | §3.3 |
//! | what do the turns say together | [`summary`] | §4 |
//! | does a failing rule fail the trial | [`role`] | §5 |
//! | what did a trace leave for rules to read | [`trace`] | §6 |
//! | what do checks of one turn read | `slice` | §6.3 |
//! | what does one rule say | [`rule`] and a file per stage | §8 |
//! | what are the standard checks | [`standard`] | §9 |
//! | under which stable id is it scored | `score` | §11 |
//! | does a case pass on an empty answer | [`vacuity`] | `suite-file.md` §8.1 |

mod call;
mod discovery;
mod distance;
mod evidence;
pub mod expectations;
pub mod grade;
pub mod matching;
pub mod options;
mod outcome;
mod patterns;
mod reason;
pub mod regexes;
mod response;
pub mod role;
pub mod rule;
pub(crate) mod schema;
mod score;
mod selection;
pub mod slice;
pub mod standard;
pub mod summary;
pub mod trace;
pub mod turn;
mod user_value;
pub mod vacuity;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strandline_contract::{assertion::ResultRow, decode::null_as_default, transcript::Transcript};

pub use evidence::Evidence;
use rule::CompiledRule;

/// A transcript and the rules to be evaluated on it, as `strandline derive
/// assertions` reads them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AssertionsInput {
    /// What the trial left behind.
    #[serde(deserialize_with = "null_as_default")]
    pub transcript: Transcript,
    /// Rules as authored; one that is no rule gives a failed row.
    #[serde(deserialize_with = "null_as_default")]
    pub rules: Vec<Value>,
}

/// One row per rule, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssertionsOutput {
    /// What each rule says.
    pub rows: Vec<ResultRow>,
}

/// Derives the row of every rule.
#[must_use]
pub fn derive_assertions(input: &AssertionsInput) -> AssertionsOutput {
    let evidence = Evidence::new(&input.transcript);
    AssertionsOutput {
        rows: input
            .rules
            .iter()
            .map(|rule| CompiledRule::compile_value(rule).evaluate(&evidence, None))
            .collect(),
    }
}
