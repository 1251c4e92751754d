//! What a report is made from: a run with its trials, wherever they are, a few
//! hundred in memory at a time.

use std::{borrow::Cow, collections::BTreeMap};

use futures::{StreamExt, TryStreamExt, stream, stream::LocalBoxStream};
use strandline_contract::{
    full_report::ReportedFunnel,
    judgement::JudgePass,
    overview::RunOverview,
    run::{RunRecord, TrialRecord},
    trace::Trace,
    words::{TaskResult, Vocabulary},
};
use strandline_derive::overview::run_overview;
use strandline_report::terminal::trial::FramesKept;
use strandline_service::roll_ups::{self, Found};
use strandline_store::{FrameState, Frames, Store, StoreError, StoredRun, TrialFilter};

use crate::ui::CommandError;

/// Trials read at a time.
const PAGE: u32 = 200;
/// Traces of non-passing trials that a report quotes from.
const QUOTED_TRACES: usize = 100;

/// A run with its trials.
pub struct Source<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// What `strandline show` is given to find the run again.
    pub reference: &'a str,
    /// The run's funnel, or why there is none.
    pub funnel: ReportedFunnel,
    store: Option<(&'a Store, &'a StoredRun)>,
    heard: Option<Heard<'a>>,
}

/// What was heard of a run that has just ended, in the plan's order. Of trials
/// that passed only the outcome was kept.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    /// The trials.
    pub trials: &'a [TrialRecord],
    /// Traces of trials that did not pass, by trial id, as far as there was room.
    pub traces: &'a BTreeMap<String, Trace>,
}

/// What is kept of a trial beside its record.
#[derive(Debug)]
pub struct KeptOfTrial {
    /// Its trace; `None` when it was pruned, never kept, or not wanted.
    pub trace: Option<Trace>,
    /// What became of the frames.
    pub frames: FramesKept,
    /// Every pass of LLM judges over it.
    pub judge_passes: Vec<JudgePass>,
}

/// A stream of trials.
pub type Trials<'s> = LocalBoxStream<'s, Result<Cow<'s, TrialRecord>, CommandError>>;

/// Which trials of a run are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of them.
    All,
    /// Those that did not pass, undecided ones included.
    NotPassed,
}

impl Wanted {
    /// Whether a trial is among them.
    #[must_use]
    pub fn admits(self, trial: &TrialRecord) -> bool {
        self == Self::All || trial.result != Some(TaskResult::Passed)
    }
}

impl<'a> Source<'a> {
    /// Reads a stored run; what was heard of it saves reading it again.
    ///
    /// # Errors
    ///
    /// When its funnel cannot be read from the store.
    pub async fn stored(
        store: &'a Store,
        run: &'a StoredRun,
        heard: Option<Heard<'a>>,
    ) -> Result<Self, CommandError> {
        let funnel = match roll_ups::read(store, run).await? {
            Found::Funnel(analytics) => ReportedFunnel::Recorded { analytics },
            Found::Absent(absence, detail) => ReportedFunnel::Absent {
                absence,
                message: absence.entry().meaning.to_owned(),
                detail,
            },
        };
        Ok(Self {
            run: &run.record,
            reference: &run.short_id,
            funnel,
            store: Some((store, run)),
            heard,
        })
    }

    /// Takes a run that is not stored.
    #[must_use]
    pub fn heard(run: &'a RunRecord, heard: Heard<'a>) -> Self {
        let analytics = Box::new(roll_ups::count(run, heard.trials).funnel);
        Self {
            run,
            reference: &run.id,
            funnel: ReportedFunnel::Recorded { analytics },
            store: None,
            heard: Some(heard),
        }
    }

    /// Returns how many trials the run has.
    #[must_use]
    pub fn count(&self) -> u64 {
        match (self.heard, self.store) {
            (Some(heard), _) => heard.trials.len() as u64,
            (None, Some((_, run))) => run.stored_trials,
            (None, None) => 0,
        }
    }

    /// Streams the outcome of trials, in the plan's order.
    pub fn outcomes(&self, wanted: Wanted) -> Trials<'_> {
        match self.heard {
            Some(heard) => heard_trials(heard, wanted),
            None => self.trials(wanted),
        }
    }

    /// Streams trials with all that is known of them, in the plan's order.
    pub fn trials(&self, wanted: Wanted) -> Trials<'_> {
        match (self.store, self.heard) {
            (Some((store, _)), _) => stored_trials(store, &self.run.id, wanted),
            (None, Some(heard)) => heard_trials(heard, wanted),
            (None, None) => stream::empty().boxed_local(),
        }
    }

    /// Returns the run's trials taken together.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn overview(&self) -> Result<RunOverview, CommandError> {
        Ok(match (self.store, self.heard) {
            (Some((store, run)), _) => roll_ups::overview(store, run).await?,
            (None, Some(heard)) => run_overview(self.run, heard.trials),
            (None, None) => run_overview(self.run, []),
        })
    }

    /// Returns what is kept of a trial beside its record; its trace only where
    /// it is wanted.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn kept(
        &self,
        trial: &TrialRecord,
        trace: bool,
    ) -> Result<KeptOfTrial, CommandError> {
        let Some((store, _)) = self.store else {
            let traces = self.heard.map(|heard| heard.traces).filter(|_| trace);
            return Ok(KeptOfTrial {
                trace: traces.and_then(|traces| traces.get(&trial.id)).cloned(),
                frames: FramesKept::InTrace,
                judge_passes: Vec::new(),
            });
        };
        if !trace {
            return Ok(KeptOfTrial {
                trace: None,
                frames: FramesKept::InTrace,
                judge_passes: Vec::new(),
            });
        }
        let stored = store.trace(&trial.id, Frames::Load).await?;
        let passes = store.judge_passes(&trial.id).await?;
        Ok(KeptOfTrial {
            frames: match &stored {
                Some(stored) if stored.frame_state == FrameState::Pruned => {
                    FramesKept::Pruned(stored.frame_count)
                }
                Some(_) | None => FramesKept::InTrace,
            },
            trace: stored.map(|stored| stored.trace),
            judge_passes: passes.into_iter().map(|stored| stored.pass).collect(),
        })
    }

    /// Returns every trial, with the traces that a report quotes tools' answers
    /// from.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn gather(
        &self,
    ) -> Result<(Cow<'a, [TrialRecord]>, Cow<'a, BTreeMap<String, Trace>>), CommandError> {
        if let Some(heard) = self.heard {
            return Ok((Cow::Borrowed(heard.trials), Cow::Borrowed(heard.traces)));
        }
        let mut trials = Vec::new();
        let mut stream = self.trials(Wanted::All);
        while let Some(trial) = stream.try_next().await? {
            trials.push(trial.into_owned());
        }
        let traces = match self.store {
            Some((store, _)) => quoted(store, &trials).await?,
            None => BTreeMap::new(),
        };
        Ok((Cow::Owned(trials), Cow::Owned(traces)))
    }
}

/// Reads the traces that a report quotes tools' answers from.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn quoted(
    store: &Store,
    trials: &[TrialRecord],
) -> Result<BTreeMap<String, Trace>, StoreError> {
    let mut traces = BTreeMap::new();
    let telling = trials
        .iter()
        .filter(|trial| Wanted::NotPassed.admits(trial))
        .take(QUOTED_TRACES);
    for trial in telling {
        if let Some(stored) = store.trace(&trial.id, Frames::Skip).await? {
            traces.insert(trial.id.clone(), stored.trace);
        }
    }
    Ok(traces)
}

fn heard_trials(heard: Heard<'_>, wanted: Wanted) -> Trials<'_> {
    let trials = heard
        .trials
        .iter()
        .filter(move |trial| wanted.admits(trial));
    stream::iter(trials.map(|trial| Ok(Cow::Borrowed(trial)))).boxed_local()
}

/// Streams stored trials under a filter that the stream keeps.
fn stored_trials<'s>(store: &'s Store, run_id: &'s str, wanted: Wanted) -> Trials<'s> {
    let filter = TrialFilter {
        not_passed: wanted == Wanted::NotPassed,
        ..TrialFilter::default()
    };
    stream::try_unfold(Some(None), move |cursor: Option<Option<String>>| {
        let filter = filter.clone();
        async move {
            let Some(cursor) = cursor else {
                return Ok::<_, CommandError>(None);
            };
            let page = store
                .trials(run_id, &filter, cursor.as_deref(), PAGE)
                .await?;
            Ok(Some((page.items, page.next_cursor.map(Some))))
        }
    })
    .map_ok(|items| stream::iter(items.into_iter().map(|trial| Ok(Cow::Owned(trial)))))
    .try_flatten()
    .boxed_local()
}
