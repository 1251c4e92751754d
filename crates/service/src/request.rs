//! What a run can be told, apart from its suite.

use std::path::PathBuf;

use serde_json::{Value, json};
use strandline_contract::{
    sequential::{SEQUENTIAL_SETTINGS, SequentialSettings, sequential_settings},
    suite::MatchOptions,
};

use crate::judging::JudgeRequest;

/// What a run is told; the default is what the suite itself says.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Ids of the cases to run; all when empty.
    pub cases: Vec<String>,
    /// Models instead of each case's own, `PROVIDER/MODEL`; several fan out.
    pub models: Vec<String>,
    /// Trials per case, 1 to 100.
    pub iterations: Option<u32>,
    /// Trials at once, 1 to 1,000.
    pub concurrency: Option<u32>,
    /// Trials at once on one server, 1 to 1,000.
    pub server_concurrency: Option<u32>,
    /// Seed for models that take one.
    pub seed: Option<u64>,
    /// Start no further trial once one has failed.
    pub fail_fast: bool,
    /// Repeat each case until it is decided, within these bounds.
    pub until_decided: Option<SequentialSettings>,
    /// Also grade the standard checks, as advisory rules.
    pub standard_checks: bool,
    /// Match options of this run.
    pub match_options: MatchOptions,
    /// Approvals of approximated imports, `CASE=REASON` each.
    pub approvals: Vec<String>,
    /// Servers bound to URLs, `NAME=URL` each.
    pub servers: Vec<String>,
    /// URL of the suite's only server.
    pub url: Option<String>,
    /// Command of the suite's only server, split at spaces.
    pub command: Option<String>,
    /// File that says how servers are reached.
    pub mcp_config: Option<PathBuf>,
    /// Base URL that replaces every provider's own.
    pub model_base_url: Option<String>,
    /// Host and port that prove that our own network works.
    pub egress_canary: Option<String>,
    /// Who judges.
    pub judge: JudgeRequest,
    /// Ask no judge; what is due to be judged stays due.
    pub no_judge: bool,
}

impl RunRequest {
    /// Returns what a run stores of its settings; enough to resume it.
    pub(crate) fn settings(&self, concurrency: u32) -> Value {
        json!({
            "cases": self.cases,
            "models": self.models,
            "iterations": self.iterations,
            "concurrency": concurrency,
            "serverConcurrency": self.server_concurrency,
            "seed": self.seed,
            "failFast": self.fail_fast,
            SEQUENTIAL_SETTINGS: self.until_decided,
            "standardChecks": self.standard_checks,
            "matchOptions": self.match_options,
            "judge": {
                "samples": self.judge.samples,
                "model": self.judge.model,
                "asked": !self.no_judge,
            },
        })
    }

    /// Returns this request with what decides a run's plan taken from the
    /// settings that the run was started with.
    #[must_use]
    pub fn as_started(self, settings: &Value) -> Self {
        let texts = |key: &str| -> Vec<String> {
            let list = settings.get(key).and_then(Value::as_array);
            list.into_iter()
                .flatten()
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect()
        };
        let number = |key: &str| settings.get(key).and_then(Value::as_u64);
        let small = |key: &str| number(key).and_then(|number| u32::try_from(number).ok());
        Self {
            until_decided: sequential_settings(settings),
            cases: texts("cases"),
            models: texts("models"),
            iterations: small("iterations"),
            concurrency: self.concurrency.or_else(|| small("concurrency")),
            seed: number("seed"),
            standard_checks: settings.get("standardChecks") == Some(&Value::Bool(true)),
            match_options: settings
                .get("matchOptions")
                .and_then(|options| serde_json::from_value(options.clone()).ok())
                .unwrap_or_default(),
            ..self
        }
    }
}
