//! A chain as JSON text, written without a serializer.
//!
//! Chains are written by the hundred thousand, and nearly all of a chain is
//! keys and words that need no escaping. The text is exactly that of the
//! chain's `Serialize`; a test holds the two against each other.

use crate::{
    chain::{Chain, StageEvidence, StageRow},
    words::Vocabulary,
};

/// Appends a chain as JSON text.
pub fn write_chain(chain: &Chain<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"stageResults\":[");
    write_list(&chain.stage_results, out, write_row);
    out.push(b']');
    if let Some(stage) = chain.first_failed_stage {
        write_word(b",\"firstFailedStage\":\"", stage, out);
    }
    if let Some(category) = chain.failure_category {
        write_word(b",\"failureCategory\":\"", category, out);
    }
    out.extend_from_slice(b",\"stageAnalyzerVersion\":");
    write_integer(i64::from(chain.stage_analyzer_version), out);
    out.push(b'}');
}

fn write_row(row: &StageRow<'_>, out: &mut Vec<u8>) {
    write_word(b"{\"stage\":\"", row.stage, out);
    write_word(b",\"state\":\"", row.state, out);
    if let Some(reason) = row.reason {
        write_word(b",\"reason\":\"", reason, out);
    }
    if let Some(evidence) = &row.evidence {
        out.extend_from_slice(b",\"evidence\":{");
        write_evidence(evidence, out);
        out.push(b'}');
    }
    out.push(b'}');
}

fn write_evidence(evidence: &StageEvidence<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let key = |name: &[u8], out: &mut Vec<u8>| {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(name);
    };
    if let Some(ids) = &evidence.span_ids {
        key(b"\"spanIds\":[", out);
        write_list(ids, out, |id, out| write_text(id, out));
        out.push(b']');
    }
    if let Some(indexes) = &evidence.prompt_indexes {
        key(b"\"promptIndexes\":[", out);
        write_list(indexes, out, |index, out| write_integer(*index, out));
        out.push(b']');
    }
    if let Some(reasons) = &evidence.predicate_reasons {
        key(b"\"predicateReasons\":[", out);
        write_list(reasons, out, |reason, out| write_text(reason, out));
        out.push(b']');
    }
}

fn write_list<T>(items: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}

/// Writes a key up to its opening quote, and a word, which needs no escaping.
fn write_word(key: &[u8], word: impl Vocabulary, out: &mut Vec<u8>) {
    out.extend_from_slice(key);
    out.extend_from_slice(word.wire().as_bytes());
    out.push(b'"');
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    // Looks at every byte, so that it can look at several at once.
    let escapes = text.bytes().fold(false, |found, byte| {
        found | (byte < b' ') | (byte == b'"') | (byte == b'\\')
    });
    if escapes {
        write_escaped(text, out);
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, text).is_err() {
        // Writing text to memory does not fail.
        out.truncate(start);
        out.extend_from_slice(b"\"\"");
    }
}

fn write_integer(integer: i64, out: &mut Vec<u8>) {
    if let Ok(digit @ 0..=9) = u8::try_from(integer) {
        out.push(b'0' + digit);
    } else {
        out.extend_from_slice(integer.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::{collection::vec, option, prelude::*, sample::select};

    use super::*;
    use crate::words::{FailureCategory, Stage, StageReason, StageState};

    fn texts() -> impl Strategy<Value = Vec<Cow<'static, str>>> {
        let text = prop_oneof!["[a-z0-9-]{0,9}", "\\PC{0,9}", "[\\x00-\\x7f\"\\\\🚢]{0,9}"];
        vec(text.prop_map(Cow::Owned), 0..4)
    }

    fn row() -> impl Strategy<Value = StageRow<'static>> {
        let evidence = (
            option::of(texts()),
            option::of(vec(any::<i64>(), 0..3)),
            option::of(texts()),
        );
        let evidence =
            evidence.prop_map(
                |(span_ids, prompt_indexes, predicate_reasons)| StageEvidence {
                    span_ids,
                    prompt_indexes,
                    predicate_reasons,
                },
            );
        (
            select(Stage::ALL),
            select(StageState::ALL),
            option::of(select(StageReason::ALL)),
            option::of(evidence),
        )
            .prop_map(|(stage, state, reason, evidence)| StageRow {
                stage,
                state,
                reason,
                evidence,
            })
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_serializer(
            stage_results in vec(row(), 0..7),
            first_failed_stage in option::of(select(Stage::ALL)),
            failure_category in option::of(select(FailureCategory::ALL)),
            stage_analyzer_version in any::<u32>(),
        ) {
            let chain = Chain {
                stage_results,
                first_failed_stage,
                failure_category,
                stage_analyzer_version,
            };
            let mut written = Vec::new();
            write_chain(&chain, &mut written);
            let serialized = serde_json::to_vec(&chain).expect("a chain is JSON");
            prop_assert_eq!(written, serialized);
        }
    }
}
