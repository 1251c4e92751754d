//! `${NAME}` and `${NAME:-default}` (`suite-file.md` §9.2).

use std::{collections::BTreeSet, sync::LazyLock};

use regex::{Captures, Regex};

use super::Environment;

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}").expect("a constant that compiles")
});

/// Replaces the references of a text; a value is never expanded again.
///
/// A name that is unset and has no default is added to `missing`.
pub fn expand(text: &str, environment: Environment<'_>, missing: &mut BTreeSet<String>) -> String {
    REFERENCE
        .replace_all(text, |captures: &Captures<'_>| {
            let name = &captures[1];
            let default = captures
                .get(2)
                .and(captures.get(3))
                .map(|group| group.as_str());
            match (environment(name), default) {
                (Some(value), None) => value,
                (Some(value), Some(default)) => {
                    if value.is_empty() {
                        default.to_owned()
                    } else {
                        value
                    }
                }
                (None, Some(default)) => default.to_owned(),
                (None, None) => {
                    missing.insert(name.to_owned());
                    String::new()
                }
            }
        })
        .into_owned()
}

/// Returns whether a text refers to the environment.
pub(crate) fn has_reference(text: &str) -> bool {
    REFERENCE.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> (String, Vec<String>) {
        let environment = |name: &str| match name {
            "SET" => Some("value".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${SET}".to_owned()),
            _ => None,
        };
        let mut missing = BTreeSet::new();
        let text = expand(text, &environment, &mut missing);
        (text, missing.into_iter().collect())
    }

    #[test]
    fn references_follow_the_table() {
        for (text, expected) in [
            ("a ${SET} b", "a value b"),
            ("${EMPTY}", ""),
            ("${EMPTY:-d}", "d"),
            ("${UNSET:-d e}", "d e"),
            ("${UNSET:-}", ""),
            ("${SET:-d}", "value"),
            ("${NESTED}", "${SET}"),
            (
                "$SET ~ $(x) ${1X} ${SET-d} ${}",
                "$SET ~ $(x) ${1X} ${SET-d} ${}",
            ),
            ("${UNSET:-a${SET}}", "a${SET}"),
        ] {
            assert_eq!(expanded(text), (expected.to_owned(), vec![]), "{text}");
        }
    }

    #[test]
    fn every_missing_name_is_told() {
        let (_, missing) = expanded("${B} ${A} ${B} ${C:-c}");
        assert_eq!(missing, ["A", "B"]);
    }
}
