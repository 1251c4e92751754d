//! Quick reading of chain inputs; see [`crate::quick`]. Each line says the same
//! as the field's attributes in [`crate::chain_input`].

use crate::{
    chain_input::{
        AssertedPredicate, AssertionRole, AssertionRow, AssertionStatus, AuthoredCase, ChainInput,
        Evidence, EvidenceSpan, EvidenceSpanStatus, Iteration, JudgeEvidence, MetadataAttribution,
        Policy, RenderObservation, SetupSignal, SetupSignals, SpanCategory, StepError,
        ToolErrorRecord, ToolSignals, TurnSummary,
    },
    quick::{Cursor, quick_object},
};

quick_object! { ChainInput<'a> {
    authored: "authored" = AuthoredCase::quick_read, required;
    evidence: "evidence" = Evidence::quick_read, required;
    iteration: "iteration" = Iteration::quick_read, required;
    policy: "policy" = |cursor: &mut Cursor<'a>| cursor.optional(Policy::quick_read);
} }

quick_object! { AuthoredCase {
    mode: "mode" = Cursor::word, required;
    is_negative_test: "isNegativeTest" = flag;
    expects_tool_call: "expectsToolCall" = flag;
    expects_widget_render: "expectsWidgetRender" = flag;
    assertion_count: "assertionCount" = |cursor: &mut Cursor<'a>| cursor.or_default(Cursor::number);
    has_user_ask: "hasUserAsk" = flag;
    tool_expectation: "toolExpectation" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
} }

quick_object! { Evidence<'a> {
    spans: "spans" = |cursor: &mut Cursor<'a>| cursor.list(EvidenceSpan::quick_read);
    trace_lacks_span_channel: "traceLacksSpanChannel" = flag;
    trace_absent: "traceAbsent" = flag;
    prompts: "prompts" = |cursor: &mut Cursor<'a>| cursor.list(TurnSummary::quick_read);
    predicate_results: "predicateResults" = |cursor: &mut Cursor<'a>| {
        cursor.list(AssertionRow::quick_read)
    };
    tool_errors: "toolErrors" = |cursor: &mut Cursor<'a>| cursor.list(ToolErrorRecord::quick_read);
    step_error: "stepError" = |cursor: &mut Cursor<'a>| cursor.optional(StepError::quick_read);
    render_observations: "renderObservations" = |cursor: &mut Cursor<'a>| {
        cursor.list(RenderObservation::quick_read)
    };
    tool_signals: "toolSignals" = |cursor: &mut Cursor<'a>| {
        cursor.or_default(ToolSignals::quick_read)
    };
    setup_signals: "setupSignals" = |cursor: &mut Cursor<'a>| {
        cursor.or_default(SetupSignals::quick_read)
    };
    evaluator_errored: "evaluatorErrored" = flag;
    judge_evidence: "judgeEvidence" = |cursor: &mut Cursor<'a>| {
        cursor.optional(JudgeEvidence::quick_read)
    };
    metadata_attribution: "metadataAttribution" = |cursor: &mut Cursor<'a>| {
        cursor.optional(MetadataAttribution::quick_read)
    };
} }

quick_object! { EvidenceSpan<'a> {
    id: "id" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::string);
    category: "category" = SpanCategory::quick_read;
    status: "status" = EvidenceSpanStatus::quick_read;
    mcp_error_code: "mcpErrorCode" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::number);
} }

quick_object! { TurnSummary {
    prompt_index: "promptIndex" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::integer);
    expected_tool_calls: "expectedToolCalls" = Cursor::non_empty;
    missing: "missing" = Cursor::non_empty;
    unexpected: "unexpected" = Cursor::non_empty;
    argument_mismatches: "argumentMismatches" = Cursor::non_empty;
    passed: "passed" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::boolean);
} }

quick_object! { AssertionRow<'a> {
    passed: "passed" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::boolean);
    reason: "reason" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::string);
    status: "status" = AssertionStatus::quick_read;
    predicate: "predicate" = |cursor: &mut Cursor<'a>| {
        cursor.or_default(AssertedPredicate::quick_read)
    };
} }

quick_object! { AssertedPredicate {
    kind: "type" = Cursor::known_word;
    role: "role" = AssertionRole::quick_read;
} }

quick_object! { ToolErrorRecord {
    kind: "kind" = Cursor::known_word;
} }

quick_object! { StepError {
    source: "source" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
} }

quick_object! { RenderObservation {
    status: "status" = Cursor::known_word;
} }

quick_object! { ToolSignals {
    tools_total_before: "toolsTotalBefore" = |cursor: &mut Cursor<'a>| {
        cursor.optional(Cursor::number)
    };
} }

quick_object! { SetupSignals<'a> {
    connection: "connection" = |cursor: &mut Cursor<'a>| cursor.optional(SetupSignal::quick_read);
    discovery: "discovery" = |cursor: &mut Cursor<'a>| cursor.optional(SetupSignal::quick_read);
} }

quick_object! { SetupSignal<'a> {
    outcome: "outcome" = Cursor::word, required;
    attribution: "attribution" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
    egress_verified: "egressVerified" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::boolean);
    span_ids: "spanIds" = Cursor::texts;
    duration_ms: "durationMs" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::number);
    reasons: "reasons" = Cursor::texts;
} }

quick_object! { JudgeEvidence<'a> {
    status: "status" = Cursor::word, required;
    pending_kind: "pendingKind" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
    verdict: "verdict" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
    reasons: "reasons" = Cursor::texts;
} }

quick_object! { MetadataAttribution<'a> {
    status: "status" = Cursor::word, required;
    pending_kind: "pendingKind" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::word);
    attributed: "attributed" = |cursor: &mut Cursor<'a>| cursor.optional(Cursor::boolean);
    reasons: "reasons" = Cursor::texts;
} }

quick_object! { Iteration {
    status: "status" = Cursor::word, required;
} }

quick_object! { Policy {
    blocked: "blocked" = Cursor::boolean, required;
} }

fn flag(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.or_default(Cursor::boolean)
}
