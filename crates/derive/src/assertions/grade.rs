//! What a trial's grade consists of (`assertions.md` §1, §7): the one entry
//! for whoever ran the trial.
//!
//! 1. [`CasePlan::compile`] once per case and variant;
//! 2. [`CasePlan::grade_step`] at every assert step, on the trial so far;
//! 3. [`CasePlan::grade`] once, when the trial has ended.

use std::collections::BTreeMap;

use strandline_contract::{
    assertion::{MatchRollUp, PromptSummary, ResultRow, RowScope, ScoreRow},
    suite::{AuthoredAssertion, MatchOptions, ResolvedCase, Step},
    transcript::{ToolCall, Transcript},
    words::{AssertionKind, ExpectationFailure, RuleRole},
};

use super::{
    evidence::Evidence,
    expectations::{Turn, compile_turns, is_expectation, turn_ordinals},
    options::{InvalidMatchOption, MatchSettings},
    outcome::Outcome,
    reason::{counted, shown_text, shown_value},
    rule::CompiledRule,
    score::{GradedRow, ScoreIds},
    summary::{roll_up, summarize_turn},
    turn::{ExpectationGrade, TurnGrade, grade_at_step, grade_turn},
};

/// What a run adds to what a case says.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanOptions<'a> {
    /// The suite's match options; the case's own lie over them.
    pub suite_match: Option<&'a MatchOptions>,
    /// Match options of the run, over both.
    pub run_match: Option<&'a MatchOptions>,
    /// Rules that the case inherits ([`standard::inherited`](super::standard::inherited)).
    pub inherited: &'a [AuthoredAssertion],
    /// The agent is offered skill tools.
    pub skill_tools: bool,
    /// Something watches widgets; without it, widget rules cannot be evaluated.
    pub watches_widgets: bool,
}

/// A case, ready to be graded any number of times.
#[derive(Debug)]
pub struct CasePlan {
    turns: Vec<Turn>,
    case_rules: Vec<CompiledRule>,
    /// By index of the step.
    step_rules: BTreeMap<usize, StepRule>,
    settings: MatchSettings,
    negative: bool,
    expected_output: Option<String>,
    skill_tools: bool,
    watches_widgets: bool,
    score_ids: ScoreIds,
}

#[derive(Debug)]
struct StepRule {
    rule: CompiledRule,
    /// Index into the turns.
    turn: usize,
    /// Graded by the turn engine instead of by its own predicate.
    expectation: bool,
}

/// What one assert step says at its point of the trial.
#[derive(Debug, Clone, PartialEq)]
pub struct StepGrade {
    /// Index of the step in the case.
    pub step_index: usize,
    /// The step's row.
    pub row: ResultRow,
    /// Whether a failing rule fails the trial.
    pub role: RuleRole,
    /// The trial ends here: the rule is required and does not hold. When the
    /// row is an error row, the trial is an evaluator error, not a failure.
    pub stops: bool,
}

/// What a trial left behind to be graded.
#[derive(Debug, Clone, Copy)]
pub struct TrialEvidence<'a> {
    /// Everything that rules read, of the whole trial.
    pub transcript: &'a Transcript,
    /// Calls that reached a server, by turn, for every turn that was opened.
    pub turn_calls: &'a [Vec<ToolCall>],
    /// What the assert steps said, in step order.
    pub steps: &'a [StepGrade],
    /// Why the trial did not run to its end; blank means that it did.
    pub iteration_error: Option<&'a str>,
    /// The trace shows a tool failure
    /// ([`trace::shows_tool_failure`](super::trace::shows_tool_failure)).
    pub trace_tool_failure: bool,
    /// A call that needs no model failed.
    pub pinned_tool_errors: bool,
    /// A scripted widget check did not hold.
    pub widget_failure: bool,
    /// A tool error fails the trial; true by default.
    pub fail_on_tool_error: bool,
}

/// The grade of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// One summary per opened turn.
    pub prompts: Vec<PromptSummary>,
    /// The turn engine's own view of every opened turn.
    pub turns: Vec<TurnGrade>,
    /// Rows of case rules, then of assert steps in order.
    pub rows: Vec<ResultRow>,
    /// The rows that the chain reads: all but those of required
    /// `toolCalledWith` steps, which the turn summaries decide
    /// (`chain.md` §14.1).
    pub chain_rows: Vec<ResultRow>,
    /// The turn summaries taken together.
    pub roll_up: MatchRollUp,
    /// The trial passes (§7.3).
    pub passed: bool,
    /// A required rule could not be evaluated: the trial says nothing about
    /// the server (§7.2).
    pub evaluator_error: bool,
    /// One score per rule, under stable ids (§11).
    pub scores: Vec<ScoreRow>,
}

impl CasePlan {
    /// Compiles what a case demands.
    ///
    /// # Errors
    ///
    /// [`InvalidMatchOption`] when a match option has a value that it cannot
    /// have: a configuration error, before anything is run.
    pub fn compile(
        case: &ResolvedCase,
        options: PlanOptions<'_>,
    ) -> Result<Self, InvalidMatchOption> {
        let layers = [
            options.suite_match,
            case.match_options.as_ref(),
            options.run_match,
        ];
        let settings = MatchSettings::resolve(layers.into_iter().flatten())?;
        let turns = compile_turns(case, settings);
        let step_rules: BTreeMap<usize, StepRule> = case
            .steps
            .iter()
            .zip(turn_ordinals(&case.steps))
            .enumerate()
            .filter_map(|(index, (step, ordinal))| match step {
                // Widget assertions are keyed by `kind` and need a browser.
                Step::Assert { assertion, .. } if assertion.contains_key("type") => Some((
                    index,
                    StepRule {
                        rule: CompiledRule::compile(assertion),
                        turn: ordinal as usize,
                        expectation: is_expectation(assertion),
                    },
                )),
                Step::Assert { .. }
                | Step::Prompt { .. }
                | Step::ToolCall { .. }
                | Step::Interact { .. } => None,
            })
            .collect();
        let case_rules: Vec<CompiledRule> = options
            .inherited
            .iter()
            .chain(&case.assertions)
            .map(CompiledRule::compile)
            .collect();
        let score_ids = ScoreIds::assign(
            case_rules
                .iter()
                .chain(step_rules.values().map(|step| &step.rule)),
        );
        Ok(Self {
            turns,
            case_rules,
            step_rules,
            settings,
            negative: case.is_negative_test,
            expected_output: case
                .expected_output
                .as_deref()
                .filter(|text| !strandline_contract::ecma::is_blank(text))
                .map(str::to_owned),
            skill_tools: options.skill_tools,
            watches_widgets: options.watches_widgets,
            score_ids,
        })
    }

    /// Returns the turns of the case, with what each is expected to call.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns how calls are matched.
    #[must_use]
    pub const fn settings(&self) -> MatchSettings {
        self.settings
    }

    /// Grades the assert step at an index of the case on the trial so far;
    /// `None` when there is no predicate at that step.
    ///
    /// `calls_of_turn` are the calls of the open turn so far.
    #[must_use]
    pub fn grade_step(
        &self,
        step_index: usize,
        calls_of_turn: &[ToolCall],
        so_far: &Transcript,
    ) -> Option<StepGrade> {
        let step = self.step_rules.get(&step_index)?;
        let turn = self.turns.get(step.turn)?;
        let scope = Some(RowScope::Turn {
            prompt_index: turn.turn_index,
        });
        let row = if step.expectation {
            // §3.4: the turn engine decides, not the raw predicate.
            let grade = grade_at_step(turn, step_index, calls_of_turn, self.skill_tools)?;
            step.rule
                .row(expectation_outcome(turn, &grade, calls_of_turn), scope)
        } else {
            self.evaluate(&step.rule, &Evidence::new(so_far), scope)
        };
        let role = step.rule.role();
        Some(StepGrade {
            step_index,
            stops: role == RuleRole::Required && !row.passed,
            row,
            role,
        })
    }

    /// Grades a trial that has ended.
    #[must_use]
    pub fn grade(&self, trial: &TrialEvidence<'_>) -> Grade {
        // Turns that were never opened have nothing to be graded.
        let turns: Vec<TurnGrade> = self
            .turns
            .iter()
            .zip(trial.turn_calls)
            .map(|(turn, calls)| grade_turn(turn, calls, self.skill_tools))
            .collect();
        let last_prompt = self.turns.iter().rposition(|turn| !turn.pinned);
        let prompts: Vec<PromptSummary> = self
            .turns
            .iter()
            .zip(&turns)
            .zip(trial.turn_calls)
            .enumerate()
            .map(|(index, ((turn, grade), calls))| {
                let expected_output = self
                    .expected_output
                    .as_deref()
                    .filter(|_| last_prompt == Some(index));
                summarize_turn(turn, grade, calls, expected_output)
            })
            .collect();
        let roll_up = roll_up(&prompts, self.negative);

        let rows = self.rows(trial);
        let required = || {
            rows.iter()
                .filter(|graded| graded.rule.role() == RuleRole::Required)
        };
        let required_failed = required().any(|graded| !graded.row.passed);
        Grade {
            passed: iteration_passes(required_failed, &roll_up, trial),
            evaluator_error: required().any(|graded| graded.row.is_error()),
            chain_rows: rows
                .iter()
                .filter(|graded| !graded.expectation)
                .map(|graded| graded.row.clone())
                .collect(),
            scores: self.score_ids.scores(&self.turns, &turns, &prompts, &rows),
            rows: rows.into_iter().map(|graded| graded.row).collect(),
            prompts,
            turns,
            roll_up,
        }
    }

    /// Case rows first, then step rows in order (§1).
    fn rows(&self, trial: &TrialEvidence<'_>) -> Vec<GradedRow<'_>> {
        let evidence = Evidence::new(trial.transcript);
        let case_rows = self
            .case_rules
            .iter()
            .enumerate()
            .map(|(rule_index, rule)| GradedRow {
                rule_index,
                rule,
                row: self.evaluate(rule, &evidence, None),
                expectation: false,
            });
        let step_rows =
            self.step_rules
                .iter()
                .enumerate()
                .filter_map(|(ordinal, (step_index, step))| {
                    let grade = trial
                        .steps
                        .iter()
                        .find(|grade| grade.step_index == *step_index)?;
                    Some(GradedRow {
                        rule_index: self.case_rules.len() + ordinal,
                        rule: &step.rule,
                        row: grade.row.clone(),
                        expectation: step.expectation,
                    })
                });
        case_rows.chain(step_rows).collect()
    }

    fn evaluate(
        &self,
        rule: &CompiledRule,
        evidence: &Evidence<'_>,
        scope: Option<RowScope>,
    ) -> ResultRow {
        match rule.kind() {
            Some(
                AssertionKind::WidgetRendered
                | AssertionKind::WidgetRenderLatencyUnder
                | AssertionKind::WidgetNoConsoleErrors,
            ) if !self.watches_widgets => {
                rule.row(Outcome::Error("nothing watches widgets".to_owned()), scope)
            }
            _ => rule.evaluate(evidence, scope),
        }
    }
}

/// The iteration boolean (§7.3); the first line that applies decides.
fn iteration_passes(
    required_failed: bool,
    roll_up: &MatchRollUp,
    trial: &TrialEvidence<'_>,
) -> bool {
    let errored = trial
        .iteration_error
        .is_some_and(|error| !strandline_contract::ecma::is_blank(error));
    if required_failed || trial.widget_failure {
        return false;
    }
    if !trial.fail_on_tool_error {
        return roll_up.passed;
    }
    if errored || trial.trace_tool_failure || trial.pinned_tool_errors {
        return false;
    }
    roll_up.passed
}

/// What the turn engine says about one expectation, as a row says it.
fn expectation_outcome(turn: &Turn, grade: &ExpectationGrade, calls: &[ToolCall]) -> Outcome {
    let expectation = turn
        .expectations
        .iter()
        .find(|expectation| expectation.step_id == grade.step_id);
    let (demanded, arguments) = expectation.map_or((1, String::new()), |expectation| {
        (
            expectation.min_count,
            format!(
                " with {} ({})",
                shown_value(&expectation.args),
                expectation.argument_matching
            ),
        )
    });
    let name = shown_text(&grade.tool_name);
    match grade.failure {
        None => Outcome::Pass(format!(
            "{} to {name}{arguments}, at least {demanded} demanded",
            counted(grade.paired_call_indexes.len(), "call")
        )),
        Some(ExpectationFailure::Missing) if grade.invalid_min_count => Outcome::Fail(
            "malformed predicate: `minCount` is not a positive whole number".to_owned(),
        ),
        Some(ExpectationFailure::Missing) => Outcome::Fail(format!(
            "{} of {demanded} calls to {name}{arguments} missing in turn {}",
            grade.missing_slots, turn.turn_index
        )),
        Some(ExpectationFailure::Arguments) => {
            let actual = grade
                .paired_call_indexes
                .iter()
                .filter_map(|index| calls.get(*index))
                .map(|call| shown_value(&call.arguments));
            Outcome::Fail(format!(
                "{name} called with other arguments in turn {}: expected{}, got {}",
                turn.turn_index,
                arguments.trim_start_matches(" with"),
                super::reason::shown_list(actual)
            ))
        }
    }
}
