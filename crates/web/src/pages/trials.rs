//! The trials of a run, a page at a time, with filters that work without
//! script.

use axum::extract::State;
use http::HeaderMap;
use maud::{Markup, html};
use strandline_contract::{
    listing::{TrialList, TrialListItem},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};
use strandline_report::{
    html::{Links, term, text},
    words::duration,
};

use super::{
    Shown, frame,
    links::{Web, query},
};
use crate::{
    api::trials::{TrialsQuery, trial_list},
    app::App,
    params::{In, Params},
    problem::Problem,
};

/// Shows a page of a run's trials.
pub(crate) async fn list(
    State(app): State<App>,
    In(run): In<String>,
    asked: Result<Params<TrialsQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let head = app.store().run_head(&run).await?;
    let asked = asked.without_empty();
    let list = trial_list(app.store(), head.record.id.clone(), &asked).await?;
    let body = html! {
        nav.crumbs aria-label="Above this page" {
            a href="/runs" { "Runs" }
            a href=(Web.run(&head.record.id)) {
                (text::name(&head.record.suite_name)) " · run " (head.short_id)
            }
        }
        h1 { "Trials" }
        (filters(&head.record.id, &asked))
        @if list.trials.is_empty() { p { "No stored trial of this run is like that." } }
        @else { (table(&list)) }
        (onward(&asked, &list))
    };
    let title = format!("Trials of run {}", head.short_id);
    Ok(frame::shown(&headers, "/runs", &title, &body))
}

fn filters(run_id: &str, asked: &TrialsQuery) -> Markup {
    html! {
        form.filter method="get" action={ (Web.run(run_id)) "/trials" } role="search" {
            label {
                span.aloud { "Case id" }
                input type="search" name="case" placeholder="case id"
                    value=[asked.case.as_deref()] autocomplete="off";
            }
            (choice("stage", "first failed stage", asked.stage))
            (choice("category", "failure category", asked.category))
            (choice("status", "status", asked.status))
            label {
                input type="checkbox" name="notPassed" value="true" checked[asked.not_passed];
                " not passed only"
            }
            @if let Some(model) = &asked.model { input type="hidden" name="model" value=(model); }
            @if let Some(provider) = &asked.provider {
                input type="hidden" name="provider" value=(provider);
            }
            button type="submit" { "Show" }
            @if asked.is_filtered() {
                a href={ (Web.run(run_id)) "/trials" } { "all trials" }
            }
        }
    }
}

/// Returns a choice among the words of a vocabulary.
fn choice<V: Vocabulary + PartialEq>(name: &str, what: &str, chosen: Option<V>) -> Markup {
    html! {
        label {
            span.aloud { (what) }
            select name=(name) {
                option value="" { "any " (what) }
                @for word in V::ALL {
                    option value=(word.wire()) selected[chosen == Some(*word)] { (word.label()) }
                }
            }
        }
    }
}

fn table(list: &TrialList) -> Markup {
    html! {
        div.scroll { table #trials {
            thead { tr {
                th scope="col" { "trial" }
                th scope="col" { "case" }
                th scope="col" { "result" }
                th scope="col" { "first failed stage" }
                th scope="col" { "failure category" }
                th scope="col" { "took" }
            } }
            tbody { @for trial in &list.trials { (row(&list.run_id, trial)) } }
        } }
    }
}

fn row(run_id: &str, trial: &TrialListItem) -> Markup {
    html! {
        tr data-row data-trial=(trial.trial_id) {
            td { a href=(Web.trial(run_id, &trial.trial_id)) {
                "trial " (trial.iteration_number.saturating_add(1))
            } }
            td {
                (text::name(&trial.title))
                @if let Some(variant) = &trial.variant { br; small { (text::name(&variant.model)) } }
            }
            td { (result(trial)) }
            td { @if let Some(stage) = trial.first_failed_stage { (term(&Web, stage)) } }
            td { @if let Some(category) = trial.failure_category { (term(&Web, category)) } }
            td { (duration(trial.ended_at.saturating_sub(trial.started_at))) }
        }
    }
}

/// Returns what a trial's checks say, or why they say nothing.
pub(super) fn result(trial: &TrialListItem) -> Markup {
    html! {
        @match (trial.result, trial.evaluator_error) {
            (Some(TaskResult::Passed), false) => span.ink-good { (term(&Web, TaskResult::Passed)) },
            (Some(result), false) => span.ink-bad { (term(&Web, result)) },
            (_, true) => span.ink-unsure { "evaluator error" },
            (None, false) => span.ink-quiet { "no result, " (term(&Web, trial.status)) },
        }
    }
}

fn onward(asked: &TrialsQuery, list: &TrialList) -> Markup {
    html! {
        p.quiet-text {
            (list.trials.len()) " on this page"
            @if list.complete { ", which is all of them" }
            @if let Some(cursor) = &list.next_cursor {
                " · " a rel="next" href={ (Web.run(&list.run_id)) "/trials" (asked.with_cursor(cursor)) } {
                    "further trials"
                }
            }
        }
    }
}

impl TrialsQuery {
    /// Leaves out what a form sends without being filled in.
    fn without_empty(mut self) -> Self {
        self.case = self.case.filter(|case| !case.is_empty());
        self
    }

    fn is_filtered(&self) -> bool {
        self.case.is_some()
            || self.model.is_some()
            || self.iteration.is_some()
            || self.status.is_some()
            || self.not_passed
            || self.stage.is_some()
            || self.category.is_some()
    }

    /// Returns the same question from a cursor on.
    fn with_cursor(&self, cursor: &str) -> String {
        let limit = self.limit.map(|limit| limit.to_string());
        let iteration = self.iteration.map(|iteration| iteration.to_string());
        let not_passed = self.not_passed.then_some("true");
        let pairs = [
            ("case", self.case.as_deref()),
            ("model", self.model.as_deref()),
            ("provider", self.provider.as_deref()),
            ("iteration", iteration.as_deref()),
            ("status", self.status.map(IterationStatus::wire)),
            ("notPassed", not_passed),
            ("stage", self.stage.map(Stage::wire)),
            ("category", self.category.map(FailureCategory::wire)),
            ("limit", limit.as_deref()),
            ("cursor", Some(cursor)),
        ];
        query(
            pairs
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        )
    }
}
