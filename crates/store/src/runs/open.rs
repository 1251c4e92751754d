//! Runs that this process may add trials to.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use strandline_contract::run::{ExecutionVariant, PlannedCase};

/// A run that this process may add trials to.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) id: String,
    pub(crate) seq: i64,
    pub(crate) token: i64,
    /// Taken over: its places may hold trials that were never attempted.
    pub(crate) resumed: bool,
    places: HashMap<String, Vec<Place>>,
    lost: AtomicBool,
}

/// Where the trials of one case variant go.
#[derive(Debug)]
struct Place {
    variant: Option<ExecutionVariant>,
    ordinal: i64,
    /// Rises while a run repeats its cases until decided.
    configured_trials: AtomicU32,
}

impl OpenRun {
    pub(super) fn new(id: &str, seq: i64, token: i64, resumed: bool, plan: &[PlannedCase]) -> Self {
        let mut places: HashMap<String, Vec<Place>> = HashMap::new();
        for (ordinal, case) in (0..).zip(plan) {
            places.entry(case.case_id.clone()).or_default().push(Place {
                variant: case.variant.clone(),
                ordinal,
                configured_trials: AtomicU32::new(case.configured_trials),
            });
        }
        Self {
            id: id.to_owned(),
            seq,
            token,
            resumed,
            places,
            lost: AtomicBool::new(false),
        }
    }

    /// Finds the plan's ordinal for a trial, or says why it has none.
    pub(crate) fn place(
        &self,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
        iteration_number: u32,
    ) -> Result<i64, String> {
        let place = self.find(case_id, variant)?;
        let configured = place.configured_trials.load(Ordering::Relaxed);
        if iteration_number >= configured {
            return Err(format!(
                "its iteration number {iteration_number} is beyond the {configured} configured"
            ));
        }
        Ok(place.ordinal)
    }

    /// Returns the plan's ordinal of a case variant, or says why it has none.
    pub(crate) fn ordinal(
        &self,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
    ) -> Result<i64, String> {
        self.find(case_id, variant).map(|place| place.ordinal)
    }

    /// Notes that a case variant has at least so many trials.
    pub(crate) fn extend(&self, ordinal: i64, configured_trials: u32) {
        let mut places = self.places.values().flatten();
        if let Some(place) = places.find(|place| place.ordinal == ordinal) {
            place
                .configured_trials
                .fetch_max(configured_trials, Ordering::Relaxed);
        }
    }

    fn find(&self, case_id: &str, variant: Option<&ExecutionVariant>) -> Result<&Place, String> {
        self.places
            .get(case_id)
            .and_then(|places| {
                places
                    .iter()
                    .find(|place| place.variant.as_ref() == variant)
            })
            .ok_or_else(|| {
                format!("its case `{case_id}` is not planned under this model in its run")
            })
    }

    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}
