//! What an included trial adds at each stage (`analytics.md` §6).

use strandline_contract::{
    analytics::{CategoryCount, ReasonCount, Slice, SliceRow, StageTally},
    analytics_input::AnalyticsTrial,
    measurements::{LatencyAggregate, LatencyUnit},
    rate::Counts,
    words::{
        ExclusionClass, ExclusionDetail, FailureCategory, LatencyBasis, Reach, Stage, StageReason,
        StageState, Vocabulary,
    },
};

use crate::measurements::{is_consistent, reach_of_state};

const STAGES: usize = Stage::ALL.len();
const REASONS: usize = StageReason::ALL.len();
const CATEGORIES: usize = FailureCategory::ALL.len();

/// Where a trial ends up among a stage's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    NotApplicable,
    NotReached,
    ReachUnknown,
    Passed,
    Failed,
    NotMeasured,
}

/// What one trial adds to the tally of one stage.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Contribution {
    place: Place,
    reason: Option<StageReason>,
    sample: Option<f64>,
}

/// What one included trial adds to each of its slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contributions {
    category: Option<FailureCategory>,
    stages: [Option<Contribution>; STAGES],
}

impl Contributions {
    pub(super) fn of(trial: &AnalyticsTrial<'_>) -> Self {
        let mut stages = [None; STAGES];
        for (index, (stage, contribution)) in Stage::ALL.iter().zip(&mut stages).enumerate() {
            *contribution = contribution_of(trial, index, *stage);
        }
        Self {
            category: trial.failure_category,
            stages,
        }
    }
}

/// Reads what a trial says about a stage; a row about another stage, or none,
/// says nothing.
fn contribution_of(trial: &AnalyticsTrial<'_>, index: usize, stage: Stage) -> Option<Contribution> {
    let row = trial
        .stage_results
        .get(index)
        .filter(|row| row.stage == Some(stage))?;
    let measured = trial
        .measurements
        .as_ref()
        .and_then(|measurements| measurements.rows.get(index))
        .filter(|measured| measured.stage == Some(stage));
    // A measurement row counts only where it agrees with the chain.
    let agreeing = measured.and_then(|measured| {
        let (state, reach) = (row.state?, measured.reach?);
        is_consistent(state, reach).then_some((reach, measured.latency))
    });
    let reach = agreeing.map_or_else(|| reach_of_state(row.state), |(reach, _)| reach);
    let place = match (row.state, reach) {
        (Some(StageState::NotApplicable), _) => Place::NotApplicable,
        (_, Reach::NotReached) => Place::NotReached,
        (_, Reach::Unknown | Reach::NotApplicable) => Place::ReachUnknown,
        (Some(StageState::Passed), Reach::Reached) => Place::Passed,
        (Some(StageState::Failed), Reach::Reached) => Place::Failed,
        (_, Reach::Reached) => Place::NotMeasured,
    };
    let sample = agreeing
        .and_then(|(_, latency)| latency)
        .filter(|_| reach == Reach::Reached)
        .filter(|latency| latency.basis == Some(LatencyBasis::EvidenceSpanUnion))
        .and_then(|latency| latency.value)
        .filter(|value| value.is_finite() && *value >= 0.0);
    Some(Contribution {
        place,
        reason: row.reason,
        sample,
    })
}

/// Latency samples added up, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Latency {
    count: u64,
    total: f64,
    least: f64,
    most: f64,
}

impl Latency {
    const fn of(sample: f64) -> Self {
        Self {
            count: 1,
            total: sample,
            least: sample,
            most: sample,
        }
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.total += other.total;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    const fn aggregate(self) -> LatencyAggregate {
        LatencyAggregate {
            unit: LatencyUnit::Milliseconds,
            basis: LatencyBasis::EvidenceSpanUnion,
            sample_count: self.count,
            total_ms: self.total,
            min_ms: self.least,
            max_ms: self.most,
        }
    }
}

fn add_latency(sum: &mut Option<Latency>, more: Option<Latency>) {
    match (sum, more) {
        (_, None) => {}
        (Some(sum), Some(more)) => sum.add(more),
        (sum @ None, more) => *sum = more,
    }
}

/// The counts of one stage; all others follow from these.
#[derive(Debug, Clone, Copy)]
struct StageCounts {
    not_applicable: u64,
    not_reached: u64,
    reach_unknown: u64,
    passed: u64,
    failed: u64,
    not_measured: u64,
    reasons: [u64; REASONS],
    latency: Option<Latency>,
}

impl StageCounts {
    const EMPTY: Self = Self {
        not_applicable: 0,
        not_reached: 0,
        reach_unknown: 0,
        passed: 0,
        failed: 0,
        not_measured: 0,
        reasons: [0; REASONS],
        latency: None,
    };

    fn add(&mut self, contribution: Contribution) {
        if let Some(count) = contribution
            .reason
            .and_then(|reason| self.reasons.get_mut(reason as usize))
        {
            *count += 1;
        }
        let count = match contribution.place {
            Place::NotApplicable => &mut self.not_applicable,
            Place::NotReached => &mut self.not_reached,
            Place::ReachUnknown => &mut self.reach_unknown,
            Place::Passed => &mut self.passed,
            Place::Failed => &mut self.failed,
            Place::NotMeasured => &mut self.not_measured,
        };
        *count += 1;
        add_latency(&mut self.latency, contribution.sample.map(Latency::of));
    }

    fn merge(&mut self, later: &Self) {
        self.not_applicable += later.not_applicable;
        self.not_reached += later.not_reached;
        self.reach_unknown += later.reach_unknown;
        self.passed += later.passed;
        self.failed += later.failed;
        self.not_measured += later.not_measured;
        for (count, more) in self.reasons.iter_mut().zip(later.reasons) {
            *count += more;
        }
        add_latency(&mut self.latency, later.latency);
    }

    fn tally(&self, stage: Stage) -> StageTally {
        let measured = self.passed + self.failed;
        let reached = measured + self.not_measured;
        let excluded = [
            (ExclusionClass::NotApplicable, self.not_applicable),
            (ExclusionClass::ReachUnknown, self.reach_unknown),
            (ExclusionClass::NotMeasured, self.not_measured),
        ];
        StageTally {
            stage,
            applicable: reached + self.not_reached + self.reach_unknown,
            reached,
            not_reached: self.not_reached,
            reach_unknown: self.reach_unknown,
            measured,
            passed: self.passed,
            failed: self.failed,
            not_measured: self.not_measured,
            not_applicable: self.not_applicable,
            excluded: non_zero(excluded),
            reasons: StageReason::ALL
                .iter()
                .zip(self.reasons)
                .filter(|(_, count)| *count > 0)
                .map(|(reason, count)| ReasonCount {
                    reason: *reason,
                    count,
                })
                .collect(),
            latency: self.latency.map(Latency::aggregate),
        }
    }
}

/// Trials that are left out whole, in detail.
#[derive(Debug, Clone, Default)]
pub(super) struct Excluded(Counts<ExclusionDetail>);

impl Excluded {
    pub(super) fn add(&mut self, detail: ExclusionDetail) {
        *self.0.entry(detail).or_default() += 1;
    }

    pub(super) fn merge(&mut self, later: &Self) {
        for (detail, count) in &later.0 {
            *self.0.entry(*detail).or_default() += count;
        }
    }

    pub(super) fn by_class(&self) -> Counts<ExclusionClass> {
        let mut classes = Counts::new();
        for (detail, count) in &self.0 {
            *classes.entry(detail.class()).or_default() += count;
        }
        classes
    }

    pub(super) const fn by_detail(&self) -> &Counts<ExclusionDetail> {
        &self.0
    }
}

/// The counts of one slice.
#[derive(Debug, Clone)]
pub(super) struct SliceCounts {
    pub(super) included: u64,
    pub(super) excluded: Excluded,
    categories: [u64; CATEGORIES],
    stages: [StageCounts; STAGES],
}

impl Default for SliceCounts {
    fn default() -> Self {
        Self {
            included: 0,
            excluded: Excluded::default(),
            categories: [0; CATEGORIES],
            stages: [StageCounts::EMPTY; STAGES],
        }
    }
}

impl SliceCounts {
    /// Counts a trial that is included.
    pub(super) fn include(&mut self, contributions: &Contributions) {
        self.included += 1;
        if let Some(count) = contributions
            .category
            .and_then(|category| self.categories.get_mut(category as usize))
        {
            *count += 1;
        }
        for (counts, contribution) in self.stages.iter_mut().zip(contributions.stages) {
            if let Some(contribution) = contribution {
                counts.add(contribution);
            }
        }
    }

    /// Adds the counts of trials that came later.
    pub(super) fn merge(&mut self, later: &Self) {
        self.included += later.included;
        self.excluded.merge(&later.excluded);
        for (count, more) in self.categories.iter_mut().zip(later.categories) {
            *count += more;
        }
        for (counts, more) in self.stages.iter_mut().zip(&later.stages) {
            counts.merge(more);
        }
    }

    pub(super) fn row(&self, slice: Slice) -> SliceRow {
        SliceRow {
            slice,
            included_trials: self.included,
            excluded_trials: self.excluded.by_class(),
            failure_categories: FailureCategory::ALL
                .iter()
                .zip(self.categories)
                .filter(|(_, count)| *count > 0)
                .map(|(category, count)| CategoryCount {
                    category: *category,
                    count,
                })
                .collect(),
            stages: Stage::ALL
                .iter()
                .zip(&self.stages)
                .map(|(stage, counts)| counts.tally(*stage))
                .collect(),
        }
    }
}

/// Leaves out what was never counted: absent, not 0.
fn non_zero<K: Ord>(counts: impl IntoIterator<Item = (K, u64)>) -> Counts<K> {
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}
