//! Cases (`suite-file.md` §5).

use strandline_contract::ecma::trim;

use super::{
    At, Check, Dialect, Path, assertion,
    defaults::trial_count,
    extension, step,
    value::{self, boolean, filled_text, fraction, name, opaque_id, text, word, written_text},
};
use crate::yaml::Value;

pub(super) fn case(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let trials = check.dialect.trials_key();
    check.required(at, "id", opaque_id);
    check.required(at, "title", name);
    check.optional(at, "intent", intent);
    check.optional(at, "kind", kind);
    check.required(at, "steps", |check, at| {
        check.list(at, 1, 200, step::step);
        check.unique_ids(at, "step");
    });
    checks(check, at);
    check.optional(at, "suppressedSuiteStandardCheckIds", |check, at| {
        check.list(at, 0, 64, |check, at| word(check, at, &STANDARD_CHECK_IDS));
    });
    check.optional(at, "judge", judge);
    check.optional(at, "expectedOutput", text);
    check.optional(at, "isNegativeTest", boolean);
    check.optional(at, "model", filled_text);
    check.optional(at, trials, trial_count);
    check.optional(at, "passThreshold", fraction);
    check.optional(at, "disabled", boolean);
    check.optional(at, "import", import);
    let mut known = vec![
        "id",
        "title",
        "intent",
        "kind",
        "steps",
        "assertions",
        "suppressedSuiteStandardCheckIds",
        "judge",
        "expectedOutput",
        "isNegativeTest",
        "model",
        trials,
        "passThreshold",
        "disabled",
        "import",
    ];
    if check.dialect == Dialect::One {
        known.push("checks");
    }
    extension::match_options(check, at, &mut known);
    extension::script(check, at, &mut known);
    check.closed(at, &known);
}

/// `assertions`; in dialect "1" also `checks`, but not both (§1.1).
fn checks(check: &mut Check, at: At<'_>) {
    let list: super::Rule = |check, at| check.list(at, 0, 50, assertion::in_list);
    check.optional(at, "assertions", list);
    if check.dialect == Dialect::Two {
        return;
    }
    check.optional(at, "checks", list);
    if let (Some(_), Some(entry)) = (at.node.get("assertions"), at.node.entry("checks")) {
        let path = Path::Key(at.path, "checks");
        check
            .report_at(
                &path,
                Some(entry.key_span),
                "`checks` and `assertions` are two names of one list",
            )
            .label = Some("keep one of them".to_owned());
    }
}

/// Already trimmed, 1 to 64 code units, or `null`.
fn intent(check: &mut Check, at: At<'_>) {
    if matches!(at.node.value, Value::Null) {
        return;
    }
    let Some(text) = value::string(check, at) else {
        return;
    };
    if value::length(check, at, text, 1, 64) && trim(text) != text {
        check
            .report(at, "`intent` must not begin or end with a space")
            .label = Some("trim it".to_owned());
    }
}

fn kind(check: &mut Check, at: At<'_>) {
    if !matches!(at.node.value, Value::Null) {
        word(check, at, &["capability", "regression"]);
    }
}

fn judge(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.optional(at, "enabled", boolean);
    check.closed(at, &["enabled"]);
}

/// §5.1
fn import(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "status", |check, at| {
        word(
            check,
            at,
            &["exact", "approximated", "unsupported", "unresolved"],
        );
    });
    check.optional(at, "sourceCaseKey", |check, at| {
        written_text(check, at, 512);
    });
    check.optional(at, "note", |check, at| written_text(check, at, 2000));
    let exact = at.node.get("status").and_then(|status| status.as_str()) == Some("exact");
    if exact && at.node.get("note").is_none() {
        let path = Path::Key(at.path, "note");
        check
            .report_at(&path, Some(at.node.span), "`status: exact` needs a `note`")
            .label = Some("say why the conversion is exact".to_owned());
    }
    check.closed(at, &["status", "sourceCaseKey", "note"]);
}

/// Frozen ids of the standard checks (`assertions.md` §9).
pub(crate) const STANDARD_CHECK_IDS: [&str; 15] = [
    "discovery.description",
    "discovery.annotations",
    "discovery.collisions",
    "discovery.deprecated",
    "call.schema",
    "response.schema",
    "selection.hops",
    "call.parameters",
    "call.repeated",
    "response.performance",
    "response.size",
    "response.errors",
    "response.recovery",
    "response.pagination",
    "userValue.turns",
];
