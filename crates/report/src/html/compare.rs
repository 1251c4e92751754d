//! Two runs beside each other: first, in words, whether they may be compared;
//! only then the two funnels and the table of differences.

use maud::{Markup, html};
use strandline_contract::{
    comparison::{CaseComparison, ComparedRun, RunCase, RunComparison},
    words::{RegressionVerdict, SummaryVerdict, Verdict},
};

use super::{Links, mark, run::FunnelOf, term::term, text};
use crate::{
    formats::PLAIN,
    glyphs,
    html::funnel,
    terminal::{
        compare::{
            SAYS_NOTHING, blockers, cases, cautions_say, changes, decided, gate_mark, gate_says,
            overall_says, which,
        },
        deciding::case_name,
    },
};

/// Rows of a table; the rest is counted.
const MAX_ROWS: usize = 500;

/// Two runs as their page shows them.
#[derive(Debug, Clone, Copy)]
pub struct ComparePage<'a> {
    /// The comparison.
    pub comparison: &'a RunComparison,
    /// The base run's funnel, or why there is none.
    pub base: FunnelOf<'a>,
    /// The compared run's funnel, or why there is none.
    pub compared: FunnelOf<'a>,
}

/// Returns what the page is called.
#[must_use]
pub fn title(page: &ComparePage<'_>) -> String {
    let [suite, ..] = which(page.comparison);
    let RunComparison { base, compared, .. } = page.comparison;
    format!("{suite} · {} beside {}", compared.short_id, base.short_id)
}

/// Returns what the page says.
#[must_use]
pub fn compare(links: &dyn Links, page: &ComparePage<'_>) -> Markup {
    let comparison = page.comparison;
    let comparable = comparison.parity.is_comparable();
    html! {
        (band(comparison))
        section aria-label="What each run decided" {
            dl.facts {
                (run(links, "base", &comparison.base))
                (run(links, "compared", &comparison.compared))
            }
        }
        @if !comparison.gates.is_empty() {
            section #gates {
                h2 { "Gates" }
                ul.plain-list {
                    @for gate in &comparison.gates {
                        li { (mark::badge(gate_mark(gate), html! { bdi { (gate_says(gate)) } })) }
                    }
                }
            }
        }
        @if comparable {
            (overall(comparison))
            section #funnels {
                h2 { "Funnels" }
                (one_funnel(links, "base", &comparison.base, page.base))
                (one_funnel(links, "compared", &comparison.compared, page.compared))
            }
            (differences(links, comparison))
        } @else {
            (apart(links, "base", &comparison.base))
            (apart(links, "compared", &comparison.compared))
        }
        (changed(comparison))
        @let cautions = cautions_say(comparison);
        @if !cautions.is_empty() {
            section #cautions {
                h2 { "While reading the numbers" }
                ul.notes { @for says in &cautions { li { (says) } } }
            }
        }
    }
}

/// Returns whether the runs may be compared, before any number.
fn band(comparison: &RunComparison) -> Markup {
    let comparable = comparison.parity.is_comparable();
    let reasons = blockers(&comparison.parity, [&comparison.base, &comparison.compared]);
    let class = if comparable {
        "is-compared"
    } else {
        "is-inconclusive"
    };
    html! {
        header.verdict.(class) {
            h1 {
                @match comparable {
                    true => "Compared",
                    false => (mark::badge(glyphs::verdict(SummaryVerdict::Inconclusive), "Not comparable")),
                }
            }
            p.counts { bdi { (text::facts(&which(comparison))) } }
            @if !comparable {
                ul.reasons {
                    @for reason in &reasons { li { (reason) } }
                    li.deeper { (SAYS_NOTHING) }
                }
            }
        }
    }
}

fn run(links: &dyn Links, name: &str, run: &ComparedRun) -> Markup {
    html! {
        dt { (name) }
        dd {
            a href=(links.run(&run.run_id)) { span.id { (text::name(&run.short_id)) } } " "
            (mark::badge(glyphs::verdict(run.verdict), html! { bdi { (decided(run)) } }))
        }
    }
}

fn overall(comparison: &RunComparison) -> Markup {
    let says = overall_says(comparison, &PLAIN);
    html! {
        section #overall {
            h2 { "All gradeable trials" }
            @for (place, said) in says.iter().enumerate() {
                p.quiet-text[place > 1] { (said) }
            }
        }
    }
}

fn one_funnel(links: &dyn Links, name: &str, run: &ComparedRun, shown: FunnelOf<'_>) -> Markup {
    html! {
        h3 { (name) " run " span.id { (text::name(&run.short_id)) } }
        @match shown {
            FunnelOf::Stored(stored) => (funnel::overall(links, stored, &|_| None)),
            FunnelOf::Absent(absence, detail) => (funnel::absent(links, absence, detail)),
        }
    }
}

fn differences(links: &dyn Links, comparison: &RunComparison) -> Markup {
    let rows = comparison.cases.as_deref().unwrap_or_default();
    html! {
        section #differences {
            h2 { "Case variants" }
            dl.facts {
                @for (label, listed) in cases::listed(rows) {
                    dt { (label) }
                    dd { bdi { (listed) } }
                }
            }
            div.scroll {
                table.differences {
                    thead {
                        tr {
                            th scope="col" { "case" }
                            th.number scope="col" { "base" }
                            th.number scope="col" { "compared" }
                            th.number scope="col" { "difference in points" }
                            th scope="col" { "change" }
                        }
                    }
                    tbody { @for row in rows.iter().take(MAX_ROWS) { (difference(links, row, rows)) } }
                }
            }
            (rest(rows.len()))
        }
    }
}

fn difference(links: &dyn Links, row: &CaseComparison, rows: &[CaseComparison]) -> Markup {
    let [name, base, compared, points] = cases::cells(row, rows, &PLAIN);
    let verdict = row.compared.as_ref().map(|made| made.verdict);
    let shown = row
        .rates
        .as_ref()
        .is_some_and(|rates| rates.verdict == RegressionVerdict::Regression);
    html! {
        tr data-row {
            th.title scope="row" { (case_mark(verdict)) bdi { (name) } }
            td.number { (base) }
            td.number { (compared) }
            td.number.ink-bad[shown] { @if row.rates.is_some() { (points) } }
            td { (term(links, row.change)) }
        }
    }
}

fn case_mark(verdict: Option<Verdict>) -> Markup {
    match verdict {
        Some(verdict) => mark::mark(glyphs::case_verdict(verdict)),
        None => mark::verdict(SummaryVerdict::NotEstablished),
    }
}

/// Returns one run's case variants on their own.
fn apart(links: &dyn Links, name: &str, run: &ComparedRun) -> Markup {
    let rows = run.cases.as_deref().unwrap_or_default();
    let several = |row: &RunCase| {
        let same = rows.iter().filter(|other| other.case_id == row.case_id);
        same.count() > 1
    };
    html! {
        @if run.cases.is_some() {
            section {
                h2 { (name) " run " span.id { (text::name(&run.short_id)) } }
                @if rows.is_empty() { p { "It decided nothing of any case." } } @else {
                    div.scroll {
                        table.differences {
                            thead { tr {
                                th scope="col" { "case" }
                                th scope="col" { "verdict" }
                                th.number scope="col" { "passed" }
                            } }
                            tbody {
                                @for row in rows.iter().take(MAX_ROWS) {
                                    @let variant = row.execution_variant.as_ref().filter(|_| several(row));
                                    tr data-row {
                                        th.title scope="row" { bdi { (case_name(&row.title, variant)) } }
                                        td { (mark::badge(
                                            glyphs::case_verdict(row.outcome.verdict),
                                            term(links, row.outcome.verdict),
                                        )) }
                                        td.number { (cases::side(Some(&row.outcome), &PLAIN)) }
                                    }
                                }
                            }
                        }
                    }
                    (rest(rows.len()))
                }
            }
        }
    }
}

fn rest(rows: usize) -> Markup {
    html! {
        @if rows > MAX_ROWS {
            p.quiet-text { (rows - MAX_ROWS) " more case variants are in the JSON of the comparison." }
        }
    }
}

fn changed(comparison: &RunComparison) -> Markup {
    html! {
        section #changes {
            h2 { "What changed" }
            dl.facts {
                @for (label, says) in changes::says(comparison, &PLAIN) {
                    @if !says.is_empty() {
                        dt { (label) }
                        dd { ul.plain-list { @for said in &says { li { bdi { (said) } } } } }
                    }
                }
            }
        }
    }
}
