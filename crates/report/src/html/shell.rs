//! What stands around every page: head, navigation, keys.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::mark;

/// The stylesheet of every page.
pub const STYLESHEET: &str = include_str!("../../assets/strandline.css");
/// The script of every page; pages are readable without it.
pub const SCRIPT: &str = include_str!("../../assets/strandline.js");

/// The mark of a page in tabs and bookmarks.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Cpath d='M2 11c4-9 8 3 12-6' fill='none' stroke='%2300796b' stroke-width='2'/%3E\
    %3Ccircle cx='3' cy='10' r='2.5' fill='%2300796b'/%3E\
    %3Ccircle cx='13' cy='6' r='2.5' fill='%23c8880a'/%3E%3C/svg%3E";

/// Where a page takes its stylesheets and scripts from, in order.
#[derive(Debug, Clone, Copy)]
pub enum Assets<'a> {
    /// By address, for pages that a server answers with.
    Linked {
        /// Addresses of stylesheets.
        stylesheets: &'a [&'a str],
        /// Addresses of scripts.
        scripts: &'a [&'a str],
    },
    /// Written into the page, for a single file.
    ///
    /// The texts are ours and go out as they are: none may hold `</style` or
    /// `</script`.
    Inlined {
        /// Texts of stylesheets.
        stylesheets: &'a [&'a str],
        /// Texts of scripts.
        scripts: &'a [&'a str],
    },
}

impl Assets<'_> {
    /// The base stylesheet and script, written into the page.
    pub const INLINED: Assets<'static> = Assets::Inlined {
        stylesheets: &[STYLESHEET],
        scripts: &[SCRIPT],
    };
}

/// One entry of the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavItem {
    /// What it is called.
    pub label: &'static str,
    /// Where it leads.
    pub href: String,
    /// The page lies here.
    pub current: bool,
}

/// A page with everything that stands around it.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// What the window is called; escaped, not bounded.
    pub title: &'a str,
    /// Where stylesheet and script come from.
    pub assets: Assets<'a>,
    /// A content security policy for a file, which has no headers.
    pub policy: Option<&'a str>,
    /// The navigation.
    pub nav: &'a [NavItem],
    /// What the page says.
    pub body: &'a Markup,
}

/// Returns a whole document.
#[must_use]
pub fn page(page: &Page<'_>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if let Some(policy) = page.policy {
                    meta http-equiv="Content-Security-Policy" content=(policy);
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // A form that names no origin of its own would be taken for a
                // foreign one.
                meta name="referrer" content="same-origin";
                title { (page.title) " · Strandline" }
                (assets(page.assets))
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (mark::shapes())
                (header(page.nav))
                main #main tabindex="-1" { (page.body) }
                (keys())
            }
        }
    }
}

fn assets(assets: Assets<'_>) -> Markup {
    // The script stands in the head and is small: the theme is right before
    // anything is drawn.
    html! {
        @match assets {
            Assets::Linked { stylesheets, scripts } => {
                link rel="icon" href=(ICON);
                @for address in stylesheets { link rel="stylesheet" href=(address); }
                @for address in scripts { script src=(address) {} }
            }
            Assets::Inlined { stylesheets, scripts } => {
                @for text in stylesheets { style { (PreEscaped(text)) } }
                @for text in scripts { script { (PreEscaped(text)) } }
            }
        }
    }
}

fn header(nav: &[NavItem]) -> Markup {
    html! {
        header.top {
            div.brand {
                svg.logo viewBox="0 0 44 16" aria-hidden="true" {
                    path.logo-line d="M2 11C9 3 14 3 20 8s12 5 22-3" fill="none" {}
                    circle.logo-dot cx="4" cy="9" r="2.6" {}
                    circle.logo-dot cx="20" cy="8" r="2.6" {}
                    circle.logo-end cx="39" cy="7" r="2.6" {}
                }
                "Strandline"
            }
            nav aria-label="Pages" {
                ul {
                    @for item in nav {
                        li {
                            a href=(item.href) aria-current=[item.current.then_some("page")] {
                                (item.label)
                            }
                        }
                    }
                }
            }
            div.tools {
                // They need the script, which shows them.
                button.quiet type="button" data-keys-open hidden
                    aria-label="Keys" title="Keys: ?" { kbd { "?" } }
                button.quiet type="button" data-theme-toggle hidden
                    aria-label="Theme" title="Theme: follow the system, light or dark" { "auto" }
            }
        }
    }
}

/// The keys of every page.
const KEYS: [(&[&str], &str); 5] = [
    (&["j", "k"], "next row, previous row"),
    (&["enter"], "open the row"),
    (&["/"], "filter the table"),
    (&["esc"], "leave the filter, close what is open"),
    (&["?"], "show these keys"),
];

fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (keys, meaning) in KEYS {
                    dt { @for key in keys { kbd { (key) } " " } }
                    dd { (meaning) }
                }
            }
            form method="dialog" { button type="submit" { "Close" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(assets: Assets<'_>, policy: Option<&str>) -> String {
        let nav = [NavItem {
            label: "Runs",
            href: "/".to_owned(),
            current: true,
        }];
        let body = html! { h1 { "A run" } };
        let shown = page(&Page {
            title: "</title><script>alert(1)</script>",
            assets,
            policy,
            nav: &nav,
            body: &body,
        });
        shown.into_string()
    }

    #[test]
    fn a_page_links_or_carries_its_assets() {
        let linked = Assets::Linked {
            stylesheets: &["/assets/strandline.css"],
            scripts: &["/assets/strandline.js"],
        };
        insta::assert_snapshot!(shell(linked, None).replace("><", ">\n<"));
        let inlined = shell(Assets::INLINED, Some("default-src 'none'"));
        assert!(inlined.contains(STYLESHEET) && inlined.contains(SCRIPT));
        assert_eq!(inlined.matches("</script").count(), 1);
        assert_eq!(inlined.matches("</style").count(), 1);
    }

    #[test]
    fn assets_can_be_written_into_a_page() {
        for text in [STYLESHEET, SCRIPT] {
            let text = text.to_lowercase();
            for end in ["</style", "</script", "<!--"] {
                assert!(!text.contains(end), "{end}");
            }
        }
    }

    #[test]
    fn nothing_is_styled_or_handled_inline() {
        let shown = shell(Assets::INLINED, None);
        let (_, body) = shown.split_once("<body>").expect("a body");
        for forbidden in [" style=", " onclick=", " onload=", "javascript:"] {
            assert!(!body.contains(forbidden), "{forbidden}");
        }
    }
}
