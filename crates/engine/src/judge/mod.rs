//! Asking LLM judges about finished trials.
//!
//! What is asked, how an answer is read and what follows from it is
//! `strandline_derive::judge`; here the questions are asked, counted and
//! bounded. A judge that fails is recorded and never fails a run.

mod client;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Instant,
};

use strandline_contract::{
    judgement::{
        ATTRIBUTION_KEY, CONDITION_KEY, GOAL_KEY, GoalJudgement, JUDGE_PASS_VERSION, JudgeCall,
        JudgePass, JudgeProvenance, SuspectedConditionVerdict,
    },
    redact::redact_text,
    run::{ServerFacts, TrialRecord, Usage},
    suite::{ResolvedCase, ResolvedSuite},
    trace::Trace,
    words::{ConditionSkipReason, JudgeAggregation, JudgeCallOutcome, JudgeKind, JudgeStatus},
};
use strandline_derive::{
    friction::friction_of_trial,
    judge::{
        JudgeSettings, Unusable, adopt, askable,
        attribution::{
            aggregate_attribution, attribution_prompt, offered_tools, read_attribution_answer,
        },
        condition::{Flagged, aggregate_condition},
        goal::{aggregate_goal, goal_prompt, read_goal_answer},
        regrade, stored_answer,
        template::{Prompt, Template},
    },
};
use tokio_util::sync::CancellationToken;

pub use client::{Judge, ModelJudge, Question, Reply, ScriptedJudge};

use crate::{
    mcp::now_ms,
    models::{ModelError, ModelErrorKind},
};

/// Who judges a run, and within which bounds.
#[derive(Clone)]
pub struct JudgePlan {
    /// Who is asked.
    pub judge: Arc<dyn Judge>,
    /// Samples of each judgement (k), from 1.
    pub samples: u32,
    /// Trials judged at once.
    pub concurrency: usize,
    /// Most trials of a run that are looked at for suspected conditions.
    pub condition_limit: u32,
    /// Most tokens that judging may use; absent: no limit.
    pub token_budget: Option<u64>,
}

/// Which judgements of a trial are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those that are not there, or in which the judge failed.
    Missing,
    /// All of them, again.
    All,
}

/// A judged trial: its record with everything derived again, and the pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The trial as it stands now.
    pub trial: TrialRecord,
    /// What was asked and answered.
    pub pass: JudgePass,
}

/// Why a trial was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotJudged {
    /// Nothing was wanted: everything is there, or nothing can be asked.
    NothingToAsk,
    /// The budget for judges is used up; the trial stays as it is.
    BudgetUsedUp,
    /// The run was stopped; the trial stays as it is.
    Stopped,
}

/// Judges the trials of one run.
pub struct JudgeRun {
    plan: JudgePlan,
    spent: AtomicU64,
    conditions: AtomicU32,
}

impl JudgeRun {
    /// Begins to judge a run.
    #[must_use]
    pub const fn new(plan: JudgePlan) -> Self {
        Self {
            plan,
            spent: AtomicU64::new(0),
            conditions: AtomicU32::new(0),
        }
    }

    /// Returns who judges, and within which bounds.
    #[must_use]
    pub const fn plan(&self) -> &JudgePlan {
        &self.plan
    }

    /// Judges one trial and derives it again.
    ///
    /// # Errors
    ///
    /// Says why it was left as it is.
    pub async fn judge(
        &self,
        subject: &Subject<'_>,
        wanted: Wanted,
        cancel: &CancellationToken,
    ) -> Result<Judged, NotJudged> {
        let Subject {
            settings,
            trial,
            trace,
            ..
        } = subject;
        if !settings.enabled {
            return Err(NotJudged::NothingToAsk);
        }
        let can = askable(trial, trace);
        let wants = |key: &str| wanted == Wanted::All || is_missing(trial, key);
        let mut asking = Asking {
            run: self,
            subject,
            cancel,
            calls: Vec::new(),
        };
        let budget_left = || !self.is_spent();
        let mut blocked = false;
        let mut goal = None;
        if wants(GOAL_KEY) {
            if can.goal && !budget_left() {
                blocked = true;
            } else if can.goal {
                goal = asking.goal().await?;
            } else if settings.authored && settings.is_required() {
                goal = Some(asking.not_applicable());
            }
        }
        let mut metadata_attribution = None;
        if can.attribution && wants(ATTRIBUTION_KEY) {
            if budget_left() {
                metadata_attribution = asking.attribution().await?;
            } else {
                blocked = true;
            }
        }
        let suspected_condition = if wants(CONDITION_KEY) && can.goal {
            asking.condition().await?
        } else {
            None
        };
        if goal.is_none() && metadata_attribution.is_none() && suspected_condition.is_none() {
            return Err(if blocked {
                NotJudged::BudgetUsedUp
            } else {
                NotJudged::NothingToAsk
            });
        }
        let pass = JudgePass {
            version: JUDGE_PASS_VERSION,
            trial_id: trial.id.clone(),
            at: epoch_ms(),
            calls: asking.calls,
            goal,
            metadata_attribution,
            suspected_condition,
        };
        let mut trial = (*trial).clone();
        adopt(&mut trial, &pass);
        regrade(&mut trial, trace, settings);
        Ok(Judged { trial, pass })
    }

    fn is_spent(&self) -> bool {
        let spent = self.spent.load(Ordering::Relaxed);
        self.plan.token_budget.is_some_and(|budget| spent >= budget)
    }

    fn spend(&self, usage: &Usage) {
        let parts = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
        let used = usage.total_tokens.unwrap_or(parts);
        self.spent.fetch_add(used, Ordering::Relaxed);
    }

    /// Returns the name of who is asked.
    fn model(&self) -> String {
        let judge = &self.plan.judge;
        format!("{}/{}", judge.provider(), judge.model())
    }
}

/// A finished trial with what a judge may know of it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// What the suite says about judges in this case.
    pub settings: &'a JudgeSettings,
    /// The trial.
    pub trial: &'a TrialRecord,
    /// Its trace.
    pub trace: &'a Trace,
    /// What the run's servers advertised.
    pub servers: &'a [ServerFacts],
    /// `provider/model` of the model under test.
    pub tested_model: Option<&'a str>,
}

/// Returns the case of a trial in its suite.
#[must_use]
pub fn case_of<'a>(suite: &'a ResolvedSuite, trial: &TrialRecord) -> Option<&'a ResolvedCase> {
    suite.cases.iter().find(|case| case.id == trial.case_id)
}

/// A judgement is missing when it is not there or the judge failed in it.
fn is_missing(trial: &TrialRecord, key: &str) -> bool {
    let status = trial
        .metadata
        .get(key)
        .map(|judgement| judgement.get("status").and_then(serde_json::Value::as_str));
    match status {
        None => true,
        Some(status) => matches!(status, Some("error" | "pending") | None),
    }
}

/// The questions about one trial.
struct Asking<'a> {
    run: &'a JudgeRun,
    subject: &'a Subject<'a>,
    cancel: &'a CancellationToken,
    calls: Vec<JudgeCall>,
}

/// Usable answers, and what became of the last one that is not.
struct Samples<T> {
    usable: Vec<T>,
    failure: Option<String>,
}

impl Asking<'_> {
    async fn goal(&mut self) -> Result<Option<GoalJudgement>, NotJudged> {
        let Subject {
            settings,
            trial,
            trace,
            ..
        } = *self.subject;
        let Some(prompt) = goal_prompt(settings, &trial.id, trace) else {
            return Ok(None);
        };
        let samples = self
            .samples(&prompt, |text| {
                let sample = read_goal_answer(settings, &prompt, text)?;
                let (given, notes) = (sample.given, sample.notes.clone());
                Ok((sample, Some(given), notes))
            })
            .await?;
        Ok(Some(aggregate_goal(
            settings,
            self.run.plan.samples,
            &samples.usable,
            samples.failure.as_deref(),
            self.provenance(JudgeKind::GoalCompletion),
        )))
    }

    /// Says that there was nothing to look at, where an answer is required.
    fn not_applicable(&self) -> GoalJudgement {
        let settings = self.subject.settings;
        let nothing = aggregate_goal(
            settings,
            0,
            &[],
            None,
            self.provenance(JudgeKind::GoalCompletion),
        );
        GoalJudgement {
            status: JudgeStatus::NotApplicable,
            aggregation: JudgeAggregation::Median,
            error: None,
            ..nothing
        }
    }

    async fn attribution(
        &mut self,
    ) -> Result<Option<strandline_contract::judgement::AttributionJudgement>, NotJudged> {
        let Subject {
            trial,
            trace,
            servers,
            ..
        } = *self.subject;
        let tools = offered_tools(servers, trace);
        let Some(prompt) = attribution_prompt(trial, trace, &tools) else {
            return Ok(None);
        };
        let samples = self
            .samples(&prompt, |text| {
                let sample = read_attribution_answer(&prompt, &tools, text)?;
                let notes = sample.notes.clone();
                Ok((sample, None, notes))
            })
            .await?;
        Ok(Some(aggregate_attribution(
            self.run.plan.samples,
            &samples.usable,
            samples.failure.as_deref(),
            self.provenance(JudgeKind::MetadataAttribution),
        )))
    }

    async fn condition(&mut self) -> Result<Option<SuspectedConditionVerdict>, NotJudged> {
        let Subject {
            trial,
            trace,
            servers,
            ..
        } = *self.subject;
        let (input, friction) = friction_of_trial(&trial.actual_tool_calls, trace);
        let Some(flagged) = Flagged::of(&friction, &input) else {
            return Ok(None);
        };
        let provenance = flagged.provenance(trial, &self.run.model(), epoch_ms());
        let skipped = |reason| {
            Ok(Some(SuspectedConditionVerdict::Skipped {
                reason,
                provenance: provenance.clone(),
            }))
        };
        // The first reason that holds (`friction.md` §9.3).
        let place = self.run.conditions.fetch_add(1, Ordering::Relaxed);
        if place >= self.run.plan.condition_limit {
            return skipped(ConditionSkipReason::Cap);
        }
        if self.run.is_spent() {
            return skipped(ConditionSkipReason::SpendBlocked);
        }
        if let Some(reason) = flagged.skip_reason() {
            // It asks nobody, so that another trial may take its place.
            self.run.conditions.fetch_sub(1, Ordering::Relaxed);
            return skipped(reason);
        }
        let prompt = flagged.prompt(&trial.id, servers);
        let samples = self
            .samples(&prompt, |text| {
                let sample = flagged.read_answer(&prompt, text)?;
                let notes = sample.notes.clone();
                Ok((sample, None, notes))
            })
            .await?;
        Ok(Some(aggregate_condition(
            self.run.plan.samples,
            &samples.usable,
            provenance,
        )))
    }

    /// Asks for every sample, one after the other: a provider that fails is not
    /// asked again by the samples beside it.
    async fn samples<T>(
        &mut self,
        prompt: &Prompt,
        read: impl Fn(&str) -> Result<(T, Option<f64>, Vec<String>), Unusable>,
    ) -> Result<Samples<T>, NotJudged> {
        let mut samples = Samples {
            usable: Vec::new(),
            failure: None,
        };
        for sample in 0..self.run.plan.samples {
            let began = Instant::now();
            let question = Question {
                case_id: &self.subject.trial.case_id,
                iteration_number: self.subject.trial.iteration_number,
                sample,
                prompt,
            };
            let answer = self.run.plan.judge.ask(question, self.cancel).await;
            let mut call = self.call(prompt, sample, began);
            match answer {
                Err(error) if error.kind == ModelErrorKind::Cancelled => {
                    return Err(NotJudged::Stopped);
                }
                Err(error) => failed(&mut call, &error),
                Ok(reply) => {
                    self.run.spend(&reply.usage);
                    call.served_model.clone_from(&reply.served_model);
                    call.usage = reply.usage;
                    call.attempts = reply.attempts;
                    if prompt.kind != JudgeKind::SuspectedCondition {
                        call.answer = Some(stored_answer(&reply.text));
                    }
                    let outcome = refusal(&reply).map_or_else(|| read(&reply.text), Err);
                    match outcome {
                        Ok((usable, score, notes)) => {
                            call.score = score;
                            call.notes = notes;
                            samples.usable.push(usable);
                        }
                        Err(unusable) => {
                            call.outcome = if unusable.code == REFUSED {
                                JudgeCallOutcome::Refused
                            } else {
                                JudgeCallOutcome::Malformed
                            };
                            call.error_code = Some(unusable.code.to_owned());
                            call.error = Some(unusable.message);
                        }
                    }
                }
            }
            if let Some(error) = &call.error {
                samples.failure = Some(error.clone());
            }
            self.calls.push(call);
        }
        Ok(samples)
    }

    fn call(&self, prompt: &Prompt, sample: u32, began: Instant) -> JudgeCall {
        let template = Template::of(prompt.kind);
        JudgeCall {
            kind: prompt.kind,
            sample,
            provider: self.run.plan.judge.provider().to_owned(),
            model: self.run.plan.judge.model().to_owned(),
            served_model: None,
            template_version: template.version,
            template_hash: template.hash(),
            prompt_hash: prompt.hash(),
            outcome: JudgeCallOutcome::Scored,
            score: None,
            notes: Vec::new(),
            error_code: None,
            error: None,
            answer: None,
            usage: Usage::default(),
            attempts: 1,
            duration_ms: began.elapsed().as_secs_f64() * 1_000.0,
        }
    }

    fn provenance(&self, kind: JudgeKind) -> JudgeProvenance {
        let template = Template::of(kind);
        let model = self.run.model();
        JudgeProvenance {
            is_model_under_test: self.subject.tested_model == Some(model.as_str()),
            model,
            judge_template_version: template.version,
            judge_template_hash: template.hash(),
            generated_at: epoch_ms(),
        }
    }
}

/// Error code of an answer that was withheld.
const REFUSED: &str = "refused";

/// Tells an answer that the model or its provider withheld or cut, by the
/// provider's own word.
fn refusal(reply: &Reply) -> Option<Unusable> {
    let word = reply.finish_reason.as_deref()?.to_ascii_lowercase();
    match word.as_str() {
        "refusal" | "content_filter" | "safety" | "recitation" | "prohibited_content"
        | "blocklist" => Some(Unusable {
            code: REFUSED,
            message: format!("the judge withheld its answer (`{word}`)"),
        }),
        "length" | "max_tokens" => Some(Unusable {
            code: "cutOff",
            message: "the judge's answer was cut off at its length limit".to_owned(),
        }),
        _ => None,
    }
}

fn failed(call: &mut JudgeCall, error: &ModelError) {
    call.outcome = if error.kind == ModelErrorKind::ContentFiltered {
        JudgeCallOutcome::Refused
    } else {
        JudgeCallOutcome::Failed
    };
    call.attempts = error.attempts;
    call.error_code = Some(error.kind.code().to_owned());
    call.error = Some(redact_text(&error.to_string()));
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "milliseconds since the epoch fit in 64 bits"
)]
fn epoch_ms() -> i64 {
    now_ms() as i64
}
