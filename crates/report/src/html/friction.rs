//! What the calls of a run show about avoidable work: rates with what they are
//! out of, then the trials that show something. Never a verdict.

use maud::{Markup, html};
use strandline_contract::{
    rate::Rate,
    run::{RunRecord, TrialRecord},
    words::{FrictionGap, FrictionSignalKind, MeasurementUnit},
};
use strandline_derive::friction::FrictionRates;

use super::{Links, term::term, text};
use crate::{
    escape,
    friction::{benign, trial_lines},
    terminal::trial_number,
    words::percent,
};

/// What is known about friction in a run.
#[derive(Debug, Clone, Copy)]
pub struct FrictionPage<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The short form of its id.
    pub run_reference: &'a str,
    /// In how many trials each kind was seen; `None` when it was measured in no
    /// trial, which is not "none".
    pub rates: Option<&'a FrictionRates>,
    /// Trials to show; those without anything to say are left out.
    pub trials: &'a [TrialRecord],
    /// There are further trials that are not among these.
    pub more: bool,
}

/// Returns what the page is called.
#[must_use]
pub fn title(page: &FrictionPage<'_>) -> String {
    let name = escape::line(&page.run.suite_name, text::MAX_NAME);
    format!("Friction · {name} · run {}", page.run_reference)
}

/// Returns what the page says.
#[must_use]
pub fn friction(links: &dyn Links, page: &FrictionPage<'_>) -> Markup {
    html! {
        div.crumbs {
            a href=(links.run(&page.run.id)) {
                (text::name(&page.run.suite_name)) " " span.id { (page.run_reference) }
            }
            span { "/" }
            span { "friction" }
        }
        h1 { "Friction" }
        p.quiet-text {
            "A signal says what calls show, never a verdict; each stands beside the benign reading \
             that must stay possible."
        }
        @match page.rates {
            Some(rates) => (table(links, rates)),
            None => p.absent { "Friction was measured in no trial of this run; that is not none." },
        }
        (trials(links, page))
    }
}

fn table(links: &dyn Links, rates: &FrictionRates) -> Markup {
    html! {
        div.scroll {
            table #friction-rates {
                thead {
                    tr {
                        th scope="col" { "signal" }
                        th.number scope="col" { "seen in" }
                        th.number scope="col" { "rate" }
                        th scope="col" { "left out" }
                        th scope="col" { "benign reading" }
                    }
                }
                tbody { @for (kind, rate) in rates { (row(links, *kind, rate)) } }
            }
        }
    }
}

fn row(links: &dyn Links, kind: FrictionSignalKind, rate: &Rate<FrictionGap>) -> Markup {
    let unit = MeasurementUnit::Trial.words(rate.denominator());
    html! {
        tr data-row {
            th.title scope="row" { (term(links, kind)) }
            @match rate.value() {
                Some(value) => {
                    td.number { (rate.numerator()) " of " (rate.denominator()) " measured " (unit) }
                    td.number { (percent(value)) }
                }
                None => {
                    td.number.quiet-text { "measured in no trial" }
                    td.number.quiet-text { "no rate" }
                }
            }
            td {
                @for (place, (gap, count)) in rate.exclusions().iter().enumerate() {
                    @if place > 0 { ", " }
                    (count) " " (MeasurementUnit::Trial.words(*count)) ": " (term(links, *gap))
                }
            }
            td.quiet-text { (benign(kind)) }
        }
    }
}

fn trials(links: &dyn Links, page: &FrictionPage<'_>) -> Markup {
    let telling: Vec<(&TrialRecord, Vec<String>)> = page
        .trials
        .iter()
        .map(|trial| (trial, trial_lines(trial)))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    html! {
        section #friction-trials {
            h2 { "What was seen at which call" }
            @if telling.is_empty() { p { "Nothing in the trials shown." } }
            ul.plain-list.group-cases {
                @for (trial, lines) in &telling {
                    li data-row {
                        div.group-case {
                            a.group-name href=(links.trial(&trial.run_id, &trial.id)) {
                                (text::name(&trial.title)) " · trial " (trial_number(trial))
                            }
                        }
                        @for line in lines { div.evidence { bdi { (line) } } }
                    }
                }
            }
            @if page.more { p.quiet-text { "Further trials are not shown here." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use strandline_contract::rate::Counts;

    use super::*;
    use crate::html::file::FileLinks;

    #[test]
    fn no_denominator_is_no_rate() {
        let run: RunRecord = serde_json::from_value(serde_json::json!({
            "id": "r", "status": "completed", "suiteId": "s", "suiteName": "S", "suitePath": "s",
            "sourceHash": "0", "resolvedHash": "0", "resolvedSuite": {}, "plan": [], "settings": {},
            "servers": [], "startedAt": 0, "scripted": false, "strandlineVersion": "0"
        }))
        .expect("a run");
        let links = FileLinks::new(&run);
        let kind = FrictionSignalKind::IdenticalRetry;
        let shown = row(&links, kind, &Rate::measure(0, 0, Counts::new())).into_string();
        assert!(
            shown.contains("measured in no trial") && !shown.contains('%'),
            "{shown}"
        );
        let gaps = Counts::from([(FrictionGap::EvidenceIncomplete, 2)]);
        let shown = row(&links, kind, &Rate::measure(1, 4, gaps)).into_string();
        assert!(
            shown.contains("1 of 4 measured trials") && shown.contains("25 %"),
            "{shown}"
        );
        assert!(shown.contains("2 trials: "), "{shown}");
        let page = FrictionPage {
            run: &run,
            run_reference: "r",
            rates: None,
            trials: &[],
            more: false,
        };
        let shown = friction(&links, &page).into_string();
        assert!(
            shown.contains("measured in no trial of this run"),
            "{shown}"
        );
    }
}
