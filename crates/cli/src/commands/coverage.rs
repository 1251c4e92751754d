//! `strandline coverage SUITE|RUN`.

use std::{collections::BTreeMap, path::Path};

use futures::TryStreamExt;
use strandline_contract::{
    coverage::Coverage,
    exit::ExitCode,
    run::RunRecord,
    suite::ResolvedSuite,
    words::{CoverageUnmeasured, GapKind, RateState, Vocabulary},
};
use strandline_derive::coverage::{
    CoverageInput, RunEvidence, TrialEvidence, derive_coverage, trace_is_needed,
};
use strandline_report::{coverage as view, escape};
use strandline_store::{Frames, Store, TrialFilter};
use strandline_suite::preflight::requires_judge;

use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline coverage`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Say what a suite, or a run of it, leaves unproved: tools that no case \
        expects, arguments that no case asserts, errors that no trial saw, stages that no case \
        could decide, and cases that pass on an empty answer.\n\n\
        A suite file alone tells what it names and which cases can fail; a stored run adds the \
        tools that its servers listed and what its trials show. A gap is no defect of the \
        server and changes no verdict.",
    after_help = "Exit codes: 0 done and every gate holds, 2 a gate does not hold, 5 a gated \
        kind was not measured. 1 stays what it always is: a failed run."
)]
pub struct Arguments {
    /// A suite file, or the id of a stored run, its beginning, or `last`.
    #[arg(value_name = "SUITE|RUN")]
    subject: String,
    /// Exit with 2 when there are more gaps of a kind than MAX, 0 unless given; `all` is every
    /// kind. Kinds: toolNeverExpected, argumentNeverAsserted, errorPathNeverExercised,
    /// stageNeverDecided, emptyAnswerPasses.
    #[arg(long = "gate", value_name = "KIND[=MAX]", value_parser = gate)]
    gates: Vec<Gate>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// What `--gate` allows.
#[derive(Debug, Clone)]
struct Gate {
    kinds: Vec<GapKind>,
    most: u64,
}

fn gate(text: &str) -> Result<Gate, String> {
    let (word, most) = match text.split_once('=') {
        None => (text, 0),
        Some((word, most)) => {
            let most = most.parse().map_err(|_| {
                "what follows `=` is no whole number of gaps that are allowed".to_owned()
            })?;
            (word, most)
        }
    };
    if word == "all" {
        let kinds = GapKind::ALL.to_vec();
        return Ok(Gate { kinds, most });
    }
    let kind = GapKind::from_wire(word)
        .ok_or_else(|| format!("no such kind of gap; known are: {}", view::gate_kinds()))?;
    Ok(Gate {
        kinds: vec![kind],
        most,
    })
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let path = Path::new(&arguments.subject);
    let (coverage, reference) = if path.is_file() {
        let file = ui.suite(path)?;
        (of_suite(&file.loaded.resolved), None)
    } else {
        block_on(of_run(arguments))?
    };
    if arguments.json {
        ui.json(&coverage)?;
    } else {
        ui.out(view::coverage(&coverage, reference.as_deref(), &ui.style));
    }
    Ok(judge(&arguments.gates, &coverage, ui))
}

fn of_suite(suite: &ResolvedSuite) -> Coverage {
    derive_coverage(&CoverageInput {
        suite,
        run: None,
        external_check: &|case| requires_judge(case, suite.defaults.judge.as_ref()),
    })
}

async fn of_run(arguments: &Arguments) -> Result<(Coverage, Option<String>), CommandError> {
    let store = arguments.store.open_read_only().await.map_err(|error| {
        let shown = escape::line(&arguments.subject, 120);
        error.hint(format_args!("there is no suite file `{shown}` either"))
    })?;
    let stored = store.run(&arguments.subject).await?;
    let suite = suite_of(&stored.record, &stored.short_id)?;
    let evidence = RunEvidence {
        trials: trials(&store, &stored.record.id).await?,
        run: &stored.record,
    };
    let coverage = derive_coverage(&CoverageInput {
        suite: &suite,
        run: Some(&evidence),
        external_check: &|case| requires_judge(case, suite.defaults.judge.as_ref()),
    });
    Ok((coverage, Some(stored.short_id.clone())))
}

fn suite_of(run: &RunRecord, short_id: &str) -> Result<ResolvedSuite, CommandError> {
    serde_json::from_value(run.resolved_suite.clone()).map_err(|error| {
        let error = escape::line(&error.to_string(), 200);
        CommandError::new(
            ExitCode::NoDecision,
            format_args!("the suite that run `{short_id}` stored cannot be read: {error}"),
        )
        .hint("name the suite file instead")
    })
}

/// Reads what is counted of a run's trials, one after the other.
async fn trials(store: &Store, run_id: &str) -> Result<Vec<TrialEvidence>, CommandError> {
    let everything = TrialFilter::default();
    let mut stream = std::pin::pin!(store.trial_stream(run_id, &everything));
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

/// Says which gates do not hold; a gap outranks what was not measured.
fn judge(gates: &[Gate], coverage: &Coverage, ui: &mut Ui) -> ExitCode {
    // Of several gates on one kind the strictest counts.
    let mut most: BTreeMap<GapKind, u64> = BTreeMap::new();
    for gate in gates {
        for kind in &gate.kinds {
            let allowed = most.entry(*kind).or_insert(gate.most);
            *allowed = gate.most.min(*allowed);
        }
    }
    let mut exit = ExitCode::Passed;
    for (kind, most) in most {
        let Some(tally) = coverage.tally(kind) else {
            continue;
        };
        if tally.state == RateState::NotMeasured {
            // Nothing to prove is nothing unproved.
            if tally.reason != Some(CoverageUnmeasured::NothingToProve) {
                ui.talk(format_args!("gate: {}", view::gate_unmeasured(tally)));
                exit = exit.worse(ExitCode::NoDecision);
            }
        } else if tally.unproved > most {
            ui.talk(format_args!("gate: {}", view::gate_failure(tally, most)));
            exit = exit.worse(ExitCode::Usage);
        }
    }
    exit
}
