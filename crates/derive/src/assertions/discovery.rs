//! Rules filed under discovery: what the servers declare
//! (`assertions.md` §8.1).

use std::{collections::BTreeSet, sync::LazyLock};

use regex::RegexSet;
use serde_json::Value;
use strandline_contract::{ecma, transcript::ToolDeclaration};

use super::{
    evidence::Evidence,
    outcome::{Outcome, Params, Unusable, malformed},
    reason::{counted, shown_list, shown_text},
    rule::Rule,
};

/// Least length of a description, where the rule names none.
const DEFAULT_MIN_LENGTH: u64 = 20;

/// Every tool has a description of a least length.
pub(super) struct ToolDescriptionsPresent {
    min_length: u64,
}

impl ToolDescriptionsPresent {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let min_length = match params.get("minLength") {
            None => DEFAULT_MIN_LENGTH,
            Some(_) => params.positive("minLength").ok_or_else(|| {
                Outcome::Error("`minLength` is not a positive whole number".to_owned())
            })?,
        };
        Ok(Self { min_length })
    }
}

impl Rule for ToolDescriptionsPresent {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        every_tool(
            evidence,
            &format!("a description of at least {} characters", self.min_length),
            |tool| {
                let description = tool.description.as_deref().unwrap_or_default();
                ecma::utf16_len(ecma::trim(description)) as u64 >= self.min_length
            },
        )
    }
}

/// Every tool has annotations, with the required hints as booleans.
pub(super) struct ToolAnnotationsPresent {
    require: Vec<String>,
}

impl ToolAnnotationsPresent {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let require = match params.get("require") {
            None => Vec::new(),
            Some(_) => params.texts("require")?,
        };
        if require
            .iter()
            .any(|hint| !matches!(hint.as_str(), "readOnlyHint" | "destructiveHint"))
        {
            return Err(malformed(
                "`require` names something else than `readOnlyHint` and `destructiveHint`",
            ));
        }
        Ok(Self { require })
    }
}

impl Rule for ToolAnnotationsPresent {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let what = if self.require.is_empty() {
            "annotations".to_owned()
        } else {
            format!("annotations with {}", self.require.join(" and "))
        };
        every_tool(evidence, &what, |tool| {
            tool.annotations
                .as_ref()
                .and_then(Value::as_object)
                .is_some_and(|annotations| {
                    self.require
                        .iter()
                        .all(|hint| annotations.get(hint).is_some_and(Value::is_boolean))
                })
        })
    }
}

/// No server lists the same name twice.
pub(super) struct ToolNamesUnique;

impl Rule for ToolNamesUnique {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let mut seen = BTreeSet::new();
        every_tool(evidence, "a name of its own", |tool| {
            seen.insert((tool.server_key.as_str(), tool.name.as_str()))
        })
    }
}

/// No listed tool declares itself deprecated.
pub(super) struct NoDeprecatedToolExposed;

impl Rule for NoDeprecatedToolExposed {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        every_tool(
            evidence,
            "a description that does not call it deprecated",
            |tool| {
                !tool
                    .description
                    .as_deref()
                    .is_some_and(declares_itself_deprecated)
            },
        )
    }
}

/// Every input schema is an object schema with described properties.
pub(super) struct ToolInputSchemasWellFormed;

impl Rule for ToolInputSchemasWellFormed {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        every_tool(evidence, "a well-formed input schema", |tool| {
            let Some(schema) = tool.input_schema.as_ref().and_then(Value::as_object) else {
                return false;
            };
            let described = |property: &Value| {
                property
                    .get("description")
                    .and_then(Value::as_str)
                    .is_some_and(|description| !ecma::is_blank(description))
            };
            schema.get("type").and_then(Value::as_str) == Some("object")
                && schema.get("properties").is_none_or(|properties| {
                    properties
                        .as_object()
                        .is_some_and(|properties| properties.values().all(described))
                })
        })
    }
}

/// Every tool declares an output schema.
pub(super) struct ToolOutputSchemasPresent;

impl Rule for ToolOutputSchemasPresent {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        every_tool(evidence, "an output schema", |tool| {
            tool.output_schema.is_some()
        })
    }
}

/// Passes when every declared tool is fine; names the offenders otherwise.
fn every_tool<'a>(
    evidence: &Evidence<'a>,
    what: &str,
    mut fine: impl FnMut(&'a ToolDeclaration) -> bool,
) -> Outcome {
    let tools = match evidence.declarations() {
        Ok(tools) => tools,
        Err(error) => return error,
    };
    if tools.is_empty() {
        return Outcome::Pass("no server lists a tool, so nothing lacks anything".to_owned());
    }
    let offenders: Vec<String> = tools
        .iter()
        .filter(|tool| !fine(tool))
        .map(|tool| {
            format!(
                "{}/{}",
                shown_text(&tool.server_key),
                shown_text(&tool.name)
            )
        })
        .collect();
    if offenders.is_empty() {
        return Outcome::Pass(format!(
            "each of {} has {what}",
            counted(tools.len(), "tool")
        ));
    }
    Outcome::Fail(format!(
        "{} of {} without {what}: {}",
        offenders.len(),
        counted(tools.len(), "tool"),
        shown_list(&offenders)
    ))
}

/// Returns whether a description says that its own tool is deprecated.
pub(super) fn declares_itself_deprecated(description: &str) -> bool {
    DEPRECATED.is_match(description)
}

/// Letters and word boundaries are ASCII, white space is ECMAScript's.
static DEPRECATED: LazyLock<RegexSet> = LazyLock::new(|| {
    const SPACE: &str = r"[\s\x{feff}--\x{85}]";
    const NO_SPACE: &str = r"[^[\s\x{feff}--\x{85}]]";
    RegexSet::new([
        format!(r"^{SPACE}*\[?{SPACE}*(?i-u:deprecated\b)"),
        r"(?i-u:\bthis (?:tool|endpoint|method) is deprecated\b)".to_owned(),
        r"(?i-u:\bdeprecated[:.])".to_owned(),
        format!(r"(?i-u:\buse){SPACE}+{NO_SPACE}+{SPACE}+(?i-u:instead\b)"),
    ])
    .expect("the patterns are constants and a test compiles them")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_deprecated_when_its_description_says_so_of_itself() {
        for description in [
            "Deprecated",
            " [ DEPRECATED ] old search",
            "This endpoint is deprecated since 2.0",
            "Old. deprecated: no replacement",
            "Please use\u{a0}search_v2 instead",
        ] {
            assert!(declares_itself_deprecated(description), "{description}");
        }
        for description in [
            "Replaces the deprecated `x` tool",
            "Deprecatedly named",
            "used search instead",
            "use instead",
            "",
        ] {
            assert!(!declares_itself_deprecated(description), "{description}");
        }
    }
}
