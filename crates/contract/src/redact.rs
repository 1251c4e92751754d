//! What is masked before anything is stored, shown or logged
//! (`assertions.md` §7.4).
//!
//! Structured values are masked by key, free text by shape. Both are applied
//! to whatever came from a suite, a server or a model.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// Stands where a secret was.
pub const REDACTED: &str = "«redacted»";
/// Stands where a value was nested too deeply to be shown.
pub const DEPTH_LIMIT: &str = "«depth-limit»";

/// The deepest level that is shown; the value itself is level 0.
const MAX_LEVEL: usize = 6;
/// How many items of an array are shown.
const MAX_ITEMS: usize = 20;

/// Words that make a key's value secret, in lower case.
///
/// `-` stands for an optional `-` or `_`.
const SECRET_KEYS: [&str; 12] = [
    "authorization",
    "bearer",
    "password",
    "passwd",
    "secret",
    "token",
    "api-key",
    "access-key",
    "client-secret",
    "cookie",
    "credential",
    "private-key",
];

/// Returns whether a key names a secret: one of the words is anywhere in it,
/// in any case (`tokens`, `Auth-Cookie`).
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_KEYS.iter().any(|word| match word.split_once('-') {
        None => key.contains(word),
        Some((head, tail)) => key.match_indices(head).any(|(offset, _)| {
            let rest = &key[offset + head.len()..];
            rest.strip_prefix(['-', '_'])
                .unwrap_or(rest)
                .starts_with(tail)
        }),
    })
}

/// Returns a value as it may be stored and shown: secrets masked by key,
/// levels below the sixth replaced, arrays cut to 20 items.
#[must_use]
pub fn redact_value(value: &Value) -> Value {
    redact_level(value, 0)
}

/// Returns an object as it may be stored and shown, like [`redact_value`].
#[must_use]
pub fn redact_object(object: &Map<String, Value>) -> Map<String, Value> {
    redact_members(object, 0)
}

fn redact_level(value: &Value, level: usize) -> Value {
    if level > MAX_LEVEL {
        return Value::from(DEPTH_LIMIT);
    }
    match value {
        Value::Object(members) => Value::Object(redact_members(members, level)),
        Value::Array(items) => items
            .iter()
            .take(MAX_ITEMS)
            .map(|item| redact_level(item, level + 1))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn redact_members(members: &Map<String, Value>, level: usize) -> Map<String, Value> {
    members
        .iter()
        .map(|(key, value)| {
            // The key is tested before the level.
            let shown = if is_secret_key(key) {
                Value::from(REDACTED)
            } else {
                redact_level(value, level + 1)
            };
            (key.clone(), shown)
        })
        .collect()
}

/// Returns free text with credentials masked.
#[must_use]
pub fn redact_text(text: &str) -> String {
    // 1. A secret key with its value; key and separator stay. Quotes around
    //    either are tolerated, so that serialized JSON is masked too.
    let text = KEYED.replace_all(text, format!("${{lead}}{REDACTED}"));
    // 2. A bearer credential.
    let text = BEARER.replace_all(&text, format!("${{lead}}{REDACTED}"));
    // 3. A vendor's token by its prefix.
    PREFIXED.replace_all(&text, REDACTED).into_owned()
}

/// Returns whether a header or setting looks like a credential written out,
/// by its key or by the shape of its value.
#[must_use]
pub fn looks_like_credential(key: &str, value: &str) -> bool {
    is_secret_key(key) || redact_text(value) != value
}

static KEYED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?i)(?<lead>(?:authorization|password|passwd|secret|token|api[_-]?key|access[_-]?key|client[_-]?secret|cookie|credential|private[_-]?key)["']?\s*[:=]\s*["']?(?:bearer\s+)?)[a-z0-9_.\-+/=]{6,}"#,
    )
});
static BEARER: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?i)(?<lead>\bbearer\s+)[a-z0-9_.\-+/=]{8,}"));
static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|xox[abprs])[-_][A-Za-z0-9_.\-+/=]{8,}")
});

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant and a test compiles it")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_secret_wherever_the_word_stands() {
        for key in [
            "tokens",
            "Auth-Cookie",
            "API_KEY",
            "x-api-key",
            "apikey",
            "AccessKey",
            "access-key",
            "privateKey",
            "clientSecret",
            "Authorization",
            "db_passwd",
            "bearerAuth",
        ] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in [
            "key",
            "api",
            "api__key",
            "auth",
            "author",
            "passw",
            "apisomekey",
        ] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn values_below_the_sixth_level_are_replaced_and_keys_win() {
        assert_eq!(
            redact_value(&json!({"a":{"b":{"c":{"d":{"e":{"f":{"g":1,"token":2}}}}}}})),
            json!({"a":{"b":{"c":{"d":{"e":{"f":{"g":DEPTH_LIMIT,"token":REDACTED}}}}}}})
        );
        let long: Vec<u32> = (0..22).collect();
        assert_eq!(
            redact_value(&json!([long])),
            json!([(0..20).collect::<Vec<u32>>()])
        );
        assert_eq!(
            redact_value(&json!({"deep": {"Token": {"x": 1}}})),
            json!({"deep": {"Token": REDACTED}})
        );
    }

    #[test]
    fn free_text_loses_credentials_and_keeps_the_rest() {
        for (text, shown) in [
            ("api_key=abcdef1 failed", "api_key=«redacted» failed"),
            (
                "Authorization: Bearer abc.def-123",
                "Authorization: Bearer «redacted»",
            ),
            (r#"{"token":"abcdef123"}"#, r#"{"token":"«redacted»"}"#),
            ("Bearer abcdefgh1", "Bearer «redacted»"),
            ("used sk-abcdefgh12 twice", "used «redacted» twice"),
            ("ghp_0123456789abcdef", "«redacted»"),
            ("token: abc", "token: abc"),
            ("the bearer of news", "the bearer of news"),
            ("risk-abcdefghij", "risk-abcdefghij"),
        ] {
            assert_eq!(redact_text(text), shown);
        }
    }

    #[test]
    fn a_credential_is_seen_by_key_or_by_shape() {
        assert!(looks_like_credential("Authorization", "x"));
        assert!(looks_like_credential("X-Auth", "Bearer 0123456789"));
        assert!(!looks_like_credential("Accept", "application/json"));
    }
}
