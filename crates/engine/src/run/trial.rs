//! The steps of one trial.

use std::{sync::Arc, time::Duration};

use strandline_contract::{
    event::{Activity, RunEvent, TrialRef, WaitingFor},
    run::{ErrorLayer, SkippedStep, TrialError},
    suite::{ResolvedCase, ResolvedSuite, Step},
    trace::{Part, Role},
    words::{IterationStatus, Stage},
};
use strandline_derive::assertions::grade::CasePlan;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    agent::StepFailure,
    bound::{Cut, within},
    calls::{self, Wanted},
    catalog::Catalog,
    dispatcher::{Finished, epoch_ms},
    gathered::Gathered,
    plan::{CaseVariant, Outstanding, RunPlan},
    record::{self, Ended},
    servers::{Lease, ServerSet, Servers, SetupRefusal},
};
use crate::{
    mcp::{CallOptions, Capture, CaptureLimits},
    models::ModelClient,
};

/// What all trials of a run share.
pub(super) struct Shared {
    pub(super) plan: Arc<RunPlan>,
    pub(super) servers: Arc<Servers>,
    pub(super) events: mpsc::Sender<RunEvent>,
    /// Cancelled when the run stops.
    pub(super) stop: CancellationToken,
    /// Bounds the trials that hold a session of one server.
    pub(super) server_permits: Arc<Semaphore>,
}

/// One trial while it runs.
pub(super) struct TrialRun<'a> {
    pub(super) suite: &'a ResolvedSuite,
    pub(super) case: &'a ResolvedCase,
    pub(super) model: Option<&'a dyn ModelClient>,
    pub(super) iteration_number: u32,
    pub(super) seed: Option<u64>,
    pub(super) set: &'a ServerSet,
    pub(super) catalog: Arc<Catalog>,
    pub(super) grading: &'a CasePlan,
    /// Where the frames of this trial's calls go.
    pub(super) capture: Capture,
    /// Cancelled when the trial must come to its end.
    pub(super) token: CancellationToken,
    pub(super) gathered: Gathered,
    /// How often the model was asked before, in this trial.
    pub(super) asked: u32,
    events: &'a mpsc::Sender<RunEvent>,
    me: Arc<TrialRef>,
}

/// Runs one trial from its first connection to its record.
pub(super) async fn run(shared: &Shared, outstanding: Outstanding) -> Finished {
    let plan = &shared.plan;
    let planned = &plan.case_variants[outstanding.case_variant];
    let me = Arc::new(TrialRef {
        case_id: planned.case.id.clone(),
        title: planned.case.title.clone(),
        variant: planned.variant.clone(),
        iteration_number: outstanding.iteration_number,
    });
    let _ = shared
        .events
        .try_send(RunEvent::TrialStarted(Arc::clone(&me)));
    let started_at = epoch_ms();
    // The semaphore is never closed, so a permit always comes.
    let permit = shared.server_permits.acquire().await.ok();
    notify(&shared.events, &me, Stage::Connection, WaitingFor::Server);
    let lease = match lease(shared).await {
        Ok(lease) => lease,
        Err(refusal) => {
            return if shared.stop.is_cancelled() {
                record::cancelled_before_it_began(plan, outstanding, started_at)
            } else {
                record::never_begun(plan, outstanding, &refusal)
            };
        }
    };
    let mut trial = TrialRun::new(shared, planned, outstanding, lease.set(), me);
    let ended = trial.run_to_its_end(&shared.stop).await;
    let finished = record::finish(plan, outstanding, started_at, trial, ended, &lease);
    lease.release().await;
    drop(permit);
    finished
}

async fn lease(shared: &Shared) -> Result<Lease, Box<SetupRefusal>> {
    shared.servers.acquire().await.map_err(Box::new)
}

fn notify(
    events: &mpsc::Sender<RunEvent>,
    me: &Arc<TrialRef>,
    stage: Stage,
    waiting_for: WaitingFor,
) {
    // An activity that nobody has room for is dropped: the next one follows.
    let _ = events.try_send(RunEvent::TrialActivity(
        Arc::clone(me),
        Activity { stage, waiting_for },
    ));
}

impl<'a> TrialRun<'a> {
    fn new(
        shared: &'a Shared,
        planned: &'a CaseVariant,
        outstanding: Outstanding,
        set: &'a ServerSet,
        me: Arc<TrialRef>,
    ) -> Self {
        let plan = &shared.plan;
        Self {
            suite: &plan.suite,
            case: &planned.case,
            model: planned.model.as_deref(),
            iteration_number: outstanding.iteration_number,
            seed: plan
                .seed
                .map(|seed| seed.wrapping_add(u64::from(outstanding.iteration_number))),
            set,
            catalog: set.catalog(),
            grading: &planned.grading,
            capture: Capture::new(CaptureLimits::default()),
            token: shared.stop.child_token(),
            gathered: Gathered::default(),
            asked: 0,
            events: &shared.events,
            me,
        }
    }

    /// Says what the trial is doing, for whoever watches.
    pub(super) fn notify(&self, stage: Stage, waiting_for: WaitingFor) {
        notify(self.events, &self.me, stage, waiting_for);
    }

    async fn run_to_its_end(&mut self, stop: &CancellationToken) -> Ended {
        let budget = Duration::from_millis(self.suite.execution.iteration_timeout_ms);
        let token = self.token.clone();
        let (end, cut) = within(budget, stop, &token, self.run_steps()).await;
        match (end, cut) {
            (_, Some(Cut::TimedOut)) => Ended::with(IterationStatus::TimedOut),
            (_, Some(Cut::Cancelled)) | (None, None) => Ended::with(IterationStatus::Cancelled),
            (Some(ended), None) => ended,
        }
    }

    /// Runs the steps in order; the first failure skips the rest
    /// (`suite-file.md` §6.2).
    async fn run_steps(&mut self) -> Ended {
        let steps = &self.case.steps;
        for (index, step) in steps.iter().enumerate() {
            let result = match step {
                Step::Prompt { prompt, .. } => self.prompt(prompt).await,
                Step::ToolCall {
                    server_name,
                    server_id,
                    tool_name,
                    arguments,
                    ..
                } => {
                    self.pinned_call(
                        server_name,
                        server_id.as_deref(),
                        tool_name,
                        serde_json::Value::Object(arguments.clone()),
                    )
                    .await
                }
                Step::Assert { .. } => self.assert_at(index),
                Step::Interact { .. } => Err(StepFailure::Error(super::dispatcher::harness_error(
                    "CASE_UNSUPPORTED",
                    "`interact` steps need a browser engine, which this version has not",
                ))),
            };
            if let Err(failure) = result {
                return self.stop_at(index, failure);
            }
        }
        Ended::with(IterationStatus::Completed)
    }

    /// Ends the trial at a step and records the steps that never ran.
    fn stop_at(&mut self, index: usize, failure: StepFailure) -> Ended {
        let reason = match &failure {
            StepFailure::Error(error) => format!("an earlier step ended in {}", error.code),
            StepFailure::TurnTimedOut => "an earlier turn used up its time".to_owned(),
            StepFailure::CheckFailed => "an earlier required check did not hold".to_owned(),
            StepFailure::Cancelled => "the trial was cancelled".to_owned(),
        };
        for (position, step) in self.case.steps.iter().enumerate().skip(index + 1) {
            self.gathered.skipped_steps.push(SkippedStep {
                step_id: step.id().to_owned(),
                step_index: u32::try_from(position).unwrap_or(u32::MAX),
                kind: step.kind().to_owned(),
                reason: reason.clone(),
            });
        }
        match failure {
            StepFailure::Error(error) => Ended::in_error(error),
            StepFailure::TurnTimedOut => Ended::with(IterationStatus::TimedOut),
            StepFailure::CheckFailed => Ended::with(IterationStatus::Completed),
            StepFailure::Cancelled => Ended::with(IterationStatus::Cancelled),
        }
    }

    /// Grades an assert step on the trial so far; a required one that does not
    /// hold ends the trial.
    fn assert_at(&mut self, index: usize) -> Result<(), StepFailure> {
        self.gathered.ensure_turn();
        let so_far = self.gathered.transcript(&self.catalog);
        let calls = self.gathered.turn_calls().pop().unwrap_or_default();
        let Some(grade) = self.grading.grade_step(index, &calls, &so_far) else {
            return Ok(());
        };
        let stops = grade.stops;
        self.gathered.step_grades.push(grade);
        if stops {
            Err(StepFailure::CheckFailed)
        } else {
            Ok(())
        }
    }

    /// Notes the tools that the open turn expects and nobody offers.
    pub(super) fn note_tools_not_offered(&mut self) {
        let prompt_index = self.gathered.prompt_index();
        let Some(expected) = self
            .grading
            .turns()
            .iter()
            .find(|turn| turn.turn_index == prompt_index)
        else {
            return;
        };
        let lacking: Vec<String> = expected
            .expectations
            .iter()
            .map(|expectation| &expectation.tool_name)
            .filter(|name| !self.catalog.offers(name))
            .cloned()
            .collect();
        if let Some(turn) = self.gathered.turns.last_mut() {
            turn.not_offered = lacking;
        }
    }

    /// Calls a tool without a model, and lets the conversation know.
    async fn pinned_call(
        &mut self,
        server_name: &str,
        server_id: Option<&str>,
        tool_name: &str,
        arguments: serde_json::Value,
    ) -> Result<(), StepFailure> {
        self.gathered.open_turn(true);
        let wanted = Wanted {
            tool_call_id: self.gathered.unique_call_id(""),
            tool_name: tool_name.to_owned(),
            arguments,
            raw_arguments: None,
        };
        let set = self.set;
        let Some(server) = set.server(server_name, server_id) else {
            return Err(StepFailure::Error(TrialError {
                layer: ErrorLayer::Setup,
                code: "pinned_server_not_connected".to_owned(),
                message: format!("step calls server `{server_name}`, which is not bound"),
                http_status: None,
            }));
        };
        self.gathered.say_text(
            Role::User,
            format!(
                "Call `{tool_name}` on server `{server_name}` with {}",
                wanted.arguments
            ),
        );
        self.gathered.say(
            Role::Assistant,
            vec![Part::ToolCall {
                tool_call_id: wanted.tool_call_id.clone(),
                tool_name: tool_name.to_owned(),
                arguments: wanted.arguments.clone(),
                raw_arguments: None,
                provider_state: None,
            }],
        );
        self.notify(Stage::Call, WaitingFor::Server);
        let part = if let Some(denial) = self.catalog.denial(tool_name) {
            calls::record_block(
                &mut self.gathered,
                &wanted,
                &self.case.id,
                self.iteration_number,
                denial,
            )
        } else {
            let timeout = Duration::from_millis(self.suite.execution.tool_call_timeout_ms);
            let options =
                CallOptions::new(timeout, self.token.clone()).with_capture(self.capture.clone());
            let sent = wanted.arguments.as_object().cloned().unwrap_or_default();
            let record = server.session().call(tool_name, sent, options).await;
            calls::record_sent(&mut self.gathered, &wanted, server, record)
        };
        let said = match &part {
            Part::ToolResult {
                model_text,
                is_error,
                ..
            } => {
                self.gathered.pinned_tool_errors |= *is_error;
                model_text.clone()
            }
            Part::Text { .. } | Part::ToolCall { .. } => String::new(),
        };
        self.gathered.say(Role::Tool, vec![part]);
        self.gathered.say_text(Role::Assistant, said);
        Ok(())
    }
}
