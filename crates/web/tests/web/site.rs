//! A server over a store of its own, asked without a network.

use std::sync::OnceLock;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use serde_json::{Value, json};
use strandline_contract::words::{IterationStatus, TaskResult};
use strandline_service::{launch::Launcher, project::Project};
use strandline_store::Store;
use strandline_web::{App, Hosts, Settings, Token, openapi, router};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::sample;

/// The token of every server in these tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123";
/// A text that would be a script where it is not escaped.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}";

pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) stopping: CancellationToken,
    router: Router,
    directory: tempfile::TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("ASCII"))
    }
}

/// How a server listens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    Loopback,
    Everywhere,
}

impl Site {
    /// Serves an empty store on loopback.
    pub(crate) async fn empty() -> Self {
        Self::listening(Listening::Loopback).await
    }

    pub(crate) async fn listening(listening: Listening) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join(".strandline/strandline.db");
        let store = Store::open(&path).await.expect("opens");
        let address = match listening {
            Listening::Loopback => "127.0.0.1:7357",
            Listening::Everywhere => "0.0.0.0:7357",
        };
        let stopping = CancellationToken::new();
        let app = App::new(
            Settings {
                store: store.clone(),
                launcher: Some(Launcher::new(store.clone())),
                project: Project::open(directory.path()).expect("a project"),
                token: Token::chosen(TOKEN).expect("a token"),
                reading_needs_token: listening == Listening::Everywhere,
                hosts: Hosts::of(address.parse().expect("an address"), &[]),
            },
            stopping.clone(),
        );
        Self {
            store,
            stopping,
            router: router(app),
            directory,
        }
    }

    /// Serves a store with the ended run `r1`: five trials of `orders`, of which
    /// two failed, and one of `ping` that was cancelled.
    pub(crate) async fn with_a_run() -> Self {
        let site = Self::empty().await;
        site.store_run("r1", 5).await;
        site
    }

    /// Stores an ended run with a hostile title.
    pub(crate) async fn store_run(&self, id: &str, trials: u32) {
        let mut run = sample::run(id, trials);
        run.plan[0].title = HOSTILE.to_owned();
        self.store.start_run(&run).await.expect("starts");
        for iteration in 0..trials {
            let result = if iteration % 3 == 2 || iteration == 1 {
                TaskResult::Failed
            } else {
                TaskResult::Passed
            };
            let mut trial = sample::trial(id, iteration, result);
            trial.title = HOSTILE.to_owned();
            let saved = self.store.save_trial(&trial, &sample::trace()).await;
            saved.expect("saves");
        }
        let cancelled = sample::ping(id, 0, IterationStatus::Cancelled);
        let saved = self.store.save_trial(&cancelled, &sample::trace()).await;
        saved.expect("saves");
        let funnel = sample::funnel(id, u64::from(trials) + 1);
        let finished = sample::finished(run);
        let overview = sample::overview(id, u64::from(trials) + 1);
        let ended = self
            .store
            .finish_run_with_roll_ups(&finished, &funnel, &overview);
        let ended = ended.await;
        ended.expect("ends");
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        let above = path.parent().expect("a directory");
        std::fs::create_dir_all(above).expect("makes directories");
        std::fs::write(path, text).expect("writes");
    }

    /// Asks as a program on this machine does.
    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.ask(Method::GET, target, &[], "").await
    }

    /// Asks with further headers; a `host` among them replaces the usual one.
    pub(crate) async fn ask(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(target);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header(header::HOST, "127.0.0.1:7357");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Body::from(body.to_owned()))
            .expect("a request");
        let response = self.router.clone().oneshot(request).await;
        let response = response.expect("never fails");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a body");
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).expect("UTF-8"),
        }
    }

    /// Asks for a document and holds the answer against the API's description;
    /// `path` is the operation's.
    pub(crate) async fn read(&self, path: &str, target: &str) -> Answer {
        let answer = self.get(&format!("/api/v1{target}")).await;
        check("get", path, &answer);
        answer
    }
}

/// Holds an answer against the API's description.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    let description = DESCRIPTION.get_or_init(openapi::document);
    let operation = &description["paths"][format!("/api/v1{path}")][method];
    assert!(operation.is_object(), "{method} {path} is not described");
    let responses = &operation["responses"];
    let mut response = &responses[answer.status.as_str()];
    let problem = answer.header("content-type") == "application/problem+json";
    if problem || response.is_null() {
        response = &responses["default"];
    }
    if let Some(reference) = response["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        response = description.pointer(pointer).expect("a response");
    }
    let kind = answer.header("content-type");
    let schema = &response["content"][kind]["schema"];
    assert!(
        schema.is_object(),
        "{} {kind} of {path} is not described: {}",
        answer.status,
        answer.body
    );
    validate(schema, description, &answer.json());
}

/// Holds a document against a schema of the description.
pub(crate) fn validate(schema: &Value, description: &Value, document: &Value) {
    let mut schema = schema.clone();
    schema["components"] = json!({ "schemas": description["components"]["schemas"] });
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors: Vec<String> = validator
        .iter_errors(document)
        .take(5)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

/// One event: its name, its id and its document.
pub(crate) type Event = (String, Option<String>, Value);

/// Reads server-sent events, each held against the API's description.
pub(crate) fn events(body: &str) -> Vec<Event> {
    let description = openapi::document();
    let path = &description["paths"]["/api/v1/runs/{run}/events"]["get"];
    let schema = &path["responses"]["200"]["content"]["text/event-stream"]["schema"];
    let mut events = Vec::new();
    for block in body.split("\n\n") {
        let field = |name: &str| {
            let start = format!("{name}: ");
            let line = block.lines().find_map(|line| line.strip_prefix(&start));
            line.map(str::to_owned)
        };
        let (Some(name), Some(data)) = (field("event"), field("data")) else {
            continue;
        };
        let document: Value = serde_json::from_str(&data).expect("JSON");
        validate(schema, &description, &document);
        events.push((name, field("id"), document));
    }
    events
}
