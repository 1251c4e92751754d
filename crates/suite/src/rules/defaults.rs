//! `defaults`: `validity`, `toolPolicy` and `judge` (`suite-file.md` §4).

use super::{
    At, Check, extension, file,
    value::{
        self, boolean, filled_text, fraction, identifier, number, positive, text, trimmed_text,
        word,
    },
};
use crate::yaml::Value;

pub(super) fn defaults(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let trials = check.dialect.trials_key();
    check.required(at, "model", filled_text);
    check.optional(at, "provider", filled_text);
    check.optional(at, "systemPrompt", text);
    check.optional(at, "temperature", number);
    check.required(at, trials, trial_count);
    check.required(at, "passThreshold", fraction);
    check.required(at, "validity", validity);
    check.optional(at, "toolPolicy", tool_policy);
    check.optional(at, "judge", judge);
    check.optional(at, "captureLevel", |check, at| {
        file::reserved_word(check, at, "full", &["metadataOnly", "none"]);
    });
    let mut known = vec![
        "model",
        "provider",
        "systemPrompt",
        "temperature",
        trials,
        "passThreshold",
        "validity",
        "toolPolicy",
        "judge",
        "captureLevel",
    ];
    extension::match_options(check, at, &mut known);
    check.closed(at, &known);
}

/// `int(1..100)`
pub(super) fn trial_count(check: &mut Check, at: At<'_>) {
    value::integer(check, at, 1, 100);
}

/// §4.1
fn validity(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.optional(at, "minEligibleTrials", positive);
    check.optional(at, "minCompletionRate", fraction);
    check.optional(at, "maxEvaluatorErrorRate", fraction);
    check.closed(
        at,
        &[
            "minEligibleTrials",
            "minCompletionRate",
            "maxEvaluatorErrorRate",
        ],
    );
}

/// §4.2
fn tool_policy(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "mode", |check, at| {
        word(check, at, &["default", "readOnly"]);
    });
    for key in ["allow", "deny"] {
        check.optional(at, key, |check, at| {
            check.list(at, 0, usize::MAX, filled_text);
        });
    }
    check.closed(at, &["mode", "allow", "deny"]);
}

/// §4.3
fn judge(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.optional(at, "enabled", boolean);
    check.optional(at, "autoRun", boolean);
    check.optional(at, "model", |check, at| trimmed_text(check, at, usize::MAX));
    check.optional(at, "threshold", fraction);
    check.optional(at, "role", |check, at| word(check, at, &ROLES));
    check.optional(at, "severity", severity);
    check.optional(at, "rubric", rubric);
    warn_needs_advisory(check, at, true);
    check.closed(
        at,
        &[
            "enabled",
            "autoRun",
            "model",
            "threshold",
            "role",
            "severity",
            "rubric",
        ],
    );
}

/// Roles as they may be written (`assertions.md` §5).
pub(super) const ROLES: [&str; 3] = ["advisory", "gating", "required"];

/// The only severity.
pub(super) fn severity(check: &mut Check, at: At<'_>) {
    word(check, at, &["warn"]);
}

/// `severity: warn` goes with `role: advisory` only; an absent role is
/// advisory for a judge and required for an assertion.
pub(super) fn warn_needs_advisory(check: &mut Check, at: At<'_>, absent_is_advisory: bool) {
    let Some(severity) = at.node.get("severity") else {
        return;
    };
    if severity.as_str() != Some("warn") {
        return;
    }
    let legal = match at.node.get("role").map(|role| role.as_str()) {
        None => absent_is_advisory,
        Some(Some("gating" | "required")) => false,
        // Advisory, or a role that is reported by itself.
        Some(_) => true,
    };
    if !legal {
        let path = super::Path::Key(at.path, "severity");
        let at = At {
            node: severity,
            path: &path,
        };
        check
            .report(at, "`severity: warn` goes with `role: advisory` only")
            .label = Some("add `role: advisory`, or drop the severity".to_owned());
    }
}

fn rubric(check: &mut Check, at: At<'_>) {
    if matches!(at.node.value, Value::Null) {
        return;
    }
    if !at.node.is_mapping() {
        check.expected(at, "a map or null");
        return;
    }
    check.optional(at, "criteria", |check, at| {
        check.list(at, 1, 25, criterion);
        check.unique_ids(at, "criterion");
    });
    check.optional(at, "instructions", |check, at| {
        trimmed_text(check, at, 2000);
    });
    if at.node.get("criteria").is_none() && at.node.get("instructions").is_none() {
        check.report(at, "`rubric` needs `criteria` or `instructions`");
    }
    check.closed(at, &["criteria", "instructions"]);
}

fn criterion(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "id", |check, at| identifier(check, at, 64));
    check.required(at, "label", |check, at| trimmed_text(check, at, 200));
    check.optional(at, "description", |check, at| {
        value::bounded_text(check, at, 0, 1000);
    });
    check.optional(at, "required", boolean);
    check.closed(at, &["id", "label", "description", "required"]);
}
