//! Stylesheets and scripts, under addresses that change with their text.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use sha2::{Digest, Sha256};
use strandline_report::html::{
    shell::{SCRIPT, STYLESHEET},
    trend::{TREND_SCRIPT, UPLOT_SCRIPT, UPLOT_STYLESHEET},
};

use crate::{pages, params::In, problem::Problem, token::hex};

/// Bytes of the digest that stands in an address.
const HASH_BYTES: usize = 8;

/// One file that pages are drawn with.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    /// Where it lies.
    address: String,
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let hash = hex(digest.get(..HASH_BYTES).unwrap_or_default());
        Self {
            name,
            kind,
            text,
            address: format!("/assets/{hash}/{name}"),
        }
    }
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    vec![
        Asset::new("strandline.css", CSS, STYLESHEET),
        Asset::new("strandline.js", JAVASCRIPT, SCRIPT),
        Asset::new("uplot.css", CSS, UPLOT_STYLESHEET),
        Asset::new("uplot.js", JAVASCRIPT, UPLOT_SCRIPT),
        Asset::new("trend.js", JAVASCRIPT, TREND_SCRIPT),
    ]
});

/// Returns the address of an asset.
pub(crate) fn address(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or("", |asset| asset.address.as_str())
}

/// Answers with an asset. Its address names its text, so it never changes.
pub(crate) async fn read(In((hash, name)): In<(String, String)>) -> Response {
    let wanted = format!("/assets/{hash}/{name}");
    let Some(asset) = ASSETS.iter().find(|asset| asset.address == wanted) else {
        return pages::problem(&Problem::not_found(&format!("there is no asset `{name}`")));
    };
    let mut response = ([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response();
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, forever);
    response
}
