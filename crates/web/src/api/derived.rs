//! What is derived of runs: funnel, comparison, trend, friction, coverage.

use axum::extract::State;
use futures::TryStreamExt;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    analytics::StageAnalytics,
    comparison::{RunComparison, SuiteTrend},
    coverage::Coverage,
    friction::FrictionSignals,
    rate::Rate,
    run::ExecutionVariant,
    suite::ResolvedSuite,
    words::{FrictionGap, FrictionSignalKind, FunnelAbsence, Vocabulary},
};
use strandline_derive::{
    compare::{Apart, Side, compare_runs, gates::Gate, suite_trend},
    coverage::{CoverageInput, RunEvidence, TrialEvidence, derive_coverage, trace_is_needed},
    friction::{StoredFriction, derive_friction_rates, project_friction_signals},
};
use strandline_service::roll_ups::{self, Found};
use strandline_store::{Frames, RunFilter, Store, StoredRun, TrialFilter};
use strandline_suite::preflight::requires_judge;

use super::Answered;
use crate::{
    app::App,
    document,
    params::{In, Params, page},
    problem::Problem,
};

/// Seconds after which a run that goes on may have its funnel.
const ASK_AGAIN: u64 = 2;
/// Most trials of a run whose coverage is derived while a caller waits.
const COVERED: u64 = 5_000;
/// Runs of a trend unless the caller says otherwise.
const USUAL_TREND: u32 = 20;

/// Why a run has no funnel to show; never a funnel of zeros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AbsentFunnel {
    /// The run.
    pub(crate) run_id: String,
    /// Which of the three absences it is.
    pub(crate) absence: FunnelAbsence,
    /// What that means, in one sentence.
    pub(crate) message: &'static str,
    /// What the check found, where the funnel is withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// Answers with a run's funnel; each absence has a status of its own.
pub(crate) async fn analytics(
    State(app): State<App>,
    In(run): In<String>,
    headers: HeaderMap,
) -> Answered {
    let stored = app.store().run(&run).await?;
    match roll_ups::read(app.store(), &stored).await? {
        Found::Funnel(funnel) => document::json(&headers, &funnel),
        Found::Absent(absence, detail) => {
            let absent = AbsentFunnel {
                run_id: stored.record.id,
                absence,
                message: absence.entry().meaning,
                detail,
            };
            let status = match absent.absence {
                FunnelAbsence::NotRecorded => StatusCode::NOT_FOUND,
                FunnelAbsence::NotYet => StatusCode::CONFLICT,
                FunnelAbsence::Withheld => StatusCode::UNPROCESSABLE_ENTITY,
            };
            let mut answer = document::json_with(&headers, status, &absent)?;
            if absent.absence == FunnelAbsence::NotYet {
                let after = HeaderValue::from(ASK_AGAIN);
                answer.headers_mut().insert(header::RETRY_AFTER, after);
            }
            Ok(answer)
        }
    }
}

/// Which runs to set beside each other.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompareQuery {
    /// The run to compare against: its id, the beginning of it, or `last`.
    pub(crate) base: String,
    /// The run that is compared.
    pub(crate) compared: String,
    /// Show runs that do not compare, each on its own.
    #[serde(default)]
    pub(crate) side_by_side: bool,
    /// What must hold: `no-regression`, or `min-pass-rate=FRACTION`.
    pub(crate) gate: Option<String>,
}

/// Two runs with their funnels.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) comparison: RunComparison,
    pub(crate) base: Found,
    pub(crate) compared: Found,
}

/// Compares two stored runs.
pub(crate) async fn compared(store: &Store, query: &CompareQuery) -> Result<Compared, Problem> {
    let gates: Vec<Gate> = query
        .gate
        .iter()
        .map(|gate| gate.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: strandline_derive::compare::gates::UnknownGate| {
            Problem::bad_request(&error.to_string())
        })?;
    let base = store.run(&query.base).await?;
    let compared = store.run(&query.compared).await?;
    if base.record.id == compared.record.id {
        return Err(Problem::bad_request(&format!(
            "`base` and `compared` name the same run `{}`",
            base.short_id
        )));
    }
    let (left, right) = (
        roll_ups::read(store, &base).await?,
        roll_ups::read(store, &compared).await?,
    );
    let apart = if query.side_by_side {
        Apart::SideBySide
    } else {
        Apart::Refused
    };
    let comparison = compare_runs(
        side(&base, believed(&left)),
        side(&compared, believed(&right)),
        apart,
        &gates,
    );
    Ok(Compared {
        comparison,
        base: left,
        compared: right,
    })
}

fn side<'a>(run: &'a StoredRun, analytics: Option<&'a StageAnalytics>) -> Side<'a> {
    Side {
        run: &run.record,
        short_id: &run.short_id,
        analytics,
    }
}

/// Returns a run's funnel; none where there is none to be believed.
fn believed(found: &Found) -> Option<&StageAnalytics> {
    match found {
        Found::Funnel(funnel) => Some(funnel),
        Found::Absent(..) => None,
    }
}

/// Answers with a comparison.
pub(crate) async fn compare(
    State(app): State<App>,
    Params(query): Params<CompareQuery>,
    headers: HeaderMap,
) -> Answered {
    let compared = compared(app.store(), &query).await?;
    document::json(&headers, &compared.comparison)
}

/// How many runs of a trend.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrendQuery {
    /// The newest runs that are shown; 20 unless given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

impl TrendQuery {
    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        Ok(page(None, self.limit.or(Some(USUAL_TREND)))?.limit)
    }
}

/// Reads the runs of a suite, one after the other.
pub(crate) async fn trend_of(
    store: &Store,
    suite: &str,
    limit: u32,
) -> Result<SuiteTrend, Problem> {
    let filter = RunFilter {
        suite: Some(suite.to_owned()),
        status: None,
    };
    let page = store.runs(&filter, None, limit).await?;
    if page.items.is_empty() {
        return Err(
            Problem::not_found(&format!("no run of suite `{suite}` is stored"))
                .hint("`/api/v1/runs` lists the stored runs with their suites"),
        );
    }
    let mut runs = Vec::new();
    for head in page.items.iter().rev() {
        let run = store.run(&head.record.id).await?;
        let found = roll_ups::read(store, &run).await?;
        runs.push((run, found));
    }
    let sides: Vec<_> = runs
        .iter()
        .map(|(run, found)| side(run, believed(found)))
        .collect();
    Ok(suite_trend(suite, &sides, page.complete))
}

/// Answers with a suite's trend.
pub(crate) async fn trend(
    State(app): State<App>,
    In(suite): In<String>,
    Params(query): Params<TrendQuery>,
    headers: HeaderMap,
) -> Answered {
    let trend = trend_of(app.store(), &suite, query.limit()?).await?;
    document::json(&headers, &trend)
}

/// Which trials' friction.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FrictionQuery {
    /// Where the page begins: `nextCursor` of the page before.
    cursor: Option<String>,
    /// Most trials that the page examines; 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Only trials of the case with this id.
    case: Option<String>,
}

/// What the calls of a page of trials show about avoidable work; never a
/// verdict.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrictionPage {
    /// The run.
    pub(crate) run_id: String,
    /// Trials examined for this page.
    pub(crate) scanned_trials: u64,
    /// Examined trials whose stored signals did not pass their check; they are
    /// withheld and not counted.
    pub(crate) withheld_trials: u64,
    /// Examined trials without stored signals; not counted.
    pub(crate) unrecorded_trials: u64,
    /// Per kind, how many of the page's measured trials show it; absent when
    /// none of them was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rates: Option<std::collections::BTreeMap<FrictionSignalKind, Rate<FrictionGap>>>,
    /// The trials with a signal, or whose friction was not measured.
    pub(crate) trials: Vec<TrialFriction>,
    /// The page examined every trial that was asked for.
    pub(crate) complete: bool,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// One trial's signals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrialFriction {
    /// The trial.
    pub(crate) trial_id: String,
    /// The case's id in the suite.
    pub(crate) case_id: String,
    /// The case's title.
    pub(crate) title: String,
    /// The model it ran under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub(crate) iteration_number: u32,
    /// The signals.
    pub(crate) friction: FrictionSignals,
}

impl FrictionQuery {
    pub(crate) fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }
}

/// Reads the friction of a page of trials.
pub(crate) async fn friction_page(
    store: &Store,
    run_id: String,
    asked: &FrictionQuery,
) -> Result<FrictionPage, Problem> {
    let slice = page(asked.cursor.as_deref(), asked.limit)?;
    let filter = TrialFilter {
        case_id: asked.case.clone(),
        ..TrialFilter::default()
    };
    let page = store
        .trials(&run_id, &filter, slice.cursor, slice.limit)
        .await?;
    let mut view = FrictionPage {
        run_id,
        scanned_trials: page.items.len() as u64,
        withheld_trials: 0,
        unrecorded_trials: 0,
        rates: None,
        trials: Vec::new(),
        complete: page.complete,
        next_cursor: page.next_cursor,
    };
    for trial in page.items {
        match project_friction_signals(&trial.metadata) {
            StoredFriction::Absent => view.unrecorded_trials += 1,
            StoredFriction::Unverified => view.withheld_trials += 1,
            StoredFriction::Verified(friction) => view.trials.push(TrialFriction {
                trial_id: trial.id,
                case_id: trial.case_id,
                title: trial.title,
                variant: trial.variant,
                iteration_number: trial.iteration_number,
                friction,
            }),
        }
    }
    view.rates = derive_friction_rates(view.trials.iter().map(|trial| &trial.friction));
    view.trials.retain(|trial| {
        !trial.friction.signals.is_empty() || trial.friction.not_measured_reason.is_some()
    });
    Ok(view)
}

/// Answers with the friction of a page of trials.
pub(crate) async fn friction(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<FrictionQuery>,
    headers: HeaderMap,
) -> Answered {
    let run_id = app.store().resolve_run(&run).await?;
    let view = friction_page(app.store(), run_id, &query).await?;
    document::json(&headers, &view)
}

/// Answers with what a run leaves unproved.
pub(crate) async fn coverage(
    State(app): State<App>,
    In(run): In<String>,
    headers: HeaderMap,
) -> Answered {
    let coverage: Coverage = coverage_of(app.store(), &run).await?;
    document::json(&headers, &coverage)
}

async fn coverage_of(store: &Store, run: &str) -> Result<Coverage, Problem> {
    let stored = store.run(run).await?;
    if stored.stored_trials > COVERED {
        return Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "too-large",
            "the run is too large to be read while you wait",
            &format!(
                "coverage reads every trial, and the run has {} of them; here it is derived for \
                 at most {COVERED}",
                stored.stored_trials
            ),
        )
        .hint(&format!(
            "`strandline coverage {}` derives it",
            stored.short_id
        )));
    }
    let suite: ResolvedSuite = serde_json::from_value(stored.record.resolved_suite.clone())
        .map_err(|error| {
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "unreadable",
                "a stored document cannot be read",
                &format!("the suite that run `{}` stored: {error}", stored.short_id),
            )
        })?;
    let everything = TrialFilter::default();
    let mut stream = std::pin::pin!(store.trial_stream(&stored.record.id, &everything));
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
