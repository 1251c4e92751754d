//! What is shown while a run is going: bars on a terminal, one line per
//! finished trial elsewhere, nothing when quiet.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use strandline_contract::{
    event::{RunEvent, TrialRef, TrialsAdded},
    run::{ExecutionVariant, RunRecord, TrialRecord},
};
use strandline_report::{
    escape,
    layout::cut,
    progress::{Tally, activity, finished},
    style::{Glyphs, Style},
};

/// Lines of running trials shown at once; more are counted by the bar alone.
const MAX_RUNNING: usize = 12;
/// Columns of a running trial's title.
const TITLE: usize = 36;
/// How often elapsed times move.
const TICK: Duration = Duration::from_millis(200);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Bars that are redrawn in place.
    Live,
    /// One line per finished trial.
    Plain,
    /// Nothing.
    Quiet,
}

/// Listens to a run and shows how far it is, on standard error.
#[derive(Debug)]
pub struct Progress {
    style: Style,
    tally: Tally,
    /// Configured trials of each case variant.
    configured: BTreeMap<(String, Option<ExecutionVariant>), u32>,
    surface: Surface,
}

#[derive(Debug)]
enum Surface {
    Live(Bars),
    Plain,
    Quiet,
}

impl Mode {
    /// Chooses the mode from standard error, `TERM` and `CI`.
    #[must_use]
    pub fn from_environment(quiet: bool) -> Self {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if quiet {
            Self::Quiet
        } else if io::stderr().is_terminal() && !ci && !dumb {
            Self::Live
        } else {
            Self::Plain
        }
    }
}

impl Progress {
    /// Makes a listener; `style` is that of standard error.
    #[must_use]
    pub fn new(mode: Mode, style: Style) -> Self {
        Self {
            style,
            tally: Tally::default(),
            configured: BTreeMap::new(),
            surface: match mode {
                Mode::Live => Surface::Live(Bars::new(style)),
                Mode::Plain => Surface::Plain,
                Mode::Quiet => Surface::Quiet,
            },
        }
    }

    /// Takes note of an event; returns the line to print, where the mode
    /// prints lines.
    #[must_use]
    pub fn on_event(&mut self, event: &RunEvent) -> Option<String> {
        match event {
            RunEvent::RunStarted(run) => {
                self.started(run);
                None
            }
            RunEvent::TrialStarted(trial) => {
                if let Surface::Live(bars) = &mut self.surface {
                    bars.begin(trial);
                }
                None
            }
            RunEvent::TrialActivity(trial, doing) => {
                if let Surface::Live(bars) = &mut self.surface {
                    bars.tell(trial, &activity(*doing));
                }
                None
            }
            RunEvent::TrialsAdded(added) => {
                self.added(added);
                None
            }
            RunEvent::TrialFinished(ended) => self.ended(&ended.0),
            // Its line was printed when it ended; the report says what was judged.
            RunEvent::TrialJudged(_) => None,
            RunEvent::RunFinished(_) => {
                self.close();
                None
            }
        }
    }

    /// Prints a notice above the bars, or returns it where there are none;
    /// a notice is shown in every mode.
    #[must_use]
    pub fn notice(&self, line: String) -> Option<String> {
        match &self.surface {
            Surface::Live(bars) => bars.all.println(&line).err().map(|_| line),
            Surface::Plain | Surface::Quiet => Some(line),
        }
    }

    /// Removes the bars; what was printed stays.
    pub fn close(&mut self) {
        if let Surface::Live(bars) = &mut self.surface {
            bars.clear();
        }
    }

    fn started(&mut self, run: &RunRecord) {
        self.tally.planned = 0;
        for plan in &run.plan {
            self.tally.planned += u64::from(plan.configured_trials);
            self.configured.insert(
                (plan.case_id.clone(), plan.variant.clone()),
                plan.configured_trials,
            );
        }
        if let Surface::Live(bars) = &mut self.surface {
            bars.total.set_length(self.tally.planned);
            bars.total.set_message(self.tally.text(&self.style));
        }
    }

    fn added(&mut self, added: &TrialsAdded) {
        let key = (added.case_id.clone(), added.variant.clone());
        let before = self.configured.insert(key, added.configured_trials);
        let more = added.configured_trials.saturating_sub(before.unwrap_or(0));
        self.tally.planned += u64::from(more);
        if let Surface::Live(bars) = &mut self.surface {
            bars.total.set_length(self.tally.planned);
        }
    }

    fn ended(&mut self, trial: &TrialRecord) -> Option<String> {
        self.tally.count(trial);
        match &mut self.surface {
            Surface::Live(bars) => {
                bars.end(trial);
                bars.total.set_position(self.tally.finished);
                bars.total.set_message(self.tally.text(&self.style));
                None
            }
            Surface::Plain => {
                let key = (trial.case_id.clone(), trial.variant.clone());
                let of = self.configured.get(&key).copied().unwrap_or(1);
                Some(finished(trial, of, &self.tally, &self.style))
            }
            Surface::Quiet => None,
        }
    }
}

/// What tells running trials apart.
type Key = (String, Option<ExecutionVariant>, u32);

/// One bar for all trials and one line per running trial.
#[derive(Debug)]
struct Bars {
    style: Style,
    all: MultiProgress,
    total: ProgressBar,
    running: BTreeMap<Key, ProgressBar>,
}

impl Bars {
    fn new(style: Style) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let total = all.add(ProgressBar::new(0).with_style(total_style(&style)));
        total.enable_steady_tick(TICK);
        Self {
            style,
            all,
            total,
            running: BTreeMap::new(),
        }
    }

    fn begin(&mut self, trial: &TrialRef) {
        if self.running.len() >= MAX_RUNNING {
            return;
        }
        let title = format!(
            "{} ({})",
            escape::line(&trial.title, 80),
            trial.iteration_number.saturating_add(1)
        );
        let title = cut(&title, TITLE, self.style.mark("…", "..."));
        let bar = self
            .all
            .insert_before(&self.total, ProgressBar::new_spinner())
            .with_style(running_style())
            .with_prefix(title);
        bar.enable_steady_tick(TICK);
        self.running.insert(key(trial), bar);
    }

    fn tell(&mut self, trial: &TrialRef, doing: &str) {
        if let Some(bar) = self.running.get(&key(trial)) {
            bar.set_message(doing.to_owned());
        }
    }

    fn end(&mut self, trial: &TrialRecord) {
        let key = (
            trial.case_id.clone(),
            trial.variant.clone(),
            trial.iteration_number,
        );
        if let Some(bar) = self.running.remove(&key) {
            bar.finish_and_clear();
            self.all.remove(&bar);
        }
    }

    fn clear(&mut self) {
        for bar in std::mem::take(&mut self.running).into_values() {
            bar.finish_and_clear();
        }
        self.total.finish_and_clear();
    }
}

fn key(trial: &TrialRef) -> Key {
    (
        trial.case_id.clone(),
        trial.variant.clone(),
        trial.iteration_number,
    )
}

fn total_style(style: &Style) -> ProgressStyle {
    let bar = ProgressStyle::with_template(" {bar:24} {pos}/{len} trials  {msg}  {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.progress_chars(match style.glyphs {
        Glyphs::Unicode => "━╸─",
        Glyphs::Ascii => "=>-",
    })
}

fn running_style() -> ProgressStyle {
    ProgressStyle::with_template("   {prefix:36}  {wide_msg}  {elapsed:>4}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use strandline_contract::{event::Activity, trace::Trace, words::Stage};

    use super::*;

    fn run() -> RunRecord {
        serde_json::from_value(json!({
            "id": "r", "status": "running", "suiteId": "s", "suiteName": "Orders",
            "suitePath": "orders.yaml", "sourceHash": "0", "resolvedHash": "0",
            "resolvedSuite": {}, "settings": {}, "servers": [], "startedAt": 0,
            "scripted": false, "strandlineVersion": "0.1.0",
            "plan": [{"caseId": "c", "title": "looks up", "configuredTrials": 2, "passThreshold": 1}]
        }))
        .expect("a run record")
    }

    fn ended(number: u32) -> RunEvent {
        let trial = serde_json::from_value(json!({
            "id": "t", "runId": "r", "caseId": "c", "title": "looks up",
            "iterationNumber": number, "status": "completed", "result": "passed",
            "startedAt": 0, "endedAt": 5, "chainInput": {}, "stageMeasurements": {},
            "chain": {"stageResults": [], "stageAnalyzerVersion": 12}
        }));
        RunEvent::TrialFinished(Box::new((trial.expect("a trial"), Trace::default())))
    }

    fn lines(mode: Mode) -> Vec<String> {
        let mut progress = Progress::new(mode, Style::plain(80));
        let trial = Arc::new(TrialRef {
            case_id: "c".to_owned(),
            title: "looks up".to_owned(),
            variant: None,
            iteration_number: 0,
        });
        let doing = Activity {
            stage: Stage::Call,
            waiting_for: strandline_contract::event::WaitingFor::Server,
        };
        [
            RunEvent::RunStarted(Box::new(run())),
            RunEvent::TrialStarted(trial.clone()),
            RunEvent::TrialActivity(trial, doing),
            ended(0),
            ended(1),
            RunEvent::RunFinished(Box::new(run())),
        ]
        .iter()
        .filter_map(|event| progress.on_event(event))
        .collect()
    }

    #[test]
    fn plain_progress_is_one_line_per_finished_trial() {
        assert_eq!(
            lines(Mode::Plain),
            [
                "[1/2] ● looks up · trial 1 of 2 · 5 ms",
                "[2/2] ● looks up · trial 2 of 2 · 5 ms",
            ]
        );
    }

    #[test]
    fn quiet_and_live_progress_print_no_lines() {
        assert_eq!(lines(Mode::Quiet), [""; 0]);
        assert_eq!(lines(Mode::Live), [""; 0]);
    }

    #[test]
    fn notices_are_shown_even_when_quiet() {
        let progress = Progress::new(Mode::Quiet, Style::plain(80));
        assert_eq!(
            progress.notice("stopping".to_owned()).as_deref(),
            Some("stopping")
        );
    }
}
