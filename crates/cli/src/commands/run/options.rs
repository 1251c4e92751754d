//! What `strandline run` can be told.

use std::path::PathBuf;

use serde_json::Value;
use strandline_contract::{sequential::SequentialSettings, suite::MatchOptions};
use strandline_service::{judging::JudgeRequest, request::RunRequest};

use crate::{
    judging::JudgeArguments, reporting::Reporter, store::StoreArguments, ui::CommandError,
};

/// Arguments of `strandline run`.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// Suite files [default: `strandline.yaml` in this directory]
    pub(super) suites: Vec<PathBuf>,

    /// Run only this case, by id
    #[arg(long = "case", value_name = "ID", help_heading = "What to run")]
    pub(super) cases: Vec<String>,
    /// Run under this model instead of each case's own; repeat to fan out
    #[arg(
        long = "model",
        value_name = "PROVIDER/MODEL",
        help_heading = "What to run"
    )]
    pub(super) models: Vec<String>,
    /// Trials per case, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "What to run")]
    pub(super) iterations: Option<u32>,
    /// Finish what is missing of a stored run: its id, the beginning of it, or `last`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["suites", "cases", "models", "iterations", "until_decided"], help_heading = "What to run")]
    pub(super) resume: Option<String>,
    /// Approve an approximated import for this run
    #[arg(
        long = "approve-import",
        value_name = "CASE=REASON",
        help_heading = "What to run"
    )]
    pub(super) approvals: Vec<String>,

    /// Trials at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "How to run")]
    pub(super) concurrency: Option<u32>,
    /// Trials at once on one server [default: as many as run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "How to run")]
    pub(super) server_concurrency: Option<u32>,
    /// Seed for models that take one
    #[arg(long, value_name = "N", help_heading = "How to run")]
    pub(super) seed: Option<u64>,
    /// Start no further trial once one has failed; the run is then inconclusive
    #[arg(long, help_heading = "How to run")]
    pub(super) fail_fast: bool,
    /// Repeat each case beyond its own trials until it is shown to meet or to
    /// miss its threshold; the case's trials are the fewest
    #[arg(long, help_heading = "Repeat until decided")]
    pub(super) until_decided: bool,
    /// Most trials of one case under one model [default: 50]
    #[arg(long, value_name = "N", requires = "until_decided", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Repeat until decided")]
    pub(super) max_trials: Option<u32>,
    /// Most often (a fraction) that a case clearly below its threshold is
    /// taken to meet it [default: 0.05]
    #[arg(
        long,
        value_name = "RATE",
        requires = "until_decided",
        help_heading = "Repeat until decided"
    )]
    pub(super) alpha: Option<f64>,
    /// Most often (a fraction) that a case clearly above its threshold is
    /// taken to miss it [default: 0.05]
    #[arg(
        long,
        value_name = "RATE",
        requires = "until_decided",
        help_heading = "Repeat until decided"
    )]
    pub(super) beta: Option<f64>,
    /// How far from the threshold "clearly" begins, to either side [default: 0.1]
    #[arg(
        long,
        value_name = "FRACTION",
        requires = "until_decided",
        help_heading = "Repeat until decided"
    )]
    pub(super) indifference: Option<f64>,
    /// Also grade the standard checks, as advisory rules
    #[arg(long, help_heading = "How to run")]
    pub(super) standard_checks: bool,
    /// Match options of this run: order of calls
    #[arg(long, value_name = "ORDER", value_parser = ["any", "in-order", "exact"], help_heading = "How to run")]
    pub(super) tool_call_order: Option<String>,
    /// Match options of this run: calls beyond the expected ones, a number or `unlimited`
    #[arg(long, value_name = "N", value_parser = extra_calls, help_heading = "How to run")]
    pub(super) extra_tool_calls: Option<Value>,
    /// Match options of this run: how arguments compare
    #[arg(long = "match-arguments", value_name = "MODE", value_parser = ["partial", "exact", "ignore"], help_heading = "How to run")]
    pub(super) match_arguments: Option<String>,

    /// Bind a server to a URL
    #[arg(
        long = "server",
        value_name = "NAME=URL",
        help_heading = "Servers and models"
    )]
    pub(super) servers: Vec<String>,
    /// URL of the suite's only server
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "command",
        help_heading = "Servers and models"
    )]
    pub(super) url: Option<String>,
    /// Command of the suite's only server: program and arguments, split at spaces
    #[arg(long, value_name = "COMMAND", help_heading = "Servers and models")]
    pub(super) command: Option<String>,
    /// File that says how servers are reached
    #[arg(long, value_name = "FILE", help_heading = "Servers and models")]
    pub(super) mcp_config: Option<PathBuf>,
    /// Base URL that replaces every provider's own (a gateway, Ollama, llama.cpp, vLLM)
    #[arg(long, value_name = "URL", help_heading = "Servers and models")]
    pub(super) model_base_url: Option<String>,
    /// Host and port that prove our own network works, asked only when a server
    /// cannot be reached
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "STRANDLINE_EGRESS_CANARY",
        help_heading = "Servers and models"
    )]
    pub(super) egress_canary: Option<String>,

    #[command(flatten)]
    pub(super) judge: JudgeArguments,
    /// Ask no judge; what is due to be judged stays due
    #[arg(long, help_heading = "LLM judges")]
    pub(super) no_judge: bool,

    #[command(flatten, next_help_heading = "Options")]
    pub(super) store: StoreArguments,
    /// Store nothing, also where `STRANDLINE_STORE` names a store
    #[arg(long, help_heading = "Options", conflicts_with = "resume")]
    pub(super) no_store: bool,
    /// Write the decision summary as JSON (`-` for standard output)
    #[arg(long, help_heading = "Options", value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Also write a report at the end: `junit`, `markdown`, `github`, `json` or `html`; repeat for
    /// several. `{suite}` in FILE stands for the suite's id
    #[arg(
        long = "reporter",
        help_heading = "Options",
        value_name = "FORMAT[=FILE]"
    )]
    pub(super) reporters: Vec<Reporter>,
    /// No progress and no report
    #[arg(long, help_heading = "Options", short)]
    pub(super) quiet: bool,
}

impl Arguments {
    /// Returns the match options of the command line.
    fn match_options(&self) -> MatchOptions {
        MatchOptions {
            tool_call_order: self.tool_call_order.clone(),
            extra_tool_calls: self.extra_tool_calls.clone(),
            arguments: self.match_arguments.clone(),
        }
    }

    /// Returns the bounds within which cases are repeated until decided.
    ///
    /// # Errors
    ///
    /// Says which bound is out of range.
    fn until_decided(&self) -> Result<Option<SequentialSettings>, CommandError> {
        if !self.until_decided {
            return Ok(None);
        }
        let settings = self.sequential();
        settings.check().map_err(|problem| {
            CommandError::usage(problem).hint("`strandline run --help` lists the bounds")
        })?;
        Ok(Some(settings))
    }

    fn sequential(&self) -> SequentialSettings {
        let usual = SequentialSettings::default();
        SequentialSettings {
            alpha: self.alpha.unwrap_or(usual.alpha),
            beta: self.beta.unwrap_or(usual.beta),
            indifference: self.indifference.unwrap_or(usual.indifference),
            max_trials: self.max_trials.unwrap_or(usual.max_trials),
        }
    }

    /// Returns what the run is told.
    ///
    /// # Errors
    ///
    /// As [`Arguments::until_decided`].
    pub(super) fn request(&self) -> Result<RunRequest, CommandError> {
        Ok(RunRequest {
            cases: self.cases.clone(),
            models: self.models.clone(),
            iterations: self.iterations,
            concurrency: self.concurrency,
            server_concurrency: self.server_concurrency,
            seed: self.seed,
            fail_fast: self.fail_fast,
            until_decided: self.until_decided()?,
            standard_checks: self.standard_checks,
            match_options: self.match_options(),
            approvals: self.approvals.clone(),
            servers: self.servers.clone(),
            url: self.url.clone(),
            command: self.command.clone(),
            mcp_config: self.mcp_config.clone(),
            model_base_url: self.model_base_url.clone(),
            egress_canary: self.egress_canary.clone(),
            judge: JudgeRequest::from(&self.judge),
            no_judge: self.no_judge,
        })
    }
}

fn extra_calls(text: &str) -> Result<Value, String> {
    if text == "unlimited" {
        return Ok(Value::from(text));
    }
    text.parse::<u64>()
        .map(Value::from)
        .map_err(|_| "neither a whole number nor `unlimited`".to_owned())
}
