//! Which identifiers a result carries (`friction.md` §5).
//!
//! Values stay inside the derivation: only key paths and counts are told.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use serde_json::Value;
use strandline_contract::{
    canonical::by_code_units,
    ecma::{trim, utf16_len},
};

use super::{arguments::number_text, lenient, result::NormalResult};

/// Most candidates of one result.
const MAX_CANDIDATES: usize = 200;
/// Levels that are walked.
const WALK_DEPTH: usize = 6;
/// Array items that are walked.
const WALK_ARRAY_ITEMS: usize = 50;
/// Shortest candidate, UTF-16 code units.
const MIN_LENGTH: usize = 3;

/// The identifiers of one result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Identifiers {
    /// Distinct values, by UTF-16 code units.
    pub(super) values: Vec<String>,
    /// Distinct key paths, by UTF-16 code units.
    pub(super) key_paths: Vec<String>,
    /// Some part of the result was not walked.
    pub(super) truncated: bool,
}

/// Extracts the identifiers of a result.
pub(super) fn extract(result: &NormalResult<'_>) -> Identifiers {
    let mut walk = Walk::default();
    if let Some(content) = result.structured_content {
        walk.visit(content, "", 0, false);
        return walk.finish();
    }
    for part in &result.text_parts {
        if walk.is_full() {
            walk.truncated = true;
            break;
        }
        if !looks_like_json(part) {
            continue;
        }
        // The untrimmed part; what does not parse is no evidence.
        if let Some(parsed) = lenient::parse(part) {
            walk.visit(&parsed.value, "", 0, false);
        }
    }
    walk.finish()
}

fn looks_like_json(part: &str) -> bool {
    let trimmed = trim(part);
    (trimmed.starts_with('{') && trimmed.contains('}'))
        || (trimmed.starts_with('[') && trimmed.contains(']'))
}

#[derive(Default)]
struct Walk {
    candidates: Vec<(String, String)>,
    truncated: bool,
}

impl Walk {
    fn is_full(&self) -> bool {
        self.candidates.len() >= MAX_CANDIDATES
    }

    fn visit(&mut self, value: &Value, path: &str, depth: usize, named: bool) {
        // 1. Any value beyond the last candidate.
        if self.is_full() {
            self.truncated = true;
            return;
        }
        match value {
            // 2. An array's items are named as the array is.
            Value::Array(items) => {
                if depth >= WALK_DEPTH {
                    self.truncated |= !items.is_empty();
                    return;
                }
                self.truncated |= items.len() > WALK_ARRAY_ITEMS;
                let path = format!("{path}[]");
                for item in items.iter().take(WALK_ARRAY_ITEMS) {
                    self.visit(item, &path, depth + 1, named);
                }
            }
            // 3. An object's members are named by their own keys.
            Value::Object(members) => {
                if depth >= WALK_DEPTH {
                    self.truncated |= !members.is_empty();
                    return;
                }
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by(|(left, _), (right, _)| by_code_units(left, right));
                for (key, member) in members {
                    let path = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    self.visit(member, &path, depth + 1, names_identifier(key));
                }
            }
            // 4. A scalar.
            Value::String(text) => self.candidate(trim(text), path, named),
            Value::Number(number) => self.candidate(&number_text(number), path, named),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn candidate(&mut self, value: &str, path: &str, named: bool) {
        if utf16_len(value) < MIN_LENGTH || !(named || is_literal(value)) {
            return;
        }
        let path = if path.is_empty() { "$" } else { path };
        self.candidates.push((value.to_owned(), path.to_owned()));
    }

    fn finish(self) -> Identifiers {
        let (values, paths) = self.candidates.into_iter().unzip();
        Identifiers {
            values: distinct(values),
            key_paths: distinct(paths),
            truncated: self.truncated,
        }
    }
}

fn distinct(texts: BTreeSet<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort_by(|left, right| by_code_units(left, right));
    texts
}

/// Returns whether a key names an identifier: its last word does, or it ends
/// in `Id`.
fn names_identifier(key: &str) -> bool {
    const WORDS: [&str; 8] = [
        "id",
        "ids",
        "key",
        "uuid",
        "slug",
        "number",
        "ref",
        "identifier",
    ];
    let bytes = key.as_bytes();
    let ends_in_word = WORDS.iter().any(|word| {
        let Some(start) = bytes.len().checked_sub(word.len()) else {
            return false;
        };
        bytes[start..].eq_ignore_ascii_case(word.as_bytes())
            && (start == 0 || bytes[start - 1] == b'_')
    });
    ends_in_word || key.ends_with("Id")
}

/// Returns whether a text looks like an identifier wherever it stands.
fn is_literal(value: &str) -> bool {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
        // Case is folded in ASCII only, and `$` is the end of the text.
        Regex::new(
            "^(?i-u:[A-Za-z]{1,12}-[A-Za-z0-9]{1,32}\
             |[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\
             |[0-9A-HJKMNP-TV-Z]{26}\
             |[0-9a-f]{8,})$",
        )
        .expect("the pattern is valid")
    });
    LITERAL.is_match(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::friction::result::normalise;

    fn told(raw: &Value) -> (String, String, bool) {
        let found = extract(&normalise(raw));
        (
            found.values.join(" "),
            found.key_paths.join(" "),
            found.truncated,
        )
    }

    fn expect(raw: &Value, values: &str, paths: &str, truncated: bool) {
        let expected = (values.to_owned(), paths.to_owned(), truncated);
        assert_eq!(told(raw), expected, "{raw}");
    }

    #[test]
    fn identifiers_are_as_pinned() {
        expect(
            &json!({"structuredContent": {"id": 12, "ids": ["abc", "xy"],
                "user": {"id": {"value": "zzz"}}, "status": "in-progress", "when": 20260101,
                "price": 12.5, "parentId": "p-1", "ParentID": "Q12", "paid": "abcd",
                "issue_key": "K1"}}),
            "20260101 abc in-progress p-1",
            "ids[] parentId status when",
            false,
        );
        let text = |text: &str| json!({"type": "text", "text": text});
        expect(
            &json!({"content": [text("{\"id\":\"ISSUE-9001\"}"), text("prose"),
                text(" [{\"uuid\":\"u-1\"}] ")]}),
            "ISSUE-9001 u-1",
            "[].uuid id",
            false,
        );
        expect(
            &json!({"result": {"structuredContent": null,
                "content": [text("{\"id\":\"hidden\"}")]}}),
            "",
            "",
            false,
        );
        expect(
            &json!({"structuredContent": "ISSUE-41"}),
            "ISSUE-41",
            "$",
            false,
        );
        let nested =
            |f: Value| json!({"structuredContent": {"a": {"b": {"c": {"d": {"e": {"f": f}}}}}}});
        expect(&nested(json!("ABC-1")), "ABC-1", "a.b.c.d.e.f", false);
        expect(&nested(json!({"g": "ABC-1"})), "", "", true);
        expect(&nested(json!({})), "", "", false);
    }

    #[test]
    fn case_is_folded_in_ascii_only() {
        assert!(names_identifier("ISSUE_KEY") && names_identifier("orderId"));
        for key in [
            "apiKey",
            "paid",
            "ParentID",
            "\u{212a}ey",
            "_\u{212a}ey",
            "id\n",
            "",
        ] {
            assert!(!names_identifier(key), "{key}");
        }
        assert!(is_literal("deadBEEF") && is_literal("01arz3ndektsv4rrffq69g5fav"));
        for text in ["\u{17f}-1", "deadbee", "ABC-1\n", "a-", "-1"] {
            assert!(!is_literal(text), "{text}");
        }
    }

    #[test]
    fn exactly_as_many_candidates_as_kept_are_not_truncated() {
        let ids = |count: usize| {
            let rows: Vec<Value> = (0..count / 4)
                .map(|row| {
                    let id = |column: usize| format!("id-{row}-{column}");
                    json!({"a_id": id(0), "b_id": id(1), "c_id": id(2), "d_id": id(3)})
                })
                .collect();
            json!({"structuredContent": rows})
        };
        assert_eq!(extract(&normalise(&ids(200))).values.len(), 200);
        assert!(!extract(&normalise(&ids(200))).truncated);
        assert!(extract(&normalise(&ids(204))).truncated);
        let long: Vec<usize> = (0..51).collect();
        assert!(extract(&normalise(&json!({"structuredContent": long}))).truncated);
    }

    #[test]
    fn a_deeply_nested_text_is_truncated_not_unread() {
        let deep = format!(
            "{{\"id\":\"ABC-1\",\"x\":{}{}}}",
            "[".repeat(400),
            "]".repeat(400)
        );
        let found = extract(&normalise(&json!({"content": [{"text": deep}]})));
        assert_eq!(found.values, ["ABC-1"]);
        assert!(found.truncated);
    }

    #[test]
    fn an_overflowing_number_is_no_candidate() {
        let text = r#"{"id":1e999,"other_id":"abc"}"#;
        let found = extract(&normalise(&json!(text)));
        assert_eq!(found.values, ["abc"]);
    }
}
