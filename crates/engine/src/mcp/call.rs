//! One request of ours, from sending to its end; tool calls on top of it.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, GetExtensions as _},
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::Value;
use strandline_contract::trace::Lint;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Arguments, CallOptions, CallOutcome, CallRecord, Capture, PhaseFailure, Session,
    clock::now_ms,
    rpc_error::{read_error, shown},
    slot::{Answer, Slot},
    tap::{Tag, Tap},
};

/// How long a better answer is waited for once a doubtful one came.
const SUSPICION_GRACE: Duration = Duration::from_secs(1);

/// How long a cancellation may take to be sent.
const CANCEL_GRACE: Duration = Duration::from_millis(200);

/// Budgets that progress may stretch a request to.
const PROGRESS_BUDGETS: u32 = 10;

/// How a request is bounded.
pub(crate) struct RequestBounds<'a> {
    pub(crate) timeout: Duration,
    pub(crate) reset_on_progress: bool,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) capture: Option<Capture>,
}

/// How a request ended.
pub(crate) enum Ended {
    /// With an answer, a doubtful one included.
    Answered(Answer),
    /// The session ended first; rmcp's word for it, when it has one.
    Lost(Option<String>),
    /// The budget ran out.
    TimedOut,
    /// We gave up.
    Cancelled,
}

/// Sends a request and waits for its end.
pub(crate) async fn request(
    peer: &Peer<RoleClient>,
    tap: &Arc<Tap>,
    mut request: ClientRequest,
    bounds: RequestBounds<'_>,
) -> Ended {
    let slot = Arc::new(Slot::new(bounds.capture.clone()));
    request.extensions_mut().insert(Tag(Arc::clone(&slot)));
    let started = Instant::now();
    let sending = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let handle = tokio::select! {
        handle = sending => match handle {
            Ok(handle) => handle,
            Err(_) => return Ended::Lost(None),
        },
        () = bounds.cancel.cancelled() => return Ended::Cancelled,
        () = sleep_until(started + bounds.timeout) => return Ended::TimedOut,
    };
    let mut flight = Flight {
        tap,
        handle: Some(handle),
    };
    let ended = wait(&mut flight, &slot, started, &bounds).await;
    match &ended {
        Ended::Answered(_) | Ended::Lost(_) => flight.landed(),
        Ended::TimedOut => flight.cancel("the budget of the request ran out").await,
        Ended::Cancelled => flight.cancel("the trial was cancelled").await,
    }
    ended
}

async fn wait(
    flight: &mut Flight<'_>,
    slot: &Slot,
    started: Instant,
    bounds: &RequestBounds<'_>,
) -> Ended {
    let mut deadline = started + bounds.timeout;
    let last_deadline = started + bounds.timeout * PROGRESS_BUDGETS;
    let mut progress = 0;
    let mut doubtful_until = None;
    loop {
        let Some(handle) = flight.handle.as_mut() else {
            return Ended::Lost(None);
        };
        tokio::select! {
            biased;
            response = &mut handle.rx => {
                if let Some(answer) = slot.take_answer() {
                    return Ended::Answered(answer);
                }
                return match response {
                    Ok(Err(ServiceError::TransportSend(error))) => Ended::Lost(Some(error.to_string())),
                    Ok(Err(ServiceError::McpError(error))) => Ended::Lost(Some(error.message.into_owned())),
                    Ok(_) | Err(_) => Ended::Lost(None),
                };
            }
            () = slot.woken() => {
                if bounds.reset_on_progress && slot.progress() > progress {
                    progress = slot.progress();
                    deadline = (Instant::now() + bounds.timeout).min(last_deadline);
                }
                if doubtful_until.is_none() && slot.suspected() {
                    doubtful_until = Some(Instant::now() + SUSPICION_GRACE);
                }
            }
            () = bounds.cancel.cancelled() => return Ended::Cancelled,
            () = sleep_until(doubtful_until.unwrap_or(deadline).min(deadline)) => {
                return match slot.take_suspicion() {
                    Some(answer) => Ended::Answered(answer),
                    None => Ended::TimedOut,
                };
            }
        }
    }
}

/// A request on its way; dropping it tells the server that we gave up.
struct Flight<'a> {
    tap: &'a Arc<Tap>,
    handle: Option<RequestHandle<RoleClient>>,
}

impl Flight<'_> {
    fn landed(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.tap.forget(&handle.id);
        }
    }

    async fn cancel(&mut self, reason: &str) {
        if let Some(handle) = self.handle.take() {
            self.tap.forget(&handle.id);
            let _ = timeout(CANCEL_GRACE, handle.cancel(Some(reason.to_owned()))).await;
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        self.tap.forget(&handle.id);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(timeout(
                CANCEL_GRACE,
                handle.cancel(Some("the caller went away".to_owned())),
            ));
        }
    }
}

impl Session {
    /// Calls a tool; any number of calls may run at once.
    ///
    /// Never fails: whatever happens is in the record. When the returned future
    /// is dropped, the server is told that we gave up.
    pub async fn call(&self, tool: &str, arguments: Arguments, options: CallOptions) -> CallRecord {
        let started_at = now_ms();
        let capture = options.capture.clone();
        let outcome = self.call_outcome(tool, arguments, options).await;
        if let CallOutcome::Result { raw, .. } = &outcome
            && let Some((code, message)) = self.promise(tool).and_then(|promise| promise.check(raw))
        {
            capture.as_ref().unwrap_or(self.capture()).lint(Lint {
                code: code.to_owned(),
                server: self.server().to_owned(),
                tool_name: Some(tool.to_owned()),
                message,
            });
        }
        CallRecord {
            outcome: redacted(outcome, self),
            started_at,
            ended_at: now_ms(),
        }
    }

    async fn call_outcome(
        &self,
        tool: &str,
        arguments: Arguments,
        options: CallOptions,
    ) -> CallOutcome {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let bounds = RequestBounds {
            timeout: options.timeout,
            reset_on_progress: options.reset_on_progress,
            cancel: &options.cancel,
            capture: options.capture,
        };
        let request_message = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        match request(self.peer(), self.tap(), request_message, bounds).await {
            Ended::Answered(Answer::Result(raw)) => read_result(raw),
            Ended::Answered(Answer::Error(error)) => read_protocol_error(error),
            Ended::Answered(Answer::Malformed { message, raw }) => {
                CallOutcome::Malformed { message, raw }
            }
            Ended::Answered(Answer::Failed { failure, error }) => refused(failure, error),
            Ended::Lost(detail) => CallOutcome::TransportLost {
                message: self.lost(detail).await,
            },
            Ended::TimedOut => CallOutcome::TimedOut {
                budget: options.timeout,
            },
            Ended::Cancelled => CallOutcome::Cancelled,
        }
    }
}

/// Reads the `error` member of an answer.
fn read_protocol_error(error: Value) -> CallOutcome {
    match read_error(&error) {
        Ok(error) => CallOutcome::ProtocolError {
            code: error.code,
            message: error.message,
            data: error.data,
        },
        Err(message) => CallOutcome::Malformed {
            message,
            raw: Some(error),
        },
    }
}

/// A refusal that carries a JSON-RPC error ends the call with that error.
fn refused(failure: PhaseFailure, error: Option<Value>) -> CallOutcome {
    match error.map(read_protocol_error) {
        Some(outcome @ CallOutcome::ProtocolError { .. }) => outcome,
        _ => CallOutcome::TransportLost {
            message: failure.message,
        },
    }
}

/// Reads a `tools/call` result: an object whose `content`, if present, is a
/// list of objects.
fn read_result(raw: Value) -> CallOutcome {
    let Some(members) = raw.as_object() else {
        return CallOutcome::Malformed {
            message: format!("the result is not an object: {}", shown(&raw)),
            raw: Some(raw),
        };
    };
    let is_error = members.get("isError") == Some(&Value::Bool(true));
    match members.get("content") {
        None => {}
        Some(Value::Array(blocks)) if blocks.iter().all(Value::is_object) => {}
        Some(other) => {
            return CallOutcome::Malformed {
                message: format!("`content` is not a list of blocks: {}", shown(other)),
                raw: Some(raw),
            };
        }
    }
    CallOutcome::Result { raw, is_error }
}

/// Messages of ours quote stderr and HTTP bodies, which may repeat a secret.
fn redacted(outcome: CallOutcome, session: &Session) -> CallOutcome {
    match outcome {
        CallOutcome::TransportLost { message } => CallOutcome::TransportLost {
            message: session.redactor().text(&message).into_owned(),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_an_object_with_a_list_of_blocks_or_none() {
        let good = [
            json!({}),
            json!({"content": []}),
            json!({"content": [{"type": "hologram"}], "isError": "yes"}),
            json!({"structuredContent": {"n": 1}}),
        ];
        for raw in good {
            assert!(
                matches!(
                    read_result(raw.clone()),
                    CallOutcome::Result {
                        is_error: false,
                        ..
                    }
                ),
                "{raw}"
            );
        }
        let bad = [
            json!(null),
            json!("text"),
            json!([]),
            json!({"content": "text"}),
            json!({"content": ["text"]}),
        ];
        for raw in bad {
            assert!(
                matches!(read_result(raw.clone()), CallOutcome::Malformed { .. }),
                "{raw}"
            );
        }
        assert!(matches!(
            read_result(json!({"content": [], "isError": true})),
            CallOutcome::Result { is_error: true, .. }
        ));
    }
}
