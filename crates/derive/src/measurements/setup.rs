//! How often and how long a run's setup phases went wrong
//! (`measurements.md` §7).

use std::collections::BTreeSet;

use strandline_contract::{
    measurements::{LatencyAggregate, LatencyUnit, SetupTally, SignalCopy},
    words::{Attribution, LatencyBasis, SetupOutcome, SetupPhase, Vocabulary},
};

/// Tallies the copies of a run's setup signals, one entry per phase that has
/// any, in phase order.
#[must_use]
pub fn derive_setup_tallies(copies: &[SignalCopy<'_>]) -> Vec<SetupTally> {
    SetupPhase::ALL
        .iter()
        .filter_map(|phase| tally(*phase, copies))
        .collect()
}

fn tally(phase: SetupPhase, copies: &[SignalCopy<'_>]) -> Option<SetupTally> {
    let copies: Vec<&SignalCopy<'_>> = copies
        .iter()
        .filter(|copy| copy.phase == Some(phase))
        .collect();
    if copies.is_empty() {
        return None;
    }
    let failed: Vec<&SignalCopy<'_>> = copies
        .iter()
        .copied()
        .filter(|copy| copy.outcome == SetupOutcome::Failed)
        .collect();
    let theirs = failed.iter().all(|copy| {
        copy.attribution == Some(Attribution::Theirs) && copy.egress_verified == Some(true)
    });
    let impacted: BTreeSet<&str> = failed
        .iter()
        .filter_map(|copy| copy.trial_key.as_deref())
        .collect();
    Some(SetupTally {
        phase,
        unique_attempts: 1,
        failed_attempts: u64::from(!failed.is_empty()),
        server_attributed_failures: u64::from(!failed.is_empty() && theirs),
        impacted_trials: impacted.len() as u64,
        latency: agreed_duration(&copies).map(|duration| LatencyAggregate {
            unit: LatencyUnit::Milliseconds,
            basis: LatencyBasis::SetupPhaseWall,
            sample_count: 1,
            total_ms: duration,
            min_ms: duration,
            max_ms: duration,
        }),
    })
}

/// Returns the one duration that all copies with a usable one name.
fn agreed_duration(copies: &[&SignalCopy<'_>]) -> Option<f64> {
    let mut usable = copies
        .iter()
        .filter_map(|copy| copy.duration_ms)
        .filter(|duration| duration.is_finite() && *duration >= 0.0);
    let first = usable.next()?;
    usable.all(|duration| duration == first).then_some(first)
}
