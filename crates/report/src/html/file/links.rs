//! Where things lie in the file: everything is a fragment.

use std::{collections::BTreeMap, fmt::Write};

use strandline_contract::{
    run::{ExecutionVariant, RunRecord},
    words::SliceDimension,
};

use crate::html::Links;

/// Addresses inside the file of one run.
#[derive(Debug, Clone)]
pub struct FileLinks {
    /// The place of each case variant in the plan.
    cases: BTreeMap<(String, Option<ExecutionVariant>), usize>,
}

impl FileLinks {
    /// Makes the addresses of a run's file.
    #[must_use]
    pub fn new(run: &RunRecord) -> Self {
        let plan = run.plan.iter().enumerate();
        Self {
            cases: plan
                .map(|(place, plan)| ((plan.case_id.clone(), plan.variant.clone()), place))
                .collect(),
        }
    }

    /// Returns the place of a case variant in the plan.
    #[must_use]
    pub fn case_place(&self, case_id: &str, variant: Option<&ExecutionVariant>) -> Option<usize> {
        let key = (case_id.to_owned(), variant.cloned());
        self.cases.get(&key).copied()
    }
}

impl Links for FileLinks {
    fn runs(&self) -> Option<String> {
        None
    }

    fn run(&self, _run_id: &str) -> String {
        "#run".to_owned()
    }

    fn case(
        &self,
        _run_id: &str,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
    ) -> Option<String> {
        let place = self.case_place(case_id, variant)?;
        Some(format!("#case/{place}"))
    }

    fn trial(&self, _run_id: &str, trial_id: &str) -> String {
        format!("#trial/{}", encoded(trial_id))
    }

    fn funnel(&self, _run_id: &str, _by: SliceDimension) -> Option<String> {
        None
    }

    fn friction(&self, _run_id: &str) -> Option<String> {
        None
    }

    fn compare(&self, _run_id: &str) -> Option<String> {
        None
    }

    fn trend(&self, _suite_id: &str) -> Option<String> {
        None
    }

    fn run_json(&self, _run_id: &str) -> Option<String> {
        None
    }

    fn trial_json(&self, _run_id: &str, _trial_id: &str) -> Option<String> {
        None
    }

    fn frames(&self, _run_id: &str, _trial_id: &str) -> Option<String> {
        None
    }

    fn events(&self, _run_id: &str) -> Option<String> {
        None
    }

    fn glossary(&self) -> String {
        "#glossary".to_owned()
    }

    fn term(&self, entry: &strandline_contract::words::Entry) -> String {
        format!("#{}", crate::html::term_anchor(entry))
    }
}

/// Returns a text as a fragment may hold it, anything unusual in per-cent form.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_holds_nothing_unusual() {
        assert_eq!(encoded("019ad2b4-0-1"), "019ad2b4-0-1");
        assert_eq!(encoded("a/\"é#"), "a%2F%22%C3%A9%23");
    }
}
