//! What changed in the servers' surfaces and in the suite.

use strandline_contract::{
    comparison::{ItemChange, RunComparison, ServerChanges, SuiteChanges, ValueChange},
    words::{ChangeKind, Vocabulary},
};

use super::{HANG, MAX_NAME};
use crate::{escape, layout::hanging, style::Style, words::counted};

/// Places told of one item.
const VALUES: usize = 4;
/// Items told of one server, and of the suite.
const ITEMS: usize = 20;
/// Longest value shown, characters.
const VALUE: usize = 60;

/// Returns what changed in servers' surfaces, without a trailing line break.
#[must_use]
pub fn surface_report(servers: &[ServerChanges], style: &Style) -> String {
    let texts = servers.iter().flat_map(|server| surface(server, style));
    laid_out([("surface", texts.collect())], style).join("\n")
}

pub(super) fn render(comparison: &RunComparison, style: &Style) -> Vec<String> {
    laid_out(says(comparison, style), style)
}

fn laid_out<const SECTIONS: usize>(
    sections: [(&'static str, Vec<String>); SECTIONS],
    style: &Style,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (mut label, texts) in sections {
        for text in texts {
            lines.extend(hanging(label, &text, 1, HANG, style.columns()));
            label = "";
        }
    }
    lines
}

/// Returns what changed in servers, suite and settings, one line each.
pub(crate) fn says(comparison: &RunComparison, style: &Style) -> [(&'static str, Vec<String>); 3] {
    let servers = comparison.surface.iter();
    let settings = comparison.settings.iter().take(ITEMS);
    [
        (
            "surface",
            servers.flat_map(|server| surface(server, style)).collect(),
        ),
        ("suite", suite(&comparison.suite, style)),
        (
            "settings",
            settings.map(|change| value(change, style)).collect(),
        ),
    ]
}

fn surface(server: &ServerChanges, style: &Style) -> Vec<String> {
    let name = escape::line(&server.server, MAX_NAME);
    if let Some(change) = server.change {
        return vec![format!("server {name} {}", change.label())];
    }
    let mut texts: Vec<String> = server
        .facts
        .iter()
        .map(|change| format!("{name}: {}", value(change, style)))
        .collect();
    if !server.listed {
        texts.push(format!(
            "{name}: its tools were not listed in both runs, so nothing is known of them"
        ));
        return texts;
    }
    let same = counted(server.unchanged_tools, "tool", "tools");
    if server.tools.is_empty() {
        texts.push(format!("{name}: {same}, none changed"));
        return texts;
    }
    texts.extend(items(&format!("{name}: tool"), &server.tools, style));
    texts.push(format!("{name}: {same} unchanged"));
    texts
}

fn suite(changes: &SuiteChanges, style: &Style) -> Vec<String> {
    if changes.same {
        return vec![if changes.same_file {
            "unchanged".to_owned()
        } else {
            "unchanged in what it says; the file's text differs".to_owned()
        }];
    }
    let mut texts = items("case", &changes.cases, style);
    texts.extend(
        changes
            .settings
            .iter()
            .take(ITEMS)
            .map(|change| value(change, style)),
    );
    if changes.settings.len() > ITEMS {
        texts.push(format!("{} more settings", changes.settings.len() - ITEMS));
    }
    if texts.is_empty() {
        texts.push("it differs, and the stored suites do not say where".to_owned());
    }
    texts
}

fn items(what: &str, changes: &[ItemChange], style: &Style) -> Vec<String> {
    let mut texts: Vec<String> = changes
        .iter()
        .take(ITEMS)
        .map(|item| {
            let name = escape::line(&item.name, MAX_NAME);
            if item.change != ChangeKind::Changed {
                return format!("{what} {name} {}", item.change.label());
            }
            let mut values: Vec<String> = item
                .values
                .iter()
                .take(VALUES)
                .map(|change| value(change, style))
                .collect();
            if item.values.len() > VALUES {
                values.push(format!("{} more places", item.values.len() - VALUES));
            }
            format!("{what} {name} changed: {}", values.join("; "))
        })
        .collect();
    if changes.len() > ITEMS {
        texts.push(format!("{what}: {} more", changes.len() - ITEMS));
    }
    texts
}

/// Returns "/inputSchema/type "string" → "number"".
fn value(change: &ValueChange, style: &Style) -> String {
    let shown = |text: &Option<String>| {
        text.as_ref()
            .map_or_else(|| "absent".to_owned(), |text| escape::line(text, VALUE))
    };
    let place = if change.pointer.is_empty() {
        "/"
    } else {
        change.pointer.as_str()
    };
    format!(
        "{} {} {} {}",
        escape::line(place, MAX_NAME),
        shown(&change.before),
        style.mark("→", "->"),
        shown(&change.after)
    )
}
