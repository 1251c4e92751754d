//! Who judges: from the suite and the command line to a judge that can be
//! asked, or to the reason why there is none.

use std::{fs, path::PathBuf, sync::Arc};

use strandline_contract::{
    providers::SCRIPTED,
    suite::ResolvedSuite,
    words::{PendingKind, RefusalCode, Vocabulary},
};
use strandline_derive::judge::JudgeSettings;
use strandline_engine::{
    judge::{Judge, JudgePlan, ModelJudge, ScriptedJudge},
    models::{ModelFactory, ModelSettings},
};
use strandline_suite::model::split_model;

use crate::{Failure, environment};

/// Names the judge model where neither the command line nor the suite does.
const MODEL_VARIABLE: &str = "STRANDLINE_JUDGE_MODEL";

/// What can be said about judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeRequest {
    /// Model that judges, `PROVIDER/MODEL`; by default the suite's
    /// `judge.model`, then `STRANDLINE_JUDGE_MODEL`, then the suite's own model.
    pub model: Option<String>,
    /// Samples of each judgement.
    pub samples: u32,
    /// Base URL of the judge's provider.
    pub base_url: Option<String>,
    /// Trials judged at once.
    pub concurrency: u32,
    /// Tokens that judging may use; what is then left stays due.
    pub budget: Option<u64>,
    /// Trials looked at for suspected conditions.
    pub condition_limit: u32,
    /// JSON file with a judge's answers, instead of a model.
    pub script: Option<PathBuf>,
}

impl JudgeRequest {
    /// Samples of each judgement, unless told otherwise.
    pub const SAMPLES: u32 = 3;
    /// Trials judged at once, unless told otherwise.
    pub const CONCURRENCY: u32 = 4;
    /// Trials looked at for suspected conditions, unless told otherwise.
    pub const CONDITION_LIMIT: u32 = 20;
}

impl Default for JudgeRequest {
    fn default() -> Self {
        Self {
            model: None,
            samples: Self::SAMPLES,
            base_url: None,
            concurrency: Self::CONCURRENCY,
            budget: None,
            condition_limit: Self::CONDITION_LIMIT,
            script: None,
        }
    }
}

/// Why nobody can be asked.
#[derive(Debug)]
pub struct NoJudge {
    /// Wire code of the refusal.
    code: RefusalCode,
    /// What is missing, in one line.
    message: String,
    /// What to do about it.
    hint: String,
}

impl NoJudge {
    /// Returns the reason as a failure.
    pub fn into_failure(self) -> Failure {
        Failure::new(
            self.code.exit(),
            format_args!("{}: {}", self.code.wire(), self.message),
        )
        .hint(self.hint)
    }
}

impl JudgeRequest {
    /// Makes the judge of a suite's trials; `tested` is the model under test
    /// where the run names another one than the suite.
    ///
    /// # Errors
    ///
    /// Says why nobody can be asked; a script that cannot be used is a failure.
    pub fn judge(
        &self,
        suite: &ResolvedSuite,
        tested: Option<&str>,
        base_url: Option<&str>,
    ) -> Result<Result<JudgePlan, NoJudge>, Failure> {
        let judge: Arc<dyn Judge> = match &self.script {
            Some(path) => Arc::new(self.script(path)?),
            None => match self.model(suite, tested, base_url) {
                Ok(judge) => judge,
                Err(missing) => return Ok(Err(missing)),
            },
        };
        Ok(Ok(JudgePlan {
            judge,
            samples: self.samples,
            concurrency: self.concurrency as usize,
            condition_limit: self.condition_limit,
            token_budget: self.budget,
        }))
    }

    fn script(&self, path: &PathBuf) -> Result<ScriptedJudge, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::usage(format_args!(
                "the judge script `{}` cannot be used: {why}",
                path.display()
            ))
            .hint("docs/guides/judges.md shows one")
        };
        let text = fs::read_to_string(path).map_err(|error| refuse(&error))?;
        let script = serde_json::from_str(&text).map_err(|error| refuse(&error))?;
        ScriptedJudge::parse(&script, self.samples).map_err(|why| refuse(&why))
    }

    fn model(
        &self,
        suite: &ResolvedSuite,
        tested: Option<&str>,
        base_url: Option<&str>,
    ) -> Result<Arc<dyn Judge>, NoJudge> {
        let authored = suite.defaults.judge.as_ref();
        let of_suite = authored.and_then(|judge| judge.get("model")?.as_str());
        let named = self
            .model
            .clone()
            .or_else(|| of_suite.map(str::to_owned))
            .or_else(|| environment::variable(MODEL_VARIABLE).filter(|name| !name.is_empty()));
        let tested = tested.unwrap_or(&suite.defaults.model);
        let name = named.unwrap_or_else(|| tested.to_owned());
        let no_judge = |code: RefusalCode, message: String, hint: Option<String>| NoJudge {
            code,
            message,
            hint: hint.unwrap_or_else(|| {
                "name a model that can be asked with `--judge-model PROVIDER/MODEL`".to_owned()
            }),
        };
        // A judge of another provider is written `provider/model`.
        let provider = split_model(&name, None)
            .or_else(|_| split_model(&name, suite.defaults.provider.as_deref()));
        let (provider, model) = provider.map_err(|refusal| {
            no_judge(
                refusal.code,
                format!("the judge cannot be asked: {}", refusal.message),
                None,
            )
        })?;
        if provider.name == SCRIPTED {
            return Err(no_judge(
                RefusalCode::JudgeUnsupported,
                "no model judges: the suite names none, and a scripted model has no opinion"
                    .to_owned(),
                Some(
                    "name one with `--judge-model PROVIDER/MODEL`, or write its answers down and \
                     give `--judge-script FILE`"
                        .to_owned(),
                ),
            ));
        }
        let factory = ModelFactory::new(ModelSettings {
            base_url: self
                .base_url
                .clone()
                .or_else(|| base_url.map(str::to_owned)),
            ..ModelSettings::default()
        });
        factory
            .client(provider.name, &model, &environment::variable)
            .map(|client| Arc::new(ModelJudge(client)) as Arc<dyn Judge>)
            .map_err(|error| {
                no_judge(
                    RefusalCode::from_wire(error.code).unwrap_or(RefusalCode::JudgeUnsupported),
                    format!("the judge cannot be asked: {}", error.message),
                    error.hint,
                )
            })
    }
}

/// Makes the judge of a run that begins, and says what stays due without one.
///
/// Without a judge an advisory judgement stays due, and that is said; a
/// required one is refused before anything is started.
///
/// # Errors
///
/// `JUDGE_UNSUPPORTED`, or why the model cannot be asked, when a case requires
/// a judge.
pub fn for_run(
    request: &JudgeRequest,
    suite: &ResolvedSuite,
    tested: Option<&str>,
    base_url: Option<&str>,
) -> Result<(Option<JudgePlan>, Vec<String>), Failure> {
    let settings: Vec<JudgeSettings> = suite
        .enabled_cases()
        .map(|case| JudgeSettings::of(suite, case))
        .filter(|settings| settings.pending_kind() == Some(PendingKind::Scheduled))
        .collect();
    if settings.is_empty() {
        return Ok((None, Vec::new()));
    }
    match request.judge(suite, tested, base_url)? {
        Ok(plan) => Ok((Some(plan), Vec::new())),
        Err(missing) if settings.iter().any(JudgeSettings::is_required) => {
            let hint = "`--no-judge` runs without it: its trials are then not graded until \
                        `strandline judge` is run";
            Err(missing.into_failure().hint(hint))
        }
        Err(missing) => Ok((
            None,
            vec![
                format!(
                    "warning: {}; what an LLM judge is due to say stays due",
                    missing.message
                ),
                format!("hint: {}", missing.hint),
            ],
        )),
    }
}
