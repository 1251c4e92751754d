//! Runs that this process may add trials to.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
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
    configured_trials: u32,
}

impl OpenRun {
    pub(super) fn new(id: &str, seq: i64, token: i64, resumed: bool, plan: &[PlannedCase]) -> Self {
        let mut places: HashMap<String, Vec<Place>> = HashMap::new();
        for (ordinal, case) in (0..).zip(plan) {
            places.entry(case.case_id.clone()).or_default().push(Place {
                variant: case.variant.clone(),
                ordinal,
                configured_trials: case.configured_trials,
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
        let place = self
            .places
            .get(case_id)
            .and_then(|places| {
                places
                    .iter()
                    .find(|place| place.variant.as_ref() == variant)
            })
            .ok_or_else(|| {
                format!("its case `{case_id}` is not planned under this model in its run")
            })?;
        if iteration_number >= place.configured_trials {
            return Err(format!(
                "its iteration number {iteration_number} is beyond the {} configured",
                place.configured_trials
            ));
        }
        Ok(place.ordinal)
    }

    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}
