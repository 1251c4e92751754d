use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use strandline_suite::{LoadOptions, load};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("examples/ is readable")
        .map(|entry| entry.expect("the entry is readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_example_loads_without_a_finding() {
    let files = examples();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).expect("the example is UTF-8");
        let loaded = load(&text, &LoadOptions::authored());
        let problems = loaded.err().map(|failure| failure.findings);
        assert!(problems.is_none(), "{}: {problems:#?}", file.display());
    }
}

#[test]
fn the_demo_server_speaks_over_stdio() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_strandline"))
        .arg("demo-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = server.stdin.take().expect("stdin is piped");
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).expect("the server reads");
    drop(input);
    let output = server.wait_with_output().expect("the server ends");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.trim(), r#"{"id":1,"jsonrpc":"2.0","result":{}}"#);
}

#[test]
fn a_server_that_fails_to_connect_says_why_and_exits() {
    let output = Command::new(env!("CARGO_BIN_EXE_strandline"))
        .args(["demo-server", "--fail", "connection"])
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(4));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not reachable"));
}
