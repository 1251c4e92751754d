//! What the place of the first failure says about later rows (`chain.md` §9.3).

use strandline_contract::words::StageState;

use super::row::Row;

/// Makes every unmeasured row after the first failed one `notReached`; rows
/// that decided something of their own stay.
pub(super) fn apply(rows: &mut [Row<'_>]) {
    rows.iter_mut()
        .skip_while(|row| row.state != StageState::Failed)
        .filter(|row| row.state == StageState::NotMeasured)
        .for_each(|row| *row = Row::not_reached());
}
