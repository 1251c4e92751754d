//! What a model is told of a tool's result.
//!
//! The raw result stays in the trace beside it. Text goes through as sent;
//! what a text conversation cannot carry is named in its place, and every such
//! change is recorded.

use serde_json::Value;
use strandline_contract::trace::Adaptation;

/// Most bytes of a result's text that a model is given.
pub const MAX_MODEL_TEXT: usize = 200_000;

/// A result as text.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelView {
    /// What the model is given.
    pub text: String,
    /// The same before it was cut.
    pub full_text: String,
    /// What was named instead of shown, or cut.
    pub adaptations: Vec<Adaptation>,
}

/// Renders a raw `CallToolResult` as the text that a model is given.
#[must_use]
pub fn model_text(tool_name: &str, raw: &Value) -> ModelView {
    let mut adaptations = Vec::new();
    let blocks = raw
        .get("content")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let mut lines: Vec<String> = Vec::with_capacity(blocks.len());
    for block in blocks {
        lines.push(block_text(block).unwrap_or_else(|placeholder| {
            adaptations.push(Adaptation {
                kind: "contentDescribed".to_owned(),
                subject: tool_name.to_owned(),
                detail: format!("the model was given `{placeholder}` instead of the content"),
            });
            placeholder
        }));
    }
    if lines.is_empty()
        && let Some(structured) = raw.get("structuredContent")
    {
        lines.push(structured.to_string());
    }
    let full_text = lines.join("\n");
    let text = if full_text.len() > MAX_MODEL_TEXT {
        let mut end = MAX_MODEL_TEXT;
        while !full_text.is_char_boundary(end) {
            end -= 1;
        }
        adaptations.push(Adaptation {
            kind: "resultCut".to_owned(),
            subject: tool_name.to_owned(),
            detail: format!(
                "the model was given the first {end} of {} bytes of the result",
                full_text.len()
            ),
        });
        format!(
            "{}\n[cut here: {end} of {} bytes shown]",
            &full_text[..end],
            full_text.len()
        )
    } else {
        full_text.clone()
    };
    ModelView {
        text,
        full_text,
        adaptations,
    }
}

/// Returns the text of an error result: its text parts joined by a space, else
/// its structured content (`assertions.md` §6.2).
#[must_use]
pub fn error_text(raw: &Value) -> String {
    let texts: Vec<&str> = raw
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    if texts.is_empty() {
        raw.get("structuredContent")
            .map(Value::to_string)
            .unwrap_or_default()
    } else {
        texts.join(" ")
    }
}

/// Returns a block's text, or what stands in its place.
fn block_text(block: &Value) -> Result<String, String> {
    let text_at = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("unknown");
    let media = text_at(block, "mimeType").unwrap_or_else(|| "unknown type".to_owned());
    match kind {
        "text" => Ok(text_at(block, "text").unwrap_or_default()),
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            if let Some(text) = text_at(resource, "text") {
                return Ok(text);
            }
            let uri = text_at(resource, "uri").unwrap_or_default();
            let media = text_at(resource, "mimeType").unwrap_or_else(|| "unknown type".to_owned());
            Err(format!("[resource {uri}: {media}]"))
        }
        "resource_link" => {
            let uri = text_at(block, "uri").unwrap_or_default();
            let name = text_at(block, "name").unwrap_or_default();
            Ok(format!("[link to {name}: {uri}]"))
        }
        "image" | "audio" => {
            let encoded = block
                .get("data")
                .and_then(Value::as_str)
                .map_or(0, str::len);
            Err(format!("[{kind}: {media}, {encoded} characters of base64]"))
        }
        _ => Err(format!("[content of type `{kind}`]")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_blocks_are_joined_and_other_kinds_are_named() {
        let view = model_text(
            "snapshot",
            &json!({"content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a://b", "text": "two"}},
                {"type": "hologram"},
            ]}),
        );
        assert_eq!(
            view.text,
            "one\n[image: image/png, 4 characters of base64]\ntwo\n[content of type `hologram`]"
        );
        assert_eq!(view.adaptations.len(), 2);
    }

    #[test]
    fn structured_content_speaks_only_when_there_is_no_content() {
        let raw = json!({"content": [], "structuredContent": {"a": 1}});
        assert_eq!(model_text("t", &raw).text, r#"{"a":1}"#);
        let raw = json!({"content": [{"type": "text", "text": ""}], "structuredContent": {"a": 1}});
        assert_eq!(model_text("t", &raw).text, "");
    }

    #[test]
    fn a_huge_result_is_cut_with_a_mark_and_its_full_size_is_kept() {
        let raw = json!({"content": [{"type": "text", "text": "é".repeat(MAX_MODEL_TEXT)}]});
        let view = model_text("t", &raw);
        assert!(view.text.ends_with("[cut here: 200000 of 400000 bytes shown]"));
        assert_eq!(view.full_text.len(), 400_000);
        assert_eq!(view.adaptations[0].kind, "resultCut");
    }

    #[test]
    fn an_error_speaks_through_its_text_or_its_structure() {
        let raw = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(error_text(&raw), "a b");
        assert_eq!(error_text(&json!({"structuredContent": {"e": 1}})), r#"{"e":1}"#);
        assert_eq!(error_text(&json!({})), "");
    }
}
