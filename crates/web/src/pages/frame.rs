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

/// Answers with a page, or with 304 when the browser has it.
pub(crate) fn shown(headers: &HeaderMap, here: &str, title: &str, body: &Markup) -> Response {
    document::tagged(headers, StatusCode::OK, HTML, text(here, title, body))
}

/// Answers with a page that is no longer true in a moment.
pub(crate) fn passing(status: StatusCode, title: &str, body: &Markup) -> Response {
    document::tagged(&HeaderMap::new(), status, HTML, text("", title, body))
}

fn text(here: &str, title: &str, body: &Markup) -> Vec<u8> {
    let nav = NAVIGATION.map(|(label, href)| NavItem {
        label,
        href: href.to_owned(),
        current: href == here,
    });
    let shown = page(&Page {
        title,
        assets: Assets::Linked {
            stylesheets: &[assets::address("strandline.css")],
            scripts: &[assets::address("strandline.js")],
        },
        policy: None,
        nav: &nav,
        body,
    });
    shown.into_string().into_bytes()
}
