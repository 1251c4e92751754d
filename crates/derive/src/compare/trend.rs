//! The runs of a suite one after the other.

use strandline_contract::comparison::{SuiteTrend, TrendPoint};

use super::{Side, compared_run, parity, summary};

/// Makes the series of a suite's runs, `runs` in order of their start.
///
/// Nothing is added up over runs; each point says whether it may be compared
/// with the one before it.
#[must_use]
pub fn suite_trend(suite: &str, runs: &[Side<'_>], complete: bool) -> SuiteTrend {
    let points = runs
        .iter()
        .enumerate()
        .map(|(index, side)| TrendPoint {
            run: compared_run(side, &summary(side.run)),
            parity: index
                .checked_sub(1)
                .and_then(|before| runs.get(before))
                .map(|before| parity(before, side)),
        })
        .collect();
    SuiteTrend {
        suite: suite.to_owned(),
        points,
        complete,
    }
}
