//! What the model is given of a tool result (field case F29).

use std::fmt::Write as _;

use serde_json::Value;
use strandline_contract::trace::Adaptation;

/// Most characters of one result that a model is given, unless set otherwise.
pub const DEFAULT_RESULT_CHARACTERS: usize = 100_000;

/// A tool result as text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText {
    /// The text, cut and marked when it was too long.
    pub text: String,
    /// `resultCut`, when it was cut.
    pub adaptation: Option<Adaptation>,
}

/// Returns a raw `tools/call` result as text for the model.
///
/// Text blocks stand as they are, one after the other on lines of their own;
/// embedded text resources too. Images, audio and binary resources become one
/// line that describes them (providers that take images get those beside the
/// text). A result without content stands as its structured content. At most
/// `most` characters are kept, then a line says that there was more.
#[must_use]
pub fn result_text(tool_name: &str, result: &Value, most: usize) -> ResultText {
    let mut kept = Kept::new(most);
    match result.get("content").and_then(Value::as_array) {
        Some(blocks) if !blocks.is_empty() => {
            for (index, block) in blocks.iter().enumerate() {
                if index > 0 {
                    kept.push("\n");
                }
                push_block(&mut kept, block);
            }
        }
        _ => {
            if let Some(structured) = result.get("structuredContent") {
                kept.push(&structured.to_string());
            }
        }
    }
    kept.finish(tool_name)
}

fn push_block(kept: &mut Kept, block: &Value) {
    let field = |key: &str| block.get(key).and_then(Value::as_str);
    match field("type") {
        Some("text") => kept.push(field("text").unwrap_or_default()),
        Some(kind @ ("image" | "audio")) => kept.push(&format!(
            "[{kind}: {}, {} bytes]",
            shortened(field("mimeType").unwrap_or("unknown type")),
            decoded_length(field("data").unwrap_or_default())
        )),
        Some("resource_link") => kept.push(&format!(
            "[resource link: {}]",
            shortened(field("uri").unwrap_or("no URI"))
        )),
        Some("resource") => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let field = |key: &str| resource.get(key).and_then(Value::as_str);
            let uri = shortened(field("uri").unwrap_or("no URI"));
            match field("text") {
                Some(text) => {
                    kept.push(&format!("[resource: {uri}]\n"));
                    kept.push(text);
                }
                None => kept.push(&format!(
                    "[resource: {uri}, {}, {} bytes]",
                    shortened(field("mimeType").unwrap_or("unknown type")),
                    decoded_length(field("blob").unwrap_or_default())
                )),
            }
        }
        Some(_) | None => kept.push(&block.to_string()),
    }
}

/// Returns a server's word short enough to stand inside a line.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

/// Returns the number of bytes that base64 text stands for.
fn decoded_length(base64: &str) -> usize {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    (base64.len() * 3 / 4).saturating_sub(padding)
}

/// Text up to a number of characters, counting on beyond it.
struct Kept {
    text: String,
    left: usize,
    characters: usize,
}

impl Kept {
    fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            left: most,
            characters: 0,
        }
    }

    fn push(&mut self, text: &str) {
        // A text that surely fits is not counted twice.
        let characters = text.chars().count();
        self.characters += characters;
        if characters <= self.left {
            self.left -= characters;
            self.text.push_str(text);
        } else {
            let end = text
                .char_indices()
                .nth(self.left)
                .map_or(text.len(), |(end, _)| end);
            self.left = 0;
            self.text.push_str(&text[..end]);
        }
    }

    fn finish(mut self, tool_name: &str) -> ResultText {
        let kept = self.text.chars().count();
        if kept == self.characters {
            return ResultText {
                text: self.text,
                adaptation: None,
            };
        }
        let detail = format!(
            "the first {kept} of {} characters were given to the model",
            self.characters
        );
        let _ = write!(self.text, "\n[cut: {detail}]");
        ResultText {
            text: self.text,
            adaptation: Some(Adaptation {
                kind: "resultCut".to_owned(),
                subject: tool_name.to_owned(),
                detail,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: &Value) -> String {
        result_text("t", result, 1_000).text
    }

    #[test]
    fn text_blocks_stand_as_the_server_sent_them() {
        let result = json!({"content": [{"type": "text", "text": " a\n"}, {"type": "text", "text": "b"}], "isError": true});
        assert_eq!(text(&result), " a\n\nb");
    }

    #[test]
    fn everything_else_is_described() {
        let result = json!({"content": [
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "audio", "mimeType": "audio/wav", "data": ""},
            {"type": "resource_link", "uri": "file:///a\nb", "name": "a"},
            {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "x://2", "mimeType": "application/pdf", "blob": "aGVsbG8="}},
            {"type": "hologram", "depth": 3},
            7,
        ]});
        insta::assert_snapshot!(text(&result), @r#"
        [image: image/png, 5 bytes]
        [audio: audio/wav, 0 bytes]
        [resource link: file:///a b]
        [resource: x://1]
        inside
        [resource: x://2, application/pdf, 5 bytes]
        {"depth":3,"type":"hologram"}
        7
        "#);
    }

    #[test]
    fn a_result_without_content_stands_as_its_structured_content() {
        assert_eq!(
            text(&json!({"content": [], "structuredContent": {"a": 1}})),
            r#"{"a":1}"#
        );
        assert_eq!(
            text(&json!({"content": [{"type": "text", "text": "x"}], "structuredContent": {}})),
            "x"
        );
        assert_eq!(text(&json!({})), "");
    }

    #[test]
    fn a_long_result_is_cut_between_characters_and_says_so() {
        let result = json!({"content": [{"type": "text", "text": "äöü".repeat(10)}, {"type": "text", "text": "x"}]});
        let cut = result_text("read", &result, 4);
        assert_eq!(
            cut.text,
            "äöüä\n[cut: the first 4 of 32 characters were given to the model]"
        );
        let adaptation = cut.adaptation.expect("recorded");
        assert_eq!(
            (adaptation.kind.as_str(), adaptation.subject.as_str()),
            ("resultCut", "read")
        );
        assert_eq!(result_text("read", &result, 32).adaptation, None);
    }
}
