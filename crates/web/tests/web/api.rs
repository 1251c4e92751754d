//! What the API answers, held against its own description.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    sample,
    site::{HOSTILE, Site, check},
};

#[tokio::test]
async fn every_operation_answers_as_it_is_described() {
    let site = Site::with_a_run().await;
    site.store_run("r2", 3).await;
    let trial = "r1-t0001";
    for (path, target) in [
        ("/runs", "/runs".to_owned()),
        (
            "/runs",
            "/runs?suite=orders&status=completed&limit=1".to_owned(),
        ),
        ("/runs/{run}", "/runs/r1".to_owned()),
        ("/runs/{run}", "/runs/last".to_owned()),
        ("/runs/{run}/diagnostics", "/runs/r1/diagnostics".to_owned()),
        ("/runs/{run}/record", "/runs/r1/record".to_owned()),
        ("/runs/{run}/trials", "/runs/r1/trials".to_owned()),
        ("/runs/{run}/analytics", "/runs/r1/analytics".to_owned()),
        ("/runs/{run}/friction", "/runs/r1/friction".to_owned()),
        ("/trials/{trial}", format!("/trials/{trial}")),
        ("/trials/{trial}/chain", format!("/trials/{trial}/chain")),
        (
            "/trials/{trial}/judge-passes",
            format!("/trials/{trial}/judge-passes"),
        ),
        ("/trials/{trial}/trace", format!("/trials/{trial}/trace")),
        (
            "/trials/{trial}/trace",
            format!("/trials/{trial}/trace?frames=true"),
        ),
        (
            "/trials/{trial}/trace/slice",
            format!("/trials/{trial}/trace/slice?limit=2"),
        ),
        (
            "/compare",
            "/compare?base=r1&compared=r2&gate=no-regression".to_owned(),
        ),
        ("/suites/{suite}/trend", "/suites/orders/trend".to_owned()),
        ("/terms", "/terms".to_owned()),
        ("/terms/{term}", "/terms/tool%20call".to_owned()),
    ] {
        let answer = site.read(path, &target).await;
        assert_eq!(answer.status, StatusCode::OK, "{target}: {}", answer.body);
        assert!(answer.header("etag").starts_with('"'), "{target}");
    }
}

#[tokio::test]
async fn a_trace_path_of_a_summary_leads_to_the_trace() {
    let site = Site::with_a_run().await;
    let run = site.read("/runs/{run}", "/runs/r1").await.json();
    let item = &run["summary"]["diagnostics"]["items"][0];
    let path = item["evidence"]["tracePath"].as_str().expect("a path");
    let operation = "/projects/{project}/eval-runs/{run}/iterations/{trial}/trace";
    let answer = site.read(operation, path).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["messages"], json!(sample::trace().messages));
    let elsewhere = path.replace("/eval-runs/r1/", "/eval-runs/r2/");
    let answer = site.read(operation, &elsewhere).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn pages_end_where_the_listing_ends() {
    let site = Site::with_a_run().await;
    let mut ids: Vec<String> = Vec::new();
    let mut target = "/runs/r1/trials?limit=2".to_owned();
    let mut pages = 0;
    loop {
        let page = site.read("/runs/{run}/trials", &target).await.json();
        pages += 1;
        assert_eq!(page["complete"], false, "no page of several is complete");
        for trial in page["trials"].as_array().expect("trials") {
            ids.push(trial["trialId"].as_str().expect("an id").to_owned());
        }
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        target = format!("/runs/r1/trials?limit=2&cursor={cursor}");
    }
    assert_eq!(pages, 3);
    let expected = [
        "r1-t0000",
        "r1-t0001",
        "r1-t0002",
        "r1-t0003",
        "r1-t0004",
        "r1-p0000-cancelled",
    ];
    assert_eq!(ids, expected);
    let whole = site.read("/runs/{run}/trials", "/runs/r1/trials").await;
    assert_eq!(whole.json()["complete"], true);
}

#[tokio::test]
async fn trials_are_filtered_by_what_is_known_of_them() {
    let site = Site::with_a_run().await;
    for (filter, expected) in [
        ("notPassed=true", 3),
        ("stage=call", 2),
        ("category=arguments", 2),
        ("status=cancelled", 1),
        ("case=orders", 5),
        ("case=orders&iteration=3", 1),
        ("model=small-1&provider=openai", 5),
        ("model=", 1),
        ("case=nothing", 0),
    ] {
        let target = format!("/runs/r1/trials?{filter}");
        let page = site.read("/runs/{run}/trials", &target).await.json();
        let found = page["trials"].as_array().expect("trials").len();
        assert_eq!(found, expected, "{filter}");
    }
}

#[tokio::test]
async fn diagnostics_are_complete_only_on_one_page_that_holds_all() {
    let site = Site::with_a_run().await;
    let read = async |query: &str| {
        let target = format!("/runs/r1/diagnostics{query}");
        site.read("/runs/{run}/diagnostics", &target).await.json()
    };
    let count = |page: &Value| page["items"].as_array().expect("items").len();
    let all = read("").await;
    assert_eq!((count(&all), &all["complete"]), (3, &json!(true)));
    assert_eq!(all["scannedIterations"], 6);
    let first = read("?limit=4").await;
    assert_eq!((count(&first), &first["complete"]), (2, &json!(false)));
    assert_eq!(first["scannedIterations"], 4);
    let cursor = first["nextCursor"].as_str().expect("a cursor");
    let last = read(&format!("?limit=4&cursor={cursor}")).await;
    assert_eq!((count(&last), &last["complete"]), (1, &json!(false)));
    assert!(last.get("nextCursor").is_none());
    let only = read("?notPassed=true&limit=3").await;
    assert_eq!((count(&only), &only["complete"]), (3, &json!(true)));
    assert_eq!(only["scannedIterations"], 3);
}

#[tokio::test]
async fn what_the_caller_has_is_not_sent_again() {
    let site = Site::with_a_run().await;
    let first = site.get("/api/v1/runs/r1").await;
    let tag = first.header("etag").to_owned();
    let again = [("if-none-match", tag.as_str())];
    let unchanged = site.ask(Method::GET, "/api/v1/runs/r1", &again, "").await;
    assert_eq!(unchanged.status, StatusCode::NOT_MODIFIED);
    assert_eq!(
        (unchanged.body.as_str(), unchanged.header("etag")),
        ("", tag.as_str())
    );
    let other = site.ask(Method::GET, "/api/v1/runs", &again, "").await;
    assert_eq!(other.status, StatusCode::OK);
}

#[tokio::test]
async fn the_three_absences_of_a_funnel_are_three_answers() {
    let site = Site::empty().await;
    let (store, path) = (&site.store, "/runs/{run}/analytics");
    let run = sample::run("going", 1);
    store.start_run(&run).await.expect("starts");
    let answer = site.read(path, "/runs/going/analytics").await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.json()["absence"], "notYet");
    assert_eq!(answer.header("retry-after"), "2");

    let ended = store.finish_run(&sample::finished(run)).await;
    ended.expect("ends");
    let answer = site.read(path, "/runs/going/analytics").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.json()["absence"], "notRecorded");

    let mut funnel = sample::funnel("going", 2);
    funnel.slices[0].stages.pop();
    let overview = sample::overview("going", 2);
    let replaced = store.replace_roll_ups(&funnel, &overview).await;
    replaced.expect("stores");
    let answer = site.read(path, "/runs/going/analytics").await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.json()["absence"], "withheld");
    assert!(answer.json()["detail"].is_string());

    // A run that is not there is none of them.
    let answer = site.read(path, "/runs/other/analytics").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn a_chain_that_does_not_validate_is_withheld() {
    let site = Site::empty().await;
    let run = sample::run("r1", 1);
    site.store.start_run(&run).await.expect("starts");
    let result = strandline_contract::words::TaskResult::Failed;
    let mut trial = sample::trial("r1", 0, result);
    trial.chain.stage_results.pop();
    let saved = site.store.save_trial(&trial, &sample::trace()).await;
    saved.expect("saves");
    let target = format!("/trials/{}/chain", trial.id);
    let view = site.read("/trials/{trial}/chain", &target).await.json();
    assert_eq!(view["chain"]["status"], "unverified");
    assert!(view["chain"].get("stages").is_none());
}

#[tokio::test]
async fn a_slice_of_a_trace_says_what_it_leaves_open() {
    let site = Site::with_a_run().await;
    let path = "/trials/{trial}/trace/slice";
    let read = async |query: &str| {
        let target = format!("/trials/r1-t0001/trace/slice?{query}");
        site.read(path, &target).await.json()
    };
    let spans = read("limit=3").await;
    assert_eq!(spans["total"], 4);
    assert_eq!(
        (&spans["complete"], &spans["nextFrom"]),
        (&json!(false), &json!(3))
    );
    let rest = read("from=3").await;
    assert_eq!(rest["spans"][0]["id"], "s3");
    assert!(rest.get("nextFrom").is_none() && rest["complete"] == false);
    let cited = read("spanIds=s1,s2").await;
    assert_eq!(
        (&cited["total"], &cited["complete"]),
        (&json!(2), &json!(true))
    );
    let frames = read("part=frames&from=4").await;
    assert_eq!(frames["frames"].as_array().expect("frames").len(), 2);
    assert!(frames.get("spans").is_none());
}

#[tokio::test]
async fn refusals_say_what_and_what_to_do() {
    let site = Site::with_a_run().await;
    for (path, target, status) in [
        ("/runs/{run}", "/runs/nothing", 404),
        ("/trials/{trial}", "/trials/nothing", 404),
        ("/runs/{run}", "/runs/r1?unknown=1", 400),
        ("/runs", "/runs?limit=0", 400),
        ("/runs", "/runs?limit=201", 400),
        ("/runs", "/runs?limit=many", 400),
        ("/runs", "/runs?status=gone", 400),
        ("/runs/{run}/trials", "/runs/r1/trials?cursor=x", 400),
        ("/runs/{run}/trials", "/runs/r1/trials?stage=nowhere", 400),
        ("/runs/{run}/trials", "/runs/r1/trials?provider=openai", 400),
        ("/compare", "/compare?base=r1", 400),
        ("/compare", "/compare?base=r1&compared=r1", 400),
        ("/compare", "/compare?base=r1&compared=r1&gate=x", 400),
        ("/suites/{suite}/trend", "/suites/nothing/trend", 404),
        ("/terms/{term}", "/terms/slection", 404),
    ] {
        let answer = site.read(path, target).await;
        assert_eq!(answer.status.as_u16(), status, "{target}: {}", answer.body);
        let problem = answer.json();
        assert_eq!(problem["status"], status, "{target}");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(!detail.is_empty(), "{target}");
    }
    let answer = site.get("/api/v1/nothing").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn hostile_text_is_data_in_json_and_never_a_type_a_browser_runs() {
    let site = Site::with_a_run().await;
    let answer = site.read("/runs/{run}/trials", "/runs/r1/trials").await;
    assert_eq!(answer.json()["trials"][0]["title"], HOSTILE);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let target = "/api/v1/runs/%3Cimg%20src=x%20onerror=alert(1)%3E";
    let answer = site.get(target).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    check("get", "/runs/{run}", &answer);
}
