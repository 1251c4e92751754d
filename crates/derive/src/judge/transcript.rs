//! A trial's conversation as a judge reads it: bounded, in order, every cut
//! said.

use strandline_contract::{
    canonical::canonical_json,
    trace::{Message, Part, Role, Trace},
};

use super::fence::cut;

/// Longest conversation, characters.
const MAX_TRANSCRIPT: usize = 60_000;
/// Longest text of the user or the model, characters.
const MAX_TEXT: usize = 20_000;
/// Longest result of a call, characters.
const MAX_RESULT: usize = 6_000;
/// Longest arguments of a call, characters.
const MAX_ARGUMENTS: usize = 3_000;

/// Returns the user's requests, one text a message.
#[must_use]
pub(super) fn requests(trace: &Trace) -> Vec<&str> {
    trace
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::ToolCall { .. } | Part::ToolResult { .. } => None,
        })
        .collect()
}

/// Returns the conversation as text.
///
/// Where it is too long, entries from the middle are left out and counted: the
/// request at its beginning and the answer at its end are what is judged.
#[must_use]
pub(super) fn conversation(trace: &Trace) -> String {
    let entries: Vec<String> = trace
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .flat_map(entries)
        .collect();
    bounded(&entries, MAX_TRANSCRIPT)
}

fn entries(message: &Message) -> Vec<String> {
    let turn = message.prompt_index.saturating_add(1);
    message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => {
                let who = match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                    Role::System => "system",
                    Role::Tool => "tool",
                };
                format!("[turn {turn}] {who}: {}", cut(text, MAX_TEXT))
            }
            Part::ToolCall {
                tool_name,
                arguments,
                raw_arguments,
                ..
            } => {
                let arguments = raw_arguments
                    .clone()
                    .unwrap_or_else(|| canonical_json(arguments));
                format!(
                    "[turn {turn}] assistant calls {tool_name} with {}",
                    cut(&arguments, MAX_ARGUMENTS)
                )
            }
            Part::ToolResult {
                tool_name,
                model_text,
                is_error,
                policy_block,
                ..
            } => {
                let how = match (policy_block, is_error) {
                    (true, _) => "was blocked by the tool policy",
                    (false, true) => "answered with an error",
                    (false, false) => "answered",
                };
                format!(
                    "[turn {turn}] {tool_name} {how}: {}",
                    cut(model_text, MAX_RESULT)
                )
            }
        })
        .collect()
}

/// Joins entries up to a limit: from both ends inwards, the last one first.
fn bounded(entries: &[String], limit: usize) -> String {
    let length = |entry: &String| entry.chars().count() + 1;
    if entries.iter().map(length).sum::<usize>() <= limit {
        return entries.join("\n");
    }
    let (mut head, mut tail) = (0, entries.len());
    let mut left = limit;
    let mut from_tail = true;
    while head < tail {
        let next = if from_tail { tail - 1 } else { head };
        let needs = length(&entries[next]);
        if needs > left {
            break;
        }
        left -= needs;
        if from_tail {
            tail -= 1;
        } else {
            head += 1;
        }
        from_tail = !from_tail;
    }
    let left_out = tail - head;
    let mut kept: Vec<String> = entries[..head].to_vec();
    kept.push(format!("[{left_out} entries left out here]"));
    kept.extend_from_slice(&entries[tail..]);
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_conversation_keeps_its_ends() {
        let entries: Vec<String> = (0..100)
            .map(|number| format!("{number} {}", "x".repeat(50)))
            .collect();
        let text = bounded(&entries, 500);
        assert!(text.starts_with("0 "), "{text}");
        assert!(text.contains("entries left out here]"), "{text}");
        assert!(text.lines().last().expect("a line").starts_with("99 "));
        assert!(text.chars().count() < 600);
    }

    #[test]
    fn every_part_is_told_in_order() {
        let trace: Trace = serde_json::from_value(json!({"messages": [
            {"role": "system", "promptIndex": 0, "parts": [{"type": "text", "text": "secret rules"}]},
            {"role": "user", "promptIndex": 0, "parts": [{"type": "text", "text": "Where is 7?"}]},
            {"role": "assistant", "promptIndex": 0, "parts": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "find", "arguments": {"id": 7}}]},
            {"role": "tool", "promptIndex": 0, "parts": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "find", "modelText": "shipped",
                 "isError": false}]},
            {"role": "assistant", "promptIndex": 0, "parts": [{"type": "text", "text": "Shipped."}]},
        ]}))
        .expect("a trace");
        assert_eq!(requests(&trace), ["Where is 7?"]);
        assert_eq!(
            conversation(&trace),
            "[turn 1] user: Where is 7?\n[turn 1] assistant calls find with {\"id\":7}\n\
             [turn 1] find answered: shipped\n[turn 1] assistant: Shipped."
        );
    }
}
