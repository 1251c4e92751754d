//! What stands around every page of this server.

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use maud::Markup;
use strandline_report::html::{Assets, Page, page, shell::NavItem};

use super::assets;
use crate::document;

const HTML: &str = "text/html; charset=utf-8";

/// The entries of the navigation, and where they lead.
const NAVIGATION: [(&str, &str); 4] = [
    ("Runs", "/runs"),
    ("Suites", "/suites"),
    ("Compare", "/compare"),
    ("Glossary", "/glossary"),
];

/// What every page is drawn with.
const PLAIN: Drawing = Drawing {
    stylesheets: &["strandline.css"],
    scripts: &["strandline.js"],
};
/// What a page with a chart is drawn with.
const CHART: Drawing = Drawing {
    stylesheets: &["strandline.css", "uplot.css"],
    scripts: &["strandline.js", "uplot.js", "trend.js"],
};

/// Names of the assets that a page is drawn with, in order.
struct Drawing {
    stylesheets: &'static [&'static str],
    scripts: &'static [&'static str],
}

/// Answers with a page, or with 304 when the browser has it.
pub(crate) fn shown(headers: &HeaderMap, here: &str, title: &str, body: &Markup) -> Response {
    let text = text(here, title, body, &PLAIN);
    document::tagged(headers, StatusCode::OK, HTML, text)
}

/// Answers with a page that has a chart.
pub(crate) fn drawn(headers: &HeaderMap, here: &str, title: &str, body: &Markup) -> Response {
    let text = text(here, title, body, &CHART);
    document::tagged(headers, StatusCode::OK, HTML, text)
}

/// Answers with a page that is no longer true in a moment.
pub(crate) fn passing(status: StatusCode, title: &str, body: &Markup) -> Response {
    let text = text("", title, body, &PLAIN);
    document::tagged(&HeaderMap::new(), status, HTML, text)
}

fn text(here: &str, title: &str, body: &Markup, drawing: &Drawing) -> Vec<u8> {
    let addresses =
        |names: &[&str]| -> Vec<&str> { names.iter().map(|name| assets::address(name)).collect() };
    let nav = NAVIGATION.map(|(label, href)| NavItem {
        label,
        href: href.to_owned(),
        current: href == here,
    });
    let shown = page(&Page {
        title,
        assets: Assets::Linked {
            stylesheets: &addresses(drawing.stylesheets),
            scripts: &addresses(drawing.scripts),
        },
        policy: None,
        nav: &nav,
        body,
    });
    shown.into_string().into_bytes()
}
