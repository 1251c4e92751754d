//! The six cells of a chain, in stage order.

use maud::{Markup, html};
use strandline_contract::{
    decision::SummaryStage,
    words::{Stage, StageState, Vocabulary},
};

use super::mark;
use crate::glyphs;

/// One cell of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The state shown; of several trials the least favourable one.
    pub state: StageState,
    /// Trials in that state.
    pub trials: u64,
    /// Trials that have a row for this stage.
    pub of: u64,
}

impl Cell {
    /// Returns the cell of a single trial.
    #[must_use]
    pub const fn single(state: StageState) -> Self {
        Self {
            state,
            trials: 1,
            of: 1,
        }
    }

    /// Returns the number to show, when not every trial is in the state.
    #[must_use]
    pub fn part(self) -> Option<u64> {
        (self.trials < self.of).then_some(self.trials)
    }

    /// Returns the cell in words: "Tool call: failed in 4 of 5 trials".
    fn words(self, stage: Stage) -> String {
        let word = format!("{}: {}", stage.label(), self.state.label());
        match self.part() {
            None => word,
            Some(part) => format!("{word} in {part} of {} trials", self.of),
        }
    }
}

/// Six cells, one per stage; `None` where there is no row for the stage.
pub type Cells = [Option<Cell>; 6];

/// Returns the cells of one trial's chain.
#[must_use]
pub fn cells_of(rows: &[SummaryStage]) -> Cells {
    let mut cells = [None; 6];
    for (cell, stage) in cells.iter_mut().zip(Stage::ALL) {
        let row = rows.iter().find(|row| row.stage == *stage);
        *cell = row.map(|row| Cell::single(row.state));
    }
    cells
}

/// Returns a strip on one line: for lists and headings.
#[must_use]
pub fn strip(cells: &Cells) -> Markup {
    html! {
        span.strip {
            @for (cell, stage) in cells.iter().zip(Stage::ALL) {
                @match cell {
                    Some(cell) => {
                        span.cell title=(cell.words(*stage)) {
                            (content(*cell)) span.aloud { (cell.words(*stage)) ". " }
                        }
                    }
                    None => span.cell.empty title=(no_row(*stage)) {
                        span.aloud { (no_row(*stage)) ". " }
                    },
                }
            }
        }
    }
}

/// Returns a strip as six cells of a table's row.
#[must_use]
pub fn columns(cells: &Cells) -> Markup {
    html! {
        @for (cell, stage) in cells.iter().zip(Stage::ALL) {
            @match cell {
                Some(cell) => {
                    td.cell title=(cell.words(*stage)) {
                        (content(*cell)) span.aloud { (cell.words(*stage)) }
                    }
                }
                None => td.cell.empty title=(no_row(*stage)) {
                    span.aloud { (no_row(*stage)) }
                },
            }
        }
    }
}

/// Returns the headings of [`columns`].
#[must_use]
pub fn headings() -> Markup {
    html! {
        @for (stage, short) in Stage::ALL.iter().zip(SHORT) {
            th.cell scope="col" title={ (stage.label()) ": " (stage.question()) } {
                span aria-hidden="true" { (short) } span.aloud { (stage.label()) }
            }
        }
    }
}

/// Short names of the stages, in stage order.
const SHORT: [&str; 6] = ["conn", "disc", "sel", "call", "resp", "user"];

fn content(cell: Cell) -> Markup {
    html! {
        (mark::mark(glyphs::state(cell.state)))
        @if let Some(part) = cell.part() {
            span.part.(mark::ink_class(glyphs::state(cell.state).ink)) aria-hidden="true" { (part) }
        }
    }
}

fn no_row(stage: Stage) -> String {
    format!("{}: no chain to show", stage.label())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_trials_is_counted_with_its_whole() {
        let failed = Cell {
            state: StageState::Failed,
            trials: 4,
            of: 5,
        };
        assert_eq!(
            failed.words(Stage::Call),
            "Tool call: failed in 4 of 5 trials"
        );
        let all = Cell {
            trials: 5,
            ..failed
        };
        assert_eq!(all.words(Stage::Call), "Tool call: failed");
    }

    #[test]
    fn a_strip_has_six_cells_whatever_is_known() {
        for cells in [[None; 6], [Some(Cell::single(StageState::NotReached)); 6]] {
            let drawn = columns(&cells).into_string();
            assert_eq!(drawn.matches("<td").count(), 6);
            let drawn = strip(&cells).into_string();
            assert_eq!(drawn.matches("class=\"cell").count(), 6);
        }
    }
}
