//! The older HTTP+SSE transport: one standing event stream, messages by POST.

use std::{collections::VecDeque, io, sync::Arc};

use futures::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, NumberOrString, ServerJsonRpcMessage},
    transport::{Transport, streamable_http_client::SseError},
};
use serde_json::{Map, Value};
use sse_stream::{Sse, SseStream};
use strandline_contract::trace::Direction;

use super::{
    HttpLink,
    body::{bounded_events, read_start},
    refusal::{REFUSAL_BYTES, Refusal},
};
use crate::mcp::{PhaseFailure, attribution::Cause, capture::RawFrame, tap::Origin};

/// Carries messages between rmcp and an HTTP+SSE server, through the tap.
pub(crate) struct LegacySse {
    link: Arc<HttpLink>,
    events: BoxStream<'static, Result<Sse, SseError>>,
    /// Where messages are posted to.
    endpoint: Url,
    ready: VecDeque<ServerJsonRpcMessage>,
}

impl LegacySse {
    /// Opens the stream and waits for the address that messages go to.
    ///
    /// # Errors
    ///
    /// Fails when there is no stream, or no address in the origin of the URL.
    pub(crate) async fn open(link: Arc<HttpLink>) -> Result<Self, PhaseFailure> {
        let tap = &link.tap;
        tap.record_for(
            None,
            RawFrame {
                transport: link.request_facts("GET", None),
                ..RawFrame::whole(tap.server(), Direction::Sent, b"")
            },
        );
        let response = link
            .client
            .get(link.url.clone())
            .headers(link.headers.clone())
            .header(ACCEPT, "text/event-stream")
            .send()
            .await
            .map_err(|error| link.unreachable(&error))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let kind = headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let facts = link.response_facts(status, &headers);
        if !(200..300).contains(&status) || !kind.starts_with("text/event-stream") {
            let body = read_start(response, REFUSAL_BYTES).await;
            link.record_received(None, &body, facts);
            return Err(if (200..300).contains(&status) {
                link.foreign(&kind, &body)
            } else {
                let refusal = Refusal {
                    status,
                    headers: &headers,
                    body: &body,
                };
                link.refused(&refusal).0
            });
        }
        link.record_received(None, b"", facts);
        let bytes = bounded_events(response, tap.limits().message_bytes);
        let mut events = SseStream::from_bytes_stream(bytes).boxed();
        let endpoint = link.await_endpoint(&mut events).await?;
        Ok(Self {
            link,
            events,
            endpoint,
            ready: VecDeque::new(),
        })
    }
}

impl HttpLink {
    async fn await_endpoint(
        &self,
        events: &mut BoxStream<'static, Result<Sse, SseError>>,
    ) -> Result<Url, PhaseFailure> {
        while let Some(Ok(sse)) = events.next().await {
            if sse.event.as_deref() != Some("endpoint") {
                continue;
            }
            let address = sse.data.unwrap_or_default();
            let address = address.trim();
            // The query holds the session's id.
            let shown = address.split('?').next().unwrap_or_default();
            self.record_received(
                None,
                shown.as_bytes(),
                Map::from_iter([("event".to_owned(), Value::from("endpoint"))]),
            );
            return match self.url.join(address) {
                Ok(endpoint) if endpoint.origin() == self.url.origin() => Ok(endpoint),
                Ok(endpoint) => Err(PhaseFailure::new(
                    Cause::Other,
                    "bad_endpoint",
                    format!(
                        "the server wants messages sent to another origin, `{}`, which our headers must not reach",
                        endpoint.origin().ascii_serialization()
                    ),
                )),
                Err(error) => Err(PhaseFailure::new(
                    Cause::Other,
                    "bad_endpoint",
                    format!("the server's message address cannot be read: {error}"),
                )),
            };
        }
        Err(PhaseFailure::new(
            Cause::Other,
            "connection_closed",
            "the event stream ended before it named the message address",
        ))
    }

    /// Posts one message.
    async fn post(
        &self,
        endpoint: Url,
        id: Option<i64>,
        message: Vec<u8>,
    ) -> Result<(), PhaseFailure> {
        let response = self
            .client
            .post(endpoint)
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(message)
            .send()
            .await
            .map_err(|error| self.unreachable(&error));
        let response = match response {
            Ok(response) => response,
            Err(failure) => {
                self.fail(id, failure.clone(), None);
                return Err(failure);
            }
        };
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let facts = self.response_facts(status, &headers);
        let body = read_start(response, REFUSAL_BYTES).await;
        self.record_received(id, &body, facts);
        if (200..300).contains(&status) {
            return Ok(());
        }
        let refusal = Refusal {
            status,
            headers: &headers,
            body: &body,
        };
        let (failure, error) = self.refused(&refusal);
        self.fail(id, failure.clone(), error);
        Err(failure)
    }
}

impl Transport<RoleClient> for LegacySse {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let link = Arc::clone(&self.link);
        let endpoint = self.endpoint.clone();
        let id = match &item {
            ClientJsonRpcMessage::Request(request) => match request.id {
                NumberOrString::Number(id) => Some(id),
                NumberOrString::String(_) => None,
            },
            _ => None,
        };
        let message = link.tap.outgoing(&item, link.request_facts("POST", None));
        async move {
            link.post(endpoint, id, message?)
                .await
                .map_err(io::Error::other)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let sse = match self.events.next().await {
                Some(Ok(sse)) => sse,
                Some(Err(error)) => {
                    self.link.stream_failed(&error, Origin::Stream);
                    return None;
                }
                None => {
                    self.link.note_trouble("the server ended the event stream");
                    return None;
                }
            };
            self.link.take_event(sse, Origin::Stream, &mut self.ready);
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}
