//! What the command line can say about judges.

use std::path::PathBuf;

use strandline_service::judging::JudgeRequest;

/// What a command can be told about judges.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "LLM judges")]
pub struct JudgeArguments {
    /// Model that judges [default: the suite's `judge.model`, then
    /// `STRANDLINE_JUDGE_MODEL`, then the suite's own model]
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub judge_model: Option<String>,
    /// Samples of each judgement
    #[arg(long, value_name = "K", default_value_t = JudgeRequest::SAMPLES, value_parser = clap::value_parser!(u32).range(1..=15))]
    pub judge_samples: u32,
    /// Base URL of the judge's provider
    #[arg(long, value_name = "URL")]
    pub judge_base_url: Option<String>,
    /// Trials judged at once
    #[arg(long, value_name = "N", default_value_t = JudgeRequest::CONCURRENCY, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub judge_concurrency: u32,
    /// Tokens that judging may use; what is then left stays due
    #[arg(long, value_name = "TOKENS")]
    pub judge_budget: Option<u64>,
    /// Trials looked at for suspected conditions
    #[arg(long, value_name = "N", default_value_t = JudgeRequest::CONDITION_LIMIT)]
    pub condition_limit: u32,
    /// JSON file with a judge's answers, instead of a model
    #[arg(long, value_name = "FILE", conflicts_with = "judge_model")]
    pub judge_script: Option<PathBuf>,
}

impl From<&JudgeArguments> for JudgeRequest {
    fn from(arguments: &JudgeArguments) -> Self {
        Self {
            model: arguments.judge_model.clone(),
            samples: arguments.judge_samples,
            base_url: arguments.judge_base_url.clone(),
            concurrency: arguments.judge_concurrency,
            budget: arguments.judge_budget,
            condition_limit: arguments.condition_limit,
            script: arguments.judge_script.clone(),
        }
    }
}
