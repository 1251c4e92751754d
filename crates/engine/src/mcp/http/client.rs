//! rmcp's HTTP client, with every exchange recorded.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use futures::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
};
use rmcp::{
    model::{ClientJsonRpcMessage, NumberOrString, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use serde_json::{Map, Value};
use sse_stream::{Sse, SseStream};
use strandline_contract::trace::Direction;
use tokio::time::Instant;

use super::{
    HttpLink,
    body::{Body, StreamError, bounded_events, read, read_start},
    refusal::{REFUSAL_BYTES, Refusal},
};
use crate::mcp::{PhaseFailure, capture::RawFrame, tap::Origin};

const SESSION_HEADER: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A stream that ends sooner than this, without an event, closed at once.
const QUICK: Duration = Duration::from_secs(5);

/// What rmcp is told of a failure; the tap knows the whole.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failed(String);

type HttpError = StreamableHttpError<Failed>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;

/// The HTTP client that rmcp's transport uses.
#[derive(Clone)]
pub(crate) struct TappedClient(pub(crate) Arc<HttpLink>);

impl StreamableHttpClient for TappedClient {
    type Error = Failed;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let link = &self.0;
        let id = match &message {
            ClientJsonRpcMessage::Request(request) => match request.id {
                NumberOrString::Number(id) => Some(id),
                NumberOrString::String(_) => None,
            },
            _ => None,
        };
        let facts = link.request_facts("POST", session_id.as_deref());
        let body = link.tap.outgoing(&message, facts)?;
        let request = self
            .request(Method::POST, session_id.as_deref(), custom_headers)
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, "application/json, text/event-stream")
            .body(body);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Err(self.fail(id, link.unreachable(&error), None)),
        };
        self.posted(id, session_id.as_deref(), response).await
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let response = self
            .exchange(Method::DELETE, Some(&session_id), None, custom_headers)
            .await?;
        let status = response.status().as_u16();
        self.record_head(None, &response);
        match status {
            200..=299 => Ok(()),
            405 => Err(HttpError::ServerDoesNotSupportDeleteSession),
            // It is gone already.
            404 => Ok(()),
            _ => Err(HttpError::Client(Failed(format!("HTTP {status}")))),
        }
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<EventStream, HttpError> {
        let link = &self.0;
        if link.too_many_quick_closes() {
            return Err(HttpError::ServerDoesNotSupportSse);
        }
        let response = self
            .exchange(
                Method::GET,
                session_id.as_deref(),
                last_event_id.as_deref(),
                custom_headers,
            )
            .await?;
        self.record_head(None, &response);
        let status = response.status().as_u16();
        if (200..300).contains(&status) && content_type(&response).starts_with(EVENTS) {
            return Ok(self.events(response, Origin::Stream));
        }
        // The stream is optional: every other answer means that there is none.
        match status {
            405 => {}
            200..=299 => link.tap.lint(
                "getStreamType",
                format!(
                    "GET was answered with HTTP {status} and type `{}` where an event stream or HTTP 405 is due.",
                    content_type(&response)
                ),
            ),
            _ => link.tap.lint(
                "getStreamStatus",
                format!("GET was answered with HTTP {status} where HTTP 405 is due."),
            ),
        }
        Err(HttpError::ServerDoesNotSupportSse)
    }
}

impl TappedClient {
    fn request(
        &self,
        method: Method,
        session: Option<&str>,
        protocol_headers: HashMap<HeaderName, HeaderValue>,
    ) -> reqwest::RequestBuilder {
        let mut headers = self.0.headers.clone();
        headers.extend(protocol_headers);
        if let Some(session) = session.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(SESSION_HEADER, session);
        }
        self.0
            .client
            .request(method, self.0.url.clone())
            .headers(headers)
    }

    /// Sends a request without a body and records that it was sent.
    async fn exchange(
        &self,
        method: Method,
        session: Option<&str>,
        last_event_id: Option<&str>,
        protocol_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, HttpError> {
        let tap = &self.0.tap;
        let mut facts = self.0.request_facts(method.as_str(), session);
        let mut request = self
            .request(method, session, protocol_headers)
            .header(ACCEPT, EVENTS);
        if let Some(id) = last_event_id {
            facts.insert("lastEventId".to_owned(), Value::from(id));
            request = request.header("last-event-id", id);
        }
        tap.record_for(
            None,
            RawFrame {
                transport: facts,
                ..RawFrame::whole(tap.server(), Direction::Sent, b"")
            },
        );
        match request.send().await {
            Ok(response) => Ok(response),
            Err(error) => Err(self.fail(None, self.0.unreachable(&error), None)),
        }
    }

    /// Reads the answer to a message of ours.
    async fn posted(
        &self,
        id: Option<i64>,
        session: Option<&str>,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let link = &self.0;
        let status = response.status().as_u16();
        let new_session = response
            .headers()
            .get(SESSION_HEADER)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        if let Some(session) = &new_session {
            link.session_ordinal(session);
        }
        match (status, content_type(&response).as_str()) {
            (202 | 204, _) => {
                self.record_head(id, &response);
                link.note_trouble(format!("a message was accepted with HTTP {status}"));
                Ok(StreamableHttpPostResponse::Accepted)
            }
            (200..=299, kind) if kind.starts_with(EVENTS) => {
                self.record_head(id, &response);
                let origin = id.map_or(Origin::Stream, Origin::AnswerStream);
                Ok(StreamableHttpPostResponse::Sse(
                    self.events(response, origin),
                    new_session,
                ))
            }
            (200..=299, kind) if kind.starts_with(JSON) || id.is_none() => {
                self.json(id, new_session, response).await
            }
            (200..=299, kind) => {
                let kind = kind.to_owned();
                let facts = link.response_facts(status, response.headers());
                let body = read_start(response, REFUSAL_BYTES).await;
                link.record_received(id, &body, facts);
                Err(self.fail(id, link.foreign(&kind, &body), None))
            }
            (404, _) if session.is_some() => self.expired(id, response).await,
            _ => self.refuse(id, session, response).await,
        }
    }

    /// Reads a JSON body.
    async fn json(
        &self,
        id: Option<i64>,
        session: Option<String>,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let link = &self.0;
        let limits = link.tap.limits();
        let facts = link.response_facts(response.status().as_u16(), response.headers());
        let body = match read(response, limits.message_bytes, limits.capture.frame_bytes).await {
            Ok(body) => body,
            Err(error) => return Err(self.fail(id, link.unreachable(&error), None)),
        };
        let mut forward = VecDeque::new();
        let origin = id.map_or(Origin::Stream, Origin::AnswerTo);
        match body {
            Body::Whole(body) if body.is_empty() => link.record_received(id, &body, facts),
            Body::Whole(body) => link.tap.incoming(&body, facts, origin, &mut forward),
            Body::TooLong(long) => link.tap.too_long(long, origin, &mut forward),
        }
        if let Some(id) = id
            && link.tap.is_pending(id)
        {
            link.tap.unanswered(id, "nothing", &mut forward);
        }
        Ok(match forward.len() {
            0 => StreamableHttpPostResponse::Accepted,
            1 => match forward.pop_front() {
                Some(message) => StreamableHttpPostResponse::Json(message, session),
                None => StreamableHttpPostResponse::Accepted,
            },
            _ => StreamableHttpPostResponse::Sse(
                futures::stream::iter(
                    forward
                        .into_iter()
                        .map(|message| Ok(event(&message, None, None))),
                )
                .boxed(),
                session,
            ),
        })
    }

    /// The session is gone: rmcp opens another and sends the request once more.
    async fn expired(
        &self,
        id: Option<i64>,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let link = &self.0;
        if let Some(id) = id
            && link.note_replay(id)
        {
            return self.refuse(Some(id), None, response).await;
        }
        let facts = link.response_facts(response.status().as_u16(), response.headers());
        let body = read_start(response, REFUSAL_BYTES).await;
        link.record_received(id, &body, facts);
        if id.is_some() {
            link.tap.adapt(
                "sessionRestored",
                "The session had expired (HTTP 404): a new one was opened and the request, which had no answer, was sent once more.",
            );
        }
        Err(HttpError::SessionExpired)
    }

    /// Any other status.
    async fn refuse(
        &self,
        id: Option<i64>,
        session: Option<&str>,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let link = &self.0;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let facts = link.response_facts(status, &headers);
        let body = read_start(response, REFUSAL_BYTES).await;
        link.record_received(id, &body, facts);
        let (failure, error) = link.refused(&Refusal {
            status,
            headers: &headers,
            body: &body,
        });
        let mentions_session = String::from_utf8_lossy(&body)
            .to_ascii_lowercase()
            .contains("session");
        if status == 400 && session.is_some() && mentions_session {
            link.tap.lint(
                "sessionExpiredStatus",
                "A request was refused over its session with HTTP 400; an expired session is HTTP 404.",
            );
        }
        Err(self.fail(id, failure, error))
    }

    fn fail(&self, id: Option<i64>, failure: PhaseFailure, error: Option<Value>) -> HttpError {
        let told = Failed(failure.message.clone());
        self.0.fail(id, failure, error);
        HttpError::Client(told)
    }

    fn record_head(&self, id: Option<i64>, response: &Response) {
        let facts = self
            .0
            .response_facts(response.status().as_u16(), response.headers());
        self.0.record_received(id, b"", facts);
    }

    /// Reads an event stream through the tap.
    fn events(&self, response: Response, origin: Origin) -> EventStream {
        let link = Arc::clone(&self.0);
        let bytes = bounded_events(response, link.tap.limits().message_bytes);
        let events = SseStream::from_bytes_stream(bytes);
        let opened = Instant::now();
        let watched = {
            let link = Arc::clone(&link);
            events.flat_map(move |item| {
                link.note_useful_stream();
                futures::stream::iter(link.event(item, origin))
            })
        };
        if origin != Origin::Stream {
            return watched.boxed();
        }
        // The standing stream: one that closes at once again and again is left.
        let end = futures::stream::once(async move {
            if opened.elapsed() < QUICK && link.note_quick_close() {
                link.tap.lint(
                    "getStreamCloses",
                    "The stream that GET opens closes at once, again and again; we stopped opening it.",
                );
            }
            None
        });
        watched
            .map(Some)
            .chain(end)
            .filter_map(std::future::ready)
            .boxed()
    }
}

impl HttpLink {
    /// Takes one event; returns what rmcp is to see of it.
    fn event(&self, item: Result<Sse, SseError>, origin: Origin) -> Vec<Result<Sse, SseError>> {
        let mut sse = match item {
            Ok(sse) => sse,
            Err(error) => {
                self.stream_failed(&error, origin);
                return vec![Err(error)];
            }
        };
        let (mut id, mut retry) = (sse.id.clone(), sse.retry.take());
        let mut forward = VecDeque::new();
        self.take_event(sse, origin, &mut forward);
        if forward.is_empty() {
            return vec![Ok(Sse {
                id,
                retry,
                ..Sse::default()
            })];
        }
        forward
            .iter()
            .map(|message| Ok(event(message, id.take(), retry.take())))
            .collect()
    }

    /// Hands the message of an event to the tap.
    pub(super) fn take_event(
        &self,
        sse: Sse,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let named = !matches!(sse.event.as_deref(), None | Some("" | "message"));
        let data = sse.data.unwrap_or_default();
        let mut facts = Map::new();
        for (name, value) in [("event", sse.event), ("eventId", sse.id)] {
            if let Some(value) = value {
                facts.insert(name.to_owned(), Value::from(value));
            }
        }
        if named || data.trim().is_empty() {
            // A control event, or the priming event that only carries an id.
            self.record_received(None, data.as_bytes(), facts);
        } else {
            self.tap.incoming(data.as_bytes(), facts, origin, forward);
        }
    }

    /// Notes why a stream broke.
    pub(super) fn stream_failed(&self, error: &SseError, origin: Origin) {
        let SseError::Body(inner) = error else {
            return self.note_trouble(format!("the event stream cannot be read: {error}"));
        };
        self.note_trouble(inner.to_string());
        if let (Some(StreamError::EventTooLong(limit)), Origin::AnswerStream(id)) =
            (inner.downcast_ref(), origin)
        {
            self.tap.event_too_long(id, *limit);
        }
    }

    pub(super) fn fail(&self, id: Option<i64>, failure: PhaseFailure, error: Option<Value>) {
        if let Some(id) = id {
            self.tap.fail(id, failure, error);
        }
    }

    pub(super) fn record_received(&self, id: Option<i64>, body: &[u8], facts: Map<String, Value>) {
        self.tap.record_for(
            id,
            RawFrame {
                transport: facts,
                ..RawFrame::whole(self.tap.server(), Direction::Received, body)
            },
        );
    }
}

fn event(message: &ServerJsonRpcMessage, id: Option<String>, retry: Option<u64>) -> Sse {
    Sse {
        data: serde_json::to_string(message).ok(),
        id,
        retry,
        event: None,
    }
}

/// Returns the content type in lower case, without parameters.
fn content_type(response: &Response) -> String {
    let text = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}
