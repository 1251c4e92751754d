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

use crate::{
    environment,
    ui::{CommandError, Ui},
};

/// Names the judge model where neither the command line nor the suite does.
const MODEL_VARIABLE: &str = "STRANDLINE_JUDGE_MODEL";

/// What a command can be told about judges.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "LLM judges")]
pub struct JudgeArguments {
    /// Model that judges [default: the suite's `judge.model`, then
    /// `STRANDLINE_JUDGE_MODEL`, then the suite's own model]
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub judge_model: Option<String>,
    /// Samples of each judgement
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=15))]
    pub judge_samples: u32,
    /// Base URL of the judge's provider
    #[arg(long, value_name = "URL")]
    pub judge_base_url: Option<String>,
    /// Trials judged at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub judge_concurrency: u32,
    /// Tokens that judging may use; what is then left stays due
    #[arg(long, value_name = "TOKENS")]
    pub judge_budget: Option<u64>,
    /// Trials looked at for suspected conditions
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub condition_limit: u32,
    /// JSON file with a judge's answers, instead of a model
    #[arg(long, value_name = "FILE", conflicts_with = "judge_model")]
    pub judge_script: Option<PathBuf>,
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
    /// Returns the reason as an error of a command.
    pub fn into_error(self) -> CommandError {
        CommandError::new(
            self.code.exit(),
            format_args!("{}: {}", self.code.wire(), self.message),
        )
        .hint(self.hint)
    }
}

impl JudgeArguments {
    /// Makes the judge of a suite's trials; `tested` is the model under test
    /// where the run names another one than the suite.
    ///
    /// # Errors
    ///
    /// Says why nobody can be asked; a script that cannot be used is an error
    /// of the command.
    pub fn judge(
        &self,
        suite: &ResolvedSuite,
        tested: Option<&str>,
        base_url: Option<&str>,
    ) -> Result<Result<JudgePlan, NoJudge>, CommandError> {
        let judge: Arc<dyn Judge> = match &self.judge_script {
            Some(path) => Arc::new(self.script(path)?),
            None => match self.model(suite, tested, base_url) {
                Ok(judge) => judge,
                Err(missing) => return Ok(Err(missing)),
            },
        };
        Ok(Ok(JudgePlan {
            judge,
            samples: self.judge_samples,
            concurrency: self.judge_concurrency as usize,
            condition_limit: self.condition_limit,
            token_budget: self.judge_budget,
        }))
    }

    fn script(&self, path: &PathBuf) -> Result<ScriptedJudge, CommandError> {
        let refuse = |why: &dyn std::fmt::Display| {
            CommandError::usage(format_args!(
                "the judge script `{}` cannot be used: {why}",
                path.display()
            ))
            .hint("docs/guides/judges.md shows one")
        };
        let text = fs::read_to_string(path).map_err(|error| refuse(&error))?;
        let script = serde_json::from_str(&text).map_err(|error| refuse(&error))?;
        ScriptedJudge::parse(&script, self.judge_samples).map_err(|why| refuse(&why))
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
            .judge_model
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
                .judge_base_url
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

/// Makes the judge of a run that begins.
///
/// Without a judge an advisory judgement stays due, and that is said; a
/// required one is refused before anything is started.
///
/// # Errors
///
/// `JUDGE_UNSUPPORTED`, or why the model cannot be asked, when a case requires
/// a judge.
pub fn for_run(
    arguments: &JudgeArguments,
    no_judge: bool,
    suite: &ResolvedSuite,
    tested: Option<&str>,
    base_url: Option<&str>,
    ui: &mut Ui,
) -> Result<Option<JudgePlan>, CommandError> {
    let settings: Vec<JudgeSettings> = suite
        .enabled_cases()
        .map(|case| JudgeSettings::of(suite, case))
        .filter(|settings| settings.pending_kind() == Some(PendingKind::Scheduled))
        .collect();
    if settings.is_empty() || no_judge {
        return Ok(None);
    }
    match arguments.judge(suite, tested, base_url)? {
        Ok(plan) => Ok(Some(plan)),
        Err(missing) if settings.iter().any(JudgeSettings::is_required) => {
            let hint = "`--no-judge` runs without it: its trials are then not graded until \
                        `strandline judge` is run";
            Err(missing.into_error().hint(hint))
        }
        Err(missing) => {
            ui.talk(format_args!(
                "warning: {}; what an LLM judge is due to say stays due",
                missing.message
            ));
            ui.talk(format_args!("hint: {}", missing.hint));
            Ok(None)
        }
    }
}
