//! Gates: what a comparison must show for a script to go on.

use std::{fmt, str::FromStr};

use strandline_contract::{
    comparison::{ComparedRun, GateResult, Parity, RunComparison},
    rate::quotient,
    words::{GateOutcome, MeasurementUnit, RegressionVerdict, SummaryVerdict, Vocabulary},
};
use thiserror::Error;

/// Case titles named in a reason.
const NAMED: usize = 3;

/// What is demanded of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// No regression is shown, neither over all trials nor in any case variant.
    NoRegression,
    /// The compared run's pass rate over all gradeable trials is at least this
    /// fraction.
    MinPassRate(f64),
}

/// A gate that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a gate is `no-regression` or `min-pass-rate=FRACTION` with a fraction from 0 to 1")]
pub struct UnknownGate;

impl FromStr for Gate {
    type Err = UnknownGate;

    fn from_str(text: &str) -> Result<Self, UnknownGate> {
        if text == "no-regression" {
            return Ok(Self::NoRegression);
        }
        text.strip_prefix("min-pass-rate=")
            .and_then(|rate| rate.parse::<f64>().ok())
            .filter(|rate| (0.0..=1.0).contains(rate))
            .map(Self::MinPassRate)
            .ok_or(UnknownGate)
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegression => formatter.write_str("no-regression"),
            Self::MinPassRate(rate) => write!(formatter, "min-pass-rate={rate}"),
        }
    }
}

impl Gate {
    /// Judges a comparison.
    #[must_use]
    pub fn judge(self, comparison: &RunComparison) -> GateResult {
        let (outcome, reason) = match self {
            Self::NoRegression => no_regression(comparison),
            Self::MinPassRate(least) => min_pass_rate(&comparison.compared, least),
        };
        GateResult {
            gate: self.to_string(),
            outcome,
            reason,
        }
    }
}

fn no_regression(comparison: &RunComparison) -> (GateOutcome, String) {
    let untold = |reason: String| (GateOutcome::NotEstablished, reason);
    match &comparison.parity {
        Parity::Comparable {} => {}
        Parity::Blocked { blockers } => {
            let labels: Vec<&str> = blockers.iter().map(|blocker| blocker.label()).collect();
            return untold(format!(
                "the runs may not be compared: {}",
                labels.join("; ")
            ));
        }
        Parity::Unknown { unmeasured } => {
            return untold(format!(
                "no stage analytics are stored of run {}",
                unmeasured.join(" and run ")
            ));
        }
    }
    for run in [&comparison.base, &comparison.compared] {
        if let Some(reason) = undecided(run) {
            return untold(reason);
        }
    }
    let rows = comparison.cases.as_deref().unwrap_or_default();
    let is = |verdict: RegressionVerdict| {
        move |row: &&strandline_contract::comparison::CaseComparison| {
            row.rates
                .as_ref()
                .is_some_and(|rates| rates.verdict == verdict)
        }
    };
    let worse: Vec<&str> = rows
        .iter()
        .filter(is(RegressionVerdict::Regression))
        .map(|row| row.title.as_str())
        .collect();
    let overall = comparison.overall.as_ref().map(|rates| rates.verdict);
    if overall == Some(RegressionVerdict::Regression) || !worse.is_empty() {
        let mut places = Vec::new();
        if overall == Some(RegressionVerdict::Regression) {
            places.push("all trials taken together".to_owned());
        }
        places.extend(worse.iter().take(NAMED).map(|title| (*title).to_owned()));
        if worse.len() > NAMED {
            places.push(format!("{} more", worse.len() - NAMED));
        }
        return (
            GateOutcome::NotHeld,
            format!("a regression is shown in: {}", places.join("; ")),
        );
    }
    let total = rows.len() as u64;
    let compared = rows
        .iter()
        .filter(is(RegressionVerdict::NoRegression))
        .count();
    let variants = MeasurementUnit::CaseVariant.words(total);
    match overall {
        Some(RegressionVerdict::NoRegression) => (
            GateOutcome::Held,
            format!(
                "no regression is shown over all trials, nor in {compared} of {total} {variants} \
                 with enough gradeable trials"
            ),
        ),
        // Where the cases weigh differently there is no rate over all trials.
        None if compared > 0 => (
            GateOutcome::Held,
            format!(
                "no regression is shown in {compared} of {total} {variants} with enough gradeable \
                 trials; the rates over all trials are not compared"
            ),
        ),
        _ => untold("too few gradeable trials to compare".to_owned()),
    }
}

fn min_pass_rate(run: &ComparedRun, least: f64) -> (GateOutcome, String) {
    if let Some(reason) = undecided(run) {
        return (GateOutcome::NotEstablished, reason);
    }
    let Some(trials) = run.trials.filter(|trials| trials.eligible_trials > 0) else {
        let reason = format!("run {} has no gradeable trial", run.short_id);
        return (GateOutcome::NotEstablished, reason);
    };
    let rate = quotient(trials.passed_trials, trials.eligible_trials);
    let outcome = if rate >= least {
        GateOutcome::Held
    } else {
        GateOutcome::NotHeld
    };
    let reason = format!(
        "{} of {} gradeable trials of run {} passed, a fraction of {rate:.3}; {least} is demanded",
        trials.passed_trials, trials.eligible_trials, run.short_id
    );
    (outcome, reason)
}

/// Says why a run decides nothing, if it does not.
fn undecided(run: &ComparedRun) -> Option<String> {
    match run.verdict {
        SummaryVerdict::Passed | SummaryVerdict::Failed => None,
        verdict @ (SummaryVerdict::Inconclusive | SummaryVerdict::NotEstablished) => Some(format!(
            "run {} is undecided: {}",
            run.short_id,
            verdict.label()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_as_they_are_written() {
        for gate in ["no-regression", "min-pass-rate=0.8", "min-pass-rate=1"] {
            assert_eq!(
                gate.parse::<Gate>().map(|gate| gate.to_string()).as_deref(),
                Ok(gate)
            );
        }
        for text in [
            "",
            "no-regressions",
            "min-pass-rate",
            "min-pass-rate=80",
            "min-pass-rate=NaN",
        ] {
            assert_eq!(text.parse::<Gate>(), Err(UnknownGate), "{text}");
        }
    }
}
