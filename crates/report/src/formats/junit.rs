//! JUnit XML: one test case per case variant.
//!
//! JUnit knows success, failure, error and skipped. A case that missed its
//! threshold is a failure. A case without a verdict is an error, because nobody
//! may read it as passed, and its type says which absence it is: `inconclusive`
//! or `notEstablished`. A failure's type is the wire word of the stage at which
//! most of its trials stopped.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use strandline_contract::words::{SummaryVerdict, Verdict, Vocabulary};

use super::{PLAIN, told};
use crate::{
    escape,
    terminal::{
        MAX_NAME, RunInput, View,
        cases::{interval, needs, share},
        failures::{Group, Stop, groups_of},
        headline::reasons,
        measured,
    },
};

/// Returns a run as JUnit XML.
///
/// # Errors
///
/// When the XML cannot be written; with text in memory that does not happen.
pub fn report(input: &RunInput<'_>) -> Result<String, quick_junit::SerializeError> {
    let view = View::new(input);
    let run = input.run;
    let name = escape::line(&run.suite_name, MAX_NAME);
    let mut suite = TestSuite::new(name.clone());
    suite.add_properties(run_properties(&view));
    if let Some(ended_at) = run.ended_at {
        suite.set_time(milliseconds(ended_at - run.started_at));
    }
    for row in &view.rows {
        let groups = groups_of(row);
        let mut case = TestCase::new(row.name.clone(), status(&view, row, &groups));
        case.set_classname(name.clone());
        let took = row.trials.iter().map(|trial| {
            let record = trial.record;
            record.ended_at - record.started_at
        });
        case.set_time(milliseconds(took.sum()));
        case.add_properties(case_properties(&view, row, &groups));
        suite.add_test_case(case);
    }
    let mut report = Report::new("strandline");
    report.add_test_suite(suite);
    report.to_string()
}

fn milliseconds(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}

fn run_properties(view: &View<'_>) -> Vec<Property> {
    let mut properties = vec![
        Property::new("strandline.run", view.input.run.id.clone()),
        Property::new("strandline.verdict", view.summary.verdict.wire()),
    ];
    let story = reasons(view).into_iter().map(|said| said.text);
    properties.extend(story.map(|text| Property::new("strandline.reason", text)));
    let measured = measured::facts(view).into_iter();
    properties.extend(measured.map(|text| Property::new("strandline.measured", text)));
    properties
}

fn case_properties(
    view: &View<'_>,
    row: &crate::terminal::Row<'_>,
    groups: &[Group<'_>],
) -> Vec<Property> {
    let mut properties = vec![
        Property::new("strandline.case", row.plan.case_id.clone()),
        Property::new("strandline.passed", share(row)),
        Property::new("strandline.needs", needs(row)),
    ];
    if let Some(interval) = interval(row, &PLAIN) {
        properties.push(Property::new("strandline.interval", interval));
    }
    for group in groups {
        if let Stop::At(stage, _) = group.stop {
            properties.push(Property::new("strandline.firstFailedStage", stage.wire()));
        }
        if let Some(reason) = group.reason() {
            properties.push(Property::new("strandline.reason", reason.wire()));
        }
        if let Some(category) = group.category {
            properties.push(Property::new("strandline.category", category.wire()));
        }
        properties.push(Property::new("strandline.look", group.look(view)));
    }
    properties
}

fn status(view: &View<'_>, row: &crate::terminal::Row<'_>, groups: &[Group<'_>]) -> TestCaseStatus {
    let decided = row.decided.as_ref().map(|decided| decided.verdict);
    let (kind, word) = match decided {
        Some(Verdict::Passed) => return TestCaseStatus::success(),
        Some(Verdict::Failed) => (NonSuccessKind::Failure, Verdict::Failed.wire()),
        Some(Verdict::Inconclusive) => (NonSuccessKind::Error, Verdict::Inconclusive.wire()),
        None => (NonSuccessKind::Error, SummaryVerdict::NotEstablished.wire()),
    };
    // The first of those with most trials.
    let most = groups.iter().rev().max_by_key(|group| group.trials.len());
    let stage = most.and_then(|group| match group.stop {
        Stop::At(stage, _) => Some(stage.wire()),
        Stop::Nowhere(..) => None,
    });
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(match decided {
        Some(Verdict::Failed) => stage.unwrap_or(word),
        _ => word,
    });
    let message = match most {
        Some(group) => group.what(),
        None => format!("{} gradeable trials passed", share(row)),
    };
    status.set_message(match decided {
        Some(Verdict::Failed) => message,
        Some(_) => format!("{}: {message}", Verdict::Inconclusive.label()),
        None => SummaryVerdict::NotEstablished.label().to_owned(),
    });
    let stories: Vec<String> = groups
        .iter()
        .map(|group| {
            let mut lines = told(view, group);
            lines.extend(group.next().map(|next| format!("next: {next}")));
            lines.push(format!("look: {}", group.look(view)));
            lines.join("\n")
        })
        .collect();
    if !stories.is_empty() {
        status.set_description(stories.join("\n\n"));
    }
    status
}
