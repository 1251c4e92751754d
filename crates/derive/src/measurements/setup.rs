//! How often and how long a run's setup phases went wrong
//! (`measurements.md` §7, `analytics.md` §7).

use std::collections::BTreeSet;

use strandline_contract::{
    measurements::{LatencyAggregate, LatencyUnit, SetupTally, SignalCopy},
    words::{Attribution, LatencyBasis, SetupOutcome, SetupPhase, Vocabulary},
};

/// Tallies the copies of a run's setup signals, one entry per phase that has
/// any, in phase order.
#[must_use]
pub fn derive_setup_tallies(copies: &[SignalCopy<'_>]) -> Vec<SetupTally> {
    let mut setup = SetupAccumulator::default();
    for copy in copies {
        setup.add(copy);
    }
    setup.tallies()
}

/// Copies of setup signals, as far as they were seen.
#[derive(Debug, Clone, Default)]
pub struct SetupAccumulator {
    connection: Phase,
    discovery: Phase,
}

/// The copies of one phase's signal. They are copies of one attempt, so the
/// attempt is counted once and only the trials that it touched are many.
#[derive(Debug, Clone, Default)]
struct Phase {
    seen: bool,
    failed: bool,
    /// Some failed copy does not lie at the server for certain.
    doubted: bool,
    impacted: BTreeSet<Box<str>>,
    duration: Duration,
}

/// What the copies with a usable duration say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Duration {
    #[default]
    None,
    Agreed(f64),
    Disagreed,
}

impl Duration {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, duration) | (duration, Self::None) => duration,
            (Self::Agreed(one), Self::Agreed(two)) if one == two => self,
            (Self::Agreed(_) | Self::Disagreed, Self::Agreed(_) | Self::Disagreed) => {
                Self::Disagreed
            }
        }
    }
}

impl SetupAccumulator {
    /// Adds one copy; one of an unknown phase is ignored.
    pub fn add(&mut self, copy: &SignalCopy<'_>) {
        if let Some(phase) = copy.phase {
            self.phase_mut(phase).add(copy);
        }
    }

    /// Adds the copies that another one saw later.
    pub fn merge(&mut self, later: Self) {
        self.connection.merge(later.connection);
        self.discovery.merge(later.discovery);
    }

    /// Returns one tally per phase that has a copy, in phase order.
    #[must_use]
    pub fn tallies(&self) -> Vec<SetupTally> {
        SetupPhase::ALL
            .iter()
            .filter_map(|phase| self.phase(*phase).tally(*phase))
            .collect()
    }

    const fn phase(&self, phase: SetupPhase) -> &Phase {
        match phase {
            SetupPhase::Connection => &self.connection,
            SetupPhase::Discovery => &self.discovery,
        }
    }

    const fn phase_mut(&mut self, phase: SetupPhase) -> &mut Phase {
        match phase {
            SetupPhase::Connection => &mut self.connection,
            SetupPhase::Discovery => &mut self.discovery,
        }
    }
}

impl Phase {
    fn add(&mut self, copy: &SignalCopy<'_>) {
        self.seen = true;
        let usable = copy
            .duration_ms
            .filter(|duration| duration.is_finite() && *duration >= 0.0);
        self.duration = self
            .duration
            .and(usable.map_or(Duration::None, Duration::Agreed));
        if copy.outcome != Some(SetupOutcome::Failed) {
            return;
        }
        self.failed = true;
        self.doubted |=
            copy.attribution != Some(Attribution::Theirs) || copy.egress_verified != Some(true);
        if let Some(key) = copy.trial_key.as_deref()
            && !self.impacted.contains(key)
        {
            self.impacted.insert(key.into());
        }
    }

    fn merge(&mut self, later: Self) {
        self.seen |= later.seen;
        self.failed |= later.failed;
        self.doubted |= later.doubted;
        self.duration = self.duration.and(later.duration);
        self.impacted.extend(later.impacted);
    }

    fn tally(&self, phase: SetupPhase) -> Option<SetupTally> {
        self.seen.then(|| SetupTally {
            phase,
            unique_attempts: 1,
            failed_attempts: u64::from(self.failed),
            server_attributed_failures: u64::from(self.failed && !self.doubted),
            impacted_trials: self.impacted.len() as u64,
            latency: match self.duration {
                Duration::Agreed(duration) => Some(LatencyAggregate {
                    unit: LatencyUnit::Milliseconds,
                    basis: LatencyBasis::SetupPhaseWall,
                    sample_count: 1,
                    total_ms: duration,
                    min_ms: duration,
                    max_ms: duration,
                }),
                Duration::None | Duration::Disagreed => None,
            },
        })
    }
}
