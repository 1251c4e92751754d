//! What assertions read of one trial (`assertions.md` §6).
//!
//! Text and values came from a server or a model: hostile until escaped.

use std::{collections::BTreeMap, fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::{
    canonical::{number_text, push_json_string},
    decode::null_as_default,
    words::{CaptureState, RenderStatus, SizeBasis, TimingProvenance, ToolErrorKind},
};

/// Most rows of tool results in a transcript; more make the channel partial.
pub const MAX_TOOL_RESULTS: usize = 200;
/// Most rows of timings in a transcript; more make the channel partial.
pub const MAX_TOOL_CALL_TIMINGS: usize = 500;
/// Most UTF-16 code units of a result row's text; the rest is cut.
pub const MAX_RESULT_TEXT: usize = 64_000;

/// Everything that predicates read of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Transcript {
    /// Every model, pinned and widget call, in order.
    #[serde(deserialize_with = "null_as_default")]
    pub tool_calls: Vec<ToolCall>,
    /// Tool errors, in order; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_errors: Option<Vec<ToolError>>,
    /// Text of the last assistant message; absent when it has none (§6.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_assistant_message: Option<String>,
    /// Tokens used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Number of user messages; absent, not 0, when none can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<f64>,
    /// Results of calls, at most [`MAX_TOOL_RESULTS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<Vec<ToolResult>>,
    /// Durations of calls, at most [`MAX_TOOL_CALL_TIMINGS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_timings: Option<Vec<ToolCallTiming>>,
    /// The tools that the model was shown.
    #[serde(skip_serializing_if = "Option::is_none", with = "shared_list")]
    #[schemars(with = "Option<Vec<InventoryTool>>")]
    pub tool_inventory: Option<Arc<[InventoryTool]>>,
    /// The raw `tools/list` entries of every server.
    #[serde(skip_serializing_if = "Option::is_none", with = "shared_list")]
    #[schemars(with = "Option<Vec<ToolDeclaration>>")]
    pub tool_declarations: Option<Arc<[ToolDeclaration]>>,
    /// What became of widgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_observations: Option<Vec<RenderObservation>>,
    /// How whole each channel is; absent means that nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

/// Reads and writes an optional list that is held once and shared.
mod shared_list {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        list: &Option<Arc<[T]>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<[T]>>, D::Error> {
        Ok(Option::<Vec<T>>::deserialize(deserializer)?.map(Arc::from))
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The server's own tool name; compared exactly.
    pub tool_name: String,
    /// The arguments: an object, unless the model wrote something else.
    /// Absent and `null` are `{}`.
    #[serde(default = "no_arguments", deserialize_with = "arguments")]
    pub arguments: Value,
    /// Unique within the trial, when the producer knows it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
}

/// Returns the arguments of a call that has none: `{}`.
#[must_use]
pub fn no_arguments() -> Value {
    Value::Object(Map::new())
}

fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(no_arguments))
}

/// One recorded tool error.
///
/// One failed call may appear twice, as a span and as a message part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    /// The server's own tool name, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_name: Option<String>,
    /// How the call went wrong.
    pub kind: ToolErrorKind,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The call, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
}

/// Tokens used by a trial; absent parts were not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Tokens read by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<f64>,
    /// Tokens written by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<f64>,
    /// Total as the provider reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<f64>,
}

/// What one call brought back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
    /// The server's own tool name.
    pub tool_name: String,
    /// Text, cut at [`MAX_RESULT_TEXT`] code units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// The text was cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<bool>,
    /// `structuredContent` as received; `null` is a present value.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "present"
    )]
    pub structured_content: Option<ReceivedJson>,
    /// The output as JSON, as received; `null` is a present value.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "present"
    )]
    pub json: Option<ReceivedJson>,
    /// The result's own `isError`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_error: Option<bool>,
    /// How large the result is.
    pub size: ResultSize,
    /// Bytes of the raw result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub raw_bytes: Option<f64>,
}

/// How large a result is, measured before its text was cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultSize {
    /// UTF-8 bytes.
    pub bytes: f64,
    /// What was measured.
    pub basis: SizeBasis,
    /// The whole result was measured.
    pub complete: bool,
}

/// How long one call took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallTiming {
    /// The call, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
    /// The server's own tool name.
    pub tool_name: String,
    /// Milliseconds, with fraction.
    pub duration_ms: f64,
    /// Where the duration was read.
    pub provenance: TimingProvenance,
}

/// A tool as the model was shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryTool {
    /// The server's own tool name.
    pub name: String,
    /// What the tool says it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// JSON Schema of the arguments, unchecked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_schema: Option<Value>,
    /// Hints about the tool's behaviour, unchecked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub annotations: Option<Value>,
}

/// A tool as its server declares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolDeclaration {
    /// The server's name in the suite.
    pub server_key: String,
    /// The server's own tool name.
    pub name: String,
    /// What the tool says it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// JSON Schema of the arguments, unchecked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_schema: Option<Value>,
    /// Hints about the tool's behaviour, unchecked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub annotations: Option<Value>,
    /// JSON Schema of the structured result, unchecked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_schema: Option<Value>,
}

impl ToolDeclaration {
    /// Reads one raw entry of `tools/list`; parts of another type than they
    /// should have are absent. An entry without a name gives `None`.
    #[must_use]
    pub fn from_listed(server_key: &str, entry: &Value) -> Option<Self> {
        let present = |key: &str| entry.get(key).filter(|value| !value.is_null()).cloned();
        Some(Self {
            server_key: server_key.to_owned(),
            name: entry.get("name")?.as_str()?.to_owned(),
            description: entry
                .get("description")
                .and_then(Value::as_str)
                .map(str::to_owned),
            input_schema: present("inputSchema"),
            annotations: present("annotations"),
            output_schema: present("outputSchema"),
        })
    }

    /// Returns the tool as a model is shown it.
    #[must_use]
    pub fn shown(&self) -> InventoryTool {
        InventoryTool {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            annotations: self.annotations.clone(),
        }
    }
}

/// What became of one widget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenderObservation {
    /// The call that asked for the widget, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
    /// The server's own tool name.
    pub tool_name: String,
    /// The server, by id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server_id: Option<String>,
    /// What became of it.
    pub status: RenderStatus,
    /// Milliseconds until then.
    pub elapsed_ms: f64,
    /// What the widget wrote to its console as errors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub console_errors: Option<Vec<String>>,
}

/// How whole each channel of a transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Capture {
    /// Of `toolResults`.
    pub tool_results: CaptureState,
    /// Of `toolCallTimings`.
    pub tool_call_timings: CaptureState,
    /// Of `toolInventory`.
    pub tool_inventory: CaptureState,
    /// Of `toolDeclarations`.
    pub tool_declarations: CaptureState,
}

impl Capture {
    /// Nobody looked at anything.
    pub const ABSENT: Self = Self {
        tool_results: CaptureState::Absent,
        tool_call_timings: CaptureState::Absent,
        tool_inventory: CaptureState::Absent,
        tool_declarations: CaptureState::Absent,
    };
    /// Everything was looked at and nothing was dropped.
    pub const COMPLETE: Self = Self {
        tool_results: CaptureState::Complete,
        tool_call_timings: CaptureState::Complete,
        tool_inventory: CaptureState::Complete,
        tool_declarations: CaptureState::Complete,
    };
}

impl Default for Capture {
    fn default() -> Self {
        Self::ABSENT
    }
}

/// Reads a field whose `null` is a value, not an absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ReceivedJson>, D::Error> {
    ReceivedJson::deserialize(deserializer).map(Some)
}

/// A JSON value and its compact text with keys in the order received.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedJson {
    value: Value,
    compact: String,
}

impl ReceivedJson {
    /// Returns the value.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value as JSON without white space: keys as received,
    /// numbers in their shortest form.
    #[must_use]
    pub fn compact(&self) -> &str {
        &self.compact
    }
}

/// Takes the keys in the value's own order.
impl From<Value> for ReceivedJson {
    fn from(value: Value) -> Self {
        let mut compact = String::new();
        push_compact(&mut compact, &value);
        Self { value, compact }
    }
}

impl Serialize for ReceivedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ReceivedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReceivedVisitor)
    }
}

impl JsonSchema for ReceivedJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReceivedJson".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

fn push_compact(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => push_json_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                push_compact(text, item);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                push_json_string(text, key);
                text.push(':');
                push_compact(text, value);
            }
            text.push('}');
        }
    }
}

/// Reads any JSON value and keeps the order of its keys in the text.
struct ReceivedVisitor;

impl ReceivedVisitor {
    fn scalar<E>(value: Value) -> Result<ReceivedJson, E> {
        Ok(ReceivedJson::from(value))
    }
}

impl<'de> Visitor<'de> for ReceivedVisitor {
    type Value = ReceivedJson;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<ReceivedJson, E> {
        Self::scalar(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<ReceivedJson, E> {
        Self::scalar(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ReceivedJson, E> {
        Self::scalar(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ReceivedJson, E> {
        Self::scalar(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<ReceivedJson, E> {
        Number::from_f64(value).map_or_else(
            || Err(E::custom("a number that is not finite")),
            |number| Self::scalar(Value::Number(number)),
        )
    }

    fn visit_str<E>(self, value: &str) -> Result<ReceivedJson, E> {
        Self::scalar(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<ReceivedJson, E> {
        Self::scalar(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ReceivedJson, A::Error> {
        let mut values = Vec::new();
        let mut compact = String::from("[");
        while let Some(item) = items.next_element::<ReceivedJson>()? {
            if !values.is_empty() {
                compact.push(',');
            }
            compact.push_str(&item.compact);
            values.push(item.value);
        }
        compact.push(']');
        Ok(ReceivedJson {
            value: Value::Array(values),
            compact,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<ReceivedJson, A::Error> {
        // A repeated key keeps its first place and takes the last value.
        let mut order: Vec<String> = Vec::new();
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut values = Map::new();
        while let Some((key, member)) = members.next_entry::<String, ReceivedJson>()? {
            if values.insert(key.clone(), member.value).is_none() {
                order.push(key.clone());
            }
            texts.insert(key, member.compact);
        }
        let mut compact = String::from("{");
        for (index, key) in order.iter().enumerate() {
            if index > 0 {
                compact.push(',');
            }
            push_json_string(&mut compact, key);
            compact.push(':');
            compact.push_str(texts.get(key).map_or("null", String::as_str));
        }
        compact.push('}');
        Ok(ReceivedJson {
            value: Value::Object(values),
            compact,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_json_keeps_key_order_in_its_text_only() {
        let received: ReceivedJson =
            serde_json::from_str(r#"{ "b": [1.0, {"z": 1e2, "a": null}], "a": "é\n", "b": 2.50 }"#)
                .expect("parses");
        assert_eq!(received.compact(), r#"{"b":2.5,"a":"é\n"}"#);
        let received: ReceivedJson =
            serde_json::from_str(r#"{"z":1,"a":{"y":-0.0,"b":[]}}"#).expect("parses");
        assert_eq!(received.compact(), r#"{"z":1,"a":{"y":0,"b":[]}}"#);
        assert_eq!(
            received.value(),
            &serde_json::json!({"a":{"b":[],"y":-0.0},"z":1})
        );
    }

    #[test]
    fn a_null_payload_is_present_and_null_arguments_are_none() {
        let row: ToolResult = serde_json::from_str(
            r#"{"toolName":"a","json":null,"size":{"bytes":4,"basis":"raw_result","complete":true}}"#,
        )
        .expect("parses");
        assert_eq!(row.json.map(|json| json.compact), Some("null".to_owned()));
        assert_eq!(row.structured_content, None);
        for text in [
            r#"{"toolName":"a"}"#,
            r#"{"toolName":"a","arguments":null}"#,
            r#"{"toolName":"a","arguments":{}}"#,
        ] {
            let call: ToolCall = serde_json::from_str(text).expect("parses");
            assert_eq!(call.arguments, no_arguments(), "{text}");
        }
    }

    #[test]
    fn a_listed_tool_with_odd_parts_keeps_what_can_be_read() {
        let entry = serde_json::json!({"name": "a", "description": 7, "inputSchema": null,
            "outputSchema": false, "annotations": {"readOnlyHint": "yes"}});
        let tool = ToolDeclaration::from_listed("shop", &entry).expect("has a name");
        assert_eq!(tool.description, None);
        assert_eq!(tool.input_schema, None);
        assert_eq!(tool.output_schema, Some(Value::Bool(false)));
        assert_eq!(
            ToolDeclaration::from_listed("shop", &serde_json::json!({})),
            None
        );
    }
}
