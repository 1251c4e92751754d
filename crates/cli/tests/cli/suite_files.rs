//! `strandline validate`, `fmt` and `suite expand`.

use std::{fs, path::Path, process::Output};

use assert_cmd::Command;
use serde_json::Value;

fn run(directory: &Path, arguments: &[&str]) -> (String, String, i32) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .current_dir(directory)
        .env("NO_COLOR", "")
        .args(arguments)
        .output()
        .expect("the binary runs");
    (
        String::from_utf8(stdout).expect("stdout is text"),
        String::from_utf8(stderr).expect("stderr is text"),
        status.code().expect("an exit code"),
    )
}

const SHORT: &str = "\
model: ollama/qwen3:4b   # small
server: uvx mcp-server-time
cases:
  - prompt: What time is it in Tokyo?
    calls: { get_current_time: { timezone: Asia/Tokyo } }
    answer: Tokyo
";

fn files(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).expect("a file is written");
    }
    directory
}

#[test]
fn a_valid_file_is_one_line() {
    let directory = files(&[("time.yaml", SHORT.as_bytes())]);
    let (out, err, code) = run(directory.path(), &["validate", "time.yaml"]);
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("time.yaml: ok · 1 case · 5 trials\n", "", 0)
    );
    let (out, _, _) = run(directory.path(), &["validate", "--plain", "time.yaml"]);
    assert_eq!(out, "time.yaml: suite file: ok\n");
}

#[test]
fn findings_are_shown_in_place_and_the_exit_code_is_2() {
    let broken = SHORT.replace("answer: Tokyo", "answer: Tokyo\n    passThreshold: 85");
    let directory = files(&[("time.yaml", broken.as_bytes())]);
    let (out, err, code) = run(directory.path(), &["validate", "time.yaml"]);
    assert_eq!((err.as_str(), code), ("", 2));
    insta::assert_snapshot!(out, @r"
    error: `passThreshold` must be a fraction from 0 to 1, not 85
       ╭─[time.yaml:7:20]
     7 │     passThreshold: 85
       ·                    ─┬
       ·                     ╰── a percent? write 0.85

    time.yaml: 1 finding
    ");
}

#[test]
fn json_names_every_file_finding_and_case() {
    let directory = files(&[("a.yaml", SHORT.as_bytes()), ("b.yaml", b"mode: x\n")]);
    let (out, _, code) = run(
        directory.path(),
        &["validate", "--json", "a.yaml", "b.yaml"],
    );
    assert_eq!(code, 2);
    let report: Value = serde_json::from_str(&out).expect("one JSON document");
    assert_eq!(report["ok"], false);
    assert_eq!(
        report["files"][0]["suite"]["cases"][0]["title"],
        "What time is it in Tokyo?"
    );
    assert_eq!(report["files"][0]["suite"]["short"], true);
    let finding = &report["files"][1]["findings"][0];
    assert_eq!(finding["code"], "SUITE_FILE_INVALID");
    assert_eq!(finding["pointer"], "schemaVersion");
    assert_eq!(finding["location"]["line"], 1);
    assert_eq!(report["files"][1]["stage"], "contract");
}

#[test]
fn portable_refuses_what_other_tools_do_not_read() {
    let directory = files(&[("time.yaml", SHORT.as_bytes())]);
    let (out, _, code) = run(directory.path(), &["validate", "--portable", "time.yaml"]);
    assert_eq!(code, 2);
    assert!(out.contains("hint: this is the short form"), "{out}");

    let (expanded, _, _) = run(directory.path(), &["suite", "expand", "time.yaml"]);
    fs::write(directory.path().join("long.yaml"), expanded).expect("a file is written");
    let (out, _, code) = run(
        directory.path(),
        &["validate", "--portable", "--plain", "long.yaml"],
    );
    assert_eq!(code, 2);
    assert!(
        out.contains("SUITE_FILE_INVALID mcpServers: `mcpServers` is Strandline's own"),
        "{out}"
    );
    assert_eq!(run(directory.path(), &["validate", "long.yaml"]).2, 0);
}

#[test]
fn files_that_cannot_be_read_are_told_apart_and_do_not_stop_the_rest() {
    let directory = files(&[
        ("latin.yaml", b"a: 1\nb: \xe9\n".as_slice()),
        ("good.yaml", SHORT.as_bytes()),
        ("large.yaml", &vec![b'#'; 1_048_577]),
    ]);
    fs::create_dir(directory.path().join("folder")).expect("a folder");
    let (out, err, code) = run(
        directory.path(),
        &[
            "validate",
            "none.yaml",
            "folder",
            "latin.yaml",
            "large.yaml",
            "good.yaml",
        ],
    );
    assert_eq!(code, 2);
    assert!(out.contains("good.yaml: ok"), "{out}");
    assert!(
        out.contains("error: the file has 1048577 bytes, at most 1048576 are allowed"),
        "{out}"
    );
    insta::assert_snapshot!(err, @r"
    error: cannot read `none.yaml`: there is no such file
    hint: `strandline init` writes a starter suite
    error: cannot read `folder`: it is a directory
    hint: name the suite files in it, such as `DIRECTORY/*.yaml`
    error: cannot read `latin.yaml`: it is not UTF-8 text (line 2, column 4)
    ");
}

#[test]
fn fmt_rewrites_once_and_check_changes_nothing() {
    let untidy = SHORT
        .replace("  - prompt", "   -    prompt")
        .replace("    calls", "        calls")
        .replace("    answer", "        answer");
    let directory = files(&[
        ("a.yaml", untidy.as_bytes()),
        ("b.yaml", b"nonsense: ["),
        (
            "c.json",
            br#"{"server": "s", "model": "ollama/x", "cases": [{"prompt": "hi"}]}"#,
        ),
    ]);
    let (out, err, code) = run(directory.path(), &["fmt", "--check", "a.yaml", "c.json"]);
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("a.yaml\nc.json\n", "2 of 2 files would change\n", 2)
    );
    assert_eq!(
        fs::read_to_string(directory.path().join("a.yaml")).expect("readable"),
        untidy
    );

    let (out, err, code) = run(directory.path(), &["fmt", "a.yaml", "b.yaml", "c.json"]);
    assert_eq!((out.as_str(), code), ("a.yaml\nc.json\n", 2));
    assert!(err.contains("`[` is not closed"), "{err}");
    assert!(
        err.ends_with("2 of 3 files changed, 1 left as they are\n"),
        "{err}"
    );
    let tidy = fs::read_to_string(directory.path().join("a.yaml")).expect("readable");
    assert_eq!(tidy, SHORT.replace("   # small", " # small"));
    let json = fs::read_to_string(directory.path().join("c.json")).expect("readable");
    assert!(json.starts_with("{\n  \"server\": \"s\",\n"), "{json}");
    assert_eq!(
        run(directory.path(), &["fmt", "--check", "a.yaml", "c.json"]).2,
        0
    );
    let left: Vec<_> = fs::read_dir(directory.path()).expect("a folder").collect();
    assert_eq!(left.len(), 3, "no temporary file stays");
}

#[test]
fn expand_shows_the_dialect_file_as_yaml_or_json() {
    let directory = files(&[("time.yaml", SHORT.as_bytes())]);
    let (out, _, code) = run(directory.path(), &["suite", "expand", "time.yaml"]);
    assert_eq!(code, 0);
    assert!(out.contains("  model: ollama/qwen3:4b # small\n"), "{out}");
    assert!(out.contains("suite: { id: s_"), "{out}");
    let (json, _, _) = run(
        directory.path(),
        &["suite", "expand", "--json", "time.yaml"],
    );
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["suite"]["name"], "time");
    assert_eq!(json["mcpServers"]["server"]["command"], "uvx");
}

fn piped(arguments: &[&str], input: impl Into<Vec<u8>>) -> (String, String, i32) {
    let output = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .env("NO_COLOR", "")
        .args(arguments)
        .write_stdin(input)
        .output()
        .expect("the binary runs");
    (
        String::from_utf8(output.stdout).expect("stdout is text"),
        String::from_utf8(output.stderr).expect("stderr is text"),
        output.status.code().expect("an exit code"),
    )
}

#[test]
fn a_dash_is_standard_input() {
    let (out, err, code) = piped(&["validate", "-"], SHORT);
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("stdin: ok · 1 case · 5 trials\n", "", 0)
    );
    let (expanded, _, code) = piped(&["suite", "expand", "-"], SHORT);
    assert_eq!(code, 0);
    assert!(expanded.contains("schemaVersion"), "{expanded}");
    let (json, _, _) = piped(&["suite", "expand", "--json", "-"], SHORT);
    // What was expanded is a suite file again, in either form.
    for text in [expanded, json] {
        let (out, _, code) = piped(&["validate", "-"], text);
        assert_eq!((out.starts_with("stdin: ok"), code), (true, 0), "{out}");
    }
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let messy = SHORT.replace("   # small", "      # small");
    let (formatted, err, code) = piped(&["fmt", "-"], messy.clone());
    assert_eq!((err.as_str(), code), ("1 of 1 file changed\n", 0));
    assert!(formatted.contains("# small"), "{formatted}");
    let (again, err, _) = piped(&["fmt", "-"], formatted.clone());
    assert_eq!(
        (again, err.as_str()),
        (formatted.clone(), "0 of 1 file changed\n")
    );
    let (out, _, code) = piped(&["fmt", "--check", "-"], formatted);
    assert_eq!((out.as_str(), code), ("", 0));
    let (out, _, code) = piped(&["fmt", "--check", "-"], messy);
    assert_eq!((out.as_str(), code), ("", 2));
    // Input that begins with a brace stays JSON.
    let (json, _, _) = piped(&["suite", "expand", "--json", "-"], SHORT);
    let (json, _, code) = piped(&["fmt", "-"], json);
    assert_eq!((json.starts_with('{'), code), (true, 0), "{json}");
}

#[test]
fn standard_input_that_is_no_text_is_told_by_place() {
    let (_, err, code) = piped(&["validate", "-"], b"model: x\nname: \xff\n".to_vec());
    assert_eq!(code, 2);
    assert!(
        err.contains("cannot read `stdin`: it is not UTF-8 text (line 2, column 7)"),
        "{err}"
    );
}
