//! What a suite, or a run of it, leaves unproved.

use futures::TryStreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    coverage::Coverage,
    run::RunRecord,
    suite::ResolvedSuite,
    words::{RateState, Vocabulary},
};
use strandline_derive::coverage::{
    CoverageInput, RunEvidence, TrialEvidence, derive_coverage, trace_is_needed,
};
use strandline_report::escape;
use strandline_store::{Frames, Store, TrialFilter};
use strandline_suite::preflight::requires_judge;

use crate::{
    bounds::{self, PageInfo},
    confine,
    desk::Desk,
    failure::Failure,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Gaps on a page unless asked otherwise, and at most.
const GAPS: (usize, usize) = (50, 200);

/// Shows coverage.
pub(crate) struct GetCoverage;

/// Of a suite file, or of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetCoverageInput {
    /// A suite file, relative to the project's root: tells what it names and which cases can fail.
    #[serde(default)]
    suite: Option<String>,
    /// A run instead: its id, the beginning of it, or `last`. Adds the tools that its servers listed and what
    /// its trials show.
    #[serde(default)]
    run: Option<String>,
    /// Gaps on a page, 50 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `page.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// What is left unproved.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetCoverageOutput {
    /// The document, with one page of gaps. A kind that was not measured has no gaps to list, which is not
    /// the same as none.
    coverage: Coverage,
    /// What the page of gaps leaves open.
    page: PageInfo,
}

impl EvalTool for GetCoverage {
    type Input = GetCoverageInput;
    type Output = GetCoverageOutput;
    const NAME: &'static str = "get_coverage";
    const TITLE: &'static str = "Get what is left unproved";
    const DESCRIPTION: &'static str = "Says what a suite file, or a run of it, leaves unproved: tools that no case \
        expects, arguments that no case asserts, errors that no trial saw, stages that no case could decide, cases that \
        pass on an empty answer. Use it when you write cases, to choose the next one. A gap is no defect of the server \
        and changes no verdict.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let mut coverage = match (&input.suite, &input.run) {
            (Some(path), None) => {
                let suite = confine::suite_file(desk.root(), path)?;
                let file = desk.suite(&suite)?;
                of_suite(&file.loaded.resolved)
            }
            (None, Some(run)) => of_run(desk, run).await?,
            _ => {
                return Err(Failure::new("exactly one of `suite` and `run` must be given").into());
            }
        };
        let limit = input.limit.unwrap_or(GAPS.0).clamp(1, GAPS.1);
        let gaps = std::mem::take(&mut coverage.gaps);
        let (gaps, page) = bounds::page(gaps, input.cursor.as_deref(), limit)?;
        coverage.gaps = gaps;
        Ok(Answer {
            text: told(&coverage),
            content: GetCoverageOutput { coverage, page },
        })
    }
}

fn told(coverage: &Coverage) -> String {
    let lines = coverage.kinds.iter().map(|tally| {
        let label = tally.kind.label();
        match tally.state {
            RateState::Measured => {
                let undecided = match tally.undecided {
                    0 => String::new(),
                    count => format!(", of {count} it cannot be told"),
                };
                format!(
                    "{label}: {} of {} {}{undecided}",
                    tally.unproved,
                    tally.total,
                    tally.unit.words(tally.total)
                )
            }
            RateState::NotMeasured => format!(
                "{label}: not measured ({})",
                tally.reason.map_or("no reason recorded", Vocabulary::label)
            ),
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn of_suite(suite: &ResolvedSuite) -> Coverage {
    derive_coverage(&CoverageInput {
        suite,
        run: None,
        external_check: &|case| requires_judge(case, suite.defaults.judge.as_ref()),
    })
}

async fn of_run(desk: &Desk, reference: &str) -> Result<Coverage, Halt> {
    let store = desk.store().await?;
    let stored = desk.run(&store, reference).await?;
    let suite = suite_of(&stored.record, &stored.short_id)?;
    let trials = trials(&store, &stored.record.id).await?;
    let evidence = RunEvidence {
        trials,
        run: &stored.record,
    };
    Ok(derive_coverage(&CoverageInput {
        suite: &suite,
        run: Some(&evidence),
        external_check: &|case| requires_judge(case, suite.defaults.judge.as_ref()),
    }))
}

fn suite_of(run: &RunRecord, short_id: &str) -> Result<ResolvedSuite, Failure> {
    serde_json::from_value(run.resolved_suite.clone()).map_err(|error| {
        let error = escape::line(&error.to_string(), 200);
        Failure::new(format!(
            "the suite that run `{short_id}` stored cannot be read: {error}"
        ))
        .hint("name the suite file with `suite` instead")
    })
}

/// Reads what is counted of a run's trials, one after the other.
async fn trials(store: &Store, run_id: &str) -> Result<Vec<TrialEvidence>, Halt> {
    let everything = TrialFilter::default();
    let mut stream = store.trial_stream(run_id, &everything);
    let mut trials = Vec::new();
    while let Some(trial) = stream.try_next().await? {
        let trace = if trace_is_needed(&trial) {
            store.trace(&trial.id, Frames::Skip).await?
        } else {
            None
        };
        let trace = trace.as_ref().map(|stored| &stored.trace);
        trials.push(TrialEvidence::of(&trial, trace));
    }
    Ok(trials)
}
