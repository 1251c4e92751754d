//! What a case expects of each turn (`assertions.md` §3.1, `suite-file.md` §6.1).

use serde_json::{Map, Value};
use strandline_contract::{
    number::as_count,
    suite::{AuthoredAssertion, ResolvedCase, Step},
    transcript::{ToolCall, no_arguments},
    words::{ArgumentMatching, AssertionKind, CallOrder, RuleRole, Vocabulary},
};

use super::{options::MatchSettings, role::role_of};

/// Tools by which an agent manages its own skills.
const SKILL_TOOLS: [&str; 4] = ["listSkills", "loadSkill", "listSkillFiles", "readSkillFile"];

/// One turn of a case: a prompt or a pinned call and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Ordinal, from 0: the `promptIndex` of everything that happens in it.
    pub turn_index: u32,
    /// Opened by a call that needs no model.
    pub pinned: bool,
    /// The prompt's text, or a line that names the pinned call.
    pub prompt: String,
    /// What the turn is expected to call, in authored order.
    pub expectations: Vec<Expectation>,
    /// Whether the order of calls counts.
    pub order: CallOrder,
    /// Most calls without an expectation.
    pub extras_cap: Option<u64>,
    /// Correct behaviour is to call nothing.
    pub negative: bool,
}

/// A call that a required `toolCalledWith` step demands.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The step's id.
    pub step_id: String,
    /// The step's index in the case.
    pub position: usize,
    /// The tool to be called.
    pub tool_name: String,
    /// The arguments, an object.
    pub args: Value,
    /// How the arguments are compared.
    pub argument_matching: ArgumentMatching,
    /// How often it must be called; at least 1.
    pub min_count: u64,
    /// The authored count was no positive integer.
    pub invalid_min_count: bool,
}

impl Expectation {
    /// Returns the call as a summary lists it.
    #[must_use]
    pub fn call(&self) -> ToolCall {
        ToolCall {
            tool_name: self.tool_name.clone(),
            arguments: self.args.clone(),
            tool_call_id: None,
        }
    }
}

/// Returns the turn ordinal of every step (`suite-file.md` §6.1): `prompt` and
/// `toolCall` open a turn, other steps belong to the open one.
#[must_use]
pub fn turn_ordinals(steps: &[Step]) -> Vec<u32> {
    let mut open: Option<u32> = None;
    steps
        .iter()
        .map(|step| {
            let turn = match (step, open) {
                (_, None) => 0,
                (Step::Prompt { .. } | Step::ToolCall { .. }, Some(turn)) => turn + 1,
                (Step::Interact { .. } | Step::Assert { .. }, Some(turn)) => turn,
            };
            open = Some(turn);
            turn
        })
        .collect()
}

/// Compiles what each turn of a case is expected to call.
#[must_use]
pub fn compile_turns(case: &ResolvedCase, settings: MatchSettings) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (position, (step, ordinal)) in case
        .steps
        .iter()
        .zip(turn_ordinals(&case.steps))
        .enumerate()
    {
        if turns.last().is_none_or(|turn| turn.turn_index != ordinal) {
            turns.push(Turn {
                turn_index: ordinal,
                pinned: matches!(step, Step::ToolCall { .. }),
                prompt: prompt_text(step),
                expectations: Vec::new(),
                order: settings.order,
                extras_cap: settings.extras_cap,
                negative: case.is_negative_test,
            });
        }
        if let Step::Assert { id, assertion } = step
            && is_expectation(assertion)
            && let Some(turn) = turns.last_mut()
        {
            turn.expectations
                .push(compile_expectation(id, position, assertion, settings));
        }
    }
    turns
}

/// Returns whether a step's assertion is graded by the turn engine: a required
/// `toolCalledWith`.
#[must_use]
pub fn is_expectation(assertion: &AuthoredAssertion) -> bool {
    kind_of(assertion) == Some(AssertionKind::ToolCalledWith)
        && role_of(assertion) == RuleRole::Required
}

/// Returns the known kind of an authored predicate.
#[must_use]
pub fn kind_of(assertion: &AuthoredAssertion) -> Option<AssertionKind> {
    AssertionKind::from_wire(assertion.get("type")?.as_str()?)
}

fn compile_expectation(
    step_id: &str,
    position: usize,
    assertion: &Map<String, Value>,
    settings: MatchSettings,
) -> Expectation {
    let args = assertion.get("args");
    let authored_count = assertion.get("minCount").filter(|count| !count.is_null());
    let count = authored_count.map_or(Some(1), as_count);
    let valid_count = count.filter(|count| *count >= 1);
    Expectation {
        step_id: step_id.to_owned(),
        position,
        tool_name: assertion
            .get("toolName")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        args: args
            .and_then(|args| args.get("args"))
            .filter(|args| args.is_object())
            .cloned()
            .unwrap_or_else(no_arguments),
        argument_matching: args
            .and_then(|args| args.get("argumentMatching"))
            .and_then(Value::as_str)
            .and_then(ArgumentMatching::from_wire)
            .unwrap_or(settings.arguments),
        min_count: valid_count.unwrap_or(1),
        invalid_min_count: valid_count.is_none(),
    }
}

fn prompt_text(step: &Step) -> String {
    match step {
        Step::Prompt { prompt, .. } => prompt.clone(),
        Step::ToolCall {
            server_name,
            tool_name,
            ..
        } => format!("calls {tool_name} on {server_name} directly"),
        // A case that opens with a check: turn 0 has no prompt of its own.
        Step::Interact { .. } | Step::Assert { .. } => String::new(),
    }
}

/// Returns the indexes of a turn's matchable calls (`assertions.md` §3.2): all
/// but the agent's own skill housekeeping, unless the turn expects it by name.
#[must_use]
pub fn matchable_calls(turn: &Turn, calls: &[ToolCall], skill_tools: bool) -> Vec<usize> {
    calls
        .iter()
        .enumerate()
        .filter(|(_, call)| {
            let housekeeping = skill_tools && SKILL_TOOLS.contains(&call.tool_name.as_str());
            !housekeeping
                || turn
                    .expectations
                    .iter()
                    .any(|expectation| expectation.tool_name == call.tool_name)
        })
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt() -> Step {
        Step::Prompt {
            id: String::new(),
            prompt: String::new(),
        }
    }

    fn assert() -> Step {
        Step::Assert {
            id: String::new(),
            assertion: Map::new(),
        }
    }

    fn tool_call() -> Step {
        Step::ToolCall {
            id: String::new(),
            server_name: String::new(),
            server_id: None,
            tool_name: String::new(),
            arguments: Map::new(),
            render_timeout_ms: None,
        }
    }

    #[test]
    fn prompts_and_pinned_calls_open_turns() {
        // The example of suite-file.md §6.1: the leading check opens turn 0,
        // and the prompt after it opens turn 1.
        let steps = [
            assert(),
            prompt(),
            assert(),
            tool_call(),
            assert(),
            prompt(),
        ];
        assert_eq!(turn_ordinals(&steps), [0, 1, 1, 2, 2, 3]);
        assert_eq!(turn_ordinals(&[prompt(), assert(), prompt()]), [0, 0, 1]);
        assert_eq!(turn_ordinals(&[]), [0_u32; 0]);
    }
}
