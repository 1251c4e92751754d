//! What is recorded of one session (`swarm.md` §9.3).

use strandline_contract::{
    swarm::wave::{RecordedCall, RecordedFacts},
    trace::{Message, Part, Role, Trace},
    words::{RecordedSignal, Vocabulary},
};

use crate::friction::is_error_result;

/// Returns the signals of a session, in the order under which it is filed.
#[must_use]
pub fn recorded_signals(facts: &RecordedFacts) -> Vec<RecordedSignal> {
    let unknown_tool = facts.tool_catalog.as_ref().is_some_and(|catalog| {
        facts
            .calls
            .iter()
            .any(|call| !catalog.contains(&call.tool_name))
    });
    let offered = facts
        .tool_catalog
        .as_ref()
        .is_some_and(|catalog| !catalog.is_empty());
    let recorded = |signal: &RecordedSignal| match signal {
        RecordedSignal::OutputTruncated => facts.output_truncated,
        RecordedSignal::HallucinatedTool => unknown_tool,
        RecordedSignal::ToolErrored => facts.calls.iter().any(|call| call.errored),
        RecordedSignal::NoToolCalled => offered && facts.agent_turns > 0 && facts.calls.is_empty(),
        RecordedSignal::TurnCapReached => facts.turn_cap_reached,
    };
    RecordedSignal::ALL
        .iter()
        .copied()
        .filter(recorded)
        .collect()
}

/// Reads the facts of a session off its trace.
///
/// What no trace holds is given: the advertised catalog, and how the agent's
/// turns and the conversation ended.
#[must_use]
pub fn facts_from_trace(
    trace: &Trace,
    tool_catalog: Option<Vec<String>>,
    output_truncated: bool,
    turn_cap_reached: bool,
) -> RecordedFacts {
    let errored_ids: Vec<&str> = parts(&trace.messages)
        .filter_map(|(_, part)| errored_result(part))
        .collect();
    let calls = parts(&trace.messages)
        .filter_map(|(_, part)| match part {
            Part::ToolCall {
                tool_call_id,
                tool_name,
                ..
            } => Some(RecordedCall {
                tool_name: tool_name.clone(),
                errored: errored_ids.contains(&tool_call_id.as_str()),
            }),
            Part::Text { .. } | Part::ToolResult { .. } => None,
        })
        .collect();
    let assistant = |message: &Message| message.role == Role::Assistant;
    RecordedFacts {
        tool_catalog,
        agent_turns: agent_turns(&trace.messages),
        calls,
        output_truncated,
        turn_cap_reached,
        errored_result_message: parts(&trace.messages)
            .find(|(_, part)| errored_result(part).is_some())
            .map(|(index, _)| index),
        last_assistant_message: trace
            .messages
            .iter()
            .rposition(assistant)
            .map(|index| index as u64),
    }
}

/// Turns in which the agent said or called anything.
fn agent_turns(messages: &[Message]) -> u64 {
    let mut turns: Vec<u32> = messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .map(|message| message.prompt_index)
        .collect();
    turns.sort_unstable();
    turns.dedup();
    turns.len() as u64
}

fn parts(messages: &[Message]) -> impl Iterator<Item = (u64, &Part)> {
    messages
        .iter()
        .enumerate()
        .flat_map(|(index, message)| message.parts.iter().map(move |part| (index as u64, part)))
}

/// Returns the id of the call that an errored result answers. A call that a
/// policy blocked never reached a server.
fn errored_result(part: &Part) -> Option<&str> {
    match part {
        Part::ToolResult {
            tool_call_id,
            result,
            is_error,
            policy_block: false,
            ..
        } => {
            let says_so = result.as_ref().is_some_and(is_error_result);
            (*is_error || says_so).then_some(tool_call_id.as_str())
        }
        Part::ToolResult { .. } | Part::Text { .. } | Part::ToolCall { .. } => None,
    }
}
