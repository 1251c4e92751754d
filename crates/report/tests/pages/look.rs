//! Links as a server has them, whole pages, and what every page must hold.

use std::{env, fs, path::Path};

use maud::Markup;
use strandline_contract::{run::ExecutionVariant, words::SliceDimension};
use strandline_report::html::{Assets, Links, Page, page, shell::NavItem};

/// Text as nobody should be able to inject it.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}\"' style=\"x\"";

/// Addresses as on a server.
pub(crate) struct Addresses;

impl Links for Addresses {
    fn runs(&self) -> Option<String> {
        Some("/runs".to_owned())
    }
    fn run(&self, run_id: &str) -> String {
        format!("/runs/{run_id}")
    }
    fn case(&self, run: &str, case: &str, _: Option<&ExecutionVariant>) -> Option<String> {
        Some(format!("/runs/{run}/cases/{case}"))
    }
    fn trial(&self, run_id: &str, trial_id: &str) -> String {
        format!("/runs/{run_id}/trials/{trial_id}")
    }
    fn funnel(&self, run_id: &str, by: SliceDimension) -> Option<String> {
        Some(format!("/runs/{run_id}/funnel/{by}"))
    }
    fn friction(&self, run_id: &str) -> Option<String> {
        Some(format!("/runs/{run_id}/friction"))
    }
    fn compare(&self, run_id: &str) -> Option<String> {
        Some(format!("/runs/{run_id}/compare"))
    }
    fn trend(&self, suite_id: &str) -> Option<String> {
        Some(format!("/suites/{suite_id}"))
    }
    fn run_json(&self, run_id: &str) -> Option<String> {
        Some(format!("/api/v1/runs/{run_id}"))
    }
    fn trial_json(&self, run_id: &str, trial_id: &str) -> Option<String> {
        Some(format!("/api/v1/runs/{run_id}/trials/{trial_id}"))
    }
    fn frames(&self, _: &str, _: &str) -> Option<String> {
        None
    }
    fn events(&self, run_id: &str) -> Option<String> {
        Some(format!("/api/v1/runs/{run_id}/events"))
    }
    fn glossary(&self) -> String {
        "/glossary".to_owned()
    }
}

/// Returns a whole page, having checked it.
///
/// With `STRANDLINE_PAGES` set to a folder the page is also written there, to
/// be looked at in a browser.
pub(crate) fn whole(name: &str, title: &str, body: &Markup) -> String {
    let nav = [("Runs", "/runs"), ("Glossary", "/glossary")].map(|(label, href)| NavItem {
        label,
        href: href.to_owned(),
        current: false,
    });
    let shown = page(&Page {
        title,
        assets: Assets::INLINED,
        policy: None,
        nav: &nav,
        body,
    })
    .into_string();
    write(name, &shown);
    check(&shown);
    shown
}

#[expect(clippy::disallowed_methods, reason = "pages are kept to be looked at")]
fn write(name: &str, text: &str) {
    if let Some(folder) = env::var_os("STRANDLINE_PAGES") {
        let file = Path::new(&folder).join(format!("{name}.html"));
        fs::write(file, text).expect("the folder is writable");
    }
}

/// Returns what a reader sees: no tags, one line an element.
pub(crate) fn read(document: &str) -> String {
    let (_, main) = document.split_once("<main").expect("the content");
    let (main, _) = main.split_once("</main>").expect("its end");
    let mut text = String::new();
    for part in main.split('<').skip(1) {
        let (tag, after) = part.split_once('>').expect("a tag ends");
        let inline = [
            "a", "/a", "bdi", "/bdi", "span", "/span", "strong", "/strong",
        ];
        let name = tag.split(' ').next().unwrap_or_default();
        if !inline.contains(&name) {
            text.push('\n');
        }
        text.push_str(after);
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// Elements without an end tag.
const VOID: [&str; 5] = ["meta", "link", "input", "br", "hr"];

/// Checks that a page is well formed and styles and handles nothing inline.
fn check(document: &str) {
    let (_, body) = document.split_once("<body>").expect("a body");
    let mut open: Vec<String> = vec!["body".to_owned()];
    let mut ids = std::collections::BTreeSet::new();
    let mut rest = body;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if name == "html" {
                break;
            }
            assert_eq!(open.pop().as_deref(), Some(name), "before {rest:.80}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "<{tag}>"
        );
        let mut unread = attributes;
        while let Some((attribute, after)) = unread.split_once("=\"") {
            let attribute = attribute.rsplit(' ').next().unwrap_or_default();
            let (value, after) = after.split_once('"').expect("a value ends");
            unread = after;
            assert!(
                attribute != "style" && !attribute.starts_with("on"),
                "{attribute}"
            );
            assert!(!value.contains('<'), "{attribute}={value}");
            if attribute == "id" {
                assert!(ids.insert(value.to_owned()), "two elements are `{value}`");
            }
            if attribute == "href" {
                assert!(value.starts_with('/') || value.starts_with('#'), "{value}");
            }
        }
        if !VOID.contains(&name) {
            open.push(name.to_owned());
        }
    }
    assert_eq!(open, [""; 0], "elements that are not closed");
}
