//! What stands on the file's page around the run: the table of all trials, the
//! place where one trial is shown, the glossary.

use maud::{Markup, html};

use super::Kept;

/// Returns the file's views; the script shows one at a time, and without it
/// all of them are readable below each other.
pub(super) fn views(run: &Markup, glossary: &Markup, kept: &Kept, trials: u64) -> Markup {
    html! {
        div #run data-view="run" {
            (run)
            (table(kept, trials))
        }
        div #trial data-view="trial" hidden {
            nav.crumbs aria-label="Trials" {
                a href="#all-trials" { "all trials" }
                a data-step="-1" hidden { "previous" }
                a data-step="1" hidden { "next" }
            }
            div data-trial {}
        }
        div #glossary data-view="glossary" {
            p.crumbs { a href="#run" { "the run" } }
            (glossary)
        }
    }
}

fn table(kept: &Kept, trials: u64) -> Markup {
    html! {
        section #all-trials {
            h2 { "All trials" }
            p.quiet-text { (kept.policy()) }
            p.absent data-unscripted {
                "The table of " (trials) " " (if trials == 1 { "trial" } else { "trials" })
                " and their pages need the script. What was decided, the cases and the \
                 groups of trials that stopped are above."
            }
            form.filter data-trials hidden {
                label {
                    span.aloud { "Search trials" }
                    input type="search" name="text" placeholder="case, model, stage, reason or id"
                        autocomplete="off" spellcheck="false";
                }
                (choice("outcome", "any outcome"))
                (choice("stage", "any first failed stage"))
                (choice("reason", "any reason"))
                (choice("case", "any case"))
                output aria-live="polite" {}
            }
            div.trials tabindex="0" data-rows hidden role="region" aria-label="All trials" {
                table {
                    thead {
                        tr {
                            (heading("case", "case"))
                            (heading("number", "trial"))
                            (heading("outcome", "outcome"))
                            th scope="col" { "stages" }
                            (heading("stage", "where, and why"))
                            (heading("duration", "duration"))
                        }
                    }
                    tbody {}
                }
            }
        }
    }
}

fn choice(name: &str, any: &str) -> Markup {
    html! {
        select name=(name) aria-label=(name) { option value="" { (any) } }
    }
}

fn heading(key: &str, label: &str) -> Markup {
    html! {
        th scope="col" { button.quiet type="button" data-sort=(key) { (label) } }
    }
}
