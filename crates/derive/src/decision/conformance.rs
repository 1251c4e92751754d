//! The summary as the conformance vectors write it.

use serde_json::{Value, json};
use strandline_contract::{
    decision::DecisionSummary,
    words::{NextAction, Vocabulary},
};

use super::derive_next_action;

/// Returns the summary with each item's `nextAction` replaced by
/// `nextActionKind`: which sentence it is, instead of our wording of it.
#[must_use]
pub fn conformance_form(summary: &DecisionSummary) -> Value {
    let mut form = json!(summary);
    let Some(Value::Array(items)) = form.pointer_mut("/diagnostics/items") else {
        return form;
    };
    for (form, item) in items.iter_mut().zip(&summary.diagnostics.items) {
        if let Value::Object(form) = form {
            form.remove("nextAction");
            let action = derive_next_action(&item.chain, item.result);
            form.insert("nextActionKind".to_owned(), json!(kind(action)));
        }
    }
    form
}

/// Three kinds have names of their own there.
fn kind(action: NextAction) -> &'static str {
    match action {
        NextAction::NoCategory => "fallback",
        NextAction::VerdictChainConflict => "disagreement",
        NextAction::StaleAnalyzer => "staleAnalyzerDisagreement",
        NextAction::Setup
        | NextAction::Metadata
        | NextAction::Selection
        | NextAction::Arguments
        | NextAction::ServerData
        | NextAction::UserValue
        | NextAction::Evaluator => action.wire(),
    }
}
