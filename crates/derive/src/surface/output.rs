//! Whether a result keeps what its tool's output schema promises.
//!
//! A violation is a defect of the server and a finding; the result stays as it
//! is. An error result promises nothing.

use std::sync::OnceLock;

use serde_json::Value;

use crate::assertions::schema::{Schema, SchemaError};

/// Violations that one finding names.
const MOST_NAMED: usize = 3;

/// The output schema of one tool, compiled when it is first needed.
pub struct OutputContract {
    schema: Value,
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

/// What is wrong with a result: code and message.
pub type OutputFinding = (&'static str, String);

impl OutputContract {
    /// Takes the output schema of a raw `tools/list` entry, if it has one.
    #[must_use]
    pub fn of(tool: &Value) -> Option<Self> {
        let schema = tool
            .get("outputSchema")
            .filter(|schema| !schema.is_null())?;
        Some(Self {
            schema: schema.clone(),
            compiled: OnceLock::new(),
        })
    }

    /// Checks a raw `tools/call` result.
    #[must_use]
    pub fn check(&self, result: &Value) -> Option<OutputFinding> {
        if result.get("isError") == Some(&Value::Bool(true)) {
            return None;
        }
        let schema = match self.compiled.get_or_init(|| Schema::compile(&self.schema)) {
            Ok(schema) => schema,
            Err(error) => {
                return Some((
                    "outputSchemaUnusable",
                    format!("The result cannot be checked: {error}."),
                ));
            }
        };
        let Some(structured) = result.get("structuredContent") else {
            return Some((
                "structuredContentMissing",
                "The tool declares an output schema and its result has no `structuredContent`."
                    .to_owned(),
            ));
        };
        let violations = schema.violations(structured);
        if violations.is_empty() {
            return None;
        }
        let named: Vec<String> = violations
            .iter()
            .take(MOST_NAMED)
            .map(|violation| {
                format!(
                    "{} at `/structuredContent{}`",
                    violation.keyword, violation.at
                )
            })
            .collect();
        let more = violations.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        Some((
            "outputSchemaViolated",
            format!(
                "The result violates the tool's output schema: {}{more}.",
                named.join(", ")
            ),
        ))
    }
}

impl std::fmt::Debug for OutputContract {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "OutputContract({})", self.schema)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finding(schema: &Value, result: &Value) -> Option<OutputFinding> {
        OutputContract::of(&json!({"outputSchema": schema}))
            .expect("there is a schema")
            .check(result)
    }

    #[test]
    fn a_result_is_held_to_the_schema_of_its_tool() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        assert_eq!(
            finding(&schema, &json!({"structuredContent": {"n": 1}})),
            None
        );
        let (code, message) =
            finding(&schema, &json!({"structuredContent": {"n": "1"}})).expect("a finding");
        assert_eq!(code, "outputSchemaViolated");
        assert!(
            message.contains("type at `/structuredContent/n`"),
            "{message}"
        );
        let (code, _) = finding(&schema, &json!({"content": []})).expect("a finding");
        assert_eq!(code, "structuredContentMissing");
    }

    #[test]
    fn an_error_result_promises_nothing() {
        let schema = json!({"type": "object", "required": ["n"]});
        assert_eq!(
            finding(&schema, &json!({"isError": true, "content": []})),
            None
        );
    }

    #[test]
    fn a_schema_that_is_none_is_a_finding_about_the_tool() {
        let (code, _) = finding(
            &json!({"type": "strnig"}),
            &json!({"structuredContent": {}}),
        )
        .expect("a finding");
        assert_eq!(code, "outputSchemaUnusable");
        assert!(OutputContract::of(&json!({"name": "plain"})).is_none());
    }
}
