//! What the GitHub action runs, in a clean directory.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

/// Runs `scripts/ci-run.sh` on suites of `examples/` as the action does.
fn ci_run(home: &TempDir, suites: &str) -> std::process::Output {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new("bash")
        .arg(repository.join("scripts/ci-run.sh"))
        .current_dir(home.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", home.path().join("summary.md"))
        .env("GITHUB_OUTPUT", home.path().join("output"))
        .env("STRANDLINE_BIN", env!("CARGO_BIN_EXE_strandline"))
        .env("STRANDLINE_SUITES", suites)
        .env("STRANDLINE_ARGS", "--iterations\n1\n")
        .output()
        .expect("bash starts")
}

#[test]
fn the_action_annotates_summarizes_and_keeps_the_exit_code() {
    let home = TempDir::new().expect("a temporary directory");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for suite in ["orders.yaml", "orders-down.yaml"] {
        fs::copy(examples.join(suite), home.path().join(suite)).expect("copied");
    }
    let output = ci_run(&home, "orders.yaml\n orders-down.yaml");
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |name: &str| {
        fs::read_to_string(home.path().join(name)).unwrap_or_else(|error| {
            panic!(
                "{name}: {error}: {log} {}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
    };
    // The worst of failed and set-up failed is failed (`suite-file.md` §9.5).
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert_eq!(read("output"), "exit-code=1\n");
    assert!(log.contains("::error file=orders.yaml,line="), "{log}");
    assert!(
        log.contains("::warning file=orders-down.yaml,line="),
        "{log}"
    );
    let summary = read("summary.md");
    assert!(summary.contains("### ✖ FAILED: Order desk"), "{summary}");
    assert!(
        summary.contains("### ◐ INCONCLUSIVE: Order desk that does not start"),
        "{summary}"
    );
    let reports: Vec<String> = fs::read_dir(home.path().join("strandline-reports"))
        .expect("reports")
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("XML"))
        .collect();
    assert_eq!(reports.len(), 2);
    assert!(
        reports
            .iter()
            .any(|xml| xml.contains("type=\"inconclusive\""))
    );
}

#[test]
fn without_suites_the_action_says_what_is_missing() {
    let home = TempDir::new().expect("a temporary directory");
    let output = ci_run(&home, " ");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("STRANDLINE_SUITES"));
}
