//! What a suite says about LLM judges (`suite-file.md` §4.3).

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    ecma,
    run::RunRecord,
    suite::{ResolvedCase, ResolvedSuite},
    words::{JudgeRole, PendingKind},
};

/// Score that passes, unless the suite says otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.7;
/// Score that is at least partial.
pub const PARTIAL_FLOOR: f64 = 0.4;
/// Highest score where nothing says what a good answer is.
pub const SCORE_CAP_WITHOUT_RUBRIC: f64 = 0.85;

/// What LLM judges are to do in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSettings {
    /// The suite says something about judges at all.
    pub authored: bool,
    /// The case may be judged.
    pub enabled: bool,
    /// Trials are judged without being asked for.
    pub auto_run: bool,
    /// `provider/model` or a bare model of the suite's provider.
    pub model: Option<String>,
    /// Score that passes.
    pub threshold: f64,
    /// What the answer does to a trial's result.
    pub role: JudgeRole,
    /// What a good answer says; never blank.
    pub expected_output: Option<String>,
    /// Criteria of the rubric.
    pub criteria: Vec<Criterion>,
    /// Extra rules of the rubric.
    pub instructions: Option<String>,
    /// The right behaviour is to call nothing.
    pub is_negative_test: bool,
}

/// One criterion of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Criterion {
    /// Its id, unique in the rubric.
    pub id: String,
    /// What must hold, in a few words.
    pub label: String,
    /// The same at length.
    #[serde(default)]
    pub description: Option<String>,
    /// Without it the goal is not met.
    #[serde(default)]
    pub required: bool,
}

impl JudgeSettings {
    /// Reads what a suite says about one of its cases.
    #[must_use]
    pub fn of(suite: &ResolvedSuite, case: &ResolvedCase) -> Self {
        let authored = suite.defaults.judge.as_ref();
        let member = |key: &str| authored.and_then(|judge| judge.get(key));
        let flag = |judge: Option<&Value>, key: &str| judge?.get(key)?.as_bool();
        let rubric = member("rubric");
        let criteria = rubric.and_then(|rubric| rubric.get("criteria"));
        let text = |value: Option<&Value>| {
            value
                .and_then(Value::as_str)
                .filter(|text| !ecma::is_blank(text))
                .map(str::to_owned)
        };
        Self {
            authored: authored.is_some(),
            enabled: flag(case.judge.as_ref(), "enabled")
                .or_else(|| flag(authored, "enabled"))
                .unwrap_or(true),
            auto_run: flag(authored, "autoRun").unwrap_or(true),
            model: text(member("model")),
            threshold: member("threshold")
                .and_then(Value::as_f64)
                .unwrap_or(DEFAULT_THRESHOLD),
            role: match member("role").and_then(Value::as_str) {
                Some("required" | "gating") => JudgeRole::Required,
                _ => JudgeRole::Advisory,
            },
            expected_output: case
                .expected_output
                .clone()
                .filter(|text| !ecma::is_blank(text)),
            criteria: criteria
                .and_then(|criteria| Vec::deserialize(criteria).ok())
                .unwrap_or_default(),
            instructions: text(rubric.and_then(|rubric| rubric.get("instructions"))),
            is_negative_test: case.is_negative_test,
        }
    }

    /// Something says what a good answer is; instructions alone do not.
    #[must_use]
    pub const fn has_rubric(&self) -> bool {
        self.expected_output.is_some() || !self.criteria.is_empty()
    }

    /// Returns the highest score that a sample may get, where it is bounded.
    #[must_use]
    pub const fn score_cap(&self) -> Option<f64> {
        if self.has_rubric() {
            None
        } else {
            Some(SCORE_CAP_WITHOUT_RUBRIC)
        }
    }

    /// Returns why no answer has arrived, or `None` where the suite says
    /// nothing about judges: the trial then keeps no judge evidence at all.
    #[must_use]
    pub const fn pending_kind(&self) -> Option<PendingKind> {
        if !self.authored {
            None
        } else if self.enabled && self.auto_run {
            Some(PendingKind::Scheduled)
        } else {
            Some(PendingKind::NotRequested)
        }
    }

    /// Returns whether the trial's result needs the answer.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        self.authored && self.enabled && matches!(self.role, JudgeRole::Required)
    }
}

/// Reads the suite that a stored run was made with.
///
/// # Errors
///
/// Says why the stored suite cannot be read.
pub fn suite_of(run: &RunRecord) -> Result<ResolvedSuite, String> {
    ResolvedSuite::deserialize(&run.resolved_suite).map_err(|error| error.to_string())
}
