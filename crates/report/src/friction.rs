//! Friction signals in words: what was observed and at which call, beside the
//! benign reading that must stay possible (`friction.md` §7).
//!
//! Never a verdict. Only key paths and counts are stored, so no value of an
//! identifier can be shown.

use strandline_contract::{
    friction::{FrictionSignal, FrictionSignals, IdentifierSignals},
    redact::redact_text,
    run::TrialRecord,
    words::{FrictionSignalKind, FrictionState, Vocabulary},
};
use strandline_derive::friction::{
    StoredFriction, derive_friction_rates, project_friction_signals,
};

use crate::{escape, words::counted};

/// Longest tool name or key path shown, characters.
const MAX_NAME: usize = 120;
/// Key paths of one signal shown; the rest is counted.
const MAX_PATHS: usize = 3;

/// Returns one line per signal of a trial, or why there is nothing to say; no
/// line when nothing was seen, and none when friction was never measured.
#[must_use]
pub fn trial_lines(trial: &TrialRecord) -> Vec<String> {
    match project_friction_signals(&trial.metadata) {
        StoredFriction::Absent => Vec::new(),
        StoredFriction::Unverified => {
            vec!["the stored signals did not pass their check and are withheld".to_owned()]
        }
        StoredFriction::Verified(document) => document_lines(&document),
    }
}

/// Returns one line per signal of a trial's document, or why there is none.
#[must_use]
pub fn document_lines(document: &FrictionSignals) -> Vec<String> {
    if document.state == FrictionState::NotMeasured {
        let reason = document.not_measured_reason.map(|reason| reason.label());
        return vec![format!(
            "not measured: {}",
            reason.unwrap_or("no reason is recorded")
        )];
    }
    let mut lines: Vec<String> = document.signals.iter().map(signal_line).collect();
    if let IdentifierSignals::NotMeasured { reason } = document.identifier_signals {
        lines.push(format!(
            "identifiers in results were not followed: {}",
            reason.label()
        ));
    }
    lines
}

/// Returns what one signal says, with its benign reading.
fn signal_line(signal: &FrictionSignal) -> String {
    let kind = signal.kind();
    let details = match signal {
        FrictionSignal::IdentifierSurfacedUnused {
            identifier_key_paths,
            identifier_count,
            later_call_count,
            ..
        } => format!(
            "{}, {}",
            identifiers(*identifier_count, identifier_key_paths),
            counted(*later_call_count, "later call", "later calls")
        ),
        FrictionSignal::SearchRepeatedAfterIdentifier {
            identifier_key_paths,
            identifier_count,
            repeat_call_indexes,
            ..
        } => format!(
            "{}, asked again at {}",
            identifiers(*identifier_count, identifier_key_paths),
            calls(repeat_call_indexes)
        ),
        FrictionSignal::IdenticalRetry { after_error, .. }
        | FrictionSignal::ChangedRetry { after_error, .. } => match after_error {
            true => "after an error".to_owned(),
            false => "after a result without an error".to_owned(),
        },
        FrictionSignal::PaginationContinuation {
            pagination_keys, ..
        } => {
            let keys: Vec<&str> = pagination_keys.iter().map(|key| key.wire()).collect();
            format!("argument {}", keys.join(", "))
        }
    };
    format!(
        "{} (from {}), {}: {}; {details} ({})",
        calls(&[signal.observed_at()]),
        calls(&[signal.anchor()]),
        name(signal.tool_name()),
        kind.label(),
        benign(kind)
    )
}

/// Returns the benign reading as it is said everywhere.
#[must_use]
pub fn benign(kind: FrictionSignalKind) -> String {
    let reading = kind.benign_reading();
    match kind {
        // A clause of its own; the others are what the calls were.
        FrictionSignalKind::IdentifierSurfacedUnused => format!("often {reading}"),
        FrictionSignalKind::PaginationContinuation => reading.to_owned(),
        FrictionSignalKind::SearchRepeatedAfterIdentifier
        | FrictionSignalKind::IdenticalRetry
        | FrictionSignalKind::ChangedRetry => format!("often just {reading}"),
    }
}

/// Returns how many trials show each kind of signal that any shows, out of
/// those in which it was looked for; nothing when none shows any.
#[must_use]
pub fn tally_lines<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Vec<String> {
    let documents: Vec<FrictionSignals> = trials
        .into_iter()
        .filter_map(|trial| match project_friction_signals(&trial.metadata) {
            StoredFriction::Verified(document) => Some(document),
            StoredFriction::Absent | StoredFriction::Unverified => None,
        })
        .collect();
    let rates = derive_friction_rates(&documents).unwrap_or_default();
    rates
        .iter()
        .filter(|(_, rate)| rate.numerator() > 0)
        .map(|(kind, rate)| {
            format!(
                "{} in {} of {} measured ({})",
                kind.label(),
                rate.numerator(),
                counted(rate.denominator(), "trial", "trials"),
                benign(*kind)
            )
        })
        .collect()
}

/// Returns calls as people count them: from 1.
fn calls(indexes: &[u64]) -> String {
    let numbers: Vec<String> = indexes
        .iter()
        .map(|index| index.saturating_add(1).to_string())
        .collect();
    match numbers.as_slice() {
        [number] => format!("call {number}"),
        numbers => format!("calls {}", numbers.join(", ")),
    }
}

/// Returns a foreign name as a safe line, secrets masked.
fn name(text: &str) -> String {
    escape::line(&redact_text(text), MAX_NAME)
}

fn identifiers(count: u64, paths: &[String]) -> String {
    let mut shown: Vec<String> = paths
        .iter()
        .take(MAX_PATHS)
        .map(|path| name(path))
        .collect();
    if paths.len() > MAX_PATHS {
        shown.push(format!("{} more", paths.len() - MAX_PATHS));
    }
    let place = match shown.as_slice() {
        [] => String::new(),
        shown => format!(" at {}", shown.join(", ")),
    };
    format!("{}{place}", counted(count, "identifier", "identifiers"))
}
