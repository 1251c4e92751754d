//! May a stored funnel be believed? (`analytics.md` §8, §10)
//!
//! An invalid funnel is withheld whole, never repaired or shown in part.

use serde_json::Value;
use strandline_contract::{
    analytics::{
        CategoryCount, MAX_SLICES, ReasonCount, STAGE_ANALYTICS_VERSION, Slice, SliceRow,
        SliceTruncation, StageAnalytics, StageTally,
    },
    measurements::{LatencyAggregate, LatencyUnit, SetupTally},
    rate::Counts,
    words::{
        FailureCategory, LatencyBasis, MeasurementUnit, SetupPhase, SliceDimension, Stage,
        StageReason, Vocabulary,
    },
};

use crate::document::{Findings, Node, Violation};

const KEYS: [&str; 26] = [
    "schemaVersion",
    "measurementUnit",
    "runId",
    "suiteId",
    "runGroupId",
    "configRevision",
    "caseSetFingerprint",
    "organizationId",
    "workspaceId",
    "projectId",
    "runCompletedAt",
    "sourceIterationCount",
    "sourceMaxUpdatedAt",
    "stageAnalyzerVersion",
    "sourceStageAnalyzerVersions",
    "measurementsSchemaVersion",
    "sourceMeasurementsSchemaVersions",
    "materializationState",
    "createdAt",
    "updatedAt",
    "includedTrials",
    "excludedTrials",
    "totalTrials",
    "excludedTrialDetail",
    "slices",
    "setup",
];
const TRUNCATION: &str = "sliceTruncation";

/// Reads a stored funnel.
///
/// Positions of slices, sums of exclusions, explicit zeros and the order of
/// lists are not checked.
///
/// # Errors
///
/// Returns every violation, with its path (the first 100).
pub fn validate_stage_analytics(stored: &Value) -> Result<StageAnalytics, Vec<Violation>> {
    let findings = Findings::default();
    let node = Node::root(stored, &findings);
    let typed = read(&node);
    if let Some(typed) = &typed {
        check(&node, typed);
    }
    findings.into_result(typed)
}

/// The rules across fields of the whole document.
fn check(node: &Node<'_>, document: &StageAnalytics) {
    let root = node.path();
    let demand = |holds: bool, key: &str, message: &str| {
        node.findings().demand(holds, &root.key(key), message);
    };
    let mut overall = document.slices_of(SliceDimension::Overall);
    let first = overall.next();
    demand(
        first.is_some() && overall.next().is_none(),
        "slices",
        "must hold exactly one slice of all trials",
    );
    demand(
        first.is_none_or(|row| row.included_trials == document.included_trials),
        "slices",
        "the slice of all trials must include as many as the document",
    );
    demand(
        document.included_trials <= document.total_trials,
        "includedTrials",
        "must be at most `totalTrials`",
    );
    let twice = SetupPhase::ALL.iter().any(|phase| {
        let of_phase = document.setup.iter().filter(|tally| tally.phase == *phase);
        of_phase.count() > 1
    });
    demand(!twice, "setup", "must hold each phase at most once");
}

fn read(node: &Node<'_>) -> Option<StageAnalytics> {
    let mut keys = KEYS.to_vec();
    keys.push(TRUNCATION);
    node.closed_object(&keys)?;
    let schema_version = node.required_with("schemaVersion", |node| {
        node.literal_count(STAGE_ANALYTICS_VERSION)
    });
    let measurement_unit = node.required_with("measurementUnit", |node| {
        literal(node, MeasurementUnit::Trial)
    });
    let run_id = node.required_with("runId", label);
    let suite_id = node.required_with("suiteId", label);
    let run_group_id = node.optional_with("runGroupId", label);
    let config_revision = node.optional_with("configRevision", label);
    let case_set_fingerprint = node.optional_with("caseSetFingerprint", label);
    let organization_id = node.optional_with("organizationId", label);
    let workspace_id = node.optional_with("workspaceId", label);
    let project_id = node.optional_with("projectId", label);
    let run_completed_at = node.optional_with("runCompletedAt", |node| node.count());
    let source_iteration_count = count(node, "sourceIterationCount");
    let source_max_updated_at = node.optional_with("sourceMaxUpdatedAt", |node| node.count());
    let stage_analyzer_version = node.required_with("stageAnalyzerVersion", version);
    let source_stage_analyzer_versions =
        node.optional_with("sourceStageAnalyzerVersions", versions);
    let measurements_schema_version = node.required_with("measurementsSchemaVersion", version);
    let source_measurements_schema_versions =
        node.optional_with("sourceMeasurementsSchemaVersions", versions);
    let materialization_state = node.required_with("materializationState", |node| node.word());
    let created_at = count(node, "createdAt");
    let updated_at = count(node, "updatedAt");
    let included_trials = count(node, "includedTrials");
    let excluded_trials = node.required_with("excludedTrials", counts);
    let total_trials = count(node, "totalTrials");
    let excluded_trial_detail = node.required_with("excludedTrialDetail", counts);
    let slices = node.required_with("slices", |node| at_most(node, MAX_SLICES, read_slice_row));
    let setup = node.required_with("setup", |node| {
        at_most(node, SetupPhase::ALL.len(), read_setup)
    });
    let slice_truncation = node.optional_with(TRUNCATION, |node| {
        at_most(node, SliceDimension::ALL.len() - 1, read_truncation)
    });
    Some(StageAnalytics {
        schema_version: schema_version?,
        measurement_unit: measurement_unit?,
        run_id: run_id?,
        suite_id: suite_id?,
        run_group_id: run_group_id?,
        config_revision: config_revision?,
        case_set_fingerprint: case_set_fingerprint?,
        organization_id: organization_id?,
        workspace_id: workspace_id?,
        project_id: project_id?,
        run_completed_at: run_completed_at?,
        source_iteration_count: source_iteration_count?,
        source_max_updated_at: source_max_updated_at?,
        stage_analyzer_version: stage_analyzer_version?,
        source_stage_analyzer_versions: source_stage_analyzer_versions?,
        measurements_schema_version: measurements_schema_version?,
        source_measurements_schema_versions: source_measurements_schema_versions?,
        materialization_state: materialization_state?,
        created_at: created_at?,
        updated_at: updated_at?,
        included_trials: included_trials?,
        excluded_trials: excluded_trials?,
        total_trials: total_trials?,
        excluded_trial_detail: excluded_trial_detail?,
        slices: slices?,
        setup: setup?,
        slice_truncation: slice_truncation?,
    })
}

fn read_slice_row(node: &Node<'_>) -> Option<SliceRow> {
    node.closed_object(&[
        "slice",
        "includedTrials",
        "excludedTrials",
        "failureCategories",
        "stages",
    ])?;
    let slice = node.required_with("slice", read_slice);
    let included_trials = count(node, "includedTrials");
    let excluded_trials = node.required_with("excludedTrials", counts);
    let failure_categories = node.required_with("failureCategories", |node| {
        at_most(node, FailureCategory::ALL.len(), |node| {
            node.closed_object(&["category", "count"])?;
            let category = node.required_with("category", |node| node.word());
            let count = node.required_with("count", |node| node.count_from(1));
            Some(CategoryCount {
                category: category?,
                count: count?,
            })
        })
    });
    let stages = node.required_with("stages", |node| {
        let stages = node.list(read_tally)?;
        if stages.len() != Stage::ALL.len() {
            return node.refuse(format_args!("must hold {} tallies", Stage::ALL.len()));
        }
        for (index, (tally, stage)) in stages.iter().zip(Stage::ALL).enumerate() {
            node.findings().demand(
                tally.stage == *stage,
                &node.path().index(index).key("stage"),
                format_args!("must be `{stage}`"),
            );
        }
        Some(stages)
    });
    Some(SliceRow {
        slice: slice?,
        included_trials: included_trials?,
        excluded_trials: excluded_trials?,
        failure_categories: failure_categories?,
        stages: stages?,
    })
}

fn read_slice(node: &Node<'_>) -> Option<Slice> {
    node.open_object()?;
    match node.required_with("dimension", |node| node.word::<SliceDimension>())? {
        SliceDimension::Overall => {
            node.closed_object(&["dimension"])?;
            Some(Slice::Overall {})
        }
        SliceDimension::Intent => {
            node.closed_object(&["dimension", "intent"])?;
            let intent = node.required_with("intent", |node| match node.value() {
                Value::Null => Some(None),
                _ => label(node).map(Some),
            })?;
            Some(Slice::Intent { intent })
        }
        SliceDimension::Model => {
            node.closed_object(&["dimension", "provider", "model"])?;
            let provider = node.required_with("provider", label);
            let model = node.required_with("model", label);
            Some(Slice::Model {
                provider: provider?,
                model: model?,
            })
        }
        SliceDimension::Host => {
            node.closed_object(&["dimension", "hostKey", "hostName", "executionEngine"])?;
            let host_key = node.required_with("hostKey", label);
            let host_name = node.optional_with("hostName", label);
            let execution_engine = node.optional_with("executionEngine", label);
            Some(Slice::Host {
                host_key: host_key?,
                host_name: host_name?,
                execution_engine: execution_engine?,
            })
        }
    }
}

fn read_tally(node: &Node<'_>) -> Option<StageTally> {
    node.closed_object(&[
        "stage",
        "applicable",
        "reached",
        "notReached",
        "reachUnknown",
        "measured",
        "passed",
        "failed",
        "notMeasured",
        "notApplicable",
        "excluded",
        "reasons",
        "latency",
    ])?;
    let stage = node.required_with("stage", |node| node.word());
    let applicable = count(node, "applicable");
    let reached = count(node, "reached");
    let not_reached = count(node, "notReached");
    let reach_unknown = count(node, "reachUnknown");
    let measured = count(node, "measured");
    let passed = count(node, "passed");
    let failed = count(node, "failed");
    let not_measured = count(node, "notMeasured");
    let not_applicable = count(node, "notApplicable");
    let excluded = node.required_with("excluded", counts);
    let reasons = node.required_with("reasons", |node| {
        at_most(node, StageReason::ALL.len(), |node| {
            node.closed_object(&["reason", "count"])?;
            let reason = node.required_with("reason", |node| node.word());
            let count = node.required_with("count", |node| node.count_from(1));
            Some(ReasonCount {
                reason: reason?,
                count: count?,
            })
        })
    });
    let latency = node.optional_with("latency", |node| {
        read_latency(node, LatencyBasis::EvidenceSpanUnion)
    });
    let tally = StageTally {
        stage: stage?,
        applicable: applicable?,
        reached: reached?,
        not_reached: not_reached?,
        reach_unknown: reach_unknown?,
        measured: measured?,
        passed: passed?,
        failed: failed?,
        not_measured: not_measured?,
        not_applicable: not_applicable?,
        excluded: excluded?,
        reasons: reasons?,
        latency: latency?,
    };
    check_tally(node, &tally);
    Some(tally)
}

fn check_tally(node: &Node<'_>, tally: &StageTally) {
    let demand = |holds: bool, key: &str, message: &str| {
        node.findings()
            .demand(holds, &node.path().key(key), message);
    };
    // Counts stay below 2^53, so sums of three of them do not overflow.
    demand(
        tally.passed + tally.failed == tally.measured,
        "measured",
        "must be `passed` + `failed`",
    );
    demand(
        tally.measured + tally.not_measured == tally.reached,
        "reached",
        "must be `measured` + `notMeasured`",
    );
    demand(
        tally.reached + tally.not_reached + tally.reach_unknown == tally.applicable,
        "applicable",
        "must be `reached` + `notReached` + `reachUnknown`",
    );
    demand_samples(node, tally.latency.as_ref(), tally.reached, "reached");
}

fn read_setup(node: &Node<'_>) -> Option<SetupTally> {
    node.closed_object(&[
        "phase",
        "uniqueAttempts",
        "failedAttempts",
        "serverAttributedFailures",
        "impactedTrials",
        "latency",
    ])?;
    let phase = node.required_with("phase", |node| node.word());
    let unique_attempts = count(node, "uniqueAttempts");
    let failed_attempts = count(node, "failedAttempts");
    let server_attributed_failures = count(node, "serverAttributedFailures");
    let impacted_trials = count(node, "impactedTrials");
    let latency = node.optional_with("latency", |node| {
        read_latency(node, LatencyBasis::SetupPhaseWall)
    });
    let tally = SetupTally {
        phase: phase?,
        unique_attempts: unique_attempts?,
        failed_attempts: failed_attempts?,
        server_attributed_failures: server_attributed_failures?,
        impacted_trials: impacted_trials?,
        latency: latency?,
    };
    let demand = |holds: bool, key: &str, message: &str| {
        node.findings()
            .demand(holds, &node.path().key(key), message);
    };
    demand(
        tally.failed_attempts <= tally.unique_attempts,
        "failedAttempts",
        "must be at most `uniqueAttempts`",
    );
    demand(
        tally.server_attributed_failures <= tally.failed_attempts,
        "serverAttributedFailures",
        "must be at most `failedAttempts`",
    );
    let attempts = tally.unique_attempts;
    demand_samples(node, tally.latency.as_ref(), attempts, "uniqueAttempts");
    Some(tally)
}

fn demand_samples(node: &Node<'_>, latency: Option<&LatencyAggregate>, most: u64, of: &str) {
    node.findings().demand(
        latency.is_none_or(|latency| latency.sample_count <= most),
        &node.path().key("latency").key("sampleCount"),
        format_args!("must be at most `{of}`"),
    );
}

fn read_latency(node: &Node<'_>, basis: LatencyBasis) -> Option<LatencyAggregate> {
    node.closed_object(&["unit", "basis", "sampleCount", "totalMs", "minMs", "maxMs"])?;
    let unit = node.required_with("unit", |node| match node.text()? {
        "ms" => Some(LatencyUnit::Milliseconds),
        _ => node.refuse("must be `ms`"),
    });
    let basis = node.required_with("basis", |node| literal(node, basis));
    let sample_count = node.required_with("sampleCount", |node| node.count_from(1));
    let figure = |key: &str| {
        node.required_with(key, |node| match node.number()? {
            figure if figure < 0.0 => node.refuse("must be at least 0"),
            figure => Some(figure),
        })
    };
    let total_ms = figure("totalMs");
    let min_ms = figure("minMs");
    let max_ms = figure("maxMs");
    let latency = LatencyAggregate {
        unit: unit?,
        basis: basis?,
        sample_count: sample_count?,
        total_ms: total_ms?,
        min_ms: min_ms?,
        max_ms: max_ms?,
    };
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    let samples = latency.sample_count as f64;
    let demand = |holds: bool, key: &str, message: &str| {
        node.findings()
            .demand(holds, &node.path().key(key), message);
    };
    demand(
        latency.min_ms <= latency.max_ms,
        "minMs",
        "must be at most `maxMs`",
    );
    demand(
        latency.min_ms * samples <= latency.total_ms
            && latency.total_ms <= latency.max_ms * samples,
        "totalMs",
        "cannot be the sum of so many samples between `minMs` and `maxMs`",
    );
    Some(latency)
}

fn read_truncation(node: &Node<'_>) -> Option<SliceTruncation> {
    node.closed_object(&["dimension", "distinctValues", "retained"])?;
    let dimension =
        node.required_with("dimension", |node| match node.word::<SliceDimension>()? {
            SliceDimension::Overall => node.refuse("must be `intent`, `model` or `host`"),
            dimension @ (SliceDimension::Intent | SliceDimension::Model | SliceDimension::Host) => {
                Some(dimension)
            }
        });
    let distinct_values = node.required_with("distinctValues", |node| node.count_from(1));
    let retained = count(node, "retained");
    Some(SliceTruncation {
        dimension: dimension?,
        distinct_values: distinct_values?,
        retained: retained?,
    })
}

fn count(node: &Node<'_>, key: &str) -> Option<u64> {
    node.required_with(key, |node| node.count())
}

fn label(node: &Node<'_>) -> Option<String> {
    node.non_empty_text().map(str::to_owned)
}

fn literal<V: Vocabulary + PartialEq>(node: &Node<'_>, literal: V) -> Option<V> {
    if node.text()? != literal.wire() {
        return node.refuse(format_args!("must be `{}`", literal.wire()));
    }
    Some(literal)
}

fn version(node: &Node<'_>) -> Option<i64> {
    i64::try_from(node.count_from(1)?).ok()
}

fn versions(node: &Node<'_>) -> Option<Vec<i64>> {
    let versions = node.list(version)?;
    if versions.len() < 2 {
        return node.refuse("must hold at least 2 versions");
    }
    Some(versions)
}

/// Reads counts per word; explicit zeros stay.
fn counts<K: Vocabulary + Ord>(node: &Node<'_>) -> Option<Counts<K>> {
    let known: Vec<&str> = K::ALL.iter().map(|member| member.wire()).collect();
    node.closed_object(&known)?;
    let mut counts = Counts::new();
    let mut complete = true;
    for member in K::ALL {
        match node.optional_with(member.wire(), |node| node.count()) {
            Some(Some(count)) => {
                counts.insert(*member, count);
            }
            Some(None) => {}
            None => complete = false,
        }
    }
    complete.then_some(counts)
}

fn at_most<T>(
    node: &Node<'_>,
    most: usize,
    read: impl FnMut(&Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let found = node.value().as_array().map_or(0, Vec::len);
    if found > most {
        return node.refuse(format_args!("must hold at most {most} elements"));
    }
    node.list(read)
}
