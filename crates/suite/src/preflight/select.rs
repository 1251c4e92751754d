//! Which cases run (`suite-file.md` §9.4 step 3).

use std::collections::BTreeSet;

use strandline_contract::{
    suite::{ResolvedCase, ResolvedSuite},
    words::RefusalCode,
};

use crate::refusal::Refusal;

/// Returns the selected cases in authored order; without a selection, every
/// enabled one.
///
/// # Errors
///
/// `CASE_SELECTION_INVALID` for each id that is unknown, repeated or disabled,
/// and when no case is left.
pub fn select_cases<'suite>(
    suite: &'suite ResolvedSuite,
    ids: &[String],
) -> Result<Vec<&'suite ResolvedCase>, Vec<Refusal>> {
    let refuse = |message: String| Refusal::new(RefusalCode::CaseSelectionInvalid, message);
    if ids.is_empty() {
        let cases: Vec<_> = suite.enabled_cases().collect();
        if cases.is_empty() {
            return Err(vec![refuse(
                "every case of the suite is disabled".to_owned(),
            )]);
        }
        return Ok(cases);
    }

    let mut refusals = Vec::new();
    let mut wanted = BTreeSet::new();
    for id in ids {
        let case = suite.cases.iter().find(|case| case.id == *id);
        let refusal = match case {
            None => unknown(suite, id, refuse(format!("no case has the id `{id}`"))),
            Some(case) if case.disabled => refuse(format!("case `{id}` is disabled")).of_case(id),
            Some(_) if wanted.insert(id) => continue,
            Some(_) => refuse(format!("case `{id}` is selected twice")).of_case(id),
        };
        refusals.push(refusal);
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    Ok(suite
        .cases
        .iter()
        .filter(|case| wanted.contains(&case.id))
        .collect())
}

/// Adds the id that was probably meant, or where ids are listed.
fn unknown(suite: &ResolvedSuite, id: &str, refusal: Refusal) -> Refusal {
    let nearest = suite
        .cases
        .iter()
        .map(|case| {
            let by_id = strsim::damerau_levenshtein(id, &case.id);
            let by_title = if case.title.eq_ignore_ascii_case(id) {
                0
            } else {
                by_id
            };
            (by_id.min(by_title), case)
        })
        .filter(|(distance, _)| *distance <= 3)
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((_, case)) => refusal.hint(format!("did you mean `{}` ({})?", case.id, case.title)),
        None => refusal.hint("ids are exact; `strandline validate --json FILE` lists them"),
    }
}
