//! Two runs beside each other: rates and cases, and what the servers listed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    comparison::{Parity, RunComparison, ServerChanges},
    words::{CaseChange, ChangeKind, Vocabulary},
};
use strandline_derive::compare::{Apart, Side, compare_runs, gates::Gate, surface_changes};
use strandline_report::{escape, words::counted};
use strandline_service::roll_ups::{self, Found};
use strandline_store::{Store, StoredRun};

use crate::{
    bounds::{self, PageInfo},
    desk::Desk,
    failure::Failure,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Cases on a page unless asked otherwise, and at most.
const CASES: (usize, usize) = (40, 150);
/// Changes of the servers' and the suite's parts that are told here.
const CHANGES: usize = 20;
/// Tools on a page unless asked otherwise, and at most.
const TOOLS: (usize, usize) = (30, 100);
/// Longest name in a text.
const NAME: usize = 80;

/// Compares two runs.
pub(crate) struct CompareRuns;

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompareRunsInput {
    /// The run to compare against: its id, the beginning of it, or `last`.
    base: String,
    /// The run that is compared.
    compared: String,
    /// Show runs that do not compare each on its own.
    #[serde(default)]
    side_by_side: bool,
    /// What must hold: `no-regression`, or `min-pass-rate=FRACTION` of the compared run.
    #[serde(default)]
    gates: Vec<String>,
    /// Cases on a page, 40 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 150))]
    limit: Option<usize>,
    /// `cases.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// Two runs beside each other.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompareRunsOutput {
    /// The comparison, with one page of cases. Without parity there are no `overall` and no `cases`.
    comparison: RunComparison,
    /// What the page of cases leaves open; absent where the runs are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<PageInfo>,
    /// Changes of servers, suite and settings that were left out of the comparison's lists.
    more_changes: u64,
}

impl EvalTool for CompareRuns {
    type Input = CompareRunsInput;
    type Output = CompareRunsOutput;
    const NAME: &'static str = "compare_runs";
    const TITLE: &'static str = "Compare two runs";
    const DESCRIPTION: &'static str = "Says first whether two runs may be compared at all, then what became of each \
        case, how surely the pass rates differ (interval, smallest change the samples could have shown), and what \
        changed in servers, suite and settings. Use it after a change, with the run before as `base`. When \
        `parity.state` is `blocked` or `unknown`, do not compare their numbers by hand either. Gates answer whether \
        nothing got worse. A difference within its interval is no improvement.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let gates = input
            .gates
            .iter()
            .map(|gate| {
                gate.parse::<Gate>().map_err(|error| {
                    Failure::new(format!(
                        "`{}` is no gate: {error}",
                        escape::line(gate, NAME)
                    ))
                    .hint("gates are `no-regression` and `min-pass-rate=FRACTION`")
                })
            })
            .collect::<Result<Vec<Gate>, Failure>>()?;
        let store = desk.store().await?;
        let (base, compared) = two(desk, &store, &input.base, &input.compared).await?;
        let left = roll_ups::read(&store, &base).await?;
        let right = roll_ups::read(&store, &compared).await?;
        let apart = if input.side_by_side {
            Apart::SideBySide
        } else {
            Apart::Refused
        };
        let mut comparison =
            compare_runs(side(&base, &left), side(&compared, &right), apart, &gates);
        let text = told(&comparison);
        let mut cases = None;
        if let Some(rows) = comparison.cases.take() {
            let limit = input.limit.unwrap_or(CASES.0).clamp(1, CASES.1);
            let (rows, info) = bounds::page(rows, input.cursor.as_deref(), limit)?;
            comparison.cases = Some(rows);
            cases = Some(info);
        }
        let more_changes = trim(&mut comparison);
        Ok(Answer {
            text,
            content: CompareRunsOutput {
                comparison,
                cases,
                more_changes,
            },
        })
    }
}

/// Reads two different runs.
async fn two(
    desk: &Desk,
    store: &Store,
    base: &str,
    compared: &str,
) -> Result<(StoredRun, StoredRun), Halt> {
    let left = desk.run(store, base).await?;
    let right = desk.run(store, compared).await?;
    if left.record.id == right.record.id {
        return Err(Failure::new(format!(
            "`{}` and `{}` name the same run {}",
            escape::line(base, NAME),
            escape::line(compared, NAME),
            left.short_id
        ))
        .hint("`list_runs` lists the stored runs")
        .into());
    }
    Ok((left, right))
}

const fn side<'a>(run: &'a StoredRun, funnel: &'a Found) -> Side<'a> {
    Side {
        run: &run.record,
        short_id: run.short_id.as_str(),
        analytics: match funnel {
            Found::Funnel(funnel) => Some(funnel),
            Found::Absent(..) => None,
        },
    }
}

/// Keeps the first changes of every list and counts the others.
fn trim(comparison: &mut RunComparison) -> u64 {
    let mut more = 0;
    let mut keep = |length: usize| {
        more += length.saturating_sub(CHANGES) as u64;
        CHANGES
    };
    for server in &mut comparison.surface {
        let kept = keep(server.tools.len());
        server.tools.truncate(kept);
        for tool in &mut server.tools {
            let kept = keep(tool.values.len());
            tool.values.truncate(kept);
        }
    }
    let kept = keep(comparison.suite.cases.len());
    comparison.suite.cases.truncate(kept);
    for case in &mut comparison.suite.cases {
        let kept = keep(case.values.len());
        case.values.truncate(kept);
    }
    let kept = keep(comparison.suite.settings.len());
    comparison.suite.settings.truncate(kept);
    let kept = keep(comparison.settings.len());
    comparison.settings.truncate(kept);
    more
}

fn told(comparison: &RunComparison) -> String {
    let (base, compared) = (&comparison.base, &comparison.compared);
    let mut lines = vec![format!(
        "Base run {}: {}. Compared run {}: {}.",
        base.short_id,
        base.verdict.label(),
        compared.short_id,
        compared.verdict.label()
    )];
    match &comparison.parity {
        Parity::Comparable {} => {}
        Parity::Blocked { blockers } => {
            let blockers: Vec<&str> = blockers.iter().map(|blocker| blocker.label()).collect();
            lines.push(format!(
                "They may not be compared: {}.",
                blockers.join("; ")
            ));
        }
        Parity::Unknown { unmeasured } => lines.push(format!(
            "Whether they may be compared cannot be told: {} without stage analytics.",
            counted(unmeasured.len() as u64, "run", "runs")
        )),
    }
    if let Some(overall) = &comparison.overall {
        let rate = |sample: &strandline_contract::comparison::PassSample| {
            format!(
                "{} of {} passed",
                sample.passed_trials,
                counted(
                    sample.eligible_trials,
                    "gradeable trial",
                    "gradeable trials"
                )
            )
        };
        lines.push(format!(
            "All trials: {} before, {} now: {}.",
            rate(&overall.base),
            rate(&overall.compared),
            overall.verdict.label()
        ));
    }
    if let Some(cases) = &comparison.cases {
        for change in CaseChange::ALL {
            let count = cases.iter().filter(|case| case.change == *change).count();
            if count > 0 {
                let variants = counted(count as u64, "case variant", "case variants");
                lines.push(format!("{variants}: {}.", change.label()));
            }
        }
    }
    lines.extend(comparison.cautions.iter().map(|caution| {
        let entry = caution.entry();
        format!("Caution: {}. {}", entry.label, entry.meaning)
    }));
    lines.extend(comparison.gates.iter().map(|gate| {
        format!(
            "Gate {}: {} ({}).",
            escape::line(&gate.gate, NAME),
            gate.outcome.label(),
            escape::line(&gate.reason, 300)
        )
    }));
    lines.join("\n")
}

/// Compares the tools that two runs' servers listed.
pub(crate) struct DiffServerSurface;

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DiffServerSurfaceInput {
    /// The run to compare against: its id, the beginning of it, or `last`.
    base: String,
    /// The run that is compared.
    compared: String,
    /// Only the server with this name.
    #[serde(default)]
    server: Option<String>,
    /// Tools on a page, 30 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// `tools.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// How the servers' tools differ.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffServerSurfaceOutput {
    /// The run that is compared against.
    base_run_id: String,
    /// The run that is compared.
    compared_run_id: String,
    /// One entry per server, with the page's tools. `listed: false` means that a run recorded no listing: then
    /// nothing is known about its tools. A value's `pointer` says what differs: `/description`,
    /// `/inputSchema/…`, `/outputSchema/…`, `/annotations/…`.
    servers: Vec<ServerChanges>,
    /// What the page of differing tools leaves open, over all servers.
    tools: PageInfo,
}

impl EvalTool for DiffServerSurface {
    type Input = DiffServerSurfaceInput;
    type Output = DiffServerSurfaceOutput;
    const NAME: &'static str = "diff_server_surface";
    const TITLE: &'static str = "Compare the servers' tools";
    const DESCRIPTION: &'static str = "Says which tools of the servers were added, removed or changed between two runs, \
        and where in each description, schema or annotation they differ. Use it when a case changed its verdict between \
        runs and you ask whether the server's surface did too, or to review what a change of the server did to its \
        tools. It says that something differs, not that it caused anything.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        let (base, compared) = two(desk, &store, &input.base, &input.compared).await?;
        let mut servers = surface_changes(&base.record.servers, &compared.record.servers);
        if let Some(name) = &input.server {
            let known = servers.iter().map(|server| server.server.clone());
            let known = super::find::listed(known);
            servers.retain(|server| server.server == *name);
            if servers.is_empty() {
                return Err(Failure::new(format!(
                    "neither run has a server `{}`",
                    escape::line(name, NAME)
                ))
                .hint(format!("their servers: {known}"))
                .into());
            }
        }
        let text = surface_told(&servers);
        let limit = input.limit.unwrap_or(TOOLS.0).clamp(1, TOOLS.1);
        let places: Vec<(usize, usize)> = servers
            .iter()
            .enumerate()
            .flat_map(|(server, changes)| (0..changes.tools.len()).map(move |tool| (server, tool)))
            .collect();
        let (page, tools) = bounds::page(places, input.cursor.as_deref(), limit)?;
        for (place, server) in servers.iter_mut().enumerate() {
            let mut index = 0;
            server.tools.retain(|_| {
                index += 1;
                page.contains(&(place, index - 1))
            });
        }
        Ok(Answer {
            text,
            content: DiffServerSurfaceOutput {
                base_run_id: base.record.id,
                compared_run_id: compared.record.id,
                servers,
                tools,
            },
        })
    }
}

fn surface_told(servers: &[ServerChanges]) -> String {
    let lines = servers.iter().map(|server| {
        let name = escape::line(&server.server, NAME);
        if let Some(change) = server.change {
            let whose = match change {
                ChangeKind::Added => "only the compared run has this server",
                ChangeKind::Removed => "only the base run has this server",
                ChangeKind::Changed => "both runs have this server, and it differs",
            };
            return format!("{name}: {whose}.");
        }
        if !server.listed {
            return format!(
                "{name}: a run recorded no listing of its tools, so nothing is known about them."
            );
        }
        let of = |kind: ChangeKind| {
            let tools = server.tools.iter().filter(|tool| tool.change == kind);
            super::find::listed(tools.map(|tool| tool.name.clone()))
        };
        let parts: Vec<String> = ChangeKind::ALL
            .iter()
            .map(|kind| (kind.label(), of(*kind)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(label, names)| format!("{label} {names}"))
            .collect();
        let unchanged = counted(server.unchanged_tools, "tool", "tools");
        if parts.is_empty() {
            format!("{name}: no tool differs, {unchanged} the same.")
        } else {
            format!("{name}: {}; {unchanged} the same.", parts.join("; "))
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}
