//! Credentials written into a suite file (`suite-file.md` §9.3).

use strandline_contract::redact::looks_like_credential;

use super::{Found, key};
use crate::{
    binding::has_reference,
    yaml::{Entry, Node},
};

/// Warns of headers and environment values that look like a credential and
/// do not come from the environment. No message shows a value.
pub(super) fn servers(found: &mut Found, root: &Node) {
    let Some(servers) = root.get("mcpServers") else {
        return;
    };
    for server in servers.entries() {
        for group in ["headers", "env"] {
            let Some(values) = server.item.node.get(group) else {
                continue;
            };
            for entry in values.entries() {
                if is_written_out(entry) {
                    let path = vec![
                        key("mcpServers"),
                        key(&server.key),
                        key(group),
                        key(&entry.key),
                    ];
                    let message = format!(
                        "`{}` looks like a credential: write `${{NAME}}` and set the variable",
                        entry.key
                    );
                    found.warn("secret_in_suite_file", path, entry.key_span, message);
                }
            }
        }
    }
}

fn is_written_out(entry: &Entry) -> bool {
    entry.item.node.as_str().is_some_and(|value| {
        !value.is_empty() && !has_reference(value) && looks_like_credential(&entry.key, value)
    })
}
