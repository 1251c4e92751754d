//! Goal completion: was the user's request satisfied (`suite-file.md` §4.3)?

use std::fmt::Write as _;

use serde_json::Value;
use strandline_contract::{
    judgement::{CriterionVotes, GoalJudgement, JudgeProvenance},
    trace::Trace,
    words::{JudgeAggregation, JudgeKind, JudgeRole, JudgeStatus, JudgeVerdict},
};

use super::{
    answer::{self, Unusable},
    fence::{Fence, fill},
    samples::{enough, median},
    settings::{JudgeSettings, PARTIAL_FLOOR},
    template::{Prompt, Template},
    transcript,
};

/// Makes the prompt; `None` when the trial holds no request of a user, so that
/// there is nothing to judge.
#[must_use]
pub fn goal_prompt(settings: &JudgeSettings, trial_id: &str, trace: &Trace) -> Option<Prompt> {
    if transcript::requests(trace).is_empty() {
        return None;
    }
    let conversation = transcript::conversation(trace);
    let fence = Fence::around(trial_id, &[&conversation]);
    let template = Template::of(JudgeKind::GoalCompletion);
    let author = author(settings);
    let data = fence.wrap("conversation", &conversation);
    Some(Prompt {
        kind: JudgeKind::GoalCompletion,
        system: fill(template.system, &[("key", fence.key())]),
        request: fill(template.request, &[("author", &author), ("data", &data)]),
        untrusted: vec![conversation],
    })
}

/// Returns what the author of the case wrote, which is trusted.
fn author(settings: &JudgeSettings) -> String {
    let mut text = String::from("What the author of the test wrote:\n");
    if settings.is_negative_test {
        text.push_str("- The right behaviour is to call no tool.\n");
    }
    if let Some(expected) = &settings.expected_output {
        let _ = writeln!(text, "- A good answer says: {expected}");
    }
    if let Some(instructions) = &settings.instructions {
        let _ = writeln!(text, "- Extra rules: {instructions}");
    }
    for criterion in &settings.criteria {
        let required = if criterion.required {
            " (required)"
        } else {
            ""
        };
        let _ = write!(
            text,
            "- Criterion `{}`{required}: {}",
            criterion.id, criterion.label
        );
        if let Some(description) = &criterion.description {
            let _ = write!(text, " ({description})");
        }
        text.push('\n');
    }
    if !settings.has_rubric() {
        text.push_str(
            "- Nothing about what a good answer says: grade against the user's request alone.\n",
        );
    }
    text
}

/// One usable answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalSample {
    /// The score as given.
    pub given: f64,
    /// The score after every cap.
    pub score: f64,
    /// Why.
    pub reason: Option<String>,
    /// Per criterion of the rubric, in its order: met, and why not.
    met: Vec<bool>,
    /// What was done to the score.
    pub notes: Vec<String>,
}

/// Reads an answer.
///
/// # Errors
///
/// Says why it is not the answer that was asked for.
pub fn read_goal_answer(
    settings: &JudgeSettings,
    prompt: &Prompt,
    text: &str,
) -> Result<GoalSample, Unusable> {
    let object = answer::object(text, &prompt.untrusted())?;
    let given = object
        .get("score")
        .and_then(Value::as_f64)
        .filter(|score| (0.0..=1.0).contains(score))
        .ok_or_else(|| Unusable::new("scoreMissing", "`score` must be a number from 0 to 1"))?;
    let met = settings
        .criteria
        .iter()
        .map(|criterion| {
            object
                .get("criteria")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .find(|entry| entry.get("id").and_then(Value::as_str) == Some(&criterion.id))
                .and_then(|entry| entry.get("met")?.as_bool())
                .ok_or_else(|| {
                    Unusable::new(
                        "criterionMissing",
                        format!("`criteria` must say whether `{}` is met", criterion.id),
                    )
                })
        })
        .collect::<Result<Vec<bool>, Unusable>>()?;

    let mut score = given;
    let mut notes = Vec::new();
    if let Some(cap) = settings.score_cap()
        && score > cap
    {
        notes.push(format!(
            "capped at {cap}: the case says neither what a good answer is nor any criterion"
        ));
        score = cap;
    }
    // A required criterion that is not met: at most partial.
    let missed = settings.criteria.iter().zip(&met);
    for (criterion, met) in missed {
        let cap = below(settings.threshold);
        if criterion.required && !met && score > cap {
            notes.push(format!(
                "capped at {cap}: the required criterion `{}` is not met",
                criterion.id
            ));
            score = cap;
        }
    }
    Ok(GoalSample {
        given,
        score,
        reason: answer::text(&object, "reason"),
        met,
        notes,
    })
}

/// Returns the highest score that is still not a pass: the partial floor, or 0
/// where the floor itself would pass.
fn below(threshold: f64) -> f64 {
    if PARTIAL_FLOOR < threshold {
        PARTIAL_FLOOR
    } else {
        0.0
    }
}

/// Makes one judgement of the samples: the median of their scores, provided
/// that more than half of those asked for can be used.
///
/// `failure` says what became of the last one that cannot.
#[must_use]
pub fn aggregate_goal(
    settings: &JudgeSettings,
    asked: u32,
    samples: &[GoalSample],
    failure: Option<&str>,
    provenance: JudgeProvenance,
) -> GoalJudgement {
    let scores: Vec<f64> = samples.iter().map(|sample| sample.score).collect();
    let threshold = settings.threshold;
    let straddle = scores.iter().any(|score| *score >= threshold)
        && scores.iter().any(|score| *score < threshold);
    let judgement = GoalJudgement {
        status: JudgeStatus::Error,
        verdict: None,
        reasons: Vec::new(),
        error: None,
        score: None,
        threshold,
        partial_floor: PARTIAL_FLOOR,
        straddle,
        samples: asked,
        aggregation: JudgeAggregation::Median,
        score_cap: settings.score_cap(),
        role: if settings.is_required() {
            JudgeRole::Required
        } else {
            JudgeRole::Advisory
        },
        criteria: votes(settings, samples),
        provenance,
        scores,
    };
    let Some(score) = median(&judgement.scores).filter(|_| enough(samples.len(), asked)) else {
        let usable = samples.len();
        let failure = failure.unwrap_or("no answer");
        return GoalJudgement {
            error: Some(format!(
                "{usable} of {asked} samples of the LLM judge can be used: {failure}"
            )),
            ..judgement
        };
    };
    GoalJudgement {
        status: JudgeStatus::Scored,
        verdict: Some(verdict(score, threshold)),
        reasons: reasons(&judgement, samples, score),
        score: Some(score),
        ..judgement
    }
}

/// Returns what a score says.
#[must_use]
pub fn verdict(score: f64, threshold: f64) -> JudgeVerdict {
    if score >= threshold {
        JudgeVerdict::Pass
    } else if score >= PARTIAL_FLOOR {
        JudgeVerdict::Partial
    } else {
        JudgeVerdict::Fail
    }
}

fn votes(settings: &JudgeSettings, samples: &[GoalSample]) -> Vec<CriterionVotes> {
    settings
        .criteria
        .iter()
        .enumerate()
        .map(|(index, criterion)| {
            let said = samples.iter().filter_map(|sample| sample.met.get(index));
            CriterionVotes {
                id: criterion.id.clone(),
                label: criterion.label.clone(),
                required: criterion.required,
                met: count(said.clone().filter(|met| **met)),
                of: count(said),
            }
        })
        .collect()
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// Returns why, the sample nearest the score first; a straddle and unmet
/// criteria are said before anything else.
fn reasons(judgement: &GoalJudgement, samples: &[GoalSample], score: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    if judgement.straddle {
        let scores: Vec<String> = judgement.scores.iter().map(|score| short(*score)).collect();
        reasons.push(format!(
            "the samples straddle the threshold {}: {} (median {})",
            short(judgement.threshold),
            scores.join(", "),
            short(score)
        ));
    }
    for criterion in &judgement.criteria {
        if u64::from(criterion.met) * 2 <= u64::from(criterion.of) {
            reasons.push(format!(
                "{}criterion `{}` not met ({}): {} of {} samples find it met",
                if criterion.required { "required " } else { "" },
                criterion.id,
                criterion.label,
                criterion.met,
                criterion.of
            ));
        }
    }
    let mut nearest: Vec<&GoalSample> = samples.iter().collect();
    nearest.sort_by(|left, right| {
        let distance = |sample: &GoalSample| (sample.score - score).abs();
        distance(left).total_cmp(&distance(right))
    });
    for reason in nearest.iter().filter_map(|sample| sample.reason.as_ref()) {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    reasons
}

/// Returns a score with at most four decimals.
fn short(score: f64) -> String {
    let text = format!("{score:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
