//! What LLM judges say about a trial: scores, how they were taken together, who
//! judged. Advisory and required are told apart in every line.

use std::fmt::Write as _;

use serde::Deserialize;
use strandline_contract::{
    judgement::{
        ATTRIBUTION_KEY, AttributionJudgement, GOAL_KEY, GoalJudgement, JudgeCall, JudgePass,
        JudgeProvenance, SuspectedConditionVerdict,
    },
    run::TrialRecord,
    words::{
        JudgeCallOutcome, JudgeKind, JudgeStatus, JudgeVerdict, StageState, SuspectedCondition,
        Vocabulary,
    },
};
use strandline_derive::judge::{StoredCondition, project_suspected_condition};

use super::{Detail, HANG, name};
use crate::{
    glyphs,
    layout::hanging,
    style::{Ink, Style},
    words::counted,
};

/// Reasons shown in brief.
const MAX_REASONS: usize = 3;

pub(super) fn render(
    trial: &TrialRecord,
    passes: &[JudgePass],
    detail: Detail,
    style: &Style,
) -> Vec<String> {
    let dot = format!(" {} ", style.dot());
    let mut lines = Vec::new();
    for said in said(trial, passes, detail) {
        let mark = said.mark.map_or(String::new(), |state| {
            glyphs::state(state).paint(style) + " "
        });
        let text = format!("{mark}{}", said.facts.join(&dot));
        let text = hanging(said.label, &text, 1, HANG, style.columns());
        match said.quiet {
            false => lines.extend(text),
            true => lines.extend(text.iter().map(|line| style.paint(Ink::Quiet, line))),
        }
    }
    lines
}

/// One thing that judges say, or that is said of them.
pub(crate) struct Said {
    /// What it is about; empty where it goes on.
    pub(crate) label: &'static str,
    /// Whether something was found to hold.
    pub(crate) mark: Option<StageState>,
    /// What is said.
    pub(crate) facts: Vec<String>,
    /// It only says how the rest came about.
    pub(crate) quiet: bool,
}

/// Returns everything that judges say about a trial.
pub(crate) fn said(trial: &TrialRecord, passes: &[JudgePass], detail: Detail) -> Vec<Said> {
    let mut section = Section {
        said: Vec::new(),
        detail,
    };
    section.goal(trial);
    section.attribution(trial);
    section.condition(trial);
    if !section.said.is_empty() {
        section.calls(passes);
    }
    section.said
}

/// Reads a judgement out of a trial's metadata: `None` without one, `Err` when
/// it cannot be read.
fn stored<'a, T: Deserialize<'a>>(trial: &'a TrialRecord, key: &str) -> Option<Result<T, ()>> {
    let judgement = trial.metadata.get(key)?;
    Some(T::deserialize(judgement).map_err(|_| ()))
}

struct Section {
    said: Vec<Said>,
    detail: Detail,
}

impl Section {
    fn say(&mut self, label: &'static str, text: impl Into<String>) {
        self.said.push(Said {
            label,
            mark: None,
            facts: vec![text.into()],
            quiet: false,
        });
    }

    fn found(&mut self, label: &'static str, state: StageState, text: String) {
        self.say(label, text);
        if let Some(last) = self.said.last_mut() {
            last.mark = Some(state);
        }
    }

    fn quiet(&mut self, facts: Vec<String>) {
        self.said.push(Said {
            label: "",
            mark: None,
            facts,
            quiet: true,
        });
    }

    fn goal(&mut self, trial: &TrialRecord) {
        let Some(judgement) = stored::<GoalJudgement>(trial, GOAL_KEY) else {
            return;
        };
        let Ok(judgement) = judgement else {
            self.say("judged", "the stored judgement of the goal cannot be read");
            return;
        };
        let kind = JudgeKind::GoalCompletion.label();
        let role = judgement.role.label();
        match (judgement.verdict, judgement.score) {
            (Some(verdict), Some(score)) => {
                let state = match verdict {
                    JudgeVerdict::Pass => StageState::Passed,
                    JudgeVerdict::Partial | JudgeVerdict::Fail => StageState::Failed,
                };
                let text = format!(
                    "{kind}, {role}: {}, score {} against a threshold of {}",
                    verdict.label(),
                    number(score),
                    number(judgement.threshold)
                );
                self.found("judged", state, text);
            }
            _ => {
                let why = judgement
                    .error
                    .as_deref()
                    .unwrap_or(judgement.status.label());
                let why = name_of(why, self.detail);
                let text = format!("{kind}, {role}: no score, {why}");
                self.found("judged", StageState::NotMeasured, text);
            }
        }
        if judgement.status == JudgeStatus::NotApplicable {
            return;
        }
        let mut facts = vec![samples(&judgement)];
        // A straddle is the first of the reasons, with its scores.
        if let Some(cap) = judgement.score_cap {
            facts.push(format!(
                "capped at {}: the case has neither an expected output nor criteria",
                number(cap)
            ));
        }
        self.quiet(facts);
        self.quiet(who(&judgement.provenance));
        for criterion in &judgement.criteria {
            let met = u64::from(criterion.met) * 2 > u64::from(criterion.of);
            let state = if met {
                StageState::Passed
            } else {
                StageState::Failed
            };
            let required = if criterion.required { ", required" } else { "" };
            let text = format!(
                "criterion {}{required}: {} of {} find it met",
                name(&criterion.label),
                criterion.met,
                counted(u64::from(criterion.of), "sample", "samples")
            );
            self.found("", state, text);
        }
        self.reasons(&judgement.reasons);
    }

    fn attribution(&mut self, trial: &TrialRecord) {
        let Some(judgement) = stored::<AttributionJudgement>(trial, ATTRIBUTION_KEY) else {
            return;
        };
        let kind = JudgeKind::MetadataAttribution.label();
        let Ok(judgement) = judgement else {
            self.say("judged", "the stored attribution cannot be read");
            return;
        };
        let said = match judgement.attributed {
            Some(true) => "the tools' metadata is quoted as misleading",
            Some(false) => "not attributed to the tools' metadata",
            None => "no answer",
        };
        self.say("judged", format!("{kind}, advisory: {said}"));
        let mut facts = vec![format!(
            "{} of {} blame it, by {}",
            judgement.votes,
            counted(u64::from(judgement.answered), "sample", "samples"),
            judgement.aggregation.label()
        )];
        if judgement.straddle {
            facts.push("the samples disagree".to_owned());
        }
        if let Some(error) = &judgement.error {
            facts.push(name_of(error, self.detail));
        }
        self.quiet(facts);
        self.quiet(who(&judgement.provenance));
        self.reasons(&judgement.reasons);
    }

    /// `friction.md` §9.4: a named condition with confidence and one step, the
    /// two others without a step, nothing for skipped, failed and absent ones.
    fn condition(&mut self, trial: &TrialRecord) {
        let verdict = match project_suspected_condition(&trial.metadata) {
            StoredCondition::Absent => return,
            StoredCondition::Unverified => {
                let text = "the stored suspected condition cannot be believed and is withheld";
                self.say("suspected", text);
                return;
            }
            StoredCondition::Verified(verdict) => *verdict,
        };
        let SuspectedConditionVerdict::Scored {
            condition,
            confidence,
            remediation,
            provenance,
            ..
        } = verdict
        else {
            return;
        };
        let named = !matches!(
            condition,
            SuspectedCondition::Unclear | SuspectedCondition::ResponseWasClear
        );
        let label = condition.label();
        let text = match label.strip_prefix("suspected: ") {
            Some(label) => format!("{label} (confidence {}, advisory)", confidence.label()),
            None => format!("{label} (advisory)"),
        };
        self.say("suspected", text);
        if let Some(remediation) = remediation.filter(|_| named) {
            for line in self.detail.lines(&remediation) {
                self.say("", format!("try: {line}"));
            }
        }
        self.quiet(vec![
            format!("by {}", name(&provenance.model)),
            format!("template {}", provenance.judge_template_version),
        ]);
    }

    fn reasons(&mut self, reasons: &[String]) {
        let most = match self.detail {
            Detail::Brief => MAX_REASONS,
            Detail::Full => usize::MAX,
        };
        for reason in reasons.iter().take(most) {
            for line in self.detail.lines(reason) {
                self.say("", line);
            }
        }
    }

    fn calls(&mut self, passes: &[JudgePass]) {
        let Some(last) = passes.last() else { return };
        let tokens: u64 = last.calls.iter().map(tokens).sum();
        let calls = counted(last.calls.len() as u64, "judge call", "judge calls");
        let mut facts = vec![calls];
        if tokens > 0 {
            facts.push(counted(tokens, "token", "tokens"));
        }
        if passes.len() > 1 {
            let earlier = counted(passes.len() as u64 - 1, "earlier pass", "earlier passes");
            facts.push(format!("{earlier} kept, superseded"));
        }
        self.quiet(facts);
        if self.detail == Detail::Full {
            for call in &last.calls {
                self.quiet(vec![call_line(call, self.detail)]);
            }
        }
    }
}

fn samples(judgement: &GoalJudgement) -> String {
    let scores: Vec<String> = judgement
        .scores
        .iter()
        .map(|score| number(*score))
        .collect();
    let of = format!(
        "{} of {}",
        judgement.scores.len(),
        counted(u64::from(judgement.samples), "sample", "samples")
    );
    if scores.is_empty() {
        return format!("{of} scored");
    }
    format!(
        "{of} scored {}, taken together by {}",
        scores.join(", "),
        judgement.aggregation.label()
    )
}

fn who(provenance: &JudgeProvenance) -> Vec<String> {
    let hash: String = provenance.judge_template_hash.chars().take(12).collect();
    let mut facts = vec![
        format!("by the LLM judge {}", name(&provenance.model)),
        format!(
            "template {} ({})",
            provenance.judge_template_version,
            name(&hash)
        ),
    ];
    if provenance.is_model_under_test {
        facts.push("which is the model under test".to_owned());
    }
    facts
}

fn call_line(call: &JudgeCall, detail: Detail) -> String {
    let mut line = format!(
        "{} sample {}: {}",
        call.kind.label(),
        call.sample.saturating_add(1),
        call.outcome.label()
    );
    if let Some(score) = call.score {
        let _ = write!(line, ", score {}", number(score));
    }
    if let (
        JudgeCallOutcome::Malformed | JudgeCallOutcome::Refused | JudgeCallOutcome::Failed,
        Some(error),
    ) = (call.outcome, &call.error)
    {
        let _ = write!(line, ", {}", name_of(error, detail));
    }
    for note in &call.notes {
        let _ = write!(line, ", {}", name_of(note, detail));
    }
    line
}

fn tokens(call: &JudgeCall) -> u64 {
    let usage = &call.usage;
    let parts = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
    usage.total_tokens.unwrap_or(parts)
}

/// Returns foreign text as one safe line.
fn name_of(text: &str, detail: Detail) -> String {
    detail.lines(text).join(" ")
}

/// Returns a score with at most four decimals.
fn number(score: f64) -> String {
    let text = format!("{score:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
