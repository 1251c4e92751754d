//! What the rules read off the evidence (`chain.md` §4.1, §4.2).

use strandline_contract::{
    chain_input::{
        AssertionRole, AssertionRow, AssertionStatus, AuthoredCase, Evidence, EvidenceSpan,
        EvidenceSpanStatus, SpanCategory, TurnSummary,
    },
    words::{AssertionKind, Stage, StepErrorSource, ToolErrorKind},
};

use crate::kinds::route_of;

/// One case and its evidence, with the questions that rules ask.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) authored: &'a AuthoredCase,
    pub(super) evidence: &'a Evidence<'a>,
}

impl<'a> Facts<'a> {
    /// Returns the tool spans, in input order.
    pub(super) fn tool_spans(self) -> impl Iterator<Item = &'a EvidenceSpan<'a>> + Clone {
        self.evidence.spans.iter().filter(|span| is_tool(span))
    }

    /// Returns the spans that prove the server was reached.
    pub(super) fn reaching_spans(self) -> impl Iterator<Item = &'a EvidenceSpan<'a>> + Clone {
        self.tool_spans().filter(|span| !is_transport_local(span))
    }

    /// Returns the tool spans that ended without a result.
    pub(super) fn protocol_failed_spans(
        self,
    ) -> impl Iterator<Item = &'a EvidenceSpan<'a>> + Clone {
        self.tool_spans()
            .filter(|span| span.mcp_error_code.is_some())
    }

    /// Returns the tool spans whose result says it is an error.
    pub(super) fn domain_failed_spans(self) -> impl Iterator<Item = &'a EvidenceSpan<'a>> + Clone {
        self.tool_spans().filter(|span| {
            span.status == EvidenceSpanStatus::Error && span.mcp_error_code.is_none()
        })
    }

    /// Returns the tool spans that ended well.
    pub(super) fn usable_spans(self) -> impl Iterator<Item = &'a EvidenceSpan<'a>> + Clone {
        self.tool_spans().filter(|span| {
            span.status != EvidenceSpanStatus::Error && span.mcp_error_code.is_none()
        })
    }

    /// Returns whether any span, tool or not, has a transport-local code.
    pub(super) fn has_transport_local_code(self) -> bool {
        self.evidence.spans.iter().any(is_transport_local)
    }

    /// Returns whether some tool answered with an error.
    pub(super) fn tool_failure_seen(self) -> bool {
        self.has_tool_error(ToolErrorKind::ContentError) || some(self.domain_failed_spans())
    }

    /// Returns whether a tool error of that kind was recorded.
    pub(super) fn has_tool_error(self, kind: ToolErrorKind) -> bool {
        self.evidence
            .tool_errors
            .iter()
            .any(|error| error.kind == Some(kind))
    }

    /// Returns the turns for which a question holds, in input order.
    pub(super) fn turns(
        self,
        holds: impl Fn(&TurnSummary) -> bool + Clone,
    ) -> impl Iterator<Item = &'a TurnSummary> + Clone {
        self.evidence.prompts.iter().filter(move |turn| holds(turn))
    }

    /// Returns whether there is any turn.
    pub(super) fn any_turn(self) -> bool {
        !self.evidence.prompts.is_empty()
    }

    /// Returns whether the servers listed at least one tool.
    pub(super) fn tools_listed(self) -> bool {
        self.evidence
            .tool_signals
            .tools_total_before
            .is_some_and(|total| total > 0.0)
    }

    /// Returns whether the model provider failed a call.
    pub(super) fn provider_failed(self) -> bool {
        self.evidence
            .step_error
            .is_some_and(|error| error.source == Some(StepErrorSource::Model))
    }

    /// Returns the rows that may decide something (§4.2).
    pub(super) fn gating_rows(self) -> impl Iterator<Item = &'a AssertionRow<'a>> + Clone {
        self.evidence.predicate_results.iter().filter(|row| {
            row.predicate.role != AssertionRole::Advisory && row.status != AssertionStatus::Error
        })
    }

    /// Returns the gating rows that a stage's rule consumes (§5).
    pub(super) fn rows_judged_at(
        self,
        stage: Stage,
    ) -> impl Iterator<Item = &'a AssertionRow<'a>> + Clone {
        self.gating_rows()
            .filter(move |row| route_of(row.predicate.kind).judged_at == stage)
    }

    /// Returns the failing gating rows that a stage's rule consumes.
    pub(super) fn failing_rows(
        self,
        stage: Stage,
    ) -> impl Iterator<Item = &'a AssertionRow<'a>> + Clone {
        self.rows_judged_at(stage)
            .filter(|row| row.passed == Some(false))
    }

    /// Returns whether some failing row at a stage is of that kind.
    pub(super) fn fails_by(self, stage: Stage, kind: AssertionKind) -> bool {
        self.failing_rows(stage)
            .any(|row| row.predicate.kind == Some(kind))
    }
}

/// Returns whether an iterator yields anything, without consuming it.
pub(super) fn some<I: Iterator>(mut items: I) -> bool {
    items.next().is_some()
}

/// Returns the explanations of rows, in order.
pub(super) fn reasons<'a>(
    rows: impl Iterator<Item = &'a AssertionRow<'a>>,
) -> impl Iterator<Item = &'a str> {
    rows.filter_map(|row| row.reason.as_deref())
}

fn is_tool(span: &EvidenceSpan<'_>) -> bool {
    span.category == SpanCategory::Tool
}

/// Codes that our own transport makes up: they say nothing about the server.
fn is_transport_local(span: &EvidenceSpan<'_>) -> bool {
    span.mcp_error_code
        .is_some_and(|code| code == -32_000.0 || code == -32_001.0)
}
