//! Judging beside a run: finished trials wait for a judge while others run.

use std::{collections::VecDeque, sync::Arc};

use strandline_contract::{
    run::{ServerFacts, TrialRecord},
    trace::Trace,
    words::PendingKind,
};
use strandline_derive::judge::JudgeSettings;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{dispatcher::Finished, plan::RunPlan};
use crate::judge::{JudgeRun, Judged, NotJudged, Subject, Wanted, case_of};

/// Finished trials that may wait for a judge before no more are started: each
/// holds its trace.
const MAX_WAITING: usize = 64;

/// The judge of a run, and who waits for it.
pub(super) struct Judging {
    run: Option<Arc<JudgeRun>>,
    plan: Arc<RunPlan>,
    servers: Arc<[ServerFacts]>,
    waiting: VecDeque<Arc<Finished>>,
    running: JoinSet<Result<Judged, NotJudged>>,
    stop: CancellationToken,
}

impl Judging {
    pub(super) fn new(
        plan: &Arc<RunPlan>,
        servers: &[ServerFacts],
        stop: CancellationToken,
    ) -> Self {
        Self {
            run: plan.judge.clone().map(|plan| Arc::new(JudgeRun::new(plan))),
            plan: Arc::clone(plan),
            servers: servers.into(),
            waiting: VecDeque::new(),
            running: JoinSet::new(),
            stop,
        }
    }

    /// Takes a finished trial whose judgement is due.
    pub(super) fn offer(&mut self, finished: &Finished) {
        if self.run.is_none() || self.stop.is_cancelled() {
            return;
        }
        let due = case_of(&self.plan.suite, &finished.0).is_some_and(|case| {
            JudgeSettings::of(&self.plan.suite, case).pending_kind() == Some(PendingKind::Scheduled)
        });
        if due {
            self.waiting.push_back(Arc::new(finished.clone()));
        }
    }

    /// Lets as many trials be judged at once as the plan allows.
    pub(super) fn fill(&mut self) {
        let Some(run) = &self.run else { return };
        if self.stop.is_cancelled() {
            self.waiting.clear();
        }
        while self.running.len() < run.plan().concurrency.max(1) {
            let Some(finished) = self.waiting.pop_front() else {
                return;
            };
            let (run, plan) = (Arc::clone(run), Arc::clone(&self.plan));
            let (servers, stop) = (Arc::clone(&self.servers), self.stop.clone());
            self.running.spawn(async move {
                let (trial, trace) = finished.as_ref();
                judge_one(&run, &plan, &servers, trial, trace, &stop).await
            });
        }
    }

    /// Tells that so many trials wait that no more should be started.
    pub(super) fn is_behind(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    /// Tells that nobody is judged and nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Returns the next judged trial; `None` for one that stays as it is.
    pub(super) async fn next(&mut self) -> Option<Judged> {
        match self.running.join_next().await? {
            Ok(outcome) => outcome.ok(),
            Err(error) => {
                tracing::error!(%error, "judging a trial ended without an answer");
                None
            }
        }
    }
}

async fn judge_one(
    run: &JudgeRun,
    plan: &RunPlan,
    servers: &[ServerFacts],
    trial: &TrialRecord,
    trace: &Trace,
    stop: &CancellationToken,
) -> Result<Judged, NotJudged> {
    let case = case_of(&plan.suite, trial).ok_or(NotJudged::NothingToAsk)?;
    let settings = JudgeSettings::of(&plan.suite, case);
    let tested = plan
        .case_variants
        .iter()
        .find(|planned| planned.case.id == trial.case_id && planned.variant == trial.variant)
        .and_then(|planned| planned.model.as_ref())
        .map(|model| format!("{}/{}", model.provider(), model.model()));
    let subject = Subject {
        settings: &settings,
        trial,
        trace,
        servers,
        tested_model: tested.as_deref(),
    };
    run.judge(&subject, Wanted::Missing, stop).await
}
