//! A loopback HTTP server whose answers are written by the test.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers; names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

impl Request {
    /// Returns the body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Returns a header, or nothing in its place.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Whole(Vec<u8>),
    Chunks {
        chunks: Vec<(Duration, Vec<u8>)>,
        end: End,
    },
    Never,
}

/// How a streamed body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Properly.
    Complete,
    /// With the connection.
    Broken,
    /// Not at all.
    Open,
}

impl Reply {
    /// Returns an answer without a body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Whole(Vec::new()),
        }
    }

    /// Returns no answer at all.
    #[must_use]
    pub const fn never() -> Self {
        Self {
            status: 0,
            headers: Vec::new(),
            body: Body::Never,
        }
    }

    /// Returns an answer with JSON.
    #[must_use]
    pub fn json(status: u16, value: &Value) -> Self {
        Self::text(status, "application/json", value.to_string())
    }

    /// Returns an answer with a body of some type.
    #[must_use]
    pub fn text(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: Body::Whole(body.into()),
        }
    }

    /// Returns an event stream: each event's text after a pause in ms.
    #[must_use]
    pub fn events<'a>(events: impl IntoIterator<Item = (u64, &'a str)>, end: End) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            body: Body::Chunks {
                chunks: events
                    .into_iter()
                    .map(|(ms, text)| {
                        (
                            Duration::from_millis(ms),
                            format!("{text}\n\n").into_bytes(),
                        )
                    })
                    .collect(),
                end,
            },
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A running server; it stops when dropped.
#[derive(Debug)]
pub struct HttpStub {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

impl HttpStub {
    /// Starts a server on a free port of this machine.
    ///
    /// # Panics
    ///
    /// Panics when no port can be had.
    pub async fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let handler: Arc<Handler> = Arc::new(handler);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let task = {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(serve(stream, Arc::clone(&handler), Arc::clone(&seen)));
                }
            })
        };
        Self {
            address,
            seen,
            task,
        }
    }

    /// Returns the URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns all requests so far, in order of their arrival.
    #[must_use]
    pub fn seen(&self) -> Vec<Request> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for HttpStub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one connection; an error of the peer ends it.
async fn serve(stream: TcpStream, handler: Arc<Handler>, seen: Arc<Mutex<Vec<Request>>>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await {
        let reply = handler(&request);
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        if write_reply(stream.get_mut(), reply).await.is_none() {
            return;
        }
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..Request::default()
    };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => request
                .headers
                .insert(name.to_ascii_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let length = request.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

/// Returns nothing when the connection is over.
async fn write_reply(stream: &mut TcpStream, reply: Reply) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Planted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    match reply.body {
        Body::Never => std::future::pending().await,
        Body::Whole(body) => {
            head.push_str("content-length: ");
            head.push_str(&body.len().to_string());
            head.push_str("\r\n\r\n");
            let mut message = head.into_bytes();
            message.extend(body);
            stream.write_all(&message).await.ok()
        }
        Body::Chunks { chunks, end } => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await.ok()?;
            for (pause, chunk) in chunks {
                tokio::time::sleep(pause).await;
                let size = format!("{:x}\r\n", chunk.len());
                stream.write_all(size.as_bytes()).await.ok()?;
                stream.write_all(&chunk).await.ok()?;
                stream.write_all(b"\r\n").await.ok()?;
            }
            match end {
                End::Complete => stream.write_all(b"0\r\n\r\n").await.ok(),
                End::Broken => None,
                End::Open => std::future::pending().await,
            }
        }
    }
}
