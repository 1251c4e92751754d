//! Runs that are started and stopped from here, on a real server over standard
//! input and output.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use strandline_testkit::program;

use crate::site::{Site, TOKEN, check, events};

const TOKEN_HEADER: (&str, &str) = ("x-strandline-token", TOKEN);
const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Writes a suite of one case on a server of the tests.
fn suite(site: &Site, path: &str, trials: u32, script: &Value) {
    let server = program("strandline-echo-mcp");
    let suite = json!({
        "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
        "suite": {"id": "s_echo", "name": "Echo <b>server</b>"},
        "target": {"servers": [{"name": "echo"}]},
        "mcpServers": {"echo": {"command": server}},
        "defaults": {"model": "scripted/test", "iterations": trials, "passThreshold": 1, "validity": {}},
        "cases": [{
            "id": "says", "title": "Says it back",
            "steps": [{"id": "ask", "kind": "prompt", "prompt": "Say hello."}],
            "assertions": [{"type": "responseContains", "needle": "hello"}],
            "script": script,
        }],
    });
    site.write(path, &suite.to_string());
}

async fn post(site: &Site, path: &str, target: &str, body: &Value) -> (StatusCode, Value) {
    let headers = [TOKEN_HEADER, JSON];
    let target = format!("/api/v1{target}");
    let answer = site
        .ask(Method::POST, &target, &headers, &body.to_string())
        .await;
    check("post", path, &answer);
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_run_is_previewed_started_followed_and_read() {
    let site = Site::empty().await;
    suite(&site, "evals/echo.json", 3, &json!([{"say": "hello"}]));
    let asked = json!({"path": "evals/echo.json"});
    let (status, preview) = post(&site, "/runs/preview", "/runs/preview", &asked).await;
    assert_eq!(status, StatusCode::OK, "{preview}");
    assert_eq!(preview["trials"], 3);
    assert_eq!(preview["models"], json!(["scripted/test"]));
    let entry = preview["servers"][0]["entry"].as_str().expect("an entry");
    assert!(entry.contains("strandline-echo-mcp"), "{entry}");
    let listed = site.get("/api/v1/runs").await.json();
    assert_eq!(listed["runs"], json!([]), "a preview starts nothing");

    let (status, started) = post(&site, "/runs", "/runs", &asked).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{started}");
    let run = started["runId"].as_str().expect("an id").to_owned();
    let answer = site
        .get(&format!("/api/v1/runs/{run}/events?after=0"))
        .await;
    let told = events(&answer.body);
    let names: Vec<&str> = told.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.last(), Some(&"end"), "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "trial").count(), 3);
    assert!(names.contains(&"progress"));
    let end = &told.last().expect("events").2;
    assert_eq!(end["run"]["verdict"], "passed", "{end}");
    assert_eq!(end["problems"], json!([]));

    let view = site
        .read("/runs/{run}", &format!("/runs/{run}"))
        .await
        .json();
    assert_eq!(view["summary"]["verdict"], "passed");
    let analytics = format!("/runs/{run}/analytics");
    let answer = site.read("/runs/{run}/analytics", &analytics).await;
    assert_eq!(answer.status, StatusCode::OK);
    let coverage = format!("/runs/{run}/coverage");
    let answer = site.read("/runs/{run}/coverage", &coverage).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    for target in [format!("/runs/{run}"), format!("/runs/{run}/funnel")] {
        let page = site.get(&target).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(!page.body.contains("<b>server"), "{}", page.body);
    }
}

#[tokio::test]
async fn a_run_starts_from_a_form_that_says_what_it_would_use() {
    let site = Site::empty().await;
    suite(&site, "echo.json", 1, &json!([{"say": "hello"}]));
    let list = site.get("/suites").await;
    assert!(
        list.body.contains("/suites/file?path=echo.json"),
        "{}",
        list.body
    );
    let page = site.get("/suites/file?path=echo.json").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("strandline-echo-mcp"), "{}", page.body);
    assert!(page.body.contains("scripted/test"));
    assert!(!page.body.contains("<b>server"));

    let without = "path=echo.json&iterations=2";
    let refused = site
        .ask(Method::POST, "/suites/run", &[FORM], without)
        .await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let form = format!("token={TOKEN}&{without}&case=&model=");
    let foreign = [FORM, ("origin", "https://evil.example")];
    let refused = site.ask(Method::POST, "/suites/run", &foreign, &form).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let stale = format!("{form}&sourceHash=0000");
    let refused = site.ask(Method::POST, "/suites/run", &[FORM], &stale).await;
    assert_eq!(
        refused.status,
        StatusCode::CONFLICT,
        "the file is not the one looked at"
    );

    let answer = site.ask(Method::POST, "/suites/run", &[FORM], &form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let target = answer.header("location").to_owned();
    assert!(target.starts_with("/runs/"), "{target}");
    let page = site.get(&target).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let told = events(&site.get(&format!("/api/v1{target}/events")).await.body);
    assert_eq!(told.last().expect("events").2["run"]["configuredTrials"], 2);
}

#[tokio::test]
async fn a_run_is_stopped_and_stored_as_far_as_it_came() {
    let site = Site::empty().await;
    suite(
        &site,
        "echo.json",
        50,
        &json!([{"say": "hello", "delayMs": 400}]),
    );
    let asked = json!({"path": "echo.json", "concurrency": 1});
    let (status, started) = post(&site, "/runs", "/runs", &asked).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{started}");
    let run = started["runId"].as_str().expect("an id").to_owned();
    let page = site.get(&format!("/runs/{run}")).await;
    assert!(page.body.contains("Stop the run"), "{}", page.body);
    let stop = format!("/runs/{run}/stop");
    let (status, _) = post(&site, "/runs/{run}/stop", &stop, &json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let told = events(&site.get(&format!("/api/v1/runs/{run}/events")).await.body);
    let end = &told.last().expect("events").2["run"];
    assert_eq!(end["activity"], "ended", "{end}");
    assert_ne!(end["verdict"], "passed");
    let (status, problem) = post(&site, "/runs/{run}/stop", &stop, &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
}

#[tokio::test]
async fn a_change_needs_the_token_and_json() {
    let site = Site::empty().await;
    suite(&site, "echo.json", 1, &json!([{"say": "hello"}]));
    let body = json!({"path": "echo.json"}).to_string();
    let ask = async |headers: &[(&str, &str)]| {
        let answer = site.ask(Method::POST, "/api/v1/runs", headers, &body).await;
        check("post", "/runs", &answer);
        answer.status.as_u16()
    };
    assert_eq!(ask(&[JSON]).await, 401);
    assert_eq!(
        ask(&[JSON, ("x-strandline-token", "0123456789abcdef")]).await,
        401
    );
    assert_eq!(ask(&[JSON, ("authorization", "Basic abc")]).await, 401);
    assert_eq!(ask(&[TOKEN_HEADER, JSON, ("origin", "null")]).await, 403);
    assert_eq!(
        ask(&[TOKEN_HEADER, JSON, ("sec-fetch-site", "cross-site")]).await,
        403
    );
    assert_eq!(ask(&[TOKEN_HEADER]).await, 415);
    assert_eq!(
        ask(&[TOKEN_HEADER, ("content-type", "text/plain")]).await,
        415
    );
    let listed = site.get("/api/v1/runs").await.json();
    assert_eq!(listed["runs"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_with_its_reason() {
    let site = Site::empty().await;
    suite(&site, "echo.json", 1, &json!([{"say": "hello"}]));
    site.write("broken.yaml", "server: 7\ncases: 3\n");
    for (body, status) in [
        (json!({"path": "../echo.json"}), 400),
        (json!({"path": "/etc/passwd"}), 400),
        (json!({"path": "missing.yaml"}), 400),
        (json!({"path": "broken.yaml"}), 400),
        (json!({"path": "echo.json", "cases": ["nothing"]}), 400),
        (json!({"path": "echo.json", "iterations": 0}), 400),
        (json!({"path": "echo.json", "iterations": 101}), 400),
        (json!({"path": "echo.json", "command": "rm"}), 400),
        (
            json!({"path": "echo.json", "models": ["openai/gpt-x"]}),
            422,
        ),
    ] {
        let (found, problem) = post(&site, "/runs", "/runs", &body).await;
        assert_eq!(found.as_u16(), status, "{body}: {problem}");
    }
    let long = json!({"path": "a".repeat(70_000)});
    let (found, _) = post(&site, "/runs", "/runs", &long).await;
    assert_eq!(found, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn suite_files_are_listed_checked_and_read() {
    let site = Site::empty().await;
    suite(&site, "evals/echo.json", 1, &json!([{"say": "hello"}]));
    site.write("broken.yaml", "server: 7\ncases: 3\n");
    let list = site.read("/suite-files", "/suite-files").await.json();
    let paths: Vec<&str> = list["suites"]
        .as_array()
        .expect("suites")
        .iter()
        .filter_map(|suite| suite["path"].as_str())
        .collect();
    assert_eq!(paths, ["broken.yaml", "evals/echo.json"]);
    let path = "/suite-files/validation";
    let found = site
        .read(path, "/suite-files/validation?path=broken.yaml")
        .await;
    assert_eq!(found.json()["valid"], false);
    let path = "/suite-files/cases";
    let found = site
        .read(path, "/suite-files/cases?path=evals/echo.json")
        .await;
    assert_eq!(found.json()["cases"][0]["id"], "says");
    let found = site.read(path, "/suite-files/cases?path=../x.yaml").await;
    assert_eq!(found.status, StatusCode::BAD_REQUEST);
    let page = site.get("/suites/file?path=broken.yaml").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("line 1"), "{}", page.body);
}
