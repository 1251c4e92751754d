//! Predicates and their parameters (`assertions.md` §5, §8).

use strandline_contract::{
    ecma::is_blank,
    words::{AssertionKind, Vocabulary},
};

use super::{
    At, Check, Path, Rule,
    defaults::{ROLES, severity, warn_needs_advisory},
    pattern, step,
    value::{
        self, boolean, bounded_text, filled_text, fraction, integer_of, json_size, natural,
        positive, word,
    },
};
use crate::yaml::Value;

/// A parameter: its key, whether it must be there, and its rule.
#[derive(Clone, Copy)]
struct Parameter {
    key: &'static str,
    required: bool,
    rule: Rule,
}

const fn required(key: &'static str, rule: Rule) -> Parameter {
    Parameter {
        key,
        required: true,
        rule,
    }
}

const fn optional(key: &'static str, rule: Rule) -> Parameter {
    Parameter {
        key,
        required: false,
        rule,
    }
}

const TOOL: Parameter = required("toolName", filled_text);
const ANY_TOOL: Parameter = optional("toolName", filled_text);

/// Returns what a kind reads beside `type`, `role` and `severity` (§8.1–§8.6).
fn parameters(kind: AssertionKind) -> Vec<Parameter> {
    use AssertionKind as Kind;
    match kind {
        // Discovery.
        Kind::ToolDescriptionsPresent => vec![optional("minLength", positive)],
        Kind::ToolAnnotationsPresent => vec![optional("require", hints)],
        Kind::ToolNamesUnique
        | Kind::NoDeprecatedToolExposed
        | Kind::ToolInputSchemasWellFormed
        | Kind::ToolOutputSchemasPresent => vec![],
        // Selection.
        Kind::ToolCalledWith => vec![
            TOOL,
            required("args", call_arguments),
            optional("minCount", positive),
        ],
        Kind::ToolCalledAtLeastOnce | Kind::ToolNeverCalled | Kind::FirstToolWas => vec![TOOL],
        Kind::OnlyToolsCalled => vec![required("toolNames", tool_names)],
        Kind::ToolCallCountUnder => vec![required("count", positive), ANY_TOOL],
        Kind::ToolCalledBefore => vec![TOOL, required("beforeToolName", filled_text)],
        Kind::NoDeprecatedToolCalled | Kind::NoDestructiveToolCalled => vec![],
        // Call.
        Kind::ArgumentsMatchToolSchema | Kind::NoRepeatedIdenticalCall => vec![ANY_TOOL],
        Kind::ToolInputMatches => with_patterns(TOOL),
        // Response.
        Kind::NoToolErrors => vec![],
        Kind::ToolLatencyUnder => vec![required("ms", positive), ANY_TOOL],
        Kind::ToolResultContains => vec![
            required("needle", short_needle),
            optional("caseSensitive", boolean),
            ANY_TOOL,
        ],
        Kind::ToolResultMatchesSchema => vec![required("schema", schema), ANY_TOOL],
        Kind::ToolResultSizeUnder => vec![required("maxBytes", positive), ANY_TOOL],
        Kind::ToolErrorNamesInput | Kind::FullPageHasContinuation => vec![ANY_TOOL],
        Kind::ToolResultMatches => with_patterns(ANY_TOOL),
        // User value.
        Kind::ResponseContains => vec![
            required("needle", filled_text),
            optional("caseSensitive", boolean),
        ],
        Kind::ResponseMatches => vec![required("pattern", response_pattern)],
        Kind::ResponseCloseTo => vec![
            required("reference", reference),
            required("maxDistance", fraction),
            optional("caseSensitive", boolean),
            optional("normalizeWhitespace", boolean),
        ],
        Kind::FinalAssistantMessageNonEmpty | Kind::NoEndingQuestion => vec![],
        Kind::TokenBudgetUnder => vec![required("tokens", positive)],
        Kind::TurnCountUnder => vec![required("turns", positive)],
        Kind::WidgetRendered | Kind::WidgetNoConsoleErrors => vec![ANY_TOOL],
        Kind::WidgetRenderLatencyUnder => vec![required("ms", positive), ANY_TOOL],
    }
}

fn with_patterns(tool: Parameter) -> Vec<Parameter> {
    vec![
        tool,
        required("patterns", patterns),
        optional("flags", flags),
        optional("path", json_key),
        optional("min", natural),
        optional("max", natural),
    ]
}

/// Returns whether a kind is a heuristic, which must be advisory (§5).
const fn is_observation(kind: AssertionKind) -> bool {
    matches!(
        kind,
        AssertionKind::NoDeprecatedToolExposed
            | AssertionKind::NoEndingQuestion
            | AssertionKind::NoRepeatedIdenticalCall
            | AssertionKind::NoDeprecatedToolCalled
            | AssertionKind::ToolErrorNamesInput
            | AssertionKind::FullPageHasContinuation
    )
}

fn names() -> Vec<&'static str> {
    AssertionKind::ALL.iter().map(|kind| kind.wire()).collect()
}

/// A member of a case's list: a predicate; `kind` is an ordinary extra key here.
pub(super) fn in_list(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    if let Some(name) = step::tag(check, at, "type", &names()) {
        predicate(check, at, name);
    }
}

/// The payload of an assert step: a widget assertion keyed `kind` or a
/// predicate keyed `type`, reported at the payload (§2.3).
pub(super) fn in_step(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let by_kind = at.node.get("kind");
    let by_type = at.node.get("type");
    match (by_kind, by_type) {
        (Some(_), Some(_)) => {
            check
                .report(at, "`assertion` has both `type` and `kind`")
                .label = Some("`type` names a predicate, `kind` a widget assertion".to_owned());
        }
        (None, None) => {
            check.report(at, "`assertion` needs `type` or `kind`").label =
                Some("`type` names a predicate, `kind` a widget assertion".to_owned());
        }
        (Some(kind), None) => {
            if !step::is_word(&kind.value, &step::WIDGET_KINDS) {
                unknown_payload(check, at, "kind", kind, &step::WIDGET_KINDS);
                return;
            }
            step::widget_assertion(check, at, kind.as_str().unwrap_or_default());
        }
        (None, Some(name)) => {
            let names = names();
            if !step::is_word(&name.value, &names) {
                unknown_payload(check, at, "type", name, &names);
                return;
            }
            predicate(check, at, name.as_str().unwrap_or_default());
        }
    }
}

fn unknown_payload(
    check: &mut Check,
    at: At<'_>,
    key: &str,
    node: &crate::yaml::Node,
    known: &[&str],
) {
    let shown = value::preview(node);
    let near = node.as_str().and_then(|text| {
        known
            .iter()
            .map(|word| (strsim::damerau_levenshtein(text, word), *word))
            .filter(|(distance, _)| *distance <= 3)
            .min()
    });
    let message = format!("{shown} is not a known `{key}` of an assertion");
    let span = node.span;
    let finding = check.report_at(at.path, Some(span), message);
    finding.label = near.map(|(_, word)| format!("did you mean `{word}`?"));
}

fn predicate(check: &mut Check, at: At<'_>, name: &str) {
    let Some(kind) = AssertionKind::from_wire(name) else {
        return;
    };
    for parameter in parameters(kind) {
        if parameter.required {
            check.required(at, parameter.key, parameter.rule);
        } else {
            check.optional(at, parameter.key, parameter.rule);
        }
    }
    check.optional(at, "role", |check, at| word(check, at, &ROLES));
    check.optional(at, "severity", severity);
    warn_needs_advisory(check, at, false);
    if is_observation(kind) {
        must_be_advisory(check, at, name);
    }
    match kind {
        AssertionKind::ToolInputMatches | AssertionKind::ToolResultMatches => bounds(check, at),
        AssertionKind::ResponseCloseTo => reference_survives_normalization(check, at),
        _ => {}
    }
}

/// §5: an observation kind must be advisory.
fn must_be_advisory(check: &mut Check, at: At<'_>, name: &str) {
    let role = at.node.get("role");
    let readable = role.is_none_or(|role| step::is_word(&role.value, &ROLES));
    if !readable || role.and_then(|role| role.as_str()) == Some("advisory") {
        return;
    }
    let path = Path::Key(at.path, "role");
    let span = role.map_or(at.node.span, |role| role.span);
    check
        .report_at(
            &path,
            Some(span),
            format!("`{name}` is a heuristic and needs `role: advisory`"),
        )
        .label = Some("add `role: advisory`".to_owned());
}

/// §8.6: `max` at least the effective `min`; `min: 0` needs a `max`.
fn bounds(check: &mut Check, at: At<'_>) {
    let min = match at.node.get("min") {
        None => 1,
        Some(node) => match integer_of(node) {
            Some(min) => min,
            None => return,
        },
    };
    let (key, message) = match at.node.get("max") {
        None if min == 0 => ("min", "`min: 0` needs a `max`".to_owned()),
        Some(node) => match integer_of(node) {
            Some(max) if max < min => (
                "max",
                format!("`max` must be at least {min}, the `min`, not {max}"),
            ),
            _ => return,
        },
        None => return,
    };
    let path = Path::Key(at.path, key);
    let span = at.node.get(key).map(|node| node.span);
    check.report_at(&path, span, message);
}

/// §8.5: a reference that is empty after normalization compares with nothing.
fn reference_survives_normalization(check: &mut Check, at: At<'_>) {
    let normalized = at
        .node
        .get("normalizeWhitespace")
        .is_some_and(|node| node.value == Value::Bool(true));
    let Some(node) = at.node.get("reference") else {
        return;
    };
    let Some(text) = node.as_str() else { return };
    if normalized && !text.is_empty() && is_blank(text) {
        let path = Path::Key(at.path, "reference");
        check.report(
            At { node, path: &path },
            "`reference` is empty once its whitespace is normalized",
        );
    }
}

fn hints(check: &mut Check, at: At<'_>) {
    const HINTS: [&str; 2] = ["readOnlyHint", "destructiveHint"];
    check.list(at, 0, HINTS.len(), |check, at| word(check, at, &HINTS));
    let items = at.node.items();
    if items.len() == HINTS.len() && items[0].node.same(&items[1].node) {
        check.report(at, format!("`{}` names a hint twice", at.path.name()));
    }
}

/// `args: {args: object, argumentMatching?}`, otherwise open.
fn call_arguments(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "args", |check, at| {
        check.is_map(at);
    });
    check.optional(at, "argumentMatching", |check, at| {
        word(check, at, &["exact", "partial", "ignore"]);
    });
}

fn tool_names(check: &mut Check, at: At<'_>) {
    check.list(at, 0, usize::MAX, filled_text);
}

fn short_needle(check: &mut Check, at: At<'_>) {
    bounded_text(check, at, 1, 1000);
}

fn schema(check: &mut Check, at: At<'_>) {
    const LONGEST: usize = 16_384;
    let (_, bytes) = json_size(at.node);
    if bytes > LONGEST {
        let message = format!("`schema` must have at most {LONGEST} bytes as JSON, not {bytes}");
        check.report(at, message);
    }
}

fn patterns(check: &mut Check, at: At<'_>) {
    check.list(at, 1, 8, pattern::linear);
}

fn flags(check: &mut Check, at: At<'_>) {
    word(check, at, &["i", "m", "s", "im", "is", "ms", "ims"]);
}

/// A JSON pointer of one token: `/key`, with `~0` and `~1`.
fn json_key(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if !value::length(check, at, text, 2, 257) {
        return;
    }
    let token = text.strip_prefix('/').unwrap_or_default();
    let mut characters = token.chars();
    let mut well_formed = !token.is_empty();
    while let Some(character) = characters.next() {
        well_formed &= match character {
            '/' => false,
            '~' => matches!(characters.next(), Some('0' | '1')),
            _ => true,
        };
    }
    if !well_formed {
        check.expected(at, "one key as a JSON pointer, such as `/status`");
    }
}

fn response_pattern(check: &mut Check, at: At<'_>) {
    pattern::backtracking(check, at);
}

fn reference(check: &mut Check, at: At<'_>) {
    bounded_text(check, at, 1, 100_000);
}
