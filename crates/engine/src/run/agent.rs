//! Model and tools taking turns over one prompt (`suite-file.md` §6.2).

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use strandline_contract::{
    event::WaitingFor,
    run::{ErrorLayer, TrialError},
    telemetry::chat_span_name,
    trace::{Adaptation, Attributes, OfferedTools, Part, Role, Span, SpanStatus},
    words::Stage,
};
use tokio_util::sync::CancellationToken;

use super::{
    bound::{Cut, within},
    calls::{self, Route, Wanted},
    trial::TrialRun,
};
use crate::{
    mcp::{CallOptions, now_ms},
    models::{
        ModelClient, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ToolDefinition,
        telemetry::chat_attributes,
    },
};

/// Why a step ended the trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepFailure {
    /// The trial has an error of its own (`TrialRun::gathered.error`).
    Error(TrialError),
    /// The step's turn used up its budget.
    TurnTimedOut,
    /// A required check did not hold.
    CheckFailed,
    /// The trial was cancelled from outside.
    Cancelled,
}

impl TrialRun<'_> {
    /// Runs one prompt step: the user's message, then the model and its tools
    /// until the model has nothing more to call.
    pub(super) async fn prompt(&mut self, prompt: &str) -> Result<(), StepFailure> {
        self.gathered.open_turn(false);
        self.gathered.say_text(Role::User, prompt);
        let Some(model) = self.model else {
            return Err(StepFailure::Error(TrialError {
                layer: ErrorLayer::Harness,
                code: "model_missing".to_owned(),
                message: "the case has a prompt and the plan has no model for it".to_owned(),
                http_status: None,
            }));
        };
        let budget = Duration::from_millis(self.suite.execution.turn_timeout_ms);
        let token = self.token.child_token();
        let outside = self.token.clone();
        match within(budget, &outside, &token, self.turn(model, &token)).await {
            (_, Some(Cut::TimedOut)) => Err(StepFailure::TurnTimedOut),
            (_, Some(Cut::Cancelled)) | (None, None) => Err(StepFailure::Cancelled),
            (Some(end), None) => end,
        }
    }

    async fn turn(
        &mut self,
        model: &dyn ModelClient,
        token: &CancellationToken,
    ) -> Result<(), StepFailure> {
        let max_steps = self.suite.execution.max_steps;
        for step in 0..max_steps {
            let response = self.ask(model, token, step).await?;
            let mut parts = response.parts;
            self.take_call_ids(&mut parts);
            let wanted = wanted_calls(&parts);
            self.gathered.say(Role::Assistant, parts);
            if wanted.is_empty() {
                return Ok(());
            }
            self.run_calls(wanted, token).await;
            if token.is_cancelled() {
                return Err(StepFailure::Cancelled);
            }
        }
        self.gathered.adapt(Adaptation {
            kind: "stepLimitReached".to_owned(),
            subject: format!("turn {}", self.gathered.prompt_index()),
            detail: format!(
                "the model still called tools after {max_steps} requests; the turn ended there"
            ),
        });
        Ok(())
    }

    /// Asks the model once, trying again as often as the suite allows while the
    /// turn has made no call that a second try would repeat.
    async fn ask(
        &mut self,
        model: &dyn ModelClient,
        token: &CancellationToken,
        step: u32,
    ) -> Result<ModelResponse, StepFailure> {
        let retries = if step == 0 {
            self.suite.execution.turn_retries
        } else {
            0
        };
        let (catalog, notes) = self.set.refreshed_catalog().await;
        for note in notes {
            self.gathered.adapt(note);
        }
        self.offer(&catalog.definitions, model);
        self.catalog = catalog;
        self.note_tools_not_offered();
        let mut tries = 0;
        loop {
            self.notify(Stage::Selection, WaitingFor::Model);
            let started_at = now_ms();
            let conversation = self.gathered.conversation();
            let request = ModelRequest {
                system: self.suite.defaults.system_prompt.as_deref(),
                messages: &conversation,
                tools: &self.catalog.definitions,
                temperature: self.suite.defaults.temperature,
                seed: self.seed,
                iteration_number: self.iteration_number,
                asked: self.asked,
            };
            self.asked += 1;
            let answer = model.complete(request, token).await;
            let attributes = chat_attributes(model, &request, &answer);
            drop(conversation);
            self.record_request(model, started_at, &answer, attributes);
            match answer {
                Ok(response) => {
                    self.gathered.spend(response.usage);
                    for adaptation in &response.adaptations {
                        self.gathered.adapt(adaptation.clone());
                    }
                    return Ok(response);
                }
                Err(error) if error.kind == ModelErrorKind::Cancelled => {
                    return Err(StepFailure::Cancelled);
                }
                Err(error) if tries < retries => {
                    tries += 1;
                    self.gathered.adapt(Adaptation {
                        kind: "turnRetried".to_owned(),
                        subject: format!("turn {}", self.gathered.prompt_index()),
                        detail: format!("try {tries} ended in {}: asked again", error.kind),
                    });
                }
                Err(error) => return Err(StepFailure::Error(model_failure(error))),
            }
        }
    }

    fn record_request(
        &mut self,
        model: &dyn ModelClient,
        started_at: f64,
        answer: &Result<ModelResponse, ModelError>,
        attributes: Attributes,
    ) {
        let ended_at = now_ms();
        self.gathered.model_wait_ms += (ended_at - started_at).max(0.0);
        self.gathered.model_requests += match answer {
            Ok(response) => response.attempts,
            Err(error) => error.attempts,
        };
        let span = Span {
            id: self.gathered.span_id("llm"),
            parent_id: None,
            name: chat_span_name(model.model()),
            category: "llm".to_owned(),
            status: match answer {
                Ok(_) => SpanStatus::Ok,
                Err(_) => SpanStatus::Error,
            },
            tool_name: None,
            tool_call_id: None,
            prompt_index: Some(self.gathered.prompt_index()),
            mcp_error_code: None,
            started_at,
            ended_at,
            attributes,
        };
        self.gathered.trace.spans.push(span);
    }

    /// Records the exact set of tools that the model is offered in this turn.
    fn offer(&mut self, tools: &[ToolDefinition], model: &dyn ModelClient) {
        let prompt_index = self.gathered.prompt_index();
        let offered = OfferedTools {
            prompt_index,
            tool_names: tools.iter().map(|tool| tool.name.clone()).collect(),
            aliases: model.aliases(tools),
        };
        let last = self.gathered.trace.offered_tools.last();
        if last != Some(&offered) {
            self.gathered.trace.offered_tools.push(offered);
        }
    }

    /// Gives every call of an answer an id that no other call of the trial has,
    /// so that each id has exactly one result.
    fn take_call_ids(&mut self, parts: &mut [Part]) {
        for part in parts {
            if let Part::ToolCall { tool_call_id, .. } = part {
                *tool_call_id = self.gathered.unique_call_id(tool_call_id);
            }
        }
    }

    /// Makes the calls of one answer at the same time and records them in the
    /// order the model asked for them.
    async fn run_calls(&mut self, wanted: Vec<Wanted>, token: &CancellationToken) {
        self.notify(Stage::Call, WaitingFor::Server);
        let timeout = Duration::from_millis(self.suite.execution.tool_call_timeout_ms);
        let set = self.set;
        let catalog = self.catalog.clone();
        let routes: Vec<Route<'_>> = wanted
            .iter()
            .map(|call| call.route(&catalog, set.servers()))
            .collect();
        let records = join_all(wanted.iter().zip(&routes).map(async |(call, route)| {
            let Route::Server(server) = route else {
                return None;
            };
            let options =
                CallOptions::new(timeout, token.clone()).with_capture(self.capture.clone());
            let arguments = call.arguments.as_object().cloned().unwrap_or_default();
            Some(
                server
                    .session()
                    .call(&call.tool_name, arguments, options)
                    .await,
            )
        }))
        .await;
        let mut parts = Vec::with_capacity(wanted.len());
        for ((call, route), record) in wanted.iter().zip(routes).zip(records) {
            let part = match (route, record) {
                (Route::Server(server), Some(record)) => {
                    calls::record_sent(&mut self.gathered, call, server, record)
                }
                (Route::Blocked(denial), _) => calls::record_block(
                    &mut self.gathered,
                    call,
                    &self.case.id,
                    self.iteration_number,
                    denial,
                ),
                (Route::NoObject, _) => calls::record_unsendable(&mut self.gathered, call, false),
                (Route::Unknown | Route::Server(_), _) => {
                    calls::record_unsendable(&mut self.gathered, call, true)
                }
            };
            parts.push(part);
        }
        self.gathered.say(Role::Tool, parts);
        self.notify(Stage::Response, WaitingFor::Nobody);
    }
}

fn wanted_calls(parts: &[Part]) -> Vec<Wanted> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
                raw_arguments,
                ..
            } => Some(Wanted {
                tool_call_id: tool_call_id.clone(),
                tool_name: tool_name.clone(),
                arguments: match arguments {
                    Value::Null if raw_arguments.is_none() => Value::Object(Default::default()),
                    other => other.clone(),
                },
                raw_arguments: raw_arguments.clone(),
            }),
            Part::Text { .. } | Part::ToolResult { .. } => None,
        })
        .collect()
}

fn model_failure(error: ModelError) -> TrialError {
    TrialError {
        layer: ErrorLayer::Model,
        code: error.kind.code().to_owned(),
        message: format!("{}: {}", error.provider, error.message),
        http_status: error.http_status,
    }
}
