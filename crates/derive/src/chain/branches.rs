//! Which branch a trial takes (`chain.md` §7), and the order of what follows
//! the stage rules (§9).

use strandline_contract::{
    chain::{Chain, STAGE_ANALYZER_VERSION},
    chain_input::ChainInput,
    words::{FailureCategory, IterationStatus, Stage, StageReason, StageState},
};

use super::{
    facts::{Facts, some},
    failure, position,
    row::Row,
    stages, withdrawal,
};

/// Six rows in stage order.
pub(super) type Rows<'a> = [Row<'a>; 6];

/// The stages in normative order; row `i` is about stage `i`.
pub(super) const STAGES: [Stage; 6] = [
    Stage::Connection,
    Stage::Discovery,
    Stage::Selection,
    Stage::Call,
    Stage::Response,
    Stage::UserValue,
];

/// Derives the chain of one trial.
///
/// Pure and total: the same input always gives the same chain, and every input
/// gives one.
#[must_use]
pub fn derive_chain<'a>(input: &'a ChainInput<'a>) -> Chain<'a> {
    let facts = Facts {
        authored: &input.authored,
        evidence: &input.evidence,
    };
    let (mut rows, forced) = branch(input, facts);
    if facts.provider_failed() {
        withdrawal::withdraw(&mut rows);
    }
    if forced.is_none() && !blocked(input) {
        position::apply(&mut rows);
    }
    let first_failed = rows.iter().position(|row| row.state == StageState::Failed);
    let category = forced.or_else(|| failure::category(facts, &rows, first_failed));
    if category == Some(FailureCategory::Metadata) {
        failure::merge_metadata(facts, &mut rows);
    }
    Chain {
        stage_results: STAGES
            .into_iter()
            .zip(rows)
            .map(|(stage, row)| row.into_stored(stage))
            .collect(),
        first_failed_stage: first_failed.map(|index| STAGES[index]),
        failure_category: category,
        stage_analyzer_version: STAGE_ANALYZER_VERSION,
    }
}

fn blocked(input: &ChainInput<'_>) -> bool {
    input.policy.is_some_and(|policy| policy.blocked)
}

/// Takes the first branch that matches; branches 2–5 force the category.
fn branch<'a>(input: &'a ChainInput<'a>, facts: Facts<'a>) -> (Rows<'a>, Option<FailureCategory>) {
    let setup = Some(FailureCategory::Setup);
    let signals = &input.evidence.setup_signals;

    // 1. A policy stopped the trial.
    if blocked(input) {
        return (uniform(facts, StageReason::BlockedByPolicy), None);
    }
    if is_setup_abort(input.iteration.status, facts) {
        // 2. Setup abort, and nothing was seen of the phases.
        if signals.connection.is_none() && signals.discovery.is_none() {
            return (uniform(facts, StageReason::SetupAborted), setup);
        }
        // 3. Setup abort, and the harness saw something.
        return (aborted_rows(facts), setup);
    }
    match input.iteration.status {
        // 4. The trial was stopped.
        IterationStatus::Cancelled | IterationStatus::TimedOut | IterationStatus::Skipped => {
            (uniform(facts, StageReason::LifecycleStopped), setup)
        }
        // 5. Setup failed with something in the trace.
        IterationStatus::SetupFailed => (uniform(facts, StageReason::SetupAborted), setup),
        // 6. Everything else is decided by the stage rules.
        IterationStatus::Pending
        | IterationStatus::Running
        | IterationStatus::Completed
        | IterationStatus::Failed => (ruled_rows(facts), None),
    }
}

/// The trial failed before anything was captured.
fn is_setup_abort(status: IterationStatus, facts: Facts<'_>) -> bool {
    matches!(
        status,
        IterationStatus::Failed | IterationStatus::SetupFailed
    ) && facts.evidence.trace_absent
        && facts.evidence.spans.is_empty()
        && !facts.any_turn()
        && !some(facts.gating_rows())
}

/// Every applicable stage is not measured for the same reason.
fn uniform(facts: Facts<'_>, reason: StageReason) -> Rows<'_> {
    STAGES.map(|stage| applicable_or(facts, stage, || Row::not_measured(reason)))
}

/// The rows of a setup abort with signals (§7.1).
fn aborted_rows(facts: Facts<'_>) -> Rows<'_> {
    // 1. The two setup stages by their own rules.
    let connection = stages::connection::rule(facts);
    let mut discovery = stages::discovery::rule(facts);
    // 2. Nothing is known of discovery behind a failed connection.
    if connection.state == StageState::Failed && discovery.state == StageState::NotMeasured {
        discovery = Row::not_reached();
    }
    // 3. Did the chain break at the top?
    let top_failed =
        connection.state == StageState::Failed || discovery.state == StageState::Failed;
    // 4. The other stages follow from that.
    let other = |stage| {
        applicable_or(facts, stage, || {
            if top_failed {
                Row::not_reached()
            } else {
                Row::not_measured(StageReason::SetupAborted)
            }
        })
    };
    [
        connection,
        discovery,
        other(Stage::Selection),
        other(Stage::Call),
        other(Stage::Response),
        other(Stage::UserValue),
    ]
}

/// The rows by the stage rules (§8), with the judge discarded after a failure
/// (§9.1).
fn ruled_rows(facts: Facts<'_>) -> Rows<'_> {
    let connection = stages::connection::rule(facts);
    let discovery = stages::discovery::rule(facts);
    let selection = applicable_or(facts, Stage::Selection, || stages::selection::rule(facts));
    let call = applicable_or(facts, Stage::Call, || stages::call::rule(facts));
    let response = applicable_or(facts, Stage::Response, || stages::response::rule(facts));
    let upstream_failed = [&connection, &discovery, &selection, &call, &response]
        .iter()
        .any(|row| row.state == StageState::Failed);
    let judge = facts
        .evidence
        .judge_evidence
        .as_ref()
        .filter(|_| !upstream_failed);
    let user_value = applicable_or(facts, Stage::UserValue, || {
        stages::user_value::rule(facts, judge)
    });
    [connection, discovery, selection, call, response, user_value]
}

fn applicable_or<'a>(facts: Facts<'a>, stage: Stage, rule: impl FnOnce() -> Row<'a>) -> Row<'a> {
    if facts.applies(stage) {
        rule()
    } else {
        Row::not_applicable()
    }
}
