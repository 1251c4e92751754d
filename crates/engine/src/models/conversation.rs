//! A conversation in the order that every provider accepts.
//!
//! Every call has exactly one result, in the order of the calls, directly
//! after the message that made them (field case F24). Messages of one role
//! that follow each other become one.

use std::collections::HashMap;

use serde_json::Value;
use strandline_contract::trace::{Adaptation, Message, Part, Role};

use super::ModelRequest;

/// Image types that every provider with image input accepts.
const IMAGE_TYPES: &[&str] = &["image/gif", "image/jpeg", "image/png", "image/webp"];
/// Largest image sent, in characters of base64.
const MAX_IMAGE_CHARACTERS: usize = 5 * 1024 * 1024;
/// What the model is told about a call without a result.
const NO_RESULT: &str = "The call was not carried out.";

/// A conversation ready to be written in any wire shape.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    /// System texts, in order.
    pub(super) system: Vec<&'a str>,
    /// What was said, by turns.
    pub(super) turns: Vec<Turn<'a>>,
    /// What was repaired on the way.
    pub(super) adaptations: Vec<Adaptation>,
}

/// One turn; no two of the same kind follow each other, but for the model's.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// The user's texts.
    User(Vec<&'a str>),
    /// What the model said.
    Assistant(Vec<Said<'a>>),
    /// One outcome for each call of the turn before.
    Results(Vec<Outcome<'a>>),
}

/// A part of what the model said.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said<'a> {
    Text(&'a str),
    Call(Call<'a>),
}

/// A call of the model, with the server's own tool name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) raw_arguments: Option<&'a str>,
    pub(super) state: Option<&'a Value>,
}

/// What a call came to.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    pub(super) call: Call<'a>,
    pub(super) text: &'a str,
    pub(super) is_error: bool,
    pub(super) images: Vec<Image<'a>>,
}

/// An image of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Image<'a> {
    pub(super) mime_type: &'a str,
    /// Base64.
    pub(super) data: &'a str,
}

/// A result as recorded.
struct Recorded<'a> {
    text: &'a str,
    is_error: bool,
    result: Option<&'a Value>,
}

impl<'a> Conversation<'a> {
    /// Orders a request's messages; `images` says whether the provider is
    /// given the images of results.
    pub(super) fn new(request: &ModelRequest<'a>, images: bool) -> Self {
        let mut this = Self {
            system: request.system.into_iter().collect(),
            turns: Vec::with_capacity(request.messages.len()),
            adaptations: Vec::new(),
        };
        let results = recorded_results(request.messages);
        for message in request.messages {
            match message.role {
                Role::System => this.system.extend(texts(message)),
                Role::User => this.push_user(texts(message)),
                Role::Assistant => this.push_assistant(message, &results, images),
                // Placed behind their calls above.
                Role::Tool => {}
            }
        }
        this
    }

    /// Returns every tool name that the model called, made-up ones included.
    pub(super) fn called_names(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.turns.iter().flat_map(|turn| {
            let said: &[Said<'a>] = match turn {
                Turn::Assistant(said) => said,
                Turn::User(_) | Turn::Results(_) => &[],
            };
            said.iter().filter_map(|said| match said {
                Said::Call(call) => Some(call.name),
                Said::Text(_) => None,
            })
        })
    }

    /// Returns every call id in use.
    pub(super) fn call_ids(&self) -> impl Iterator<Item = &'a str> {
        self.turns.iter().flat_map(|turn| {
            let outcomes: &[Outcome<'a>] = match turn {
                Turn::Results(outcomes) => outcomes,
                Turn::User(_) | Turn::Assistant(_) => &[],
            };
            outcomes.iter().map(|outcome| outcome.call.id)
        })
    }

    fn push_user(&mut self, texts: impl Iterator<Item = &'a str>) {
        if let Some(Turn::User(earlier)) = self.turns.last_mut() {
            earlier.extend(texts);
        } else {
            self.turns.push(Turn::User(texts.collect()));
        }
    }

    fn push_assistant(
        &mut self,
        message: &'a Message,
        results: &HashMap<&'a str, Recorded<'a>>,
        images: bool,
    ) {
        let said: Vec<Said<'a>> = message.parts.iter().filter_map(said).collect();
        let outcomes: Vec<Outcome<'a>> = said
            .iter()
            .filter_map(|said| match said {
                Said::Call(call) => Some(*call),
                Said::Text(_) => None,
            })
            .map(|call| {
                self.note_wrapped_arguments(&call);
                self.outcome(call, results.get(call.id), images)
            })
            .collect();
        self.turns.push(Turn::Assistant(said));
        if !outcomes.is_empty() {
            self.turns.push(Turn::Results(outcomes));
        }
    }

    fn note_wrapped_arguments(&mut self, call: &Call<'a>) {
        if call.raw_arguments.is_some() || !call.arguments.is_object() {
            self.adaptations.push(Adaptation {
                kind: "argumentsWrapped".to_owned(),
                subject: call.name.to_owned(),
                detail: "arguments that are no object went back to the model inside one".to_owned(),
            });
        }
    }

    fn outcome(
        &mut self,
        call: Call<'a>,
        recorded: Option<&Recorded<'a>>,
        images: bool,
    ) -> Outcome<'a> {
        let Some(recorded) = recorded else {
            self.adaptations.push(Adaptation {
                kind: "toolResultMissing".to_owned(),
                subject: call.name.to_owned(),
                detail: "the call has no recorded result; the model was told that it was not carried out".to_owned(),
            });
            return Outcome {
                call,
                text: NO_RESULT,
                is_error: true,
                images: Vec::new(),
            };
        };
        let (sent, described): (Vec<Image<'a>>, Vec<Image<'a>>) = recorded
            .result
            .map(result_images)
            .unwrap_or_default()
            .into_iter()
            .partition(|image| {
                images
                    && IMAGE_TYPES.contains(&image.mime_type)
                    && image.data.len() <= MAX_IMAGE_CHARACTERS
            });
        if !described.is_empty() {
            self.adaptations.push(Adaptation {
                kind: "imageDescribed".to_owned(),
                subject: call.name.to_owned(),
                detail: format!(
                    "{} of the result given to the model as a description",
                    match described.len() {
                        1 => "1 image".to_owned(),
                        count => format!("{count} images"),
                    }
                ),
            });
        }
        Outcome {
            call,
            text: recorded.text,
            is_error: recorded.is_error,
            images: sent,
        }
    }
}

/// Collects every recorded result by call id; the first one counts.
fn recorded_results(messages: &[Message]) -> HashMap<&str, Recorded<'_>> {
    let mut results = HashMap::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::ToolResult {
            tool_call_id,
            result,
            model_text,
            is_error,
            ..
        } = part
        {
            results.entry(tool_call_id.as_str()).or_insert(Recorded {
                text: model_text.as_str(),
                is_error: *is_error,
                result: result.as_ref(),
            });
        }
    }
    results
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ToolCall { .. } | Part::ToolResult { .. } => None,
    })
}

fn said(part: &Part) -> Option<Said<'_>> {
    match part {
        Part::Text { text } => Some(Said::Text(text)),
        Part::ToolCall {
            tool_call_id,
            tool_name,
            arguments,
            raw_arguments,
            provider_state,
        } => Some(Said::Call(Call {
            id: tool_call_id,
            name: tool_name,
            arguments,
            raw_arguments: raw_arguments.as_deref(),
            state: provider_state.as_ref(),
        })),
        Part::ToolResult { .. } => None,
    }
}

/// Returns the images of a raw `tools/call` result.
fn result_images(result: &Value) -> Vec<Image<'_>> {
    result
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("image"))
        .filter_map(|block| {
            Some(Image {
                mime_type: block.get("mimeType")?.as_str()?,
                data: block.get("data")?.as_str()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn call(id: usize) -> Part {
        Part::ToolCall {
            tool_call_id: id.to_string(),
            tool_name: "t".to_owned(),
            arguments: json!({}),
            raw_arguments: None,
            provider_state: None,
        }
    }

    fn result(id: usize) -> Part {
        Part::ToolResult {
            tool_call_id: id.to_string(),
            tool_name: "t".to_owned(),
            result: None,
            model_text: format!("text of {id}"),
            is_error: false,
            policy_block: false,
            error: None,
        }
    }

    fn message(role: Role, parts: Vec<Part>) -> Message {
        Message {
            role,
            prompt_index: 0,
            parts,
        }
    }

    proptest! {
        /// Every call has exactly one result, in the order of the calls,
        /// however many results are recorded and in whatever order.
        #[test]
        fn every_call_has_exactly_one_result_in_order(
            turns in prop::collection::vec(0usize..5, 1..5),
            shuffled in Just((0..25).collect::<Vec<usize>>()).prop_shuffle(),
            recorded in 0usize..25,
        ) {
            let mut next = 0;
            let mut messages = vec![message(Role::User, vec![])];
            for calls in turns {
                let parts = (next..next + calls).map(call).collect();
                next += calls;
                messages.push(message(Role::Assistant, parts));
            }
            let kept = &shuffled[..recorded];
            messages.extend(kept.iter().map(|id| message(Role::Tool, vec![result(*id), result(*id)])));
            let request = ModelRequest {
                system: None,
                messages: &messages,
                tools: &[],
                temperature: None,
                seed: None,
                iteration_number: 0,
                asked: 0,
            };
            let conversation = Conversation::new(&request, true);
            let ids: Vec<usize> = conversation.call_ids().map(|id| id.parse().expect("a number")).collect();
            prop_assert_eq!(ids, (0..next).collect::<Vec<_>>());
            for pair in conversation.turns.windows(2) {
                if let Turn::Results(outcomes) = &pair[1] {
                    let Turn::Assistant(said) = &pair[0] else {
                        return Err(TestCaseError::fail("results stand behind their calls"));
                    };
                    prop_assert_eq!(said.len(), outcomes.len());
                }
            }
            for outcome in conversation.turns.iter().flat_map(|turn| match turn {
                Turn::Results(outcomes) => outcomes.as_slice(),
                Turn::User(_) | Turn::Assistant(_) => &[],
            }) {
                let id: usize = outcome.call.id.parse().expect("a number");
                let text = format!("text of {id}");
                prop_assert_eq!(outcome.text, if kept.contains(&id) { text.as_str() } else { NO_RESULT });
            }
        }
    }
}
