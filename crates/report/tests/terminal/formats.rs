//! Reports for other programs, on the recorded run.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use strandline_report::formats::{github, junit, markdown};

use crate::recorded::Recorded;

#[test]
fn junit_tells_failures_from_missing_verdicts() {
    let mut recorded = Recorded::load();
    assert_snapshot!(junit::report(&recorded.input()).expect("XML"));
    // Without a decision nothing failed and nothing passed.
    recorded.run.decision = None;
    let undecided = junit::report(&recorded.input()).expect("XML");
    assert!(!undecided.contains("<failure"), "{undecided}");
    assert_eq!(undecided.matches("type=\"notEstablished\"").count(), 6);
}

#[test]
fn markdown_tells_the_story_in_its_order() {
    let recorded = Recorded::load();
    assert_snapshot!(markdown::report(&recorded.input(), 5_000));
}

#[test]
fn markdown_leaves_traces_out_before_stories_and_says_so() {
    let recorded = Recorded::load();
    let whole = markdown::report(&recorded.input(), markdown::COMMENT_LIMIT);
    assert!(whole.contains("trace of trial 2"), "{whole}");
    assert!(!whole.contains("Left out"), "{whole}");
    for limit in [3_000, 5_000, 9_000] {
        let text = markdown::report(&recorded.input(), limit);
        assert!(text.len() <= limit, "{} of {limit}", text.len());
        assert!(text.contains("Left out for length"), "{limit}: {text}");
    }
}

#[test]
fn github_gets_a_line_for_each_case_that_needs_a_look() {
    let recorded = Recorded::load();
    let lines: BTreeMap<String, usize> = recorded
        .run
        .plan
        .iter()
        .zip(10..)
        .map(|(plan, line)| (plan.case_id.clone(), line))
        .collect();
    assert_snapshot!(github::annotations(&recorded.input(), &lines));
}

#[test]
fn hostile_titles_stay_text_in_every_format() {
    let hostile = "</script><img src=x onerror=alert(1)>\n::error::`@everyone`|\u{1b}[31m";
    let mut recorded = Recorded::load();
    recorded.run.suite_name = hostile.to_owned();
    for plan in &mut recorded.run.plan {
        plan.title = hostile.to_owned();
    }
    let input = recorded.input();
    let xml = junit::report(&input).expect("XML");
    let text = markdown::report(&input, markdown::COMMENT_LIMIT);
    let log = github::annotations(&input, &BTreeMap::new());
    for (format, shown) in [("junit", &xml), ("markdown", &text), ("github", &log)] {
        assert!(!shown.contains('\u{1b}'), "{format}: {shown}");
        assert!(
            !shown.contains("<img src") || format == "github",
            "{format}: {shown}"
        );
    }
    assert!(!text.contains("@everyone"), "{text}");
    assert!(
        log.lines().all(|line| line.starts_with("::")),
        "every line is one of our commands: {log}"
    );
    assert_eq!(
        log.lines()
            .filter(|line| line.starts_with("::error::"))
            .count(),
        0,
        "{log}"
    );
    assert_eq!(log.lines().count(), 5, "{log}");
}
