//! From the command line to run plans: everything that can be refused is
//! refused here, before anything is started (`suite-file.md` §9.4).

use std::path::{Path, PathBuf};

use strandline_engine::run::RunPlan;
use strandline_service::{planning, request::RunRequest, suite_file::SuiteFile};

use super::{Arguments, Prepared, finish::SUITE_PLACE};
use crate::ui::{CommandError, Ui};

/// The suite that is run when none is named.
const DEFAULT_SUITE: &str = "strandline.yaml";

/// Plans every named suite.
pub(super) fn plans(arguments: &Arguments, ui: &mut Ui) -> Result<Vec<Prepared>, CommandError> {
    let suites = if arguments.suites.is_empty() {
        if !Path::new(DEFAULT_SUITE).exists() {
            return Err(CommandError::usage(format_args!(
                "no suite is named, and there is no `{DEFAULT_SUITE}` in this directory"
            ))
            .hint("name a suite file: `strandline run evals/orders.yaml`")
            .hint("`strandline init` writes a starter suite"));
        }
        vec![PathBuf::from(DEFAULT_SUITE)]
    } else {
        arguments.suites.clone()
    };
    if suites.len() > 1 {
        one_file_each(arguments)?;
    }
    let request = arguments.request()?;
    let mut plans = Vec::new();
    for path in &suites {
        let file = ui.suite(path)?;
        plans.push(Prepared {
            plan: plan(&file, &request, ui)?,
            resumed: false,
        });
    }
    Ok(plans)
}

/// Refuses a file that every suite's report would overwrite.
fn one_file_each(arguments: &Arguments) -> Result<(), CommandError> {
    let shared = arguments
        .reporters
        .iter()
        .filter_map(|reporter| reporter.file.as_deref())
        .find(|file| !file.to_string_lossy().contains(SUITE_PLACE));
    match shared {
        None => Ok(()),
        Some(file) => Err(CommandError::usage(format_args!(
            "several suites would write their reports to the one file `{}`",
            file.display()
        ))
        .hint(format_args!(
            "put `{SUITE_PLACE}` into its name; it stands for the suite's id"
        ))),
    }
}

/// Plans one suite that was read, and says what a person should know first.
pub(super) fn plan(
    file: &SuiteFile,
    request: &RunRequest,
    ui: &mut Ui,
) -> Result<RunPlan, CommandError> {
    let here = std::env::current_dir().unwrap_or_default();
    let planned = planning::plan(file, request, &here)?;
    for notice in &planned.notices {
        ui.talk(notice);
    }
    Ok(planned.plan)
}
