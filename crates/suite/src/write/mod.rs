//! A suite file back to text (`suite-file.md` §7).
//!
//! The dialect stays, no default is added, aliases are written out and lines
//! are never folded. Comments and blank lines between members stay where they
//! were; a collection written in flow style stays so where it fits a line.

mod layout;
mod order;
mod scalar;
mod yaml;

pub(crate) use layout::Layout;

use serde_json::Value as Json;

use crate::{Authored, yaml::Node};
use order::Object;

/// Writes a suite file as YAML.
#[must_use]
pub fn write_yaml(authored: &Authored) -> String {
    let object = if authored.short {
        Object::Short
    } else {
        Object::File(authored.dialect)
    };
    yaml::write(&authored.written, object, authored.layout.clone())
}

/// Writes the dialect file that a suite file stands for as YAML; for a file
/// that is not in the short form this is [`write_yaml`].
#[must_use]
pub fn expand_yaml(authored: &Authored) -> String {
    let object = Object::File(authored.dialect);
    yaml::write(&authored.root, object, authored.layout.clone())
}

/// Writes a suite file as JSON, two spaces a level; comments have no place in it.
#[must_use]
pub fn write_json(authored: &Authored) -> String {
    let object = if authored.short {
        Object::Short
    } else {
        Object::File(authored.dialect)
    };
    json(&authored.written, object)
}

/// Writes the dialect file that a suite file stands for as JSON.
#[must_use]
pub fn expand_json(authored: &Authored) -> String {
    json(&authored.root, Object::File(authored.dialect))
}

fn json(node: &Node, object: Object) -> String {
    let mut out = String::new();
    json_value(&mut out, node, object, 0);
    out.push('\n');
    out
}

/// Key order matters here, so maps are written by hand.
fn json_value(out: &mut String, node: &Node, object: Object, level: usize) {
    let indent = "  ".repeat(level + 1);
    let close = "  ".repeat(level);
    match &node.value {
        crate::yaml::Value::Mapping(entries) if !entries.is_empty() => {
            out.push('{');
            for (index, entry) in object.sorted(entries).into_iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                out.push_str(&indent);
                out.push_str(&Json::from(entry.key.as_str()).to_string());
                out.push_str(": ");
                json_value(out, &entry.item.node, object.member(&entry.key), level + 1);
            }
            out.push('\n');
            out.push_str(&close);
            out.push('}');
        }
        crate::yaml::Value::Sequence(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                out.push_str(&indent);
                json_value(out, &item.node, object, level + 1);
            }
            out.push('\n');
            out.push_str(&close);
            out.push(']');
        }
        crate::yaml::Value::Number(number) => out.push_str(&scalar::number(*number)),
        _ => out.push_str(&node.to_json().to_string()),
    }
}
