//! Configuration documents that other tools write too (`suite-file.md` §9.2).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use strandline_contract::words::RefusalCode;

use super::FileSource;
use crate::{
    finding::{Code, Finding, Segment},
    lint::secret_spans,
    refusal::{Place, Refusal},
    source::Lines,
    yaml::{self, Entry, Node, Value},
};

/// Greatest size of a configuration document in bytes (ours).
const MAX_BYTES: usize = 4 * 1_048_576;

/// The server entries of one source.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    pub(super) entries: Vec<Entry>,
    /// Relative paths resolve to this.
    pub(super) dir: PathBuf,
    /// The file as it is shown, and its text.
    pub(super) source: Option<(String, String)>,
}

impl Entries {
    /// Returns the entry of a name; one that says `disabled: true` is absent.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Node>> {
        self.entries
            .iter()
            .find(|entry| entry.key == name)
            .map(|entry| Arc::clone(&entry.item.node))
            .filter(|entry| {
                entry
                    .get("disabled")
                    .is_none_or(|disabled| disabled.value != Value::Bool(true))
            })
    }
}

/// Reads a configuration document, `None` when there is no such file.
pub(super) fn read(path: &Path, files: &dyn FileSource) -> Result<Option<Entries>, Vec<Refusal>> {
    let shown = path.display().to_string();
    let text = match files.read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(why) => {
            let message = format!("`{shown}` cannot be read: {why}");
            return Err(vec![Refusal::new(RefusalCode::SetupFailed, message)]);
        }
    };
    let dir = path.parent().unwrap_or(Path::new("")).to_path_buf();
    match parse(&text) {
        Ok(entries) => Ok(Some(Entries {
            entries,
            dir,
            source: Some((shown, text)),
        })),
        Err(findings) => Err(findings
            .into_iter()
            .map(|finding| refusal(RefusalCode::ServerBindingInvalid, &shown, &text, finding))
            .collect()),
    }
}

/// Makes a refusal that points into a file.
pub(super) fn refusal(code: RefusalCode, file: &str, text: &str, mut finding: Finding) -> Refusal {
    finding.locate(text, &Lines::new(text));
    let place = finding
        .location
        .map(|location| format!(":{}:{}", location.line, location.column));
    let message = format!("{file}{}: {}", place.unwrap_or_default(), finding.message);
    let secrets = yaml::read(text, &Lines::new(text))
        .map(|document| secret_spans(&document.root))
        .unwrap_or_default();
    let mut refusal = Refusal::new(code, message);
    refusal.place = Some(Box::new(Place {
        file: file.to_owned(),
        text: text.to_owned(),
        finding,
        secrets,
    }));
    refusal
}

/// The accepted roots: either wrapper, or the bare map.
fn parse(text: &str) -> Result<Vec<Entry>, Vec<Finding>> {
    if text.len() > MAX_BYTES {
        return Err(vec![Finding::of_file(
            Code::TooLarge,
            format!(
                "the file has {} bytes, at most {MAX_BYTES} are read",
                text.len()
            ),
        )]);
    }
    let document = yaml::read(text, &Lines::new(text))?;
    let root = &document.root;
    let fault = |key: Option<&str>, node: &Node, message: &str| {
        let path = key
            .map(|key| Segment::Key(key.to_owned()))
            .into_iter()
            .collect();
        Err(vec![Finding::new(
            Code::Invalid,
            path,
            message,
            Some(node.span),
        )])
    };
    if !root.is_mapping() {
        return fault(None, root, "expected a map of servers");
    }
    let wrapper = match (root.get("mcpServers"), root.get("mcp_servers")) {
        (Some(_), Some(second)) => {
            let message = "`mcpServers` and `mcp_servers` are two names of one map: keep one";
            return fault(Some("mcp_servers"), second, message);
        }
        (Some(map), None) => Some(("mcpServers", map)),
        (None, Some(map)) => Some(("mcp_servers", map)),
        (None, None) => None,
    };
    if let Some((key, map)) = wrapper {
        if !map.is_mapping() {
            return fault(Some(key), map, "expected a map of servers");
        }
        return Ok(map.entries().to_vec());
    }
    for key in ["command", "url"] {
        if let Some(node) = root.get(key).filter(|node| node.as_str().is_some()) {
            let message = "this is one server's entry without a name: wrap it as \
                           `{\"mcpServers\": {\"NAME\": …}}`";
            return fault(Some(key), node, message);
        }
    }
    Ok(root.entries().to_vec())
}
