//! Where the evidence of a failing trial lies (`decision-summary.md` §7).

use std::{collections::HashSet, fmt::Write, hash::Hash};

use strandline_contract::{
    decision::{EvidenceLocator, SummaryChain, SummaryStageEvidence},
    number::MAX_COUNT,
    words::Stage,
};

/// Locates the evidence of an iteration: of the first failed stage's row
/// alone, and only if the chain may be believed.
pub(super) fn locate(
    project_id: &str,
    run_id: &str,
    iteration_id: &str,
    chain: &SummaryChain,
) -> EvidenceLocator {
    let mut locator = EvidenceLocator {
        run_id: run_id.to_owned(),
        iteration_id: iteration_id.to_owned(),
        trace_path: trace_path(project_id, run_id, iteration_id),
        stage: None,
        span_ids: None,
        prompt_indexes: None,
        reasons: None,
    };
    let Some((stage, evidence)) = failed_row(chain) else {
        return locator;
    };
    locator.stage = Some(stage);
    if let Some(evidence) = evidence {
        locator.span_ids = texts(evidence.span_ids.as_deref());
        locator.prompt_indexes = distinct(
            evidence
                .prompt_indexes
                .iter()
                .flatten()
                .filter_map(|index| as_index(*index)),
        );
        locator.reasons = texts(evidence.predicate_reasons.as_deref());
    }
    locator
}

fn failed_row(chain: &SummaryChain) -> Option<(Stage, Option<&SummaryStageEvidence>)> {
    let chain = chain.verified()?;
    let stage = chain.first_failed_stage?;
    let row = chain.stages.iter().find(|row| row.stage == stage)?;
    Some((stage, row.evidence.as_ref()))
}

fn texts(list: Option<&[String]>) -> Option<Vec<String>> {
    let texts = list.into_iter().flatten();
    distinct(texts.filter(|text| !text.is_empty()).cloned())
}

fn as_index(number: f64) -> Option<u64> {
    (number >= 0.0 && number <= MAX_COUNT as f64 && number.fract() == 0.0).then_some(number as u64)
}

/// Keeps first occurrences in order; an empty list is none.
fn distinct<T: Clone + Eq + Hash>(items: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let mut seen = HashSet::new();
    let list: Vec<T> = items.filter(|item| seen.insert(item.clone())).collect();
    (!list.is_empty()).then_some(list)
}

/// Returns the path of a trial's trace, relative to the API root.
///
/// ```text
/// /projects/a%20b/eval-runs/r1/iterations/i1/trace
/// ```
#[must_use]
pub fn trace_path(project_id: &str, run_id: &str, iteration_id: &str) -> String {
    let mut path = String::from("/projects/");
    push_encoded(&mut path, project_id);
    path.push_str("/eval-runs/");
    push_encoded(&mut path, run_id);
    path.push_str("/iterations/");
    push_encoded(&mut path, iteration_id);
    path.push_str("/trace");
    path
}

/// Percent-encodes one path segment as UTF-8, upper-case hex.
fn push_encoded(path: &mut String, segment: &str) {
    const KEPT: &[u8] = b"-_.!~*'()";
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || KEPT.contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
}
