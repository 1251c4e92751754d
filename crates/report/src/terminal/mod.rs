//! What a person reads about a run, in the order of the story: what was
//! decided, how much was measured, where the chain broke, the evidence, and
//! who looks next.

pub(crate) mod cases;
pub mod compare;
pub mod deciding;
pub(crate) mod evidence;
pub(crate) mod failures;
pub mod funnel;
pub(crate) mod headline;
pub mod judged;
pub(crate) mod measured;
pub(crate) mod rollup;
pub mod runs;
pub(crate) mod servers;
pub mod trend;
pub mod trial;

use std::collections::BTreeMap;

use strandline_contract::{
    decision::{DecisionSummary, SummaryChain, SummaryStage, VerifiedChain},
    run::{ExecutionVariant, PlannedCase, RunRecord, TrialRecord},
    trace::Trace,
    verdict::{CaseAggregate, RowVariant},
    words::StageState,
};
use strandline_derive::decision::{Page, StoredChain, derive_summary_chain, summarize_run};

use crate::{escape, friction::tally_lines, layout::hanging, style::Style};

/// Longest title or name shown, characters.
pub(crate) const MAX_NAME: usize = 200;

/// A stored run with its trials.
#[derive(Debug, Clone, Copy)]
pub struct RunInput<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// What `strandline show` is given to find the run again.
    pub run_reference: &'a str,
    /// Every stored trial of the run.
    pub trials: &'a [TrialRecord],
    /// Traces by trial id, as far as they are at hand; those of trials that
    /// did not pass let the report quote what a tool answered.
    pub traces: &'a BTreeMap<String, Trace>,
}

/// Returns the report of a run, without a trailing line break.
#[must_use]
pub fn run_report(input: &RunInput<'_>, style: &Style) -> String {
    let view = View::new(input);
    let sections = [
        headline::render(&view, style),
        measured_and_judged(&view, style),
        cases::render(&view, style),
        failures::render(&view, style),
        friction(&view, style),
        servers::render(&view, style),
    ];
    let texts: Vec<String> = sections
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    texts.join("\n\n")
}

fn measured_and_judged(view: &View<'_>, style: &Style) -> Vec<String> {
    let mut lines = measured::render(view, style);
    lines.extend(judged::render(view, style));
    lines
}

/// Returns how many trials show which friction signal; never a verdict.
fn friction(view: &View<'_>, style: &Style) -> Vec<String> {
    labelled("friction", &tally_lines(view.input.trials), 11, style)
}

/// Returns texts under one label.
fn labelled(label: &str, texts: &[String], hang: usize, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut label = label;
    for text in texts {
        lines.extend(hanging(label, text, 1, hang, style.columns()));
        label = "";
    }
    lines
}

/// Returns the ordinal of a trial as people count: from 1.
#[must_use]
pub fn trial_number(trial: &TrialRecord) -> u32 {
    trial.iteration_number.saturating_add(1)
}

/// A run with everything that several sections need.
pub(crate) struct View<'a> {
    pub(crate) input: &'a RunInput<'a>,
    /// What was decided, read as every reader of the run must
    /// (`decision-summary.md` §4); its page of diagnostics is empty.
    pub(crate) summary: DecisionSummary,
    pub(crate) rows: Vec<Row<'a>>,
    /// Trials that are stored, at hand or not.
    pub(crate) stored: u64,
}

/// A stored trial with the chain that may be shown of it.
pub(crate) struct Trial<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) chain: SummaryChain,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(record: &'a TrialRecord) -> Self {
        Self {
            record,
            chain: derive_summary_chain(&StoredChain::from(&record.chain)),
        }
    }

    /// Returns the rows; none when the chain does not validate.
    pub(crate) fn stages(&self) -> &[SummaryStage] {
        self.chain.verified().map_or(&[], |chain| &chain.stages)
    }

    pub(crate) fn first_failed(&self) -> Option<&SummaryStage> {
        let VerifiedChain {
            stages,
            first_failed_stage,
            ..
        } = self.chain.verified()?;
        stages
            .iter()
            .find(|row| Some(row.stage) == *first_failed_stage)
    }

    fn first_unmeasured(&self) -> Option<&SummaryStage> {
        let mut rows = self.stages().iter();
        rows.find(|row| row.state == StageState::NotMeasured)
    }
}

/// One case variant.
pub(crate) struct Row<'a> {
    pub(crate) plan: &'a PlannedCase,
    /// What the decision says about it.
    pub(crate) decided: Option<CaseAggregate>,
    /// Its stored trials, by ordinal.
    pub(crate) trials: Vec<Trial<'a>>,
    /// Its title, with the model where the case runs under several.
    pub(crate) name: String,
}

/// What tells case variants apart.
type Key<'a> = (&'a str, Option<&'a ExecutionVariant>);

impl<'a> View<'a> {
    pub(crate) fn new(input: &'a RunInput<'a>) -> Self {
        let summary = summarize_run("", input.run, [], Page::default());
        let mut trials: BTreeMap<Key<'a>, Vec<&TrialRecord>> = BTreeMap::new();
        for trial in input.trials {
            let key = (trial.case_id.as_str(), trial.variant.as_ref());
            trials.entry(key).or_default().push(trial);
        }
        let mut variants: BTreeMap<&str, usize> = BTreeMap::new();
        for plan in &input.run.plan {
            *variants.entry(plan.case_id.as_str()).or_default() += 1;
        }
        let mut decided: BTreeMap<(&str, Option<&RowVariant>), &CaseAggregate> = BTreeMap::new();
        for row in summary.decision.iter().flat_map(|made| &made.cases) {
            decided.insert((row.case_id.as_str(), row.execution_variant.as_ref()), row);
        }
        let rows = input
            .run
            .plan
            .iter()
            .map(|plan| {
                let case_id = plan.case_id.as_str();
                let mut trials = trials
                    .remove(&(case_id, plan.variant.as_ref()))
                    .unwrap_or_default();
                trials.sort_by_key(|trial| trial.iteration_number);
                let variant = plan.variant.as_ref().map(RowVariant::from);
                let decided = decided.get(&(case_id, variant.as_ref()));
                Row {
                    plan,
                    decided: decided.map(|row| (*row).clone()),
                    trials: trials.into_iter().map(Trial::new).collect(),
                    name: name(plan, variants.get(case_id) > Some(&1)),
                }
            })
            .collect();
        Self {
            input,
            summary,
            rows,
            stored: input.trials.len() as u64,
        }
    }
}

/// Returns a case variant's title, with its model where there are several.
fn name(plan: &PlannedCase, several: bool) -> String {
    let title = escape::line(&plan.title, MAX_NAME);
    match &plan.variant {
        Some(variant) if several => format!("{title} [{}]", model_name(variant)),
        _ => title,
    }
}

/// Returns a variant as `provider/model`.
pub(crate) fn model_name(variant: &ExecutionVariant) -> String {
    let name = match &variant.provider {
        Some(provider) => format!("{provider}/{}", variant.model),
        None => variant.model.clone(),
    };
    escape::line(&name, MAX_NAME)
}
