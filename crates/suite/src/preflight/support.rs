//! What a case may ask for (`suite-file.md` §5.2, §9.4 step 4).

use serde_json::Value as Json;
use strandline_contract::{
    ecma,
    suite::{AuthoredAssertion, ResolvedCase, Step},
    words::{AssertionKind, RefusalCode, Vocabulary},
};

use crate::refusal::Refusal;

/// What this build can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// It can ask an LLM judge.
    pub judge: bool,
}

/// Returns everything that a case asks for and cannot have.
///
/// `judge` is `defaults.judge` as authored; `scripted` says that the case runs
/// under the scripted model.
#[must_use]
pub fn check_support(
    case: &ResolvedCase,
    judge: Option<&Json>,
    scripted: bool,
    support: Support,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |code: RefusalCode, message: String| {
        let message = format!("case `{}` ({}): {message}", case.id, case.title);
        refusals.push(Refusal::new(code, message).of_case(&case.id));
    };

    let mut opens_turn = false;
    let mut prompts = false;
    for step in &case.steps {
        match step {
            Step::Prompt { id, prompt } => {
                (opens_turn, prompts) = (true, true);
                if ecma::is_blank(prompt) {
                    let message = format!("the prompt of step `{id}` is blank");
                    refuse(RefusalCode::CaseInvalid, message);
                }
            }
            Step::ToolCall { .. } => opens_turn = true,
            Step::Interact { id, .. } => {
                let message = format!("step `{id}` drives a widget, which needs a browser");
                refuse(RefusalCode::CaseUnsupported, message);
            }
            Step::Assert { id, assertion } => {
                for (code, message) in assertion_problems(case, assertion) {
                    refuse(code, format!("step `{id}`: {message}"));
                }
            }
        }
    }
    if !opens_turn {
        let message = "no step asks or calls anything: it needs a `prompt` or a `toolCall`";
        refuse(RefusalCode::CaseInvalid, message.to_owned());
    }
    for (index, assertion) in case.assertions.iter().enumerate() {
        for (code, message) in assertion_problems(case, assertion) {
            refuse(code, format!("assertion {}: {message}", index + 1));
        }
    }
    if scripted && prompts && case.script.is_none() {
        let message = "it runs under the scripted model and has no `script`";
        refuse(RefusalCode::CaseInvalid, message.to_owned());
    }
    if !support.judge && requires_judge(case, judge) {
        let message = "it requires a judge, which this version does not have";
        refuse(RefusalCode::JudgeUnsupported, message.to_owned());
    }
    refusals
}

fn assertion_problems(
    case: &ResolvedCase,
    assertion: &AuthoredAssertion,
) -> Vec<(RefusalCode, String)> {
    let text = |key: &str| assertion.get(key).and_then(Json::as_str);
    let Some(name) = text("type") else {
        let kind = text("kind").unwrap_or_default();
        let message = format!("`{kind}` looks at a widget, which needs a browser");
        return vec![(RefusalCode::CaseUnsupported, message)];
    };
    if text("role") == Some("advisory") {
        return Vec::new();
    }
    let Some(kind) = AssertionKind::from_wire(name) else {
        return Vec::new();
    };
    match kind {
        AssertionKind::WidgetRendered
        | AssertionKind::WidgetRenderLatencyUnder
        | AssertionKind::WidgetNoConsoleErrors => {
            let message = format!(
                "`{name}` looks at a widget, which needs a browser; it may stay as \
                 `role: advisory`"
            );
            vec![(RefusalCode::CaseUnsupported, message)]
        }
        // §5.2: nothing may be called, so nothing can be demanded of a call.
        AssertionKind::ToolCalledWith
        | AssertionKind::ToolInputMatches
        | AssertionKind::ToolResultMatches
            if case.is_negative_test =>
        {
            let message =
                format!("`{name}` demands a call, and the right answer here is to call nothing");
            vec![(RefusalCode::CaseInvalid, message)]
        }
        _ => Vec::new(),
    }
}

/// §4.3: enabled unless the case or the suite says otherwise, and required.
#[must_use]
pub fn requires_judge(case: &ResolvedCase, judge: Option<&Json>) -> bool {
    let Some(judge) = judge else { return false };
    let enabled = |judge: &Json| judge.get("enabled").and_then(Json::as_bool);
    let enabled = case
        .judge
        .as_ref()
        .and_then(enabled)
        .or_else(|| enabled(judge))
        .unwrap_or(true);
    let role = judge.get("role").and_then(Json::as_str);
    enabled && matches!(role, Some("required" | "gating"))
}
