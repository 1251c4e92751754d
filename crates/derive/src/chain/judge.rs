//! What a stored judge record says to the chain (`chain.md` §14.4).

use std::borrow::Cow;

use strandline_contract::{
    chain_input::{JudgeEvidence, MetadataAttribution},
    ecma,
    judge_record::{AttributionRecord, JudgeRecord},
    words::{JudgeStatus, JudgeVerdict, PendingKind},
};

/// Derives judge evidence; no record gives none.
#[must_use]
pub fn judge_evidence<'a>(record: Option<&'a JudgeRecord<'a>>) -> Option<JudgeEvidence<'a>> {
    let record = record?;
    let reasons = || reasons_of(record);
    Some(match (record.status, record.verdict) {
        (Some(JudgeStatus::Error), _) => JudgeEvidence {
            reasons: reasons(),
            ..JudgeEvidence::new(JudgeStatus::Error)
        },
        (Some(JudgeStatus::Skipped), _) => JudgeEvidence::new(JudgeStatus::Skipped),
        (_, Some(verdict)) => JudgeEvidence {
            verdict: Some(verdict),
            reasons: reasons(),
            ..JudgeEvidence::new(JudgeStatus::Scored)
        },
        (_, None) => pending(),
    })
}

/// Derives what is said about tool metadata; no record gives nothing.
#[must_use]
pub fn metadata_attribution<'a>(
    record: Option<&'a AttributionRecord<'a>>,
) -> Option<MetadataAttribution<'a>> {
    let record = record?;
    let bare = |status, pending_kind| MetadataAttribution {
        status,
        pending_kind,
        attributed: None,
        reasons: Vec::new(),
    };
    Some(match record.status {
        Some(status @ (JudgeStatus::Error | JudgeStatus::Skipped | JudgeStatus::NotApplicable)) => {
            bare(status, None)
        }
        Some(JudgeStatus::Scored) => MetadataAttribution {
            attributed: Some(record.attributed == Some(true)),
            reasons: non_blank(record.reasons.iter().map(|reason| &**reason)).collect(),
            ..bare(JudgeStatus::Scored, None)
        },
        Some(JudgeStatus::Pending) | None => {
            bare(JudgeStatus::Pending, Some(PendingKind::Scheduled))
        }
    })
}

/// An answer is due and has not arrived.
pub(super) fn pending<'a>() -> JudgeEvidence<'a> {
    JudgeEvidence {
        pending_kind: Some(PendingKind::Scheduled),
        ..JudgeEvidence::new(JudgeStatus::Pending)
    }
}

/// Returns the judge's own words, or else its score in words.
fn reasons_of<'a>(record: &'a JudgeRecord<'a>) -> Vec<Cow<'a, str>> {
    let own = record.reasons.iter().map(|reason| &**reason);
    let more = record.reason.as_deref().into_iter();
    let error = record.error.as_deref().into_iter();
    let mut reasons: Vec<Cow<'a, str>> = non_blank(own.chain(more).chain(error)).collect();
    if reasons.is_empty() {
        reasons.extend(score_in_words(record).map(Cow::Owned));
    }
    reasons
}

fn non_blank<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Cow<'a, str>> {
    texts
        .filter(|text| !ecma::is_blank(text))
        .map(Cow::Borrowed)
}

/// Returns one line about a finite score.
fn score_in_words(record: &JudgeRecord<'_>) -> Option<String> {
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    let score = finite(record.score)?;
    let threshold = finite(record.threshold);
    let floor = finite(record.partial_floor);
    let values: Vec<f64> = [Some(score), threshold, floor]
        .into_iter()
        .flatten()
        .collect();
    let below = matches!(
        record.verdict,
        Some(JudgeVerdict::Partial | JudgeVerdict::Fail)
    );
    let text = |value| number_text(value, &values);
    let scored = format!("LLM judge scored {}", text(score));
    let Some(threshold) = threshold else {
        return Some(scored);
    };
    let against = format!("{scored} against a {} threshold", text(threshold));
    Some(match floor.filter(|_| below) {
        Some(floor) => format!("{against} and a {} partial floor", text(floor)),
        None => against,
    })
}

/// Returns a number at the least precision, 2 to 6 decimals, that tells it from
/// the other values; `≈` where even 6 do not.
fn number_text(number: f64, values: &[f64]) -> String {
    const LEAST: usize = 2;
    const MOST: usize = 6;
    let rounded = |value: f64, precision: usize| format!("{value:.precision$}");
    let collides = |value: f64, precision: usize| {
        values
            .iter()
            .any(|other| *other != value && rounded(*other, precision) == rounded(value, precision))
    };
    let precision = (LEAST..=MOST)
        .find(|precision| !values.iter().any(|value| collides(*value, *precision)))
        .unwrap_or(MOST);
    let text = rounded(number, precision);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if collides(number, precision) {
        format!("≈{text}")
    } else {
        text.to_owned()
    }
}
