//! JSON Schema as rules use it: two dialects, no remote references, bounded
//! (`assertions.md` §8.3).

use std::{collections::HashMap, fmt, sync::LazyLock};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::reason::{shown_list, shown_text};

/// Largest schema that is compiled, in bytes of JSON.
const MAX_SCHEMA_BYTES: usize = 1 << 20;
/// Most backtracking steps of one `pattern`.
const MAX_PATTERN_STEPS: usize = 100_000;
/// Most schemas that validating one value may visit before violations are no
/// longer listed one by one.
const MAX_LISTED_VISITS: u64 = 20_000;
/// Most schemas that compiling may visit: repeated references multiply.
const MAX_VISITS: u64 = 200_000;
/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 200;
/// Most violations listed.
const MAX_VIOLATIONS: usize = 100;

/// A schema that no value can be validated against: nobody's violation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaError {
    /// `$schema` names a dialect that is not ours.
    #[error("the schema's dialect is not supported: {0}")]
    UnsupportedDialect(String),
    /// It is no schema, or does not compile.
    #[error("the schema is unusable: {0}")]
    Unusable(String),
}

/// A compiled schema.
pub(crate) struct Schema {
    validator: Validator,
    listable: bool,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its dialect is not supported or it does not compile.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let draft = dialect(schema)?;
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::Unusable(
                "it is neither an object nor a boolean".to_owned(),
            ));
        }
        if serde_json::to_vec(schema).map_or(usize::MAX, |text| text.len()) > MAX_SCHEMA_BYTES {
            return Err(SchemaError::Unusable(format!(
                "it is larger than {MAX_SCHEMA_BYTES} bytes"
            )));
        }
        let visits = Visits::of(schema);
        if visits > MAX_VISITS {
            return Err(SchemaError::Unusable(
                "its references branch too often or nest too deeply".to_owned(),
            ));
        }
        let mut options = jsonschema::options()
            .offline()
            .with_draft(draft)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_PATTERN_STEPS));
        if draft == Draft::Draft7 {
            // Known formats are asserted in both dialects alike.
            options = options
                .with_format("uuid", |text: &str| UUID.is_valid(&json!(text)))
                .with_format("duration", |text: &str| DURATION.is_valid(&json!(text)));
        }
        let validator = options
            .build(schema)
            .map_err(|error| SchemaError::Unusable(shown_text(&error.to_string())))?;
        Ok(Self {
            validator,
            listable: visits <= MAX_LISTED_VISITS,
        })
    }

    /// Returns every violation of a value, at most 100; empty means valid.
    pub(crate) fn violations(&self, value: &Value) -> Vec<Violation> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        if !self.listable {
            return vec![Violation {
                class: ViolationClass::Other,
                at: String::new(),
                keyword: "too many branches to name one".to_owned(),
            }];
        }
        self.validator
            .iter_errors(value)
            .take(MAX_VIOLATIONS)
            .map(|error| {
                let keyword = error.kind().keyword().to_owned();
                Violation {
                    class: ViolationClass::of(&keyword),
                    at: error.instance_path().to_string(),
                    keyword,
                }
            })
            .collect()
    }
}

static UUID: LazyLock<Validator> = LazyLock::new(|| format_validator("uuid"));
static DURATION: LazyLock<Validator> = LazyLock::new(|| format_validator("duration"));

fn format_validator(format: &str) -> Validator {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&json!({ "format": format }))
        .expect("the schema is a constant and a test compiles it")
}

/// Reads the dialect of a schema.
fn dialect(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(stated) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let uri = stated.as_str().unwrap_or_default();
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    match uri
        .strip_prefix("https://")
        .or_else(|| uri.strip_prefix("http://"))
    {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        _ => Err(SchemaError::UnsupportedDialect(
            stated
                .as_str()
                .map_or_else(|| stated.to_string(), shown_text),
        )),
    }
}

/// One way in which a value violates a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(super) class: ViolationClass,
    /// JSON pointer into the value.
    pub(crate) at: String,
    /// The keyword that does not hold.
    pub(crate) keyword: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.class.word(), self.keyword)?;
        if !self.at.is_empty() {
            write!(formatter, " at {}", shown_text(&self.at))?;
        }
        Ok(())
    }
}

/// What kind of mistake a violation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViolationClass {
    /// A required key is not there.
    MissingRequired,
    /// A value has another type.
    WrongType,
    /// A value is none of those allowed.
    BadEnum,
    /// A key is there that the schema rules out.
    HallucinatedParam,
    /// Anything else.
    Other,
}

impl ViolationClass {
    fn of(keyword: &str) -> Self {
        match keyword {
            "required" => Self::MissingRequired,
            "type" => Self::WrongType,
            "enum" | "const" => Self::BadEnum,
            "additionalProperties" | "unevaluatedProperties" => Self::HallucinatedParam,
            _ => Self::Other,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::MissingRequired => "missing-required",
            Self::WrongType => "wrong-type",
            Self::BadEnum => "bad-enum",
            Self::HallucinatedParam => "hallucinated-param",
            Self::Other => "other",
        }
    }
}

/// Returns violations as a reason lists them.
pub(crate) fn shown_violations(violations: &[Violation]) -> String {
    shown_list(violations)
}

/// Counts how many schemas validating one value may visit, references
/// followed: listing violations walks them all, however often they repeat.
struct Visits<'a> {
    root: &'a Value,
    known: HashMap<*const Value, u64>,
}

impl<'a> Visits<'a> {
    fn of(root: &'a Value) -> u64 {
        Visits {
            root,
            known: HashMap::new(),
        }
        .count(root, 0)
    }

    fn count(&mut self, schema: &Value, depth: usize) -> u64 {
        if depth > MAX_DEPTH {
            return u64::MAX;
        }
        let key = std::ptr::from_ref(schema);
        if let Some(count) = self.known.get(&key) {
            return *count;
        }
        // While it is being counted, a schema that refers to itself counts once.
        self.known.insert(key, 1);
        let count = match schema {
            Value::Array(items) => items.iter().fold(0_u64, |count, item| {
                count.saturating_add(self.count(item, depth + 1))
            }),
            Value::Object(members) => {
                // Definitions are visited where something refers to them.
                let visited = members
                    .iter()
                    .filter(|(keyword, _)| !matches!(keyword.as_str(), "$defs" | "definitions"));
                let mut count = 1_u64;
                for (_, member) in visited {
                    count = count.saturating_add(self.count(member, depth + 1));
                }
                if let Some(target) = self.target(members) {
                    count = count.saturating_add(self.count(target, depth + 1));
                }
                count
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        self.known.insert(key, count);
        count
    }

    /// Follows a reference into the same document.
    fn target(&self, members: &Map<String, Value>) -> Option<&'a Value> {
        let reference = members.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(schema: &Value, value: &Value) -> Vec<(ViolationClass, String)> {
        Schema::compile(schema)
            .unwrap_or_else(|error| panic!("{schema}: {error}"))
            .violations(value)
            .into_iter()
            .map(|violation| (violation.class, violation.at))
            .collect()
    }

    #[test]
    fn violations_are_listed_by_class_and_place() {
        let schema = json!({
            "type": "object",
            "required": ["id"],
            "additionalProperties": false,
            "properties": {
                "id": {"type": "string"},
                "n": {"type": "integer"},
                "mode": {"enum": ["a"]},
                "always": {"const": 1},
                "mail": {"format": "email"},
            },
        });
        let found = violations(
            &schema,
            &json!({"n": "1", "mode": "b", "always": 2, "mail": "x", "other": 1}),
        );
        for expected in [
            (ViolationClass::MissingRequired, ""),
            (ViolationClass::WrongType, "/n"),
            (ViolationClass::BadEnum, "/mode"),
            (ViolationClass::BadEnum, "/always"),
            (ViolationClass::Other, "/mail"),
            (ViolationClass::HallucinatedParam, ""),
        ] {
            let expected = (expected.0, expected.1.to_owned());
            assert!(found.contains(&expected), "{expected:?} not in {found:?}");
        }
        assert_eq!(violations(&schema, &json!({"id": "a", "n": 2.0})), []);
    }

    #[test]
    fn two_dialects_are_read_and_formats_asserted_in_both() {
        for dialect in [
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft-07/schema",
            "http://json-schema.org/draft/2020-12/schema",
            "https://json-schema.org/draft/2020-12/schema#",
        ] {
            for (format, good, bad) in [
                ("date", "2026-12-01", "2026-13-01"),
                ("uuid", "0190e7a0-0000-7000-8000-000000000000", "0190"),
                ("duration", "P1D", "1 day"),
            ] {
                let schema = json!({"$schema": dialect, "format": format});
                assert_eq!(violations(&schema, &json!(good)), [], "{schema}");
                assert_eq!(violations(&schema, &json!(bad)).len(), 1, "{schema}");
            }
        }
        for dialect in [
            json!("http://json-schema.org/draft-04/schema#"),
            json!("https://json-schema.org/draft/2019-09/schema"),
            json!("http://json-schema.org/draft-07/schema##"),
            json!("https://example.com/own"),
            json!(7),
        ] {
            assert!(matches!(
                Schema::compile(&json!({"$schema": dialect})),
                Err(SchemaError::UnsupportedDialect(_))
            ));
        }
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_nobodys_violation() {
        for schema in [
            json!({"type": "strnig"}),
            json!({"pattern": "("}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"$ref": "file:///etc/hostname"}),
            json!([]),
            json!(7),
            json!("object"),
        ] {
            assert!(
                matches!(Schema::compile(&schema), Err(SchemaError::Unusable(_))),
                "{schema}"
            );
        }
    }

    #[test]
    fn recursion_is_read_and_explosions_are_refused() {
        let list =
            json!({"type": "object", "required": ["x"], "properties": {"next": {"$ref": "#"}}});
        assert_eq!(violations(&list, &json!({"x": 1, "next": {"x": 1}})), []);
        assert_eq!(violations(&list, &json!({"x": 1, "next": {}})).len(), 1);
        assert_eq!(violations(&json!({"$ref": "#"}), &json!(1)), []);

        // Each definition refers twice to the next one.
        let doubling = |levels: usize| {
            let mut definitions = Map::new();
            for level in 0..levels {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                definitions.insert(format!("d{level}"), json!({"anyOf": [next, next]}));
            }
            definitions.insert(format!("d{levels}"), json!({"type": "string"}));
            json!({"$ref": "#/$defs/d0", "$defs": definitions})
        };
        assert_eq!(violations(&doubling(5), &json!(1)).len(), 1);
        assert_eq!(violations(&doubling(14), &json!(1)).len(), 1);
        assert!(matches!(
            Schema::compile(&doubling(40)),
            Err(SchemaError::Unusable(_))
        ));
        let mut deep = json!({});
        for _ in 0..300 {
            deep = json!({"items": deep});
        }
        assert!(matches!(
            Schema::compile(&deep),
            Err(SchemaError::Unusable(_))
        ));
    }

    #[test]
    fn a_foreign_pattern_stops_after_its_steps() {
        let schema = json!({"pattern": "^(?=a)(a|aa)+\\1$"});
        let text = "a".repeat(60);
        assert!(violations(&schema, &json!(format!("{text}b"))).len() <= 1);
    }
}
