//! Paths that a client names stay inside the project.

use serde_json::json;

use super::{Project, session::Session};

#[test]
fn a_path_that_leaves_the_project_is_refused_by_every_tool_that_takes_one() {
    let project = Project::new();
    std::fs::write(project.home().join("outside.yaml"), "secret: 1").expect("writes");
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        project.home().join("outside.yaml"),
        project.root().join("link.yaml"),
    )
    .expect("links");
    let absolute = project.home().join("outside.yaml");
    let mut session = Session::open(&project, &["--trust-servers"], &json!({}));
    for named in [
        "../outside.yaml",
        "evals/../../outside.yaml",
        absolute.to_str().expect("a path in UTF-8"),
        "link.yaml",
        "/etc/passwd",
        "..\\outside.yaml",
        "",
    ] {
        for (tool, key) in [
            ("validate_suite", "path"),
            ("list_cases", "path"),
            ("run_suite", "path"),
            ("get_coverage", "suite"),
        ] {
            let said = session.failure(tool, &json!({ key: named }));
            assert!(said.contains("is refused"), "{tool} {named}: {said}");
            assert!(said.contains("what to do: "), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
    let missing = session.failure("validate_suite", &json!({"path": "evals/none.yaml"}));
    assert!(missing.contains("no file"), "{missing}");
}
