//! A run's stage analytics, or which of three absences there is instead.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    analytics::{SliceRow, StageAnalytics},
    words::{FunnelAbsence, SliceDimension, Vocabulary},
};
use strandline_report::{escape, words::counted};
use strandline_service::roll_ups::{Found, read};
use strandline_store::StoredRun;

use crate::{
    bounds::{self, PageInfo},
    desk::Desk,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Slices on a page unless asked otherwise, and at most.
const SLICES: (usize, usize) = (10, 25);

/// Shows a run's stage analytics.
pub(crate) struct GetStageAnalytics;

/// Which run, sliced how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetStageAnalyticsInput {
    /// The run's id, the beginning of it, or `last`.
    run: String,
    /// What trials are grouped by; all of them together unless given.
    #[serde(default)]
    by: Option<SliceDimension>,
    /// Slices on a page, 10 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 25))]
    limit: Option<usize>,
    /// `slices.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// Stage analytics or their absence: exactly one of `analytics` and `absence` is there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetStageAnalyticsOutput {
    /// The run.
    run_id: String,
    /// The document, with one page of slices of the dimension that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    analytics: Option<StageAnalytics>,
    /// What the page of slices leaves open.
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<PageInfo>,
    /// Why there is none: `notYet` (the run has not ended), `notRecorded` (it ended without; unmeasured,
    /// not zero), `withheld` (one is stored and does not pass its check).
    #[serde(skip_serializing_if = "Option::is_none")]
    absence: Option<FunnelAbsence>,
    /// What is known about the absence.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl EvalTool for GetStageAnalytics {
    type Input = GetStageAnalyticsInput;
    type Output = GetStageAnalyticsOutput;
    const NAME: &'static str = "get_stage_analytics";
    const TITLE: &'static str = "Get a run's funnel";
    const DESCRIPTION: &'static str = "Returns how many trials of a run got how far through the six stages, with why \
        others were left out, for all trials or by intent, model or host. Use it to see where most trials stop before \
        you open single ones. `notYet`, `notRecorded` and `withheld` are three different absences; none of them is a \
        funnel of zeros. Counts are trials; never add them across stages or runs.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        let run = desk.run(&store, &input.run).await?;
        let run_id = run.record.id.clone();
        let mut funnel = match read(&store, &run).await? {
            Found::Funnel(funnel) => *funnel,
            Found::Absent(absence, detail) => {
                let entry = absence.entry();
                let mut text = format!(
                    "Run {} has no stage analytics: {}. {}",
                    run.short_id, entry.label, entry.meaning
                );
                if let Some(detail) = &detail {
                    let _ = write!(text, " ({})", escape::line(detail, 300));
                }
                return Ok(Answer {
                    text,
                    content: GetStageAnalyticsOutput {
                        run_id,
                        analytics: None,
                        slices: None,
                        absence: Some(absence),
                        detail,
                    },
                });
            }
        };
        let by = input.by.unwrap_or(SliceDimension::Overall);
        let wanted: Vec<SliceRow> = std::mem::take(&mut funnel.slices)
            .into_iter()
            .filter(|row| row.slice.dimension() == by)
            .collect();
        let limit = input.limit.unwrap_or(SLICES.0).clamp(1, SLICES.1);
        let (slices, info) = bounds::page(wanted, input.cursor.as_deref(), limit)?;
        funnel.slices = slices;
        Ok(Answer {
            text: told(&funnel, &run, by),
            content: GetStageAnalyticsOutput {
                run_id,
                analytics: Some(funnel),
                slices: Some(info),
                absence: None,
                detail: None,
            },
        })
    }
}

fn told(funnel: &StageAnalytics, run: &StoredRun, by: SliceDimension) -> String {
    let mut lines = vec![format!(
        "Run {}: {} of {} counted.",
        run.short_id,
        funnel.included_trials,
        counted(funnel.total_trials, "trial", "trials")
    )];
    if by != SliceDimension::Overall {
        let slices = counted(funnel.slices.len() as u64, "slice", "slices");
        lines.push(format!("{slices} by {} on this page.", by.label()));
        return lines.join("\n");
    }
    if let Some(overall) = funnel.overall() {
        lines.extend(overall.stages.iter().map(|tally| {
            format!(
                "{}: {} passed, {} failed of {} measured; {} not reached",
                tally.stage.label(),
                tally.passed,
                tally.failed,
                counted(tally.passed + tally.failed, "trial", "trials"),
                tally.not_reached
            )
        }));
    }
    if run.record.scripted {
        lines.push("Every model was scripted: nothing is said about a model.".to_owned());
    }
    lines.join("\n")
}
