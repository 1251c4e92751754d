//! The table of all trials as data: one short list a trial, and an index of
//! the words that the lists point to.

use serde::Serialize;
use strandline_contract::{
    decision::{SummaryChain, SummaryStage},
    run::{PlannedCase, RunRecord, TrialRecord},
    words::{Stage, StageReason, StageState, Vocabulary},
};

use super::blocks::Place;
use crate::{
    escape,
    glyphs::{self, Mark},
    html::{mark, text::MAX_NAME},
    terminal::{model_name, trial::outcome::ending, trial_number},
};

/// One trial in the table: id, place of its case in the plan, number from 1,
/// outcome, strip, reason, milliseconds, and where its page lies.
///
/// A list, not an object: a hundred thousand of them are held at once.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a>(
    &'a str,
    Option<usize>,
    u32,
    usize,
    String,
    Option<usize>,
    i64,
    usize,
    usize,
);

/// How trials ended, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Vec<(Mark, &'static str)>);

impl Outcomes {
    fn place(&mut self, outcome: (Mark, &'static str)) -> usize {
        let known = self.0.iter().position(|known| known.1 == outcome.1);
        known.unwrap_or_else(|| {
            self.0.push(outcome);
            self.0.len() - 1
        })
    }
}

/// Returns the row of a trial.
pub(super) fn row<'a>(
    trial: &'a TrialRecord,
    chain: &SummaryChain,
    case: Option<usize>,
    page: Place,
    outcomes: &mut Outcomes,
) -> Row<'a> {
    let stages = chain.verified().map_or(&[][..], |chain| &chain.stages);
    let strip = stages
        .iter()
        .map(|row| glyphs::state(row.state).ascii)
        .collect();
    Row(
        &trial.id,
        case,
        trial_number(trial),
        outcomes.place(ending(trial)),
        strip,
        telling(stages).and_then(reason_place),
        trial.ended_at.saturating_sub(trial.started_at).max(0),
        page.block,
        page.item,
    )
}

/// Returns the first row that failed, else the first that was not measured.
pub(super) fn telling(stages: &[SummaryStage]) -> Option<&SummaryStage> {
    let first = |state| stages.iter().find(|row| row.state == state);
    first(StageState::Failed).or_else(|| first(StageState::NotMeasured))
}

fn reason_place(row: &SummaryStage) -> Option<usize> {
    let reason = row.reason?;
    StageReason::ALL.iter().position(|known| *known == reason)
}

/// What the script needs to read the rows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Index {
    rows: u64,
    row_blocks: usize,
    cases: Vec<Case>,
    outcomes: Vec<Word>,
    stages: Vec<&'static str>,
    states: Vec<Word>,
    reasons: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Case {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// A word with its mark.
#[derive(Debug, Serialize)]
struct Word {
    code: &'static str,
    label: &'static str,
    shape: Option<&'static str>,
    ink: &'static str,
}

impl Word {
    fn new(shown: Mark, label: &'static str) -> Self {
        Self {
            code: shown.ascii,
            label,
            shape: mark::shape_of(shown),
            ink: mark::ink_class(shown.ink),
        }
    }
}

/// Returns the index of a run's rows.
pub(super) fn index(run: &RunRecord, rows: u64, row_blocks: usize, outcomes: &Outcomes) -> Index {
    Index {
        rows,
        row_blocks,
        cases: run.plan.iter().map(case).collect(),
        outcomes: outcomes
            .0
            .iter()
            .map(|(shown, label)| Word::new(*shown, label))
            .collect(),
        stages: Stage::ALL.iter().map(|stage| stage.label()).collect(),
        states: StageState::ALL
            .iter()
            .map(|state| Word::new(glyphs::state(*state), state.label()))
            .collect(),
        reasons: StageReason::ALL
            .iter()
            .map(|reason| reason.label())
            .collect(),
    }
}

fn case(plan: &PlannedCase) -> Case {
    Case {
        id: escape::line(&plan.case_id, MAX_NAME),
        title: escape::line(&plan.title, MAX_NAME),
        model: plan.variant.as_ref().map(model_name),
    }
}
