//! `strandline runs`, `runs delete`, `runs prune`.

use strandline_contract::{
    exit::ExitCode,
    listing::{RunActivity, RunList, RunListItem},
};
use strandline_report::{
    escape,
    terminal::runs::{RunFacts, run_list_item, run_table},
    words::counted,
};
use strandline_store::{
    Liveness, PrunePolicy, Removed, RunFilter, RunHead, Store, StoreError, TracePart,
};

use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline runs`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Delete runs with their trials and traces.
    Delete(Delete),
    /// Delete old runs, or only their traces.
    Prune(Prune),
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    store: StoreArguments,
    /// Only runs of the suite with this id or name.
    #[arg(long)]
    suite: Option<String>,
    /// How many runs to list.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Where the last page ended (`nextCursor`).
    #[arg(long)]
    cursor: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Delete {
    /// Ids of runs, or their beginnings, or `last`.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Debug, clap::Args)]
struct Prune {
    /// Keep this many of the newest runs of each suite.
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Only runs older than this many days.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Only runs of the suite with this id or name.
    #[arg(long)]
    suite: Option<String>,
    /// Delete only the raw frames; messages, spans and trials stay.
    #[arg(long, conflicts_with = "traces")]
    frames: bool,
    /// Delete only the traces; trials and verdicts stay.
    #[arg(long)]
    traces: bool,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Debug, clap::Args)]
struct Confirmation {
    /// Do it; without this, only say what would be done.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        match &arguments.action {
            None => list(&arguments.list, ui).await,
            Some(Action::Delete(delete)) => delete_runs(delete, ui).await,
            Some(Action::Prune(policy)) => prune(policy, ui).await,
        }
    })
}

async fn list(arguments: &List, ui: &mut Ui) -> CommandResult {
    let path = arguments.store.path()?;
    let store = match Store::open_read_only(&path).await {
        Ok(store) => store,
        // A project without runs is no error.
        Err(StoreError::Missing { .. }) => return nothing(arguments, ui),
        Err(error) => return Err(error.into()),
    };
    let filter = RunFilter {
        suite: arguments.suite.clone(),
        status: None,
    };
    let page = store
        .runs(&filter, arguments.cursor.as_deref(), arguments.limit)
        .await?;
    let runs: Vec<RunListItem> = page.items.iter().map(item).collect();
    if arguments.json {
        let list = RunList {
            runs,
            complete: page.complete,
            next_cursor: page.next_cursor,
        };
        ui.json(&list)?;
        return Ok(ExitCode::Passed);
    }
    if runs.is_empty() {
        return nothing(arguments, ui);
    }
    ui.out(run_table(&runs, when, &ui.style));
    if let Some(cursor) = page.next_cursor {
        ui.talk(format_args!(
            "older runs: `strandline runs --cursor {cursor}`, or a higher `--limit`"
        ));
    }
    Ok(ExitCode::Passed)
}

fn nothing(arguments: &List, ui: &mut Ui) -> CommandResult {
    if arguments.json {
        let list = RunList {
            runs: Vec::new(),
            complete: arguments.cursor.is_none(),
            next_cursor: None,
        };
        ui.json(&list)?;
    } else {
        let of = arguments.suite.as_deref().map_or(String::new(), |suite| {
            format!(" of suite `{}`", escape::line(suite, 80))
        });
        ui.talk(format_args!("no runs{of} are stored here"));
        ui.talk("hint: `strandline run SUITE` makes one");
    }
    Ok(ExitCode::Passed)
}

async fn delete_runs(arguments: &Delete, ui: &mut Ui) -> CommandResult {
    let store = arguments.store.open_read_only().await?;
    let mut heads = Vec::new();
    for reference in &arguments.runs {
        let head = store.run_head(reference).await?;
        if let Liveness::Live { pid } = head.liveness {
            return Err(StoreError::RunIsLive {
                run: head.record.id,
                pid,
            }
            .into());
        }
        heads.push(head);
    }
    if !arguments.confirmation.yes {
        return would(&heads, "deleted", ui);
    }
    let store = arguments.store.open().await?;
    let removed = store.delete_runs(ids(heads)).await?;
    finish(store, &removed, ui).await
}

async fn prune(arguments: &Prune, ui: &mut Ui) -> CommandResult {
    if arguments.keep.is_none() && arguments.older_than.is_none() {
        return Err(
            CommandError::usage("`runs prune` needs `--keep N` or `--older-than DAYS`")
                .hint("`strandline runs prune --keep 20` keeps the newest 20 runs of each suite"),
        );
    }
    let policy = PrunePolicy {
        keep_last: arguments.keep,
        started_before: arguments.older_than.map(days_ago),
        suite: arguments.suite.clone(),
    };
    let store = arguments.store.open_read_only().await?;
    let heads = store.prunable(&policy).await?;
    let part = match (arguments.frames, arguments.traces) {
        (true, _) => Some(TracePart::Frames),
        (false, true) => Some(TracePart::Trace),
        (false, false) => None,
    };
    if heads.is_empty() {
        ui.talk("nothing to prune");
        return Ok(ExitCode::Passed);
    }
    if !arguments.confirmation.yes {
        let what = match part {
            None => "deleted",
            Some(TracePart::Frames) => "stripped of raw frames",
            Some(TracePart::Trace) => "stripped of traces",
        };
        return would(&heads, what, ui);
    }
    let store = arguments.store.open().await?;
    let removed = match part {
        None => store.delete_runs(ids(heads)).await?,
        Some(part) => store.drop_traces(ids(heads), part).await?,
    };
    finish(store, &removed, ui).await
}

/// Says what would be done, and how to have it done.
fn would(heads: &[RunHead], what: &str, ui: &mut Ui) -> CommandResult {
    let runs: Vec<RunListItem> = heads.iter().map(item).collect();
    ui.out(run_table(&runs, when, &ui.style));
    let trials: u64 = heads.iter().map(|head| head.stored_trials).sum();
    ui.talk(format_args!(
        "{} with {} would be {what}; nothing was done",
        counted(heads.len() as u64, "run", "runs"),
        counted(trials, "trial", "trials"),
    ));
    ui.talk("hint: add `--yes` to do it");
    Ok(ExitCode::Passed)
}

/// Gives the space back and says what is gone.
async fn finish(store: Store, removed: &Removed, ui: &mut Ui) -> CommandResult {
    store.vacuum().await?;
    store.close().await?;
    let mut parts = Vec::new();
    if removed.runs > 0 {
        parts.push(counted(removed.runs, "run", "runs"));
        parts.push(counted(removed.trials, "trial", "trials"));
    }
    parts.push(counted(removed.traces, "trace", "traces"));
    ui.talk(format_args!("deleted: {}", parts.join(", ")));
    Ok(ExitCode::Passed)
}

fn ids(heads: Vec<RunHead>) -> Vec<String> {
    heads.into_iter().map(|head| head.record.id).collect()
}

fn item(head: &RunHead) -> RunListItem {
    let facts = RunFacts {
        short_id: &head.short_id,
        activity: activity(head.liveness),
        configured_trials: head.configured_trials,
        stored_trials: head.stored_trials,
    };
    run_list_item(&head.record, &facts)
}

fn activity(liveness: Liveness) -> RunActivity {
    match liveness {
        Liveness::Ended => RunActivity::Ended,
        Liveness::Live { .. } => RunActivity::Running,
        Liveness::Dead { .. } => RunActivity::Killed,
    }
}

/// Writes a time, ms since the Unix epoch, for the local clock.
pub(super) fn when(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "an impossible time".to_owned(),
        |time| {
            time.to_zoned_datetime(jiff::tz::TimeZone::system())
                .strftime("%Y-%m-%d %H:%M")
                .to_string()
        },
    )
}

fn days_ago(days: u32) -> i64 {
    const DAY: i64 = 86_400_000;
    jiff::Timestamp::now().as_millisecond() - i64::from(days) * DAY
}
