//! The standard checks and their suppression (`assertions.md` §9).

use serde_json::{Map, Value, json};
use strandline_contract::{
    suite::{AuthoredAssertion, ResolvedCase},
    words::{AssertionKind, StandardCheck, Vocabulary},
};

/// Returns the kind that a standard check is of.
#[must_use]
pub const fn kind(check: StandardCheck) -> AssertionKind {
    use AssertionKind as Kind;
    use StandardCheck as Check;
    match check {
        Check::DiscoveryDescription => Kind::ToolDescriptionsPresent,
        Check::DiscoveryAnnotations => Kind::ToolAnnotationsPresent,
        Check::DiscoveryCollisions => Kind::ToolNamesUnique,
        Check::DiscoveryDeprecated => Kind::NoDeprecatedToolExposed,
        Check::CallSchema => Kind::ToolInputSchemasWellFormed,
        Check::ResponseSchema => Kind::ToolOutputSchemasPresent,
        Check::SelectionHops => Kind::ToolCallCountUnder,
        Check::CallParameters => Kind::ArgumentsMatchToolSchema,
        Check::CallRepeated => Kind::NoRepeatedIdenticalCall,
        Check::ResponsePerformance => Kind::ToolLatencyUnder,
        Check::ResponseSize => Kind::ToolResultSizeUnder,
        Check::ResponseErrors => Kind::NoToolErrors,
        Check::ResponseRecovery => Kind::ToolErrorNamesInput,
        Check::ResponsePagination => Kind::FullPageHasContinuation,
        Check::UserValueTurns => Kind::TurnCountUnder,
    }
}

/// Returns a standard check as a rule: always advisory, always a warning.
#[must_use]
pub fn rule(check: StandardCheck) -> AuthoredAssertion {
    let mut rule = Map::new();
    rule.insert("type".to_owned(), Value::from(kind(check).wire()));
    let param = match check {
        StandardCheck::DiscoveryDescription => Some(("minLength", 20)),
        StandardCheck::SelectionHops => Some(("count", 4)),
        StandardCheck::ResponsePerformance => Some(("ms", 5_000)),
        StandardCheck::ResponseSize => Some(("maxBytes", 64_000)),
        StandardCheck::UserValueTurns => Some(("turns", 6)),
        StandardCheck::DiscoveryAnnotations
        | StandardCheck::DiscoveryCollisions
        | StandardCheck::DiscoveryDeprecated
        | StandardCheck::CallSchema
        | StandardCheck::ResponseSchema
        | StandardCheck::CallParameters
        | StandardCheck::CallRepeated
        | StandardCheck::ResponseErrors
        | StandardCheck::ResponseRecovery
        | StandardCheck::ResponsePagination => None,
    };
    if let Some((name, value)) = param {
        rule.insert(name.to_owned(), json!(value));
    }
    rule.insert("role".to_owned(), json!("advisory"));
    rule.insert("severity".to_owned(), json!("warn"));
    rule
}

/// Returns the rules that a case inherits when a run adds all standard checks:
/// those of suppressed kinds are removed. The case's own list is not touched.
#[must_use]
pub fn inherited(case: &ResolvedCase) -> Vec<AuthoredAssertion> {
    let suppressed: Vec<AssertionKind> = case
        .suppressed_suite_standard_check_ids
        .iter()
        .filter_map(|id| StandardCheck::from_wire(id))
        .map(kind)
        .collect();
    StandardCheck::ALL
        .iter()
        .filter(|check| !suppressed.contains(&kind(**check)))
        .map(|check| rule(*check))
        .collect()
}
