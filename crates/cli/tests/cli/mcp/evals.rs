//! Our own evals of these tools: `evals/strandline-mcp.yaml`, with a scripted
//! agent on the real server over a store with a run in it.

use serde_json::{Value, json};

use super::Project;
use crate::stored::stdout;

#[test]
fn our_own_evals_of_the_tools_pass() {
    let project = Project::new();
    project.write(
        "examples/orders.yaml",
        include_str!("../../../../../examples/orders.yaml"),
    );
    project.write(
        "evals/strandline-mcp.yaml",
        include_str!("../../../../../evals/strandline-mcp.yaml"),
    );
    // What the agent reads about: a run that did not pass, twice.
    for _ in 0..2 {
        project
            .strandline(&["run", "examples/orders.yaml", "--quiet"])
            .code(1);
    }
    let fixture = include_str!("../../../../../evals/fixtures/one-order.yaml");
    project.write("evals/fixtures/one-order.yaml", fixture);
    let run = project.strandline(&["run", "evals/strandline-mcp.yaml"]);
    let shown = stdout(&run);
    run.code(0);
    // The suite starts runs of its own, which are newer.
    let read = |arguments: &[&str]| -> Value {
        let printed = stdout(&project.strandline(arguments).code(0));
        serde_json::from_str(&printed).expect("a document")
    };
    let runs = read(&["runs", "--suite", "s_strandline_mcp", "--json"]);
    let id = runs["runs"][0]["runId"].as_str().expect("a run");
    let summary = read(&["show", id, "--json"]);
    assert_eq!(summary["verdict"], "passed", "{shown}");
    assert_eq!(summary["diagnostics"]["items"], json!([]), "{shown}");
    // Every tool is expected by some case of the suite.
    let covered = read(&["coverage", id, "--json"]);
    let never: Vec<&Value> = covered["gaps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|gap| gap["kind"] == "toolNeverExpected")
        .collect();
    assert!(never.is_empty(), "{never:?}");
}
