//! `strandline glossary [--markdown|--skill]`.

use strandline_contract::exit::ExitCode;
use strandline_report::glossary;

use crate::ui::{CommandResult, Ui};

/// Arguments of `strandline glossary`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print Markdown (the page `docs/glossary.md`).
    #[arg(long)]
    markdown: bool,
    /// Print a skill for coding agents (`skills/strandline-glossary/SKILL.md`).
    #[arg(long, conflicts_with = "markdown")]
    skill: bool,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every command returns a CommandResult"
)]
pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    if arguments.markdown {
        ui.out(glossary::markdown().trim_end());
    } else if arguments.skill {
        ui.out(glossary::skill().trim_end());
    } else {
        ui.out(glossary::text(&ui.style));
    }
    Ok(ExitCode::Passed)
}
