//! Secrets leave a finished trial before anybody else sees it.
//!
//! Assertions read what really came; what is stored, shown and reported has a
//! mask in place of every secret that the run knows.

use strandline_contract::{
    run::TrialRecord,
    trace::{Message, Part, Span, Trace},
};

use crate::mcp::Redactor;

/// Masks secrets in a record.
///
/// `chain_input` is masked before the chain is derived from it, so that both
/// stay one another's exact source.
pub(super) fn mask_record(redactor: &Redactor, record: &mut TrialRecord) {
    if redactor.is_empty() {
        return;
    }
    if let Some(error) = &mut record.error {
        redactor.string(&mut error.message);
    }
    record
        .expected_tool_calls
        .iter_mut()
        .chain(&mut record.actual_tool_calls)
        .chain(&mut record.prompts)
        .chain(&mut record.predicate_results)
        .chain(&mut record.policy_blocks)
        .chain(&mut record.stage_setup_audit)
        .for_each(|value| redactor.value(value));
}

/// Masks secrets in a trace. Frames were masked when they were captured,
/// before they were cut.
pub(super) fn mask_trace(redactor: &Redactor, trace: &mut Trace) {
    if redactor.is_empty() {
        return;
    }
    for message in &mut trace.messages {
        mask_message(redactor, message);
    }
    for Span { attributes, .. } in &mut trace.spans {
        attributes
            .values_mut()
            .for_each(|value| redactor.value(value));
    }
    for adaptation in &mut trace.adaptations {
        redactor.string(&mut adaptation.detail);
    }
    for lint in &mut trace.lints {
        redactor.string(&mut lint.message);
    }
}

fn mask_message(redactor: &Redactor, message: &mut Message) {
    for part in &mut message.parts {
        match part {
            Part::Text { text } => redactor.string(text),
            Part::ToolCall {
                arguments,
                raw_arguments,
                provider_state,
                ..
            } => {
                redactor.value(arguments);
                if let Some(raw) = raw_arguments {
                    redactor.string(raw);
                }
                if let Some(state) = provider_state {
                    redactor.value(state);
                }
            }
            Part::ToolResult {
                result,
                model_text,
                error,
                ..
            } => {
                if let Some(result) = result {
                    redactor.value(result);
                }
                redactor.string(model_text);
                if let Some(error) = error {
                    redactor.string(error);
                }
            }
        }
    }
}
