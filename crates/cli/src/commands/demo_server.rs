//! `strandline demo-server [--fail STAGE] [--release N]`.

use strandline_contract::exit::ExitCode;

use crate::{
    demo_server::{Fault, Release, serve},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline demo-server`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Refuse to work from this stage on.
    #[arg(long, value_enum, value_name = "STAGE")]
    fail: Option<Fault>,
    /// Which release of the order desk: 2 repairs some defects and plants a new
    /// one, to compare runs with.
    #[arg(long, value_enum, value_name = "N", default_value = "1")]
    release: Release,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    if arguments.fail == Some(Fault::Connection) {
        ui.talk("order desk: the database is not reachable");
        return Ok(ExitCode::Setup);
    }
    serve(arguments.fail, arguments.release)
        .map(|()| ExitCode::Passed)
        .map_err(|error| {
            CommandError::new(
                ExitCode::Setup,
                format_args!("the server's standard streams failed: {error}"),
            )
        })
}
