//! Arrows between crates go one way, and the pure half stays pure
//! (`docs/architecture.md`).

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Crate → the crates of ours that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("strandline-contract", &[]),
    ("strandline-derive", &["contract"]),
    ("strandline-suite", &["contract", "derive"]),
    ("strandline-report", &["contract", "derive"]),
    ("strandline-store", &["contract"]),
    ("strandline-engine", &["contract", "suite", "derive"]),
    (
        "strandline-service",
        &["contract", "suite", "derive", "report", "store", "engine"],
    ),
    (
        "strandline-web",
        &[
            "contract", "suite", "derive", "report", "store", "engine", "service",
        ],
    ),
    (
        "strandline-eval-tools",
        &[
            "contract", "suite", "derive", "report", "store", "engine", "service",
        ],
    ),
    (
        "strandline",
        &[
            "contract",
            "suite",
            "derive",
            "report",
            "store",
            "engine",
            "service",
            "web",
            "eval-tools",
        ],
    ),
    ("strandline-testkit", &[]),
];

/// Crates that may reach neither of [`WORLDLY`].
const PURE: &[&str] = &[
    "strandline-contract",
    "strandline-derive",
    "strandline-suite",
    "strandline-report",
];

/// Crates that wait, talk or roll dice. (`getrandom` is not among them: the
/// JSON Schema validator seeds its hash maps with it, which shows in no result.)
const WORLDLY: &[&str] = &["tokio", "reqwest", "hyper", "sqlx", "axum", "rmcp", "rand"];

/// Crates that a pure crate may not use itself. What it uses may: the JUnit
/// writer has an id type and a time type that we never fill from the world.
const WORLDLY_AT_HAND: &[&str] = &["uuid", "chrono", "jiff"];

struct Workspace {
    /// Package name → names of its normal dependencies, by package id.
    dependencies: BTreeMap<String, BTreeSet<String>>,
    members: Vec<String>,
}

fn workspace() -> Workspace {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        // Crates for other platforms are not on this machine.
        .args(["--filter-platform", &host()])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names: BTreeMap<String, String> = list(&metadata["packages"])
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    let mut dependencies: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let name = &names[node["id"].as_str().expect("an id")];
        let entry = dependencies.entry(name.clone()).or_default();
        for dependency in list(&node["deps"]) {
            let normal = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if normal {
                entry.insert(names[dependency["pkg"].as_str().expect("an id")].clone());
            }
        }
    }
    Workspace {
        dependencies,
        members: list(&metadata["workspace_members"])
            .map(|id| names[id.as_str().expect("an id")].clone())
            .collect(),
    }
}

/// Returns the platform that the tests run on, as rustc names it.
fn host() -> String {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .expect("rustc runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[test]
fn every_arrow_between_crates_is_drawn() {
    let workspace = workspace();
    let drawn: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for member in &workspace.members {
        let allowed = drawn
            .get(member.as_str())
            .unwrap_or_else(|| panic!("draw `{member}` in docs/architecture.md and here"));
        for dependency in &workspace.dependencies[member] {
            if let Some(short) = dependency.strip_prefix("strandline-") {
                assert!(
                    allowed.contains(&short),
                    "`{member}` uses `{dependency}`: that arrow is not drawn"
                );
            }
        }
    }
}

#[test]
fn the_pure_half_reaches_nothing_that_waits_or_rolls_dice() {
    let workspace = workspace();
    for pure in PURE {
        let mut reached = BTreeSet::new();
        let mut open = vec![(*pure).to_owned()];
        while let Some(name) = open.pop() {
            if reached.insert(name.clone()) {
                open.extend(
                    workspace
                        .dependencies
                        .get(&name)
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
            }
        }
        for worldly in WORLDLY_AT_HAND {
            assert!(
                !workspace.dependencies[*pure].contains(*worldly),
                "`{pure}` uses `{worldly}`"
            );
        }
        for worldly in WORLDLY {
            assert!(!reached.contains(*worldly), "`{pure}` reaches `{worldly}`");
        }
    }
}
