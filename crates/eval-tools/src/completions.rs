//! Completions for arguments of prompts and resource templates.

use std::collections::BTreeSet;

use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo},
};
use strandline_contract::{schemas::DOCUMENTS, words::registry};
use strandline_store::RunFilter;

use crate::desk::Desk;

/// Runs that are looked at for completions.
const RUNS: u32 = 50;

/// Completes an argument by its name; an argument without known values has no
/// completion.
pub(crate) async fn complete(
    desk: &Desk,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = request.argument.value.as_str();
    let known = match request.argument.name.as_str() {
        "term" => terms(),
        "name" => DOCUMENTS
            .iter()
            .map(|document| document.name.to_owned())
            .collect(),
        "run" => runs(desk).await,
        _ => Vec::new(),
    };
    let mut values: Vec<String> = known
        .into_iter()
        .filter(|value| starts_with(value, typed))
        .collect();
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(values, Some(total), more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}

fn starts_with(value: &str, typed: &str) -> bool {
    let head = value.get(..typed.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(typed))
}

/// Every wire word, once.
fn terms() -> Vec<String> {
    let all = registry();
    let words = all.iter().flat_map(|vocabulary| &vocabulary.entries);
    let unique: BTreeSet<&str> = words.map(|entry| entry.wire).collect();
    unique.into_iter().map(str::to_owned).collect()
}

/// The newest runs; none where no store can be read.
async fn runs(desk: &Desk) -> Vec<String> {
    let Ok(store) = desk.store().await else {
        return Vec::new();
    };
    let page = store.runs(&RunFilter::default(), None, RUNS).await;
    let heads = page.map(|page| page.items).unwrap_or_default();
    let ids = heads.into_iter().map(|head| head.short_id);
    std::iter::once("last".to_owned()).chain(ids).collect()
}
