//! The table of derivations.
//!
//! To add a family, add one line to the table below:
//!
//! ```text
//! "name": "what it derives", Input<'a> => |input, answer| answer.output(&derive_it(&input));
//! ```
//!
//! `Input` is the type that a line's input is read into (`Deserialize<'a>`; it
//! may borrow from the line), and the closure gives exactly one answer:
//!
//! - [`Answer::output`] writes the derived document (anything `Serialize`);
//! - [`Answer::written`] lets the document append itself as JSON text;
//! - [`Answer::refuse`] declines with a stable camel-case code and a message.
//!
//! `, quick` at the end of a line reads inputs with a cursor first
//! (`strandline_contract::quick`); the type must implement `QuickRead`.
//!
//! An input that cannot be read into `Input` is refused as `invalidInput`
//! without the closure being called. `strandline derive NAME` then works, is
//! listed in the help, and is tested by the vectors of the same name.

use serde_json::{Value, value::RawValue};
use strandline_contract::{
    analytics_input::AnalyticsInput, chain_input::ChainInput, chain_json::write_chain,
    measurements::MeasurementsInput, words::Vocabulary,
};
use strandline_derive::{
    analytics::derive_stage_analytics,
    assertions::{
        AssertionsInput, derive_assertions,
        matching::{MatchInput, derive_matching},
    },
    chain::derive_chain,
    decision::{conformance_form, derive_decision_summary_from_json},
    friction::derive_friction_signals_from_json,
    measurements::derive_measurements,
    swarm::{
        derive_findings_from_json, derive_run_report_from_json, derive_session_verdict_from_json,
    },
    verdict::derive_verdict_from_json,
};
use strandline_suite::vector::{Input as SuiteFile, derive_suite_file};

use super::answer::{Answer, Malformed, Place, answer_line, answer_line_quickly};

/// A derivation that can be run over lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    /// Name on the command line, and of its vector file.
    pub(super) name: &'static str,
    /// What it derives, in a few words.
    pub(super) about: &'static str,
    /// Answers one line, appending to the output.
    pub(super) answer: fn(&str, Place<'_>, &mut Vec<u8>) -> Result<(), Malformed>,
}

/// Returns the family of that name.
pub(super) fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

macro_rules! families {
    ( $( $name:literal: $about:literal, $input:ty => $derive:expr $(, $how:ident)?; )+ ) => {
        /// Every derivation, in the order of the help.
        pub(super) const FAMILIES: &[Family] = &[ $( Family {
            name: $name,
            about: $about,
            answer: {
                #[allow(
                    clippy::needless_lifetimes,
                    reason = "only some inputs borrow from the line"
                )]
                fn answer<'a>(
                    line: &'a str,
                    place: Place<'_>,
                    out: &mut Vec<u8>,
                ) -> Result<(), Malformed> {
                    let derive: fn($input, Answer<'_>) = $derive;
                    families!(@read $($how)?)(line, place, out, derive)
                }
                answer
            },
        }, )+ ];
    };
    (@read quick) => { answer_line_quickly };
    (@read) => { answer_line };
}

families! {
    "chain": "the six-stage chain of one trial",
        ChainInput<'a> => |input, answer| {
            let chain = derive_chain(&input);
            answer.written(|out| write_chain(&chain, out));
        }, quick;
    "measurements": "reach and latency of the six stages of one trial",
        MeasurementsInput<'a> => |input, answer| answer.output(&derive_measurements(&input));
    "suite-file": "what the loader says of a suite file",
        SuiteFile<'a> => |input, answer| answer.output(&derive_suite_file(&input));
    "verdict": "the decision of one run under policy v2, with trial statistics",
        Value => |input, answer| match derive_verdict_from_json(&input) {
            Ok(decided) => answer.output(&decided),
            Err(refusal) => answer.refuse(refusal.code.wire(), refusal),
        };
    "decision-summary": "what a run decided and what lies under it; `nextActionKind` instead of text",
        Value => |input, answer| match derive_decision_summary_from_json(&input) {
            Ok(summary) => answer.output(&conformance_form(&summary)),
            Err(malformed) => answer.refuse("invalidInput", malformed),
        };
    "matching": "calls of a flat list against expected ones",
        MatchInput => |input, answer| match derive_matching(input) {
            Ok(result) => answer.output(&result),
            Err(error) => answer.refuse("invalidMatchOption", error),
        };
    "assertions": "the row of every rule on one transcript",
        AssertionsInput => |input, answer| answer.output(&derive_assertions(&input));
    "analytics": "the funnel of one run, counted over its trials",
        AnalyticsInput<'a> => |input, answer| answer.output(&derive_stage_analytics(&input));
    "friction": "what the calls of one trial show about avoidable work",
        &'a RawValue => |input, answer| match derive_friction_signals_from_json(input.get()) {
            Ok(signals) => answer.output(&signals),
            Err(malformed) => answer.refuse("invalidInput", malformed),
        };
    "swarm-verdict": "what one swarm session says of its goal",
        Value => |input, answer| match derive_session_verdict_from_json(&input) {
            Ok(verdict) => answer.output(&verdict),
            Err(invalid) => answer.refuse("invalidInput", invalid),
        };
    "swarm-report": "what one swarm run reports over its sessions",
        Value => |input, answer| match derive_run_report_from_json(&input) {
            Ok(report) => answer.output(&report),
            Err(invalid) => answer.refuse("invalidInput", invalid),
        };
    "swarm-findings": "what the swarm runs of one launch found",
        Value => |input, answer| match derive_findings_from_json(&input) {
            Ok(findings) => answer.output(&findings),
            Err(invalid) => answer.refuse("invalidInput", invalid),
        };
}
