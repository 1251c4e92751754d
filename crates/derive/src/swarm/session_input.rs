//! What a session is judged by, as it came (`swarm.md` §4.1).

use std::collections::BTreeSet;

use strandline_contract::{
    swarm::session::{
        Attempt, CriteriaGrades, Criterion, CriterionResult, GoalScore, Grading, JudgeSettings,
        SessionVerdictInput,
    },
    words::GoalJudgeStatus,
};

use crate::document::{Findings, Node, Path};

/// Reads the shape of an input.
pub(super) fn read(node: &Node<'_>) -> Option<SessionVerdictInput> {
    node.closed_object(&[
        "attempt",
        "hasTranscript",
        "rubric",
        "criteria",
        "goalScore",
        "judge",
        "grading",
    ])?;
    let attempt = node.nullable_with("attempt", read_attempt);
    let has_transcript = node.required_with("hasTranscript", |node| node.boolean());
    let rubric = node.required_with("rubric", |node| node.list(read_criterion));
    let criteria = node.nullable_with("criteria", read_criteria);
    let goal_score = node.nullable_with("goalScore", read_goal_score);
    let judge = node.required_with("judge", read_judge);
    let grading = node.required_with("grading", read_grading);
    Some(SessionVerdictInput {
        attempt: attempt?,
        has_transcript: has_transcript?,
        rubric: rubric?,
        criteria: criteria?,
        goal_score: goal_score?,
        judge: judge?,
        grading: grading?,
    })
}

fn read_attempt(node: &Node<'_>) -> Option<Attempt> {
    node.closed_object(&["status", "errorCode"])?;
    let status = node.required_with("status", |node| node.word());
    // The one optional member that may also be `null`.
    let error_code = match node.optional("errorCode") {
        Some(code) if !code.value().is_null() => code.text().map(|code| Some(code.to_owned())),
        Some(_) | None => Some(None),
    };
    Some(Attempt {
        status: status?,
        error_code: error_code?,
    })
}

fn read_criterion(node: &Node<'_>) -> Option<Criterion> {
    node.closed_object(&["id", "role", "predicateType"])?;
    let id = node.required_with("id", |node| node.owned_text());
    let role = node.required_with("role", |node| node.word());
    let predicate_type = node.optional_with("predicateType", |node| node.owned_text());
    Some(Criterion {
        id: id?,
        role: role?,
        predicate_type: predicate_type?,
    })
}

fn read_criteria(node: &Node<'_>) -> Option<CriteriaGrades> {
    node.closed_object(&["status", "criterionIds", "results"])?;
    let status = node.required_with("status", |node| node.word());
    let criterion_ids =
        node.optional_with("criterionIds", |node| node.list(|node| node.owned_text()));
    let results = node.optional_with("results", |node| node.list(read_result));
    Some(CriteriaGrades {
        status: status?,
        criterion_ids: criterion_ids?,
        results: results?,
    })
}

fn read_result(node: &Node<'_>) -> Option<CriterionResult> {
    node.closed_object(&["criterionId", "passed", "status"])?;
    let criterion_id = node.required_with("criterionId", |node| node.owned_text());
    let passed = node.required_with("passed", |node| node.boolean());
    let status = node.optional_with("status", |node| node.word());
    Some(CriterionResult {
        criterion_id: criterion_id?,
        passed: passed?,
        status: status?,
    })
}

fn read_goal_score(node: &Node<'_>) -> Option<GoalScore> {
    node.open_object()?;
    let status: GoalJudgeStatus = node.required_with("status", |node| node.word())?;
    match status {
        GoalJudgeStatus::Completed => {
            node.closed_object(&["status", "passed"])?;
            let passed = node.required_with("passed", |node| node.boolean())?;
            Some(GoalScore::Completed { passed })
        }
        GoalJudgeStatus::Running => {
            node.closed_object(&["status"])?;
            Some(GoalScore::Running {})
        }
        GoalJudgeStatus::Failed => {
            node.closed_object(&["status"])?;
            Some(GoalScore::Failed {})
        }
    }
}

fn read_judge(node: &Node<'_>) -> Option<JudgeSettings> {
    node.closed_object(&["automatic", "role", "requested"])?;
    let automatic = node.required_with("automatic", |node| node.boolean());
    let role = node.required_with("role", |node| node.word());
    let requested = node.optional_with("requested", |node| node.boolean());
    Some(JudgeSettings {
        automatic: automatic?,
        role: role?,
        requested: requested?,
    })
}

pub(super) fn read_grading(node: &Node<'_>) -> Option<Grading> {
    node.closed_object(&["state", "reasonCode"])?;
    let state = node.required_with("state", |node| node.word());
    let reason_code = node.optional_with("reasonCode", |node| node.owned_non_empty_text());
    Some(Grading {
        state: state?,
        reason_code: reason_code?,
    })
}

/// The rules across fields.
pub(super) fn check(input: &SessionVerdictInput, root: &Path<'_>, findings: &Findings) {
    let rubric = root.key("rubric");
    let mut known = BTreeSet::new();
    for (index, criterion) in input.rubric.iter().enumerate() {
        let place = rubric.index(index);
        let demand = |holds: bool, key: &str, message: &str| {
            findings.demand(holds, &place.key(key), message);
        };
        demand(!criterion.id.is_empty(), "id", "must not be empty");
        demand(known.insert(criterion.id.as_str()), "id", "is there twice");
        demand(
            criterion.predicate_type.as_deref() != Some(""),
            "predicateType",
            "must not be empty",
        );
    }
    let grading = root.key("grading");
    findings.demand(
        input.grading.reason_code.as_deref() != Some(""),
        &grading.key("reasonCode"),
        "must not be empty",
    );
    let Some(criteria) = &input.criteria else {
        return;
    };
    let place = root.key("criteria");
    let ids = place.key("criterionIds");
    let mut claimed = BTreeSet::new();
    for (index, id) in criteria.criterion_ids.iter().flatten().enumerate() {
        let place = ids.index(index);
        findings.demand(claimed.insert(id.as_str()), &place, "is there twice");
        findings.demand(known.contains(id.as_str()), &place, "is not in the rubric");
    }
    let results = place.key("results");
    let mut seen = BTreeSet::new();
    for (index, result) in criteria.results.iter().flatten().enumerate() {
        let place = results.index(index);
        let place = place.key("criterionId");
        let id = result.criterion_id.as_str();
        findings.demand(seen.insert(id), &place, "is there twice");
        findings.demand(known.contains(id), &place, "is not in the rubric");
        findings.demand(
            criteria.criterion_ids.is_none() || claimed.contains(id),
            &place,
            "is not among `criterionIds`",
        );
    }
}
