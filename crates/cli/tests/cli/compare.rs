//! `strandline compare` and `trend` on stored runs of the example suite: one
//! per release of the demo server.

use std::{path::PathBuf, process::Command};

use serde_json::Value;
use strandline_testkit::vectors::workspace_root;

/// A directory with two runs of the example suite in its store.
struct Releases {
    home: tempfile::TempDir,
    base: String,
    compared: String,
}

impl Releases {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let mut releases = Self {
            home,
            base: String::new(),
            compared: String::new(),
        };
        releases.base = releases.run_release("1", &[]);
        releases.compared = releases.run_release("2", &[]);
        releases
    }

    fn strandline(&self, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_strandline"))
            .args(arguments)
            .current_dir(self.home.path())
            .env_remove("STRANDLINE_STORE")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "110")
            .env("TZ", "UTC")
            .output()
            .expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (text, output.status.code().expect("an exit code"))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let (text, _) = self.strandline(arguments);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs the example suite on a release of the demo server; returns the id.
    fn run_release(&self, release: &str, more: &[&str]) -> String {
        let suite: PathBuf = workspace_root().join("examples/orders.yaml");
        let suite = suite.to_str().expect("a path").to_owned();
        let server = format!(
            "{} demo-server --release {release}",
            env!("CARGO_BIN_EXE_strandline")
        );
        let mut arguments = vec!["run", &suite, "--quiet", "--command", &server];
        arguments.extend(more);
        let (_, code) = self.strandline(&arguments);
        assert_eq!(code, 1, "the example suite has planted defects");
        let list = self.json(&["runs", "--json", "--limit", "1"]);
        list["runs"][0]["runId"].as_str().expect("an id").to_owned()
    }
}

fn case<'a>(comparison: &'a Value, id: &str) -> &'a Value {
    let cases = comparison["cases"].as_array().expect("cases");
    let mut found = cases.iter().filter(|case| case["caseId"] == id);
    found.next().expect("the case is there")
}

#[test]
fn two_releases_of_a_server_are_compared_case_by_case() {
    let releases = Releases::new();
    let (base, compared) = (releases.base.as_str(), releases.compared.as_str());
    let comparison = releases.json(&["compare", base, compared, "--json"]);
    assert_eq!(
        comparison["parity"]["state"], "comparable",
        "{comparison:#}"
    );

    let broken = case(&comparison, "looks-up");
    assert_eq!(broken["change"], "newlyFailing");
    assert_eq!(broken["rates"]["verdict"], "regression");
    assert_eq!(broken["rates"]["base"]["passedTrials"], 5);
    assert_eq!(broken["rates"]["compared"]["passedTrials"], 0);
    assert_eq!(
        broken["rates"]["difference"]["upper"],
        -0.385_549_005_690_343_56
    );
    assert_eq!(broken["rates"]["smallestDrop"]["shown"], 0.6);
    let repaired = case(&comparison, "describes-tools");
    assert_eq!(repaired["change"], "fixed");
    assert_eq!(repaired["rates"]["verdict"], "insufficient_data");
    let flaky = case(&comparison, "finds-customer");
    assert_eq!(flaky["base"]["flaky"], true);

    let server = &comparison["surface"][0];
    let tools: Vec<String> = server["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| format!("{} {}", tool["name"], tool["change"]))
        .collect();
    assert_eq!(
        tools,
        [
            "\"cancel_order\" \"added\"",
            "\"find_customer\" \"changed\"",
            "\"refund_order\" \"changed\"",
            "\"search_orders\" \"changed\"",
        ]
    );
    assert_eq!(server["unchangedTools"], 3);
    assert_eq!(comparison["suite"]["same"], true);

    let (text, code) = releases.strandline(&["compare", base, compared]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("newly failing") && text.contains("cancel_order added"),
        "{text}"
    );
    // There and back: what was newly failing is fixed.
    let back = releases.json(&["compare", compared, base, "--json"]);
    assert_eq!(case(&back, "looks-up")["change"], "fixed");

    for (gate, expected) in [
        ("no-regression", 1),
        ("min-pass-rate=0.1", 0),
        ("min-pass-rate=0.99", 1),
        ("min-pass-rate=99", 2),
    ] {
        let (text, code) = releases.strandline(&["compare", base, compared, "--gate", gate]);
        assert_eq!(code, expected, "{gate}: {text}");
    }
    let (_, code) = releases.strandline(&["compare", base, base]);
    assert_eq!(code, 2);
}

#[test]
fn runs_graded_differently_do_not_compare_and_the_series_breaks() {
    let releases = Releases::new();
    let graded = releases.run_release("1", &["--match-arguments", "ignore"]);
    let base = releases.base.as_str();
    let (text, code) = releases.strandline(&["compare", base, &graded]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("NOT COMPARABLE"), "{text}");
    assert!(!text.contains("overall"), "{text}");
    let refused = releases.json(&["compare", base, &graded, "--json", "--side-by-side"]);
    assert_eq!(
        refused["parity"]["blockers"],
        serde_json::json!(["differentConfigIdentity"])
    );
    assert_eq!(refused.get("cases"), None);
    assert_eq!(refused["base"]["cases"].as_array().map(Vec::len), Some(9));
    let (_, code) = releases.strandline(&["compare", base, &graded, "--side-by-side"]);
    assert_eq!(code, 0);
    let gated = [
        "compare",
        base,
        &graded,
        "--side-by-side",
        "--gate",
        "no-regression",
    ];
    assert_eq!(releases.strandline(&gated).1, 5);

    let trend = releases.json(&["trend", "s_example_orders", "--json"]);
    let parity: Vec<&Value> = trend["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|point| &point["parity"]["state"])
        .collect();
    assert_eq!(
        parity,
        [&Value::Null, &"comparable".into(), &"blocked".into()]
    );
    assert_eq!(trend["complete"], true);
    let (text, code) = releases.strandline(&["trend", "Order desk"]);
    assert_eq!((code, text.matches("break:").count()), (0, 1), "{text}");
    assert_eq!(releases.strandline(&["trend", "nothing"]).1, 2);
}

#[test]
fn the_surface_alone_says_what_changed_in_the_servers_tools() {
    let releases = Releases::new();
    let (base, compared) = (releases.base.as_str(), releases.compared.as_str());
    let whole = releases.json(&["compare", base, compared, "--json"]);
    let alone = releases.json(&["surface", base, compared, "--json"]);
    assert_eq!(alone["servers"], whole["surface"]);
    assert_eq!(alone["baseRunId"], base);
    let changed = alone["servers"][0]["tools"].as_array().map_or(0, Vec::len);
    assert!(changed > 0, "{alone}");
    let (text, code) = releases.strandline(&["surface", base, compared]);
    assert_eq!(code, 0);
    let (compared_text, _) = releases.strandline(&["compare", base, compared]);
    let first = text.lines().next().expect("a line");
    assert!(first.trim_start().starts_with("surface"), "{text}");
    assert!(
        compared_text.contains(text.trim_end()),
        "{text}\n{compared_text}"
    );
}
