//! Our extensions: `mcpServers`, `execution`, `matchOptions`
//! (`suite-file.md` §9.3, §10).

use super::{
    At, Check, Path, script, server,
    value::{self, boolean, word},
};
use crate::{finding::Code, load::Extensions};

/// A bound of `execution`: key, least, greatest, and whether the spec names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) key: &'static str,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Named by §10; the others are Strandline's own.
    pub(crate) spec: bool,
}

const fn limit(key: &'static str, min: u64, max: u64) -> Limit {
    Limit {
        key,
        min,
        max,
        spec: true,
    }
}

/// Ranges of the numbers in `execution`.
pub(crate) const EXECUTION_LIMITS: [Limit; 9] = [
    limit("turnTimeoutMs", 10_000, 1_800_000),
    limit("toolCallTimeoutMs", 1_000, 600_000),
    limit("iterationTimeoutMs", 30_000, 7_200_000),
    limit("runTimeoutMs", 60_000, 43_200_000),
    limit("turnRetries", 0, 5),
    limit("maxSteps", 1, 100),
    limit("concurrency", 1, 32),
    Limit {
        key: "setupTimeoutMs",
        min: 1_000,
        max: 600_000,
        spec: false,
    },
    Limit {
        key: "toolSettleMs",
        min: 0,
        max: 60_000,
        spec: false,
    },
];

/// Checks the extensions at the top of the file.
pub(super) fn top_level(check: &mut Check, at: At<'_>, known: &mut Vec<&str>) {
    known.extend(["mcpServers", "execution"]);
    if check.extensions == Extensions::None {
        refuse(check, at, "mcpServers");
        refuse(check, at, "execution");
        return;
    }
    check.optional(at, "mcpServers", mcp_servers);
    check.optional(at, "execution", execution);
}

/// Checks `matchOptions` of `defaults` or a case.
pub(super) fn match_options(check: &mut Check, at: At<'_>, known: &mut Vec<&str>) {
    known.push("matchOptions");
    if check.extensions == Extensions::None {
        refuse(check, at, "matchOptions");
        return;
    }
    check.optional(at, "matchOptions", |check, at| {
        if !check.is_map(at) {
            return;
        }
        check.optional(at, "toolCallOrder", |check, at| {
            word(check, at, &["any", "in-order", "exact"]);
        });
        check.optional(at, "extraToolCalls", |check, at| {
            if at.node.as_str() != Some("unlimited") && value::integer_of(at.node).is_none() {
                check.expected(at, "`unlimited` or a whole number of at least 0");
            }
        });
        check.optional(at, "arguments", |check, at| {
            word(check, at, &["partial", "exact", "ignore"]);
        });
        check.closed(at, &["toolCallOrder", "extraToolCalls", "arguments"]);
    });
}

/// Checks the scripted turns of a case; only our own reader knows the key.
pub(super) fn script(check: &mut Check, at: At<'_>, known: &mut Vec<&str>) {
    match check.extensions {
        Extensions::Spec => {}
        Extensions::None => {
            known.push("script");
            refuse(check, at, "script");
        }
        Extensions::Strandline => {
            known.push("script");
            check.optional(at, "script", script::script);
        }
    }
}

/// Reports an extension where only the public format is wanted.
fn refuse(check: &mut Check, at: At<'_>, key: &str) {
    let Some(entry) = at.node.entry(key) else {
        return;
    };
    let path = Path::Key(at.path, key);
    check
        .report_at(
            &path,
            Some(entry.key_span),
            format!("`{key}` is Strandline's own: other readers refuse it"),
        )
        .label = Some("not portable".to_owned());
}

fn execution(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let ours = check.extensions == Extensions::Strandline;
    let mut known = vec!["failOnToolError"];
    for limit in EXECUTION_LIMITS {
        if !limit.spec && !ours {
            continue;
        }
        known.push(limit.key);
        let Some(node) = at.node.get(limit.key) else {
            continue;
        };
        let path = Path::Key(at.path, limit.key);
        let at = At { node, path: &path };
        match value::integer_of(node) {
            Some(number) if (limit.min..=limit.max).contains(&number) => {}
            Some(_) => {
                let what = format!("from {} to {}", limit.min, limit.max);
                check.expected(at, &what).code = Code::BudgetExceedsCeiling;
            }
            None => {
                let what = format!("a whole number from {} to {}", limit.min, limit.max);
                check.expected(at, &what);
            }
        }
    }
    check.optional(at, "failOnToolError", boolean);
    if ours {
        known.push("session");
        check.optional(at, "session", |check, at| {
            word(check, at, &["fresh", "shared"]);
        });
    }
    check.closed(at, &known);
}

/// §9.3: entries as in §9.2, but closed.
fn mcp_servers(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    for entry in at.node.entries() {
        let path = Path::Key(at.path, &entry.key);
        let at = At {
            node: &entry.item.node,
            path: &path,
        };
        server::entry(check, at);
        if at.node.is_mapping() {
            check.optional(at, "disabled", boolean);
            check.closed(at, &server::KEYS);
        }
    }
}
