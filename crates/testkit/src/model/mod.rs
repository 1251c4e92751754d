//! A model endpoint on loopback that speaks the three wire shapes.
//!
//! The wire is told by the path, so that one endpoint serves all providers.
//! What it answers is a [`Playbook`]; what it was asked is kept.

mod reply;
mod wire;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

pub use reply::{Answer, Call, Reply};
pub use wire::Wire;

use reply::Act;

/// What the endpoint answers.
#[derive(Clone)]
pub enum Playbook {
    /// These replies, one a request; then HTTP 400 with `no_reply_left`.
    Sequence(Vec<Reply>),
    /// A call when the conversation ends in anything but a tool result, a
    /// text when it ends in one.
    CallThenText {
        /// The tool to call; absent means the first one offered.
        tool: Option<String>,
        /// Its arguments.
        arguments: Value,
        /// The text.
        text: String,
    },
    /// Whatever the function says.
    Each(Arc<dyn Fn(&Recorded) -> Reply + Send + Sync>),
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Path of the request.
    pub path: String,
    /// The shape that the path belongs to.
    pub wire: Option<Wire>,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The JSON body; `null` when it was none.
    pub body: Value,
    /// When it had arrived.
    pub at: Instant,
}

impl Recorded {
    /// Returns whether the conversation ends in a tool result.
    #[must_use]
    pub fn ends_in_tool_result(&self) -> bool {
        self.wire
            .is_some_and(|wire| wire.ends_in_tool_result(&self.body))
    }

    /// Returns the name of the first tool offered.
    #[must_use]
    pub fn first_tool(&self) -> Option<&str> {
        self.wire?.first_tool(&self.body)
    }
}

/// A running endpoint; dropping it stops it.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    playbook: Playbook,
    latency: Duration,
    /// Requests so far; kept whole only when they are recorded.
    log: Mutex<Log>,
    record: bool,
}

#[derive(Default)]
struct Log {
    count: usize,
    requests: Vec<Recorded>,
}

impl FakeModel {
    /// Starts an endpoint on a free port that records its requests.
    ///
    /// # Errors
    ///
    /// Fails when no port can be bound.
    pub async fn start(playbook: Playbook) -> io::Result<Self> {
        Self::bind(0, playbook, Duration::ZERO, true).await
    }

    /// Starts an endpoint that gives these replies in order.
    ///
    /// # Errors
    ///
    /// Fails when no port can be bound.
    pub async fn with_replies(replies: impl Into<Vec<Reply>>) -> io::Result<Self> {
        Self::start(Playbook::Sequence(replies.into())).await
    }

    /// Starts an endpoint on a port, 0 meaning a free one, whose every answer
    /// takes `latency`.
    ///
    /// # Errors
    ///
    /// Fails when the port cannot be bound.
    pub async fn bind(
        port: u16,
        playbook: Playbook,
        latency: Duration,
        record: bool,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            playbook,
            latency,
            log: Mutex::default(),
            record,
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            server,
        })
    }

    /// Returns the base URL of the OpenAI and Anthropic shapes, `…/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the address without a path, for any shape.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.log().requests.clone()
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.shared.log().count
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request and decides on its reply.
    fn reply(&self, request: Recorded) -> Reply {
        let mut log = self.log();
        let index = log.count;
        log.count += 1;
        let reply = match &self.playbook {
            Playbook::Sequence(replies) => replies.get(index).cloned().unwrap_or_else(|| {
                Reply::error(400, "no_reply_left", "the playbook has no reply left")
            }),
            Playbook::CallThenText {
                tool,
                arguments,
                text,
            } => {
                if request.ends_in_tool_result() {
                    Reply::text(text)
                } else {
                    let tool = tool.as_deref().or_else(|| request.first_tool());
                    Reply::call(tool.unwrap_or("echo"), arguments)
                }
            }
            Playbook::Each(decide) => decide(&request),
        };
        if self.record {
            log.requests.push(request);
        }
        reply
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Connections end with the endpoint.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                // Nagle's algorithm would cost 40 ms an answer.
                let _ = stream.set_nodelay(true);
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Closes the connection without an answer when it fails.
async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path().to_owned();
    let wire = Wire::of_path(&path);
    let recorded = Recorded {
        wire,
        headers: head
            .headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes());
                (name.as_str().to_owned(), value.into_owned())
            })
            .collect(),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        at: Instant::now(),
        path,
    };
    let Some(wire) = wire else {
        return Ok(respond(404, "application/json", "{}".into()));
    };
    let model = wire.model(&recorded);
    let reply = shared.reply(recorded);
    let delay = shared.latency + reply.delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let mut response = match reply.act {
        Act::Answer(answer) => respond(
            200,
            "application/json",
            wire.answer(&model, &answer).to_string(),
        ),
        Act::Withheld => respond(200, "application/json", wire.withheld(&model).to_string()),
        Act::Error { status, body } => respond(
            status,
            "application/json",
            body.unwrap_or_else(|error| wire.error(status, &error))
                .to_string(),
        ),
        Act::Raw {
            status,
            content_type,
            body,
        } => respond(status, &content_type, body),
        Act::CutOff => cut_off(wire.answer(&model, &Answer::text("cut off")).to_string()),
        Act::Silent => std::future::pending().await,
        Act::HangUp => return Err(io::Error::other("hung up")),
    };
    for (name, value) in &reply.headers {
        if let (Ok(name), Ok(value)) = (
            http::HeaderName::try_from(name.as_str()),
            http::HeaderValue::try_from(value.as_str()),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

fn respond(status: u16, content_type: &str, body: String) -> Response<Body> {
    let body = http_body_util::Full::new(Bytes::from(body))
        .map_err(|never: Infallible| match never {})
        .boxed_unsync();
    build(status, content_type, None, body)
}

/// Promises a whole body, sends half of it and closes the connection.
fn cut_off(body: String) -> Response<Body> {
    let whole = body.len();
    let half = Bytes::from(body).slice(..whole / 2);
    let sent = futures::stream::once(async { Ok(Frame::data(half)) });
    let lost = futures::stream::once(async {
        // Time for the half to leave.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(io::Error::other("cut off"))
    });
    let body = StreamBody::new(sent.chain(lost)).boxed_unsync();
    build(200, "application/json", Some(whole), body)
}

fn build(status: u16, content_type: &str, length: Option<usize>, body: Body) -> Response<Body> {
    let mut builder = Response::builder()
        .status(status)
        .header(http::header::CONTENT_TYPE, content_type);
    if let Some(length) = length {
        builder = builder.header(http::header::CONTENT_LENGTH, length);
    }
    builder.body(body).unwrap_or_else(|_| {
        Response::new(
            http_body_util::Empty::new()
                .map_err(|never: Infallible| match never {})
                .boxed_unsync(),
        )
    })
}
