//! Which imported cases may run (`suite-file.md` §5.1).

use std::collections::BTreeSet;

use serde_json::Value as Json;
use strandline_contract::{
    ecma,
    suite::{ResolvedCase, ResolvedSuite},
    words::RefusalCode,
};

use crate::refusal::Refusal;

/// Someone's word that an approximated case may be run this once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The case.
    pub case_id: String,
    /// Why, 1 to 500 characters.
    pub reason: String,
}

impl Approval {
    /// Reads `CASE=REASON`.
    ///
    /// # Errors
    ///
    /// `IMPORT_INELIGIBLE` (`invalid_approval`) for any other shape.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text.split_once('=') {
            Some((case_id, reason)) if !case_id.trim().is_empty() => Ok(Self {
                case_id: case_id.trim().to_owned(),
                reason: reason.to_owned(),
            }),
            _ => Err(refusal(
                "invalid_approval",
                format!("an approval must be `CASE=REASON`, not `{text}`"),
            )),
        }
    }
}

/// Checks imported cases against the approvals of this run.
///
/// # Errors
///
/// Every case that may not run and every approval that does not fit, with the
/// gate's own word as `reason`.
pub fn import_gate(
    suite: &ResolvedSuite,
    selected: &[&ResolvedCase],
    approvals: &[Approval],
) -> Result<(), Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut approved = BTreeSet::new();
    for approval in approvals {
        let id = approval.case_id.as_str();
        if !approved.insert(id) {
            let message = format!("case `{id}` is approved twice");
            refusals.push(refusal("duplicate_approval", message).of_case(id));
            continue;
        }
        if let Some((reason, why)) = misfit(suite, selected, approval) {
            let message = format!("the approval of case `{id}` does not fit: {why}");
            refusals.push(refusal(reason, message).of_case(id));
        }
    }
    for case in selected {
        let (reason, why) = match status(case) {
            None | Some("exact") => continue,
            Some("approximated") if approved.contains(case.id.as_str()) => continue,
            Some("approximated") => (
                "approval_required",
                "its conversion is approximate; approve it for this run",
            ),
            Some("unsupported") => ("unsupported_case", "its source could not be converted"),
            Some(_) => ("unresolved_case", "its conversion is not finished"),
        };
        let message = format!("case `{}` ({}) may not run: {why}", case.id, case.title);
        refusals.push(refusal(reason, message).of_case(&case.id));
    }
    if refusals.is_empty() {
        Ok(())
    } else {
        Err(refusals)
    }
}

/// Why an approval does not fit, first reason wins.
fn misfit(
    suite: &ResolvedSuite,
    selected: &[&ResolvedCase],
    approval: &Approval,
) -> Option<(&'static str, &'static str)> {
    let Some(case) = suite.cases.iter().find(|case| case.id == approval.case_id) else {
        return Some(("approval_case_unknown", "no case has this id"));
    };
    if case.disabled {
        return Some(("approval_case_disabled", "the case is disabled"));
    }
    if !selected.iter().any(|selected| selected.id == case.id) {
        return Some(("approval_case_not_selected", "the case is not selected"));
    }
    match status(case) {
        None => return Some(("approval_case_not_imported", "the case was not imported")),
        Some("exact") => return Some(("approval_not_required", "the conversion is exact")),
        Some("unsupported") => {
            return Some(("unsupported_case", "its source could not be converted"));
        }
        Some("unresolved") => return Some(("unresolved_case", "its conversion is not finished")),
        Some(_) => {}
    }
    let length = ecma::utf16_len(&approval.reason);
    if ecma::is_blank(&approval.reason) || length > 500 {
        return Some((
            "invalid_approval_reason",
            "it needs a reason of 1 to 500 characters",
        ));
    }
    None
}

fn status(case: &ResolvedCase) -> Option<&str> {
    case.import.as_ref()?.get("status").and_then(Json::as_str)
}

fn refusal(reason: &'static str, message: String) -> Refusal {
    let mut refusal = Refusal::new(RefusalCode::ImportIneligible, message);
    refusal.reason = Some(reason);
    refusal
}
