//! Listens to a run: shows its progress and has it stored.

use strandline_contract::event::RunEvent;
use strandline_engine::run::Stop;
use strandline_report::style::Style;
use strandline_service::recording::{Heard, Recorder};
use strandline_store::Store;
use tokio::sync::mpsc;

use crate::{
    progress::{Mode, Progress},
    ui::Ui,
};

/// Listens until the run ends.
pub(super) async fn listen(
    mut events: mpsc::Receiver<RunEvent>,
    store: Option<&Store>,
    resumed: bool,
    stop: &Stop,
    quiet: bool,
    ui: &mut Ui,
) -> Heard {
    let style = Style {
        width: ui.style.width,
        ..ui.style
    };
    let mut progress = Progress::new(Mode::from_environment(quiet), style);
    let mut recorder = Recorder::new(store.cloned(), resumed);
    let mut told_to_stop = false;
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = stop.cancelled(), if !told_to_stop => {
                told_to_stop = true;
                let line = "stopping: trials in flight are cancelled and the run is stored; again to abort";
                if let Some(line) = progress.notice(line.to_owned()) {
                    ui.talk(line);
                }
                continue;
            }
        };
        let Some(event) = event else {
            break;
        };
        if let Some(line) = progress.on_event(&event) {
            ui.talk(line);
        }
        recorder.take(event).await;
    }
    progress.close();
    recorder.finish().await
}
