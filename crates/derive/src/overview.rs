//! A run's trials taken together, counted one at a time
//! ([`strandline_contract::overview`]).

use std::collections::BTreeMap;

use serde::Deserialize;
use strandline_contract::{
    assertion::PromptSummary,
    decision::{SummaryChain, SummaryStage},
    overview::{
        CaseOverview, ChainStanding, FrictionTally, MAX_NAMED_TRIALS, MAX_QUOTED_EVIDENCE,
        NamedTrial, RUN_OVERVIEW_VERSION, RunOverview, StageCounts, StopGroup,
    },
    redact::{redact_text, redact_value},
    run::{ExecutionVariant, PlannedCase, RunRecord, TrialRecord, Usage},
    transcript::ToolCall,
    words::{
        FailureCategory, FrictionSignalKind, IterationStatus, Stage, StageReason, StageState,
        TaskResult, Vocabulary,
    },
};

use crate::{
    decision::{StoredChain, derive_next_action, derive_summary_chain},
    friction::{StoredFriction, derive_friction_rates, project_friction_signals},
};

/// Longest line of evidence kept, characters.
const MAX_EVIDENCE: usize = 400;

/// Counts a run's trials; their order does not matter but for which of a
/// group are named.
#[derive(Debug, Default)]
pub struct OverviewCounter {
    trials: u64,
    cases: BTreeMap<(String, Option<ExecutionVariant>), CaseCounts>,
    friction: BTreeMap<FrictionSignalKind, (u64, u64)>,
}

#[derive(Debug)]
struct CaseCounts {
    trials: u64,
    passed: u64,
    strip: [StageCounts; Stage::ALL.len()],
    groups: BTreeMap<Stop, StopGroup>,
    usage: Usage,
    duration_ms: u64,
}

/// In which way trials stopped, in the order in which groups are told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Stop {
    passed: bool,
    place: Place,
    category: Option<FailureCategory>,
}

/// Where trials stopped, or why they were never graded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    At(Stage, Option<StageReason>),
    Nowhere {
        status: IterationStatus,
        reason: Option<StageReason>,
        evaluator_error: bool,
        chain: ChainStanding,
    },
}

/// Returns the overview of a run whose trials are at hand.
#[must_use]
pub fn run_overview<'a>(
    run: &RunRecord,
    trials: impl IntoIterator<Item = &'a TrialRecord>,
) -> RunOverview {
    let mut counter = OverviewCounter::default();
    for trial in trials {
        counter.add(trial);
    }
    counter.finish(run)
}

impl OverviewCounter {
    /// Counts one trial.
    pub fn add(&mut self, trial: &TrialRecord) {
        self.trials += 1;
        let key = (trial.case_id.clone(), trial.variant.clone());
        self.cases.entry(key).or_default().add(trial);
        let StoredFriction::Verified(signals) = project_friction_signals(&trial.metadata) else {
            return;
        };
        for (kind, rate) in derive_friction_rates([&signals]).unwrap_or_default() {
            let (seen, of) = self.friction.entry(kind).or_default();
            *seen += rate.numerator();
            *of += rate.denominator();
        }
    }

    /// Returns the document: every planned case variant, with trials or
    /// without.
    #[must_use]
    pub fn finish(mut self, run: &RunRecord) -> RunOverview {
        let cases = run
            .plan
            .iter()
            .map(|plan| {
                let key = (plan.case_id.clone(), plan.variant.clone());
                self.cases.remove(&key).unwrap_or_default().finish(plan)
            })
            .collect();
        let friction = FrictionSignalKind::ALL
            .iter()
            .filter_map(|kind| {
                let (trials, of) = *self.friction.get(kind)?;
                (trials > 0).then_some(FrictionTally {
                    kind: *kind,
                    trials,
                    of,
                })
            })
            .collect();
        RunOverview {
            version: RUN_OVERVIEW_VERSION,
            run_id: run.id.clone(),
            trials: self.trials,
            cases,
            friction,
        }
    }
}

impl Default for CaseCounts {
    fn default() -> Self {
        let mut stages = Stage::ALL.iter();
        Self {
            trials: 0,
            passed: 0,
            strip: std::array::from_fn(|_| {
                StageCounts::none(stages.next().copied().unwrap_or(Stage::Connection))
            }),
            groups: BTreeMap::new(),
            usage: Usage::default(),
            duration_ms: 0,
        }
    }
}

impl CaseCounts {
    fn add(&mut self, trial: &TrialRecord) {
        let chain = derive_summary_chain(&StoredChain::from(&trial.chain));
        let rows = chain
            .verified()
            .map_or::<&[SummaryStage], _>(&[], |chain| &chain.stages);
        for row in rows {
            let cell = self.strip.iter_mut().find(|cell| cell.stage == row.stage);
            if let Some(cell) = cell {
                cell.add(row.state);
            }
        }
        let passed = trial.result == Some(TaskResult::Passed) && !trial.evaluator_error;
        self.trials += 1;
        self.passed += u64::from(passed);
        self.duration_ms += trial.ended_at.saturating_sub(trial.started_at).max(0) as u64;
        add_usage(&mut self.usage, &trial.usage);

        let first_failed = chain
            .verified()
            .and_then(|chain| chain.first_failed_stage)
            .and_then(|stage| rows.iter().find(|row| row.stage == stage));
        // A passed trial is told only when some stage failed all the same.
        if passed && first_failed.is_none() {
            return;
        }
        let stop = Stop {
            passed,
            place: place(trial, &chain, first_failed, rows),
            category: chain.verified().and_then(|chain| chain.failure_category),
        };
        let group = self
            .groups
            .entry(stop)
            .or_insert_with_key(|stop| StopGroup {
                passed,
                stage: first_failed.map(|row| row.stage),
                reason: match stop.place {
                    Place::At(_, reason) | Place::Nowhere { reason, .. } => reason,
                },
                status: trial.status,
                evaluator_error: trial.evaluator_error,
                chain: standing(&chain),
                failure_category: stop.category,
                next_action: (!passed).then(|| derive_next_action(&chain, trial.result)),
                trials: 0,
                first: Vec::new(),
                evidence: evidence(trial, first_failed),
            });
        group.trials += 1;
        if group.first.len() < MAX_NAMED_TRIALS {
            group.first.push(NamedTrial {
                trial_id: trial.id.clone(),
                iteration_number: u64::from(trial.iteration_number),
            });
        }
    }

    fn finish(self, plan: &PlannedCase) -> CaseOverview {
        let mut groups: Vec<StopGroup> = self.groups.into_values().collect();
        for group in &mut groups {
            // Trials end in any order.
            group.first.sort_by_key(|trial| trial.iteration_number);
        }
        CaseOverview {
            case_id: plan.case_id.clone(),
            title: plan.title.clone(),
            variant: plan.variant.clone(),
            configured_trials: u64::from(plan.configured_trials),
            trials: self.trials,
            passed: self.passed,
            strip: self.strip.to_vec(),
            groups,
            usage: self.usage,
            duration_ms: self.duration_ms,
        }
    }
}

fn place(
    trial: &TrialRecord,
    chain: &SummaryChain,
    first_failed: Option<&SummaryStage>,
    rows: &[SummaryStage],
) -> Place {
    match first_failed {
        Some(row) => Place::At(row.stage, row.reason),
        None => Place::Nowhere {
            status: trial.status,
            reason: rows
                .iter()
                .find(|row| row.state == StageState::NotMeasured)
                .and_then(|row| row.reason),
            evaluator_error: trial.evaluator_error,
            chain: standing(chain),
        },
    }
}

const fn standing(chain: &SummaryChain) -> ChainStanding {
    match chain {
        SummaryChain::Verified(_) => ChainStanding::Verified,
        SummaryChain::Unverified(_) => ChainStanding::Unverified,
        SummaryChain::Absent(_) => ChainStanding::Absent,
    }
}

/// Returns how the calls differ on the row where a trial stopped and what the
/// row explains, else what ended the trial; masked and bounded.
fn evidence(trial: &TrialRecord, row: Option<&SummaryStage>) -> Vec<String> {
    let mut lines = row.map_or_else(Vec::new, |row| calls(trial, row));
    let explanations = row
        .and_then(|row| row.evidence.as_ref())
        .and_then(|evidence| evidence.predicate_reasons.as_ref());
    lines.extend(explanations.into_iter().flatten().cloned());
    if lines.is_empty() {
        lines.extend(trial.error.as_ref().map(|error| error.message.clone()));
    }
    lines
        .iter()
        .take(MAX_QUOTED_EVIDENCE)
        .map(|line| redact_text(line).chars().take(MAX_EVIDENCE).collect())
        .collect()
}

/// Returns how the calls of the turns that a row cites differ from what the
/// case requires.
fn calls(trial: &TrialRecord, row: &SummaryStage) -> Vec<String> {
    let cited = row
        .evidence
        .as_ref()
        .and_then(|evidence| evidence.prompt_indexes.as_ref());
    let turns = trial
        .prompts
        .iter()
        .filter_map(|turn| PromptSummary::deserialize(turn).ok())
        .filter(|turn| cited.is_none_or(|indexes| indexes.contains(&f64::from(turn.prompt_index))));
    let mut lines = Vec::new();
    for turn in turns {
        match row.reason {
            Some(StageReason::MissingToolCall) if !turn.missing.is_empty() => {
                let missing = turn.missing.iter();
                lines.extend(missing.map(|wanted| format!("expected {}", call(wanted))));
                let made: Vec<String> = turn.actual_tool_calls.iter().map(call).collect();
                lines.push(match made.as_slice() {
                    [] => "called no tool".to_owned(),
                    made => format!("called {}", made.join(", then ")),
                });
            }
            Some(StageReason::UnexpectedToolCall) => {
                let made = turn.unexpected.iter();
                lines.extend(made.map(|made| format!("called {}", call(made))));
            }
            Some(StageReason::ArgumentMismatch) => {
                lines.extend(turn.argument_mismatches.iter().map(|mismatch| {
                    format!(
                        "{}: expected {}, got {}",
                        mismatch.tool_name,
                        redact_value(&mismatch.expected_args),
                        redact_value(&mismatch.actual_args)
                    )
                }));
            }
            _ => {}
        }
    }
    lines
}

fn call(call: &ToolCall) -> String {
    format!("{} {}", call.tool_name, redact_value(&call.arguments))
}

fn add_usage(sum: &mut Usage, part: &Usage) {
    let add = |sum: &mut Option<u64>, part: Option<u64>| {
        if let Some(part) = part {
            *sum = Some(sum.unwrap_or(0).saturating_add(part));
        }
    };
    add(&mut sum.input_tokens, part.input_tokens);
    add(&mut sum.output_tokens, part.output_tokens);
    add(&mut sum.total_tokens, part.total_tokens);
    add(&mut sum.cached_input_tokens, part.cached_input_tokens);
}
