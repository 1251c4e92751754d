//! Ctrl-C and SIGTERM: once finishes cleanly, twice aborts.

use strandline_contract::exit::ExitCode;
use strandline_engine::{mcp::kill_all_servers, run::Stop};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};

/// Cancels `stop` on the first signal and ends the process on the second; no
/// server outlives it.
pub(in crate::commands) fn watch(stop: Stop) -> JoinHandle<()> {
    tokio::spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return;
        };
        let mut next = async || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        next().await;
        stop.cancel();
        next().await;
        kill_all_servers();
        std::process::exit(i32::from(ExitCode::NoDecision.code()));
    })
}
