//! Where the pages lie.

use strandline_contract::{
    run::ExecutionVariant,
    words::{SliceDimension, Vocabulary},
};
use strandline_report::html::Links;
use url::form_urlencoded;

use crate::api;

/// Addresses of pages on this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Web;

/// Returns a text as a segment of a path.
pub(crate) fn segment(text: &str) -> String {
    // A plus sign means itself in a path.
    form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

/// Returns pairs as a query, with its question mark; nothing for none.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    if query.is_empty() {
        query
    } else {
        format!("?{query}")
    }
}

impl Links for Web {
    fn runs(&self) -> Option<String> {
        Some("/runs".to_owned())
    }

    fn run(&self, run_id: &str) -> String {
        format!("/runs/{}", segment(run_id))
    }

    fn case(
        &self,
        run_id: &str,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
    ) -> Option<String> {
        let mut pairs = vec![("case", case_id)];
        if let Some(variant) = variant {
            pairs.push(("model", variant.model.as_str()));
            if let Some(provider) = &variant.provider {
                pairs.push(("provider", provider));
            }
        }
        Some(format!("{}/trials{}", self.run(run_id), query(pairs)))
    }

    fn trial(&self, _: &str, trial_id: &str) -> String {
        format!("/trials/{}", segment(trial_id))
    }

    fn funnel(&self, run_id: &str, by: SliceDimension) -> Option<String> {
        let by = match by {
            SliceDimension::Overall => String::new(),
            by => query([("by", by.wire())]),
        };
        Some(format!("{}/funnel{by}", self.run(run_id)))
    }

    fn friction(&self, run_id: &str) -> Option<String> {
        Some(format!("{}/friction", self.run(run_id)))
    }

    fn compare(&self, run_id: &str) -> Option<String> {
        Some(format!("/compare{}", query([("compared", run_id)])))
    }

    fn trend(&self, suite_id: &str) -> Option<String> {
        Some(format!("/suites/{}/trend", segment(suite_id)))
    }

    fn run_json(&self, run_id: &str) -> Option<String> {
        Some(format!("{}/runs/{}", api::ROOT, segment(run_id)))
    }

    fn trial_json(&self, _: &str, trial_id: &str) -> Option<String> {
        Some(format!("{}/trials/{}", api::ROOT, segment(trial_id)))
    }

    fn frames(&self, _: &str, trial_id: &str) -> Option<String> {
        Some(format!("/trials/{}/frames", segment(trial_id)))
    }

    fn events(&self, run_id: &str) -> Option<String> {
        Some(format!("{}/runs/{}/events", api::ROOT, segment(run_id)))
    }

    fn glossary(&self) -> String {
        "/glossary".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_ids_stay_inside_their_segment() {
        assert_eq!(Web.run("../a b?c#d/é"), "/runs/..%2Fa%20b%3Fc%23d%2F%C3%A9");
        let case = Web.case("r", "a&b=c", None).expect("a page");
        assert_eq!(case, "/runs/r/trials?case=a%26b%3Dc");
        let by = Web.funnel("r", SliceDimension::Model).expect("a page");
        assert_eq!(by, "/runs/r/funnel?by=model");
    }
}
