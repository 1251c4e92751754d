//! One stage row while it is being decided, and the evidence it rests on
//! (`chain.md` §3, §4.3–§4.6).

use std::borrow::Cow;

use strandline_contract::{
    chain::{StageEvidence, StageRow},
    chain_input::{EvidenceSpan, SetupSignal, TurnSummary},
    ecma,
    words::{SetupOutcome, Stage, StageReason, StageState},
};

/// Span ids a row may cite.
pub(crate) const MAX_SPAN_IDS: usize = 5;
/// Explanations a row may carry.
pub(crate) const MAX_REASONS: usize = 5;
/// Characters of one explanation.
pub(crate) const MAX_REASON_CHARS: usize = 500;

/// What a rule decides about one stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) state: StageState,
    pub(super) reason: StageReason,
    pub(super) evidence: Option<StageEvidence<'a>>,
}

impl<'a> Row<'a> {
    pub(super) const fn passed(reason: StageReason) -> Self {
        Self::new(StageState::Passed, reason)
    }

    pub(super) const fn failed(reason: StageReason) -> Self {
        Self::new(StageState::Failed, reason)
    }

    pub(super) const fn not_measured(reason: StageReason) -> Self {
        Self::new(StageState::NotMeasured, reason)
    }

    /// The case asserts nothing that the stage could decide (§6).
    pub(super) const fn not_applicable() -> Self {
        Self::new(StageState::NotApplicable, StageReason::NotAuthored)
    }

    /// The chain broke before the stage (§7.1, §9.3).
    pub(super) const fn not_reached() -> Self {
        Self::new(StageState::NotReached, StageReason::EarlierStageFailed)
    }

    const fn new(state: StageState, reason: StageReason) -> Self {
        Self {
            state,
            reason,
            evidence: None,
        }
    }

    /// Cites "ids of" spans (§4.3): the list may be empty and is still there.
    pub(super) fn citing_spans<'i: 'a>(
        mut self,
        spans: impl Iterator<Item = &'a EvidenceSpan<'i>>,
    ) -> Self {
        let ids = spans
            .filter_map(|span| span.id.as_deref())
            .take(MAX_SPAN_IDS)
            .map(Cow::Borrowed)
            .collect();
        self.evidence_mut().span_ids = Some(ids);
        self
    }

    /// Cites "indexes of" turns (§4.4): no cap, and an empty list is still there.
    pub(super) fn citing_turns<'t>(mut self, turns: impl Iterator<Item = &'t TurnSummary>) -> Self {
        self.evidence_mut().prompt_indexes =
            Some(turns.filter_map(|turn| turn.prompt_index).collect());
        self
    }

    /// Cites "reasons of" texts (§4.5): without any, there is no key.
    pub(super) fn citing_reasons(mut self, texts: impl Iterator<Item = &'a str>) -> Self {
        let reasons = reasons_of(texts);
        if !reasons.is_empty() {
            self.evidence_mut().predicate_reasons = Some(reasons);
        }
        self
    }

    /// Cites "refs of" a signal (§4.6); its reasons only when it failed.
    pub(super) fn citing_signal(mut self, signal: &'a SetupSignal<'_>) -> Self {
        if !signal.span_ids.is_empty() {
            let ids = signal.span_ids.iter().take(MAX_SPAN_IDS);
            self.evidence_mut().span_ids = Some(ids.map(|id| Cow::Borrowed(&**id)).collect());
        }
        if signal.outcome == SetupOutcome::Failed {
            self = self.citing_reasons(signal.reasons.iter().map(|reason| &**reason));
        }
        self
    }

    fn evidence_mut(&mut self) -> &mut StageEvidence<'a> {
        self.evidence.get_or_insert_default()
    }

    /// Returns the row as it is stored.
    pub(super) fn into_stored(self, stage: Stage) -> StageRow<'a> {
        StageRow {
            stage,
            state: self.state,
            reason: Some(self.reason),
            evidence: self.evidence,
        }
    }
}

/// Returns the first five texts that are not blank, each cut to 500 characters
/// (`chain.md` §4.5).
pub(crate) fn reasons_of<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Cow<'a, str>> {
    texts
        .filter(|text| !ecma::is_blank(text))
        .take(MAX_REASONS)
        .map(|text| cut(text, MAX_REASON_CHARS))
        .collect()
}

/// Cuts a text of more than `limit` characters to one less and `…`.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    // A text is never longer in characters than in bytes.
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let end = text
        .char_indices()
        .nth(limit - 1)
        .map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}…", &text[..end]))
}
