//! The lines that a run shows while it is going, one per finished trial.

use strandline_contract::{
    event::{Activity, WaitingFor},
    run::TrialRecord,
    words::{Stage, StageReason, TaskResult, Vocabulary},
};

use crate::{
    escape, glyphs,
    style::{Ink, Style},
    words::duration,
};

/// Longest title or error shown, characters.
const MAX_TEXT: usize = 120;

/// How far a run is; the three kinds of ending are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Trials that ended, of any kind.
    pub finished: u64,
    /// Trials that the plan has.
    pub planned: u64,
    /// Trials that passed.
    pub passed: u64,
    /// Trials that failed.
    pub failed: u64,
    /// Trials that could not be graded.
    pub errors: u64,
}

impl Tally {
    /// Counts a trial that ended.
    pub fn count(&mut self, trial: &TrialRecord) {
        self.finished += 1;
        match graded(trial) {
            Some(TaskResult::Passed) => self.passed += 1,
            Some(TaskResult::Failed) => self.failed += 1,
            None => self.errors += 1,
        }
    }

    /// Returns "12 passed · 3 failed · 0 not graded".
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let dot = style.dot();
        let part = |count: u64, mark: glyphs::Mark, word: &str| {
            let text = format!("{count} {word}");
            if count == 0 {
                style.paint(Ink::Quiet, text)
            } else {
                style.paint(mark.ink, text)
            }
        };
        format!(
            "{} {dot} {} {dot} {}",
            part(
                self.passed,
                glyphs::result(Some(TaskResult::Passed)),
                "passed"
            ),
            part(
                self.failed,
                glyphs::result(Some(TaskResult::Failed)),
                "failed"
            ),
            part(self.errors, glyphs::result(None), "not graded"),
        )
    }
}

/// Returns what a trial's checks say, if it was graded.
fn graded(trial: &TrialRecord) -> Option<TaskResult> {
    trial.result.filter(|_| !trial.evaluator_error)
}

/// Returns the plain line of a finished trial:
/// `[ 3/25] ✖ refunds a late order · trial 2 of 5 · 1.4 s · stopped at Tool call`.
#[must_use]
pub fn finished(trial: &TrialRecord, of: u32, tally: &Tally, style: &Style) -> String {
    let digits = tally.planned.to_string().len();
    let mut facts = vec![
        escape::line(&trial.title, MAX_TEXT),
        format!("trial {} of {of}", trial.iteration_number.saturating_add(1)),
        duration(trial.ended_at - trial.started_at),
    ];
    facts.extend(ending(trial));
    let dot = format!(" {} ", style.dot());
    format!(
        "[{:>digits$}/{}] {} {}",
        tally.finished,
        tally.planned,
        glyphs::result(graded(trial)).paint(style),
        facts.join(&dot)
    )
}

/// Returns where a trial stopped, or why it was not graded.
fn ending(trial: &TrialRecord) -> Option<String> {
    if trial.evaluator_error {
        return Some("not graded: the evaluator broke".to_owned());
    }
    if let Some(error) = &trial.error {
        let message = escape::line(&error.message, MAX_TEXT);
        return Some(format!("{}: {message}", trial.status.label()));
    }
    match trial.result {
        Some(TaskResult::Passed) => None,
        Some(TaskResult::Failed) => Some(match trial.chain.first_failed_stage {
            Some(stage) => {
                let rows = &trial.chain.stage_results;
                let row = rows.iter().find(|row| row.stage == stage);
                let reason = row.and_then(|row| row.reason);
                stopped(stage, reason)
            }
            None => "failed and no stage did".to_owned(),
        }),
        None => Some(trial.status.label().to_owned()),
    }
}

fn stopped(stage: Stage, reason: Option<StageReason>) -> String {
    let because = reason.map_or(String::new(), |reason| {
        format!(", because {}", reason.label())
    });
    format!("stopped at {}{because}", stage.label())
}

/// Returns what a running trial is doing, and whom it waits for.
#[must_use]
pub fn activity(activity: Activity) -> String {
    let stage = activity.stage.label();
    match activity.waiting_for {
        WaitingFor::Server => format!("{stage}, waiting for the server"),
        WaitingFor::Model => format!("{stage}, waiting for the model"),
        WaitingFor::Nobody => stage.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trial(change: serde_json::Value) -> TrialRecord {
        let mut record = json!({
            "id": "t", "runId": "r", "caseId": "c", "title": "refunds\u{1b} an order",
            "iterationNumber": 1, "status": "completed", "startedAt": 0, "endedAt": 1_400,
            "chainInput": {}, "stageMeasurements": {},
            "chain": {"stageResults": [], "stageAnalyzerVersion": 12}
        });
        for (key, value) in change.as_object().into_iter().flatten() {
            record[key] = value.clone();
        }
        serde_json::from_value(record).expect("a trial record")
    }

    fn line(change: serde_json::Value) -> String {
        let record = trial(change);
        let mut tally = Tally {
            planned: 25,
            finished: 2,
            ..Tally::default()
        };
        tally.count(&record);
        finished(&record, 5, &tally, &Style::plain(100))
    }

    #[test]
    fn a_finished_trial_is_one_line() {
        assert_eq!(
            line(json!({"result": "passed"})),
            "[ 3/25] ● refunds\\u{1b} an order · trial 2 of 5 · 1.4 s"
        );
        assert_eq!(
            line(json!({"result": "failed", "chain": {
                "stageResults": [{"stage": "call", "state": "failed", "reason": "argumentMismatch"}],
                "firstFailedStage": "call", "stageAnalyzerVersion": 12}})),
            "[ 3/25] ✖ refunds\\u{1b} an order · trial 2 of 5 · 1.4 s · stopped at Tool call, \
             because the call's arguments differ from what the case requires"
        );
        assert_eq!(
            line(json!({"status": "failed", "error": {
                "layer": "model", "code": "rate_limited", "message": "openai answered 429"}})),
            "[ 3/25] ◌ refunds\\u{1b} an order · trial 2 of 5 · 1.4 s · execution failed: openai \
             answered 429"
        );
        assert_eq!(
            line(json!({"result": "failed", "evaluatorError": true})),
            "[ 3/25] ◌ refunds\\u{1b} an order · trial 2 of 5 · 1.4 s · not graded: the evaluator \
             broke"
        );
    }

    #[test]
    fn endings_are_counted_apart() {
        let mut tally = Tally::default();
        tally.count(&trial(json!({"result": "passed"})));
        tally.count(&trial(json!({"result": "failed"})));
        tally.count(&trial(json!({"result": "passed", "evaluatorError": true})));
        tally.count(&trial(json!({"status": "timed_out"})));
        assert_eq!(
            tally.text(&Style::ascii(80)),
            "1 passed - 1 failed - 2 not graded"
        );
        assert_eq!(tally.finished, 4);
    }

    #[test]
    fn model_and_server_waits_are_told_apart() {
        let text = |waiting_for| {
            activity(Activity {
                stage: Stage::Response,
                waiting_for,
            })
        };
        assert_eq!(text(WaitingFor::Server), "Response, waiting for the server");
        assert_eq!(text(WaitingFor::Model), "Response, waiting for the model");
        assert_eq!(text(WaitingFor::Nobody), "Response");
    }
}
