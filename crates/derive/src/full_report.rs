//! Stored records → what a full report says of them.
//!
//! Stored derivations are checked anew: what does not pass is withheld and
//! said so, what is not there stays absent.

use serde::Deserialize;
use strandline_contract::{
    full_report::{Reported, ReportedJudges, ReportedRun, ReportedServer, ReportedTrial},
    judgement::{ATTRIBUTION_KEY, GOAL_KEY},
    run::{RunRecord, ServerFacts, TrialRecord},
};

use crate::{
    decision::{StoredChain, derive_summary_chain},
    friction::{StoredFriction, project_friction_signals},
    judge::{StoredCondition, project_suspected_condition},
    measurements::believed_measurements,
};

/// Returns what a report says of a run besides what it decided.
#[must_use]
pub fn reported_run(run: &RunRecord, stored_trials: u64) -> ReportedRun {
    let planned = run.plan.iter();
    ReportedRun {
        run_id: run.id.clone(),
        suite_id: run.suite_id.clone(),
        suite_name: run.suite_name.clone(),
        suite_path: run.suite_path.clone(),
        source_hash: run.source_hash.clone(),
        resolved_hash: run.resolved_hash.clone(),
        status: run.status,
        started_at: run.started_at,
        ended_at: run.ended_at,
        configured_trials: planned.map(|case| u64::from(case.configured_trials)).sum(),
        stored_trials,
        scripted: run.scripted,
        error: run.error.clone(),
        strandline_version: run.strandline_version.clone(),
        servers: run.servers.iter().map(reported_server).collect(),
    }
}

fn reported_server(server: &ServerFacts) -> ReportedServer {
    ReportedServer {
        name: server.name.clone(),
        transport: server.transport.clone(),
        protocol_version: server.protocol_version.clone(),
        tool_count: server.tool_count,
        surface_hash: server.surface_hash.clone(),
    }
}

/// Returns what a report says of one trial.
#[must_use]
pub fn reported_trial(trial: &TrialRecord) -> ReportedTrial {
    ReportedTrial {
        trial_id: trial.id.clone(),
        case_id: trial.case_id.clone(),
        title: trial.title.clone(),
        variant: trial.variant.clone(),
        iteration_number: trial.iteration_number,
        status: trial.status,
        result: trial.result,
        evaluator_error: trial.evaluator_error,
        error: trial.error.clone(),
        started_at: trial.started_at,
        ended_at: trial.ended_at,
        chain: derive_summary_chain(&StoredChain::from(&trial.chain)),
        measurements: match believed_measurements(trial) {
            Some(document) => Reported::Verified { document },
            None if trial.stage_measurements.is_null() => Reported::Absent,
            None => Reported::Unverified,
        },
        friction: match project_friction_signals(&trial.metadata) {
            StoredFriction::Verified(document) => Reported::Verified { document },
            StoredFriction::Unverified => Reported::Unverified,
            StoredFriction::Absent => Reported::Absent,
        },
        judges: reported_judges(trial),
        usage: trial.usage,
        model_requests: trial.model_requests,
        model_wait_ms: trial.model_wait_ms,
        server_wait_ms: trial.server_wait_ms,
    }
}

fn reported_judges(trial: &TrialRecord) -> Option<ReportedJudges> {
    let judges = ReportedJudges {
        goal_completion: read(trial, GOAL_KEY),
        metadata_attribution: read(trial, ATTRIBUTION_KEY),
        suspected_condition: match project_suspected_condition(&trial.metadata) {
            StoredCondition::Verified(document) => Reported::Verified {
                document: *document,
            },
            StoredCondition::Unverified => Reported::Unverified,
            StoredCondition::Absent => Reported::Absent,
        },
    };
    let asked = !matches!(judges.goal_completion, Reported::Absent)
        || !matches!(judges.metadata_attribution, Reported::Absent)
        || !matches!(judges.suspected_condition, Reported::Absent);
    asked.then_some(judges)
}

fn read<'a, T: Deserialize<'a>>(trial: &'a TrialRecord, key: &str) -> Reported<T> {
    match trial.metadata.get(key).map(T::deserialize) {
        None => Reported::Absent,
        Some(Ok(document)) => Reported::Verified { document },
        Some(Err(_)) => Reported::Unverified,
    }
}
