//! What must hold before anything is started (`suite-file.md` §5, §9.4).

use std::path::Path;

use strandline_contract::{exit::ExitCode, words::RefusalCode};
use strandline_suite::{
    LoadOptions, Refusal,
    binding::{FileSource, Overrides},
    load,
    preflight::{Approval, Preflight, PreflightRequest, Support, preflight},
    refusal,
};

struct NoFiles;

impl FileSource for NoFiles {
    fn read(&self, _: &Path) -> Result<Option<String>, String> {
        Ok(None)
    }
}

const HEAD: &str = r#"
schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: { id: s, name: S }
target: { servers: [ { name: a } ] }
mcpServers: { a: { command: server } }
provenance: { sourceHash: h, sourceFormat: f, reportHash: r }
"#;

fn asked(
    defaults: &str,
    cases: &str,
    change: impl FnOnce(&mut Asked),
) -> Result<Preflight, Vec<Refusal>> {
    let text = format!(
        "{HEAD}defaults: {{ model: ollama/x, iterations: 1, passThreshold: 1, validity: {{}}{defaults} }}\ncases:\n{cases}\n"
    );
    let loaded = load(&text, &LoadOptions::authored())
        .unwrap_or_else(|failure| panic!("the suite loads: {:?}", failure.findings));
    let mut asked = Asked::default();
    change(&mut asked);
    preflight(
        &PreflightRequest {
            loaded: &loaded,
            suite_dir: Path::new("/suites"),
            invocation_dir: Path::new("/here"),
            cases: &asked.cases,
            models: &asked.models,
            approvals: &asked.approvals,
            overrides: &Overrides::default(),
            support: Support { judge: asked.judge },
        },
        &NoFiles,
        &|_| None,
    )
}

#[derive(Default)]
struct Asked {
    cases: Vec<String>,
    models: Vec<String>,
    approvals: Vec<Approval>,
    judge: bool,
}

fn codes(result: Result<Preflight, Vec<Refusal>>) -> Vec<RefusalCode> {
    match result {
        Ok(_) => Vec::new(),
        Err(refusals) => refusals.iter().map(|refusal| refusal.code).collect(),
    }
}

fn reasons(result: Result<Preflight, Vec<Refusal>>) -> Vec<&'static str> {
    match result {
        Ok(_) => Vec::new(),
        Err(refusals) => refusals
            .iter()
            .filter_map(|refusal| refusal.reason)
            .collect(),
    }
}

const THREE: &str = r"
  - { id: c1, title: One, steps: [ { id: s1, kind: prompt, prompt: hi } ] }
  - { id: c2, title: Two, disabled: true, steps: [ { id: s1, kind: prompt, prompt: hi } ] }
  - { id: c3, title: Three, steps: [ { id: s1, kind: toolCall, serverName: a, toolName: t, arguments: {} } ] }";

#[test]
fn cases_keep_their_authored_order_and_disabled_ones_never_run() {
    let ids = |result: Result<Preflight, Vec<Refusal>>| -> Vec<String> {
        let cases = result.expect("may start").cases;
        cases.into_iter().map(|run| run.case.id).collect()
    };
    assert_eq!(ids(asked("", THREE, |_| {})), ["c1", "c3"]);
    let selected = asked("", THREE, |asked| {
        asked.cases = vec!["c3".into(), "c1".into()]
    });
    assert_eq!(ids(selected), ["c1", "c3"]);
    let wrong = asked("", THREE, |asked| {
        asked.cases = ["c1", "c1", "c2", "nowhere"].map(String::from).to_vec();
    });
    assert_eq!(codes(wrong), [RefusalCode::CaseSelectionInvalid; 3]);
}

#[test]
fn a_case_without_a_prompt_needs_no_model() {
    let result = asked("", THREE, |_| {}).expect("may start");
    let models: Vec<usize> = result.cases.iter().map(|run| run.models.len()).collect();
    assert_eq!(models, [1, 0]);

    let fanned = asked("", THREE, |asked| {
        asked.models = ["ollama/a", "ollama/b"].map(String::from).to_vec();
    })
    .expect("may start");
    let models: Vec<usize> = fanned.cases.iter().map(|run| run.models.len()).collect();
    assert_eq!(models, [2, 0]);

    let keyless = asked("", THREE, |asked| {
        asked.models = vec!["openai/x".into(), "nobody/y".into()]
    });
    let Err(refusals) = keyless else {
        panic!("no key");
    };
    assert_eq!(
        refusals
            .iter()
            .map(|refusal| refusal.code)
            .collect::<Vec<_>>(),
        [
            RefusalCode::CredentialsMissing,
            RefusalCode::ModelUnsupported
        ]
    );
    assert_eq!(refusal::exit_code(&refusals), ExitCode::Usage);
}

#[test]
fn a_case_that_contradicts_itself_is_refused() {
    for (case, expected) in [
        (
            "steps: [ { id: s1, kind: prompt, prompt: \" \" } ]",
            RefusalCode::CaseInvalid,
        ),
        (
            "steps: [ { id: s1, kind: assert, assertion: { type: noToolErrors } } ]",
            RefusalCode::CaseInvalid,
        ),
        (
            "isNegativeTest: true, steps: [ { id: s1, kind: prompt, prompt: hi } ], \
             assertions: [ { type: toolCalledWith, toolName: t, args: { args: {} } } ]",
            RefusalCode::CaseInvalid,
        ),
        (
            "isNegativeTest: true, steps: [ { id: s1, kind: prompt, prompt: hi }, \
             { id: s2, kind: assert, assertion: { type: toolInputMatches, toolName: t, patterns: [x] } } ]",
            RefusalCode::CaseInvalid,
        ),
        (
            "steps: [ { id: s1, kind: prompt, prompt: hi }, \
             { id: s2, kind: interact, toolName: t, action: { kind: wait, ms: 1 } } ]",
            RefusalCode::CaseUnsupported,
        ),
        (
            "steps: [ { id: s1, kind: prompt, prompt: hi } ], assertions: [ { type: widgetRendered } ]",
            RefusalCode::CaseUnsupported,
        ),
        (
            "steps: [ { id: s1, kind: prompt, prompt: hi }, { id: s2, kind: assert, \
             assertion: { kind: textVisible, toolName: t, text: x } } ]",
            RefusalCode::CaseUnsupported,
        ),
        (
            "model: scripted/demo, steps: [ { id: s1, kind: prompt, prompt: hi } ]",
            RefusalCode::CaseInvalid,
        ),
    ] {
        let result = asked("", &format!("  - {{ id: c, title: C, {case} }}"), |_| {});
        assert_eq!(codes(result), [expected], "{case}");
    }
    for fine in [
        "isNegativeTest: true, steps: [ { id: s1, kind: prompt, prompt: hi } ], \
         assertions: [ { type: toolCalledWith, toolName: t, args: { args: {} }, role: advisory } ]",
        "steps: [ { id: s1, kind: prompt, prompt: hi } ], assertions: [ { type: widgetRendered, role: advisory } ]",
        "model: scripted/demo, script: [ { say: hi } ], steps: [ { id: s1, kind: prompt, prompt: hi } ]",
    ] {
        let result = asked("", &format!("  - {{ id: c, title: C, {fine} }}"), |_| {});
        assert_eq!(codes(result), [], "{fine}");
    }
}

#[test]
fn a_required_judge_needs_a_judge() {
    let case = "  - { id: c, title: C, steps: [ { id: s1, kind: prompt, prompt: hi } ] }";
    let silent = "  - { id: c, title: C, judge: { enabled: false }, steps: [ { id: s1, kind: prompt, prompt: hi } ] }";
    let required = ", judge: { role: gating }";
    assert_eq!(
        codes(asked(required, case, |_| {})),
        [RefusalCode::JudgeUnsupported]
    );
    assert_eq!(codes(asked(required, silent, |_| {})), []);
    assert_eq!(codes(asked(required, case, |asked| asked.judge = true)), []);
    assert_eq!(codes(asked(", judge: {}", case, |_| {})), []);
}

#[test]
fn imports_run_only_as_the_gate_says() {
    let cases = r"
  - { id: plain, title: P, steps: [ { id: s1, kind: prompt, prompt: hi } ] }
  - { id: exact, title: E, steps: [ { id: s1, kind: prompt, prompt: hi } ], import: { status: exact, note: n } }
  - { id: near, title: N, steps: [ { id: s1, kind: prompt, prompt: hi } ], import: { status: approximated } }
  - { id: off, title: O, disabled: true, steps: [ { id: s1, kind: prompt, prompt: hi } ], import: { status: approximated } }
  - { id: never, title: V, steps: [ { id: s1, kind: prompt, prompt: hi } ], import: { status: unsupported } }
  - { id: open, title: W, steps: [ { id: s1, kind: prompt, prompt: hi } ], import: { status: unresolved } }";
    let approve = |pairs: &[(&str, &str)]| -> Vec<Approval> {
        pairs
            .iter()
            .map(|(case_id, reason)| Approval {
                case_id: (*case_id).to_owned(),
                reason: (*reason).to_owned(),
            })
            .collect()
    };
    let gate = |selected: &[&str], approvals: &[(&str, &str)]| {
        let approvals = approve(approvals);
        reasons(asked("", cases, |asked| {
            asked.cases = selected.iter().map(|id| (*id).to_owned()).collect();
            asked.approvals = approvals;
        }))
    };
    assert_eq!(gate(&["plain", "exact"], &[]), [""; 0]);
    assert_eq!(gate(&["near"], &[]), ["approval_required"]);
    assert_eq!(gate(&["near"], &[("near", "looked at it")]), [""; 0]);
    assert_eq!(
        gate(&["never", "open"], &[]),
        ["unsupported_case", "unresolved_case"]
    );
    assert_eq!(
        gate(&["exact"], &[("exact", "r")]),
        ["approval_not_required"]
    );
    assert_eq!(
        gate(&["plain"], &[("plain", "r")]),
        ["approval_case_not_imported"]
    );
    assert_eq!(
        gate(&["plain"], &[("near", "r")]),
        ["approval_case_not_selected"]
    );
    assert_eq!(
        gate(&["plain"], &[("off", "r")]),
        ["approval_case_disabled"]
    );
    assert_eq!(
        gate(&["plain"], &[("nowhere", "r")]),
        ["approval_case_unknown"]
    );
    assert_eq!(
        gate(&["near"], &[("near", " ")]),
        ["invalid_approval_reason"]
    );
    assert_eq!(
        gate(&["near"], &[("near", "r"), ("near", "again")]),
        ["duplicate_approval"]
    );
    assert_eq!(
        Approval::parse("near").expect_err("no reason").reason,
        Some("invalid_approval")
    );
    assert_eq!(
        Approval::parse("near=a=b").expect("an approval").reason,
        "a=b"
    );
}
