//! Listing: all pages, raw entries, bounded, and failures kept apart.

use std::time::Duration;

use strandline_engine::mcp::{Attribution, connect};

use crate::support::{call, eventually, faulty, options, session};

#[tokio::test]
async fn all_pages_are_read() {
    let session = session("pages 101").await;
    let listing = session.list().await.expect("the list is answered");
    assert_eq!(listing.tools.len(), 101);
    assert_eq!(listing.tool_pages, 3);
    assert_eq!(listing.tools[100]["name"], "tool_100");
    session.close().await;
}

#[tokio::test]
async fn failures_are_named_and_attributed() {
    use Attribution::{Ours, Theirs, Unknown};
    let table: &[(&str, &str, Attribution, &[&str])] = &[
        (
            "list-error -32603",
            "list_error",
            Theirs,
            &["`tools/list`", "-32603", "unavailable"],
        ),
        ("list-error -32001", "list_error", Ours, &["-32001"]),
        (
            "list-bad-shape",
            "list_malformed",
            Unknown,
            &["`tools` is no list"],
        ),
        (
            "list-hang",
            "timed_out",
            Theirs,
            &["`tools/list`", "within 500 ms"],
        ),
        (
            "list-die",
            "transport_lost",
            Theirs,
            &["exit code 9", "out of memory"],
        ),
        (
            "cursor-loop",
            "list_cursor_loop",
            Unknown,
            &["\"again\"", "page 2"],
        ),
        (
            "cursor-endless",
            "list_too_long",
            Unknown,
            &["at most 20 pages"],
        ),
    ];
    for (mode, code, side, words) in table {
        let mut options = options();
        options.limits.pages = 20;
        if *mode == "list-hang" {
            options.list_timeout = Duration::from_millis(500);
        }
        let session = connect(&faulty(mode), &options).await.expect("connects");
        let Err(failure) = session.list().await else {
            panic!("{mode}: listed");
        };
        assert_eq!(failure.code, *code, "{mode}: {failure}");
        assert_eq!(failure.attribution, *side, "{mode}: {failure}");
        for word in *words {
            assert!(
                failure.message.contains(word),
                "{mode}: {failure} lacks {word}"
            );
        }
        session.close().await;
    }
}

#[tokio::test]
async fn one_bad_tool_does_not_spoil_the_others() {
    let session = session("one-bad-tool").await;
    let listing = session.list().await.expect("the list is answered");
    assert_eq!(listing.tools.len(), 3);
    assert_eq!(listing.tools[1]["name"], 7);
    assert_eq!(listing.tools[2]["x-vendor"][1], 2);
    let lints: Vec<_> = listing
        .lints
        .iter()
        .map(|lint| {
            (
                lint.tool_name.as_deref().unwrap_or_default(),
                lint.code.as_str(),
            )
        })
        .collect();
    assert_eq!(
        lints,
        [
            ("#2", "toolNameMissing"),
            ("#2", "toolDescriptionMissing"),
            ("#2", "schemaNotObject"),
            ("vendor", "toolDescriptionMissing"),
        ]
    );
    session.close().await;
}

#[tokio::test]
async fn an_empty_list_is_a_finding_of_its_own() {
    let session = session("no-tools").await;
    let listing = session.list().await.expect("the list is answered");
    assert!(listing.tools.is_empty());
    assert_eq!(listing.lints[0].code, "noTools");
    session.close().await;
}

#[tokio::test]
async fn every_defect_of_a_tool_is_a_finding_about_that_tool() {
    let session = session("odd-tools").await;
    let listing = session.list().await.expect("the list is answered");
    assert_eq!(listing.tools.len(), 16);
    let about = |tool: &str| -> Vec<&str> {
        listing
            .lints
            .iter()
            .filter(|lint| lint.tool_name.as_deref() == Some(tool))
            .map(|lint| lint.code.as_str())
            .collect()
    };
    assert_eq!(about("good"), ["duplicateToolName"]);
    assert_eq!(about("local_refs"), [""; 0]);
    assert_eq!(about("dangling_ref"), ["schemaRefDangling"]);
    assert_eq!(about("remote_ref"), ["schemaRefRemote"]);
    assert_eq!(about("no_type"), ["schemaTypeMissing"]);
    assert_eq!(about("a b"), ["toolNameForm"]);
    session.close().await;
}

#[tokio::test]
async fn a_server_that_declares_no_tools_has_none() {
    let bare = session("no-tools-method").await;
    let listing = bare.list().await.expect("the list is answered");
    assert!(listing.tools.is_empty());
    bare.close().await;
    let undeclared = session("undeclared-tools").await;
    let listing = undeclared.list().await.expect("the list is answered");
    assert_eq!(listing.lints[0].code, "toolsNotDeclared");
    undeclared.close().await;
}

#[tokio::test]
async fn an_empty_cursor_ends_the_list() {
    let session = session("cursor-empty").await;
    let listing = session.list().await.expect("the list is answered");
    assert_eq!(listing.tool_pages, 1);
    assert_eq!(listing.lints[0].code, "emptyCursor");
    assert_eq!(session.drain().adaptations[0].kind, "emptyCursor");
    session.close().await;
}

#[tokio::test]
async fn a_listing_without_end_is_bounded_in_bytes() {
    let mut options = options();
    options.limits.listing_bytes = 10_000;
    let session = connect(&faulty("pages 101"), &options)
        .await
        .expect("connects");
    let Err(failure) = session.list().await else {
        panic!("listed");
    };
    assert_eq!(failure.code, "list_too_long");
    session.close().await;
}

#[tokio::test]
async fn late_tools_are_waited_for_only_in_the_settle_window() {
    let mut options = options();
    options.settle = Duration::from_millis(900);
    let settled = connect(&faulty("late-tools 300"), &options)
        .await
        .expect("connects");
    let listing = settled.list().await.expect("the list is answered");
    assert_eq!(listing.tools.len(), 1);
    settled.close().await;

    let hasty = session("late-tools 300").await;
    let listing = hasty.list().await.expect("the list is answered");
    assert!(listing.tools.is_empty());
    assert!(!hasty.tools_changed());
    eventually("the change is announced", || hasty.tools_changed()).await;
    let listing = hasty.list().await.expect("the list is answered");
    assert_eq!(listing.tools.len(), 1);
    assert!(!hasty.tools_changed());
    hasty.close().await;
}

#[tokio::test]
async fn a_change_of_tools_during_a_call_is_noted() {
    let session = session("normal").await;
    session.list().await.expect("the list is answered");
    call(&session, "grow_tools", serde_json::json!({})).await;
    assert!(session.tools_changed());
    session.close().await;
}

#[tokio::test]
async fn prompts_and_resources_are_listed_when_declared_and_never_fail_the_phase() {
    let declared = session("prompts").await;
    let listing = declared.list().await.expect("the list is answered");
    assert_eq!(listing.prompts.as_deref().map(<[_]>::len), Some(1));
    assert_eq!(listing.resources, None);
    assert!(
        listing
            .lints
            .iter()
            .any(|lint| lint.code == "resourcesListFailed")
    );
    declared.close().await;

    let undeclared = session("normal").await;
    let listing = undeclared.list().await.expect("the list is answered");
    assert_eq!((listing.prompts, listing.resources), (None, None));
    undeclared.close().await;
}
