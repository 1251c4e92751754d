use std::{collections::BTreeMap, fs, path::Path};

use insta::assert_snapshot;
use serde_json::Value;
use strandline_contract::{
    run::{RunRecord, TrialRecord},
    trace::Trace,
};
use strandline_report::{
    style::Style,
    terminal::{RunInput, run_report},
};

/// The kept run of a small local model on two real servers.
pub(crate) struct Recorded {
    pub(crate) run: RunRecord,
    trials: Vec<TrialRecord>,
    traces: BTreeMap<String, Trace>,
}

impl Recorded {
    #[expect(clippy::disallowed_methods, reason = "the test reads a kept run")]
    pub(crate) fn load() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures/recorded/two-servers-one-small-model.json");
        let text = fs::read_to_string(path).expect("the fixture is there");
        let mut recorded: Value = serde_json::from_str(&text).expect("JSON");
        let run: RunRecord = serde_json::from_value(recorded["run"].take()).expect("a run");
        let kept: Vec<(TrialRecord, Trace)> =
            serde_json::from_value(recorded["trials"].take()).expect("trials with traces");
        let mut traces = BTreeMap::new();
        let mut trials = Vec::new();
        for (trial, trace) in kept {
            traces.insert(trial.id.clone(), trace);
            trials.push(trial);
        }
        Self {
            run,
            trials,
            traces,
        }
    }

    pub(crate) fn input(&self) -> RunInput<'_> {
        RunInput {
            run: &self.run,
            run_reference: "01a2316e",
            trials: &self.trials,
            traces: &self.traces,
        }
    }
}

#[test]
fn a_small_local_model_on_two_real_servers() {
    let recorded = Recorded::load();
    assert_snapshot!(run_report(&recorded.input(), &Style::plain(100)));
}
