//! `strandline derive FAMILY [FILE…]`: one derivation over many inputs.
//!
//! Lines stream through: a reader cuts the input into chunks of whole lines,
//! every job takes the next chunk and answers its lines, and finished chunks
//! are written in input order. Memory stays flat whatever the input's size.
//!
//! | module | job |
//! |---|---|
//! | [`families`] | the table of derivations; **add a family there** |
//! | [`answer`] | one line in, one line out |
//! | [`lines`] | files and stdin as chunks of whole lines |
//! | [`driver`] | jobs, order, strictness |

mod answer;
mod driver;
mod families;
mod lines;

use std::{num::NonZeroUsize, path::PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline derive`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Derive documents from inputs, one JSON object per line in and out.\n\n\
        A line is `{\"id\": …, \"input\": …}`, or the bare input; a bare input's id is \
        `FILE:LINE`. Each line is answered in input order with `{\"id\", \"output\"}`, or \
        with `{\"id\", \"refused\": {\"code\", \"message\"}}`. Blank lines are skipped. A line \
        that is not JSON is refused, reported on stderr, and does not stop the rest.",
    after_help = "Codes of a refusal: `malformedLine` (the line is not JSON), `invalidInput` \
        (the input does not have the family's form), and the family's own."
)]
pub struct Arguments {
    /// What to derive.
    #[arg(value_parser = family_names())]
    family: String,
    /// Files to read, in this order; none, or `-`, reads stdin.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Lines answered at the same time (default: one job per core).
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Stop at the first line that is not JSON, with exit code 2.
    #[arg(long)]
    strict: bool,
}

fn family_names() -> PossibleValuesParser {
    families::FAMILIES
        .iter()
        .map(|family| PossibleValue::new(family.name).help(family.about))
        .into()
}

pub(super) fn run(arguments: Arguments, ui: &mut Ui) -> CommandResult {
    let family = families::find(&arguments.family).ok_or_else(|| {
        CommandError::usage(format_args!("no such family: `{}`", arguments.family))
    })?;
    let jobs = arguments
        .jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let lines = lines::Lines::open(arguments.files)?;
    driver::run(family, lines, jobs, arguments.strict, ui)
}
