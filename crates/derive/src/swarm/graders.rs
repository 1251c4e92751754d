//! What the graders of one session say of themselves (`swarm.md` §4.2).

use std::collections::BTreeMap;

use strandline_contract::{
    swarm::session::{
        CriteriaCounts, Criterion, CriterionResult, GoalScore, Graders, SessionVerdictInput,
    },
    words::{CriteriaGrader, CriteriaStatus, GradingState, JudgeGrader, RowStatus, RuleRole},
};

/// Facts that the ordered rules share.
pub(super) struct Facts<'a> {
    input: &'a SessionVerdictInput,
    results: BTreeMap<&'a str, &'a CriterionResult>,
    pub(super) counts: CriteriaCounts,
    /// The goal judge decides, alone or together with required criteria.
    pub(super) decisive: bool,
    /// The grading that decides is under way.
    pub(super) waiting: bool,
    /// A decisive judge's answer is due.
    pub(super) owed: bool,
}

impl<'a> Facts<'a> {
    pub(super) fn of(input: &'a SessionVerdictInput) -> Self {
        let results = completed_results(input);
        let counts = count(&input.rubric, &results);
        let decisive = input.judge.role == RuleRole::Required || counts.gating == 0;
        let asked = input.judge.automatic || input.judge.requested == Some(true);
        Self {
            results,
            counts,
            decisive,
            waiting: matches!(
                input.grading.state,
                GradingState::Queued | GradingState::Running
            ),
            owed: decisive && (asked || input.goal_score.is_some()),
            input,
        }
    }

    pub(super) fn graders(&self) -> Graders {
        Graders {
            criteria: self.criteria(),
            judge: self.judge(),
        }
    }

    fn criteria(&self) -> CriteriaGrader {
        if self.input.rubric.is_empty() {
            return CriteriaGrader::NotConfigured;
        }
        let Some(criteria) = &self.input.criteria else {
            return CriteriaGrader::NotClaimed;
        };
        match criteria.status {
            CriteriaStatus::Pending => return CriteriaGrader::Pending,
            CriteriaStatus::Failed => return CriteriaGrader::Errored,
            CriteriaStatus::Completed => {}
        }
        let in_scope = |criterion: &&Criterion| {
            criterion.role == RuleRole::Required
                || criteria
                    .criterion_ids
                    .as_ref()
                    .is_none_or(|ids| ids.contains(&criterion.id))
        };
        let unmeasured = |criterion: &Criterion| {
            self.results
                .get(criterion.id.as_str())
                .is_none_or(|result| result.status == Some(RowStatus::Error))
        };
        if self.input.rubric.iter().filter(in_scope).any(unmeasured) {
            return CriteriaGrader::Errored;
        }
        CriteriaGrader::Scored
    }

    fn judge(&self) -> JudgeGrader {
        if !self.decisive {
            return JudgeGrader::Silent;
        }
        match self.input.goal_score {
            Some(GoalScore::Completed { .. }) => return JudgeGrader::Scored,
            Some(GoalScore::Failed {}) => return JudgeGrader::Errored,
            Some(GoalScore::Running {}) => return JudgeGrader::Pending,
            None => {}
        }
        if self.owed && self.waiting {
            return JudgeGrader::Pending;
        }
        if self.owed && self.input.grading.state == GradingState::Unavailable {
            return JudgeGrader::Errored;
        }
        JudgeGrader::NotConfigured
    }
}

/// Results count only once grading has completed.
fn completed_results(input: &SessionVerdictInput) -> BTreeMap<&str, &CriterionResult> {
    input
        .criteria
        .iter()
        .filter(|criteria| criteria.status == CriteriaStatus::Completed)
        .flat_map(|criteria| criteria.results.iter().flatten())
        .map(|result| (result.criterion_id.as_str(), result))
        .collect()
}

fn count(rubric: &[Criterion], results: &BTreeMap<&str, &CriterionResult>) -> CriteriaCounts {
    let mut counts = CriteriaCounts::default();
    for criterion in rubric {
        let measured = results
            .get(criterion.id.as_str())
            .filter(|result| result.status != Some(RowStatus::Error))
            .map(|result| result.passed);
        match (criterion.role, measured) {
            (RuleRole::Required, None) => counts.gating_unmeasured += 1,
            (RuleRole::Required, Some(true)) => counts.gating_passed += 1,
            (RuleRole::Required, Some(false)) => counts.gating_failed += 1,
            (RuleRole::Advisory, Some(false)) => counts.advisory_failed += 1,
            (RuleRole::Advisory, None | Some(true)) => {}
        }
        if criterion.role == RuleRole::Required {
            counts.gating += 1;
        }
    }
    counts
}
