//! The model whose turns the suite writes: no model decides anything.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use strandline_contract::{
    providers::SCRIPTED,
    script::{
        CallResult, ReferenceError, References, Script, ScriptAct, ScriptCall, ScriptFailure,
    },
    trace::{Message, Part, Role},
};
use tokio_util::sync::CancellationToken;

use super::{
    ModelClient, ModelError, ModelErrorKind, ModelRequest, ModelResponse, arguments::Arguments,
    error::kind_of,
};

/// A scripted model for one case.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    model: String,
    case_id: String,
    script: Script,
}

impl ScriptedModel {
    /// Creates the model of a case; `model` is the name after `scripted/`.
    #[must_use]
    pub fn new(model: impl Into<String>, case_id: impl Into<String>, script: Script) -> Self {
        Self {
            model: model.into(),
            case_id: case_id.into(),
            script,
        }
    }

    fn error(&self, kind: ModelErrorKind, message: String) -> ModelError {
        ModelError {
            provider: SCRIPTED.to_owned(),
            kind,
            message,
            http_status: None,
            code: None,
            retry_after: None,
            attempts: 1,
        }
    }

    /// The script itself is at fault.
    fn broken(&self, turn: usize, message: &str) -> ModelError {
        self.error(
            ModelErrorKind::Script,
            format!(
                "turn {} of the script of case `{}`: {message}",
                turn + 1,
                self.case_id
            ),
        )
    }

    fn exhausted(&self, written: usize, iteration_number: u32) -> ModelError {
        let turns = match written {
            1 => "1 turn".to_owned(),
            count => format!("{count} turns"),
        };
        self.error(
            ModelErrorKind::Script,
            format!(
                "the script of case `{}` has {turns} for trial {} and the conversation needs \
                 another; add a turn with the answer (`- say: …`)",
                self.case_id,
                iteration_number + 1
            ),
        )
    }

    fn failure(&self, turn: usize, failure: &ScriptFailure) -> ModelError {
        let codes: Vec<String> = failure.code.iter().cloned().collect();
        let own = failure
            .code
            .as_deref()
            .and_then(ModelErrorKind::from_code)
            .filter(|kind| !matches!(kind, ModelErrorKind::Cancelled | ModelErrorKind::Script));
        ModelError {
            http_status: failure.status,
            code: failure.code.clone(),
            ..self.error(
                own.unwrap_or_else(|| kind_of(failure.status, &codes)),
                format!(
                    "turn {} of the script of case `{}` fails as written",
                    turn + 1,
                    self.case_id
                ),
            )
        }
    }
}

#[async_trait::async_trait]
impl ModelClient for ScriptedModel {
    fn provider(&self) -> &str {
        SCRIPTED
    }

    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(
        &self,
        request: ModelRequest<'_>,
        cancel: &CancellationToken,
    ) -> Result<ModelResponse, ModelError> {
        let turns = self.script.turns(request.iteration_number);
        let index = usize::try_from(request.asked).unwrap_or(usize::MAX);
        let Some(turn) = turns.get(index) else {
            return Err(self.exhausted(turns.len(), request.iteration_number));
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Err(self.error(
                    ModelErrorKind::Cancelled,
                    "the trial was cancelled".to_owned(),
                ));
            }
            () = tokio::time::sleep(Duration::from_millis(turn.delay_ms)), if turn.delay_ms > 0 => {}
            () = std::future::ready(()), if turn.delay_ms == 0 => {}
        }
        let (say, calls) = match &turn.act {
            ScriptAct::Fail(failure) => return Err(self.failure(index, failure)),
            ScriptAct::Answer { say, calls } => (say, calls),
        };
        let earlier = earlier_calls(request.messages);
        let parts = answer(say.as_deref(), calls, &earlier)
            .map_err(|error| self.broken(index, &error.to_string()))?;
        Ok(ModelResponse {
            finish_reason: Some(
                if calls.is_empty() {
                    "stop"
                } else {
                    "tool_calls"
                }
                .to_owned(),
            ),
            parts,
            usage: turn.usage.unwrap_or_default(),
            served_model: None,
            response_id: None,
            adaptations: Vec::new(),
            attempts: 1,
        })
    }
}

/// Returns every call of the conversation with its raw result, in order.
fn earlier_calls(messages: &[Message]) -> Vec<CallResult<'_>> {
    let mut results: HashMap<&str, Option<&Value>> = HashMap::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::ToolResult {
            tool_call_id,
            result,
            ..
        } = part
        {
            results.entry(tool_call_id).or_insert(result.as_ref());
        }
    }
    messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolCall {
                tool_call_id,
                tool_name,
                ..
            } => Some(CallResult {
                tool_name,
                result: results.get(tool_call_id.as_str()).copied().flatten(),
            }),
            Part::Text { .. } | Part::ToolResult { .. } => None,
        })
        .collect()
}

fn answer(
    say: Option<&str>,
    calls: &[ScriptCall],
    earlier: &[CallResult<'_>],
) -> Result<Vec<Part>, ReferenceError> {
    let mut parts = Vec::with_capacity(calls.len() + 1);
    if let Some(say) = say {
        parts.push(Part::Text {
            text: References::resolve_text(say, earlier)?,
        });
    }
    for (index, call) in calls.iter().enumerate() {
        // Text stands for arguments as a model writes them, JSON or not.
        let arguments = match References::resolve_value(&call.arguments, earlier)? {
            Value::String(text) => Arguments::from_text(&text),
            value => Arguments::from_value(Some(&value)),
        };
        parts.push(Part::ToolCall {
            tool_call_id: format!("call{:05}", earlier.len() + index + 1),
            tool_name: call.tool.clone(),
            arguments: arguments.value,
            raw_arguments: arguments.raw,
            provider_state: None,
        });
    }
    Ok(parts)
}
