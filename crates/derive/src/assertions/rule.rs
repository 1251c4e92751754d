//! One authored rule: read once, evaluated on any transcript
//! (`assertions.md` §7.1, §8).

use std::fmt;

use serde_json::Value;
use strandline_contract::{
    assertion::{ResultRow, RowScope},
    redact::redact_object,
    suite::AuthoredAssertion,
    words::{AssertionKind, RowStatus, RuleRole},
};

use super::{
    call, discovery,
    evidence::Evidence,
    expectations::kind_of,
    outcome::{Outcome, Params, Unusable},
    reason::bounded_reason,
    response,
    role::role_of,
    selection, user_value,
};

/// Evaluates one kind of rule on a transcript.
pub(super) trait Rule: Send + Sync {
    /// Returns what the transcript says about the rule.
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome;
}

/// An authored rule, ready to be evaluated any number of times.
pub struct CompiledRule {
    authored: Value,
    predicate: Value,
    kind: Option<AssertionKind>,
    role: RuleRole,
    check: Result<Box<dyn Rule>, Unusable>,
}

impl CompiledRule {
    /// Reads an authored rule; one that cannot be read gives its failed or
    /// error row every time it is evaluated.
    #[must_use]
    pub fn compile(rule: &AuthoredAssertion) -> Self {
        let kind = kind_of(rule);
        Self {
            authored: Value::Object(rule.clone()),
            predicate: stored(rule, kind),
            kind,
            role: role_of(rule),
            check: match kind {
                Some(kind) => read(kind, Params::new(rule)),
                None => Err(Outcome::Fail("unknown predicate type".to_owned())),
            },
        }
    }

    /// Reads a rule that may be anything; what is no object fails as it came.
    #[must_use]
    pub fn compile_value(rule: &Value) -> Self {
        match rule {
            Value::Object(rule) => Self::compile(rule),
            other => Self {
                authored: other.clone(),
                predicate: other.clone(),
                kind: None,
                role: RuleRole::Required,
                check: Err(Outcome::Fail(
                    "malformed predicate: the rule is not an object".to_owned(),
                )),
            },
        }
    }

    /// Returns the rule's kind, when it is a known one.
    #[must_use]
    pub const fn kind(&self) -> Option<AssertionKind> {
        self.kind
    }

    /// Returns the rule as authored, unredacted: for hashing, never for show.
    pub(super) const fn authored(&self) -> &Value {
        &self.authored
    }

    /// Returns the rule's effective role.
    #[must_use]
    pub const fn role(&self) -> RuleRole {
        self.role
    }

    /// Evaluates the rule.
    #[must_use]
    pub fn evaluate(&self, evidence: &Evidence<'_>, scope: Option<RowScope>) -> ResultRow {
        let outcome = match &self.check {
            Ok(check) => check.evaluate(evidence),
            Err(outcome) => outcome.clone(),
        };
        self.row(outcome, scope)
    }

    /// Returns the rule's row for an outcome that was found another way.
    #[must_use]
    pub(super) fn row(&self, outcome: Outcome, scope: Option<RowScope>) -> ResultRow {
        let (passed, status, reason) = match outcome {
            Outcome::Pass(reason) => (true, None, reason),
            Outcome::Fail(reason) => (false, None, reason),
            Outcome::Error(reason) => (false, Some(RowStatus::Error), reason),
        };
        ResultRow {
            predicate: self.predicate.clone(),
            passed,
            status,
            reason: bounded_reason(reason),
            scope,
        }
    }
}

impl fmt::Debug for CompiledRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledRule")
            .field("predicate", &self.predicate)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// The rule as it is stored: as authored, with the arguments of
/// `toolCalledWith` redacted.
fn stored(rule: &AuthoredAssertion, kind: Option<AssertionKind>) -> Value {
    let mut stored = rule.clone();
    if kind == Some(AssertionKind::ToolCalledWith)
        && let Some(args) = stored
            .get_mut("args")
            .and_then(|args| args.get_mut("args"))
            .and_then(Value::as_object_mut)
    {
        *args = redact_object(args);
    }
    Value::Object(stored)
}

/// Reads a rule of a known kind.
fn read(kind: AssertionKind, params: Params<'_>) -> Result<Box<dyn Rule>, Unusable> {
    use AssertionKind as Kind;
    Ok(match kind {
        // §8.1 Discovery.
        Kind::ToolDescriptionsPresent => {
            Box::new(discovery::ToolDescriptionsPresent::read(params)?)
        }
        Kind::ToolAnnotationsPresent => Box::new(discovery::ToolAnnotationsPresent::read(params)?),
        Kind::ToolNamesUnique => Box::new(discovery::ToolNamesUnique),
        Kind::NoDeprecatedToolExposed => Box::new(discovery::NoDeprecatedToolExposed),
        Kind::ToolInputSchemasWellFormed => Box::new(discovery::ToolInputSchemasWellFormed),
        Kind::ToolOutputSchemasPresent => Box::new(discovery::ToolOutputSchemasPresent),
        // §8.2 Selection.
        Kind::ToolCalledWith => Box::new(selection::ToolCalledWith::read(params)?),
        Kind::ToolCalledAtLeastOnce => Box::new(selection::ToolCalledAtLeastOnce::read(params)?),
        Kind::ToolNeverCalled => Box::new(selection::ToolNeverCalled::read(params)?),
        Kind::OnlyToolsCalled => Box::new(selection::OnlyToolsCalled::read(params)?),
        Kind::FirstToolWas => Box::new(selection::FirstToolWas::read(params)?),
        Kind::ToolCallCountUnder => Box::new(selection::ToolCallCountUnder::read(params)?),
        Kind::ToolCalledBefore => Box::new(selection::ToolCalledBefore::read(params)?),
        Kind::NoDeprecatedToolCalled => Box::new(selection::NoDeprecatedToolCalled),
        Kind::NoDestructiveToolCalled => Box::new(selection::NoDestructiveToolCalled),
        // §8.3 Call.
        Kind::ArgumentsMatchToolSchema => Box::new(call::ArgumentsMatchToolSchema::read(params)?),
        Kind::NoRepeatedIdenticalCall => Box::new(call::NoRepeatedIdenticalCall::read(params)?),
        Kind::ToolInputMatches => Box::new(call::ToolInputMatches::read(params)?),
        // §8.4 Response.
        Kind::NoToolErrors => Box::new(response::NoToolErrors),
        Kind::ToolLatencyUnder => Box::new(response::ToolLatencyUnder::read(params)?),
        Kind::ToolResultContains => Box::new(response::ToolResultContains::read(params)?),
        Kind::ToolResultMatches => Box::new(response::ToolResultMatches::read(params)?),
        Kind::ToolResultMatchesSchema => Box::new(response::ToolResultMatchesSchema::read(params)?),
        Kind::ToolResultSizeUnder => Box::new(response::ToolResultSizeUnder::read(params)?),
        Kind::ToolErrorNamesInput => Box::new(response::ToolErrorNamesInput::read(params)?),
        Kind::FullPageHasContinuation => Box::new(response::FullPageHasContinuation::read(params)?),
        // §8.5 User value.
        Kind::ResponseCloseTo => Box::new(user_value::ResponseCloseTo::read(params)?),
        Kind::ResponseContains => Box::new(user_value::ResponseContains::read(params)?),
        Kind::ResponseMatches => Box::new(user_value::ResponseMatches::read(params)?),
        Kind::FinalAssistantMessageNonEmpty => Box::new(user_value::FinalAssistantMessageNonEmpty),
        Kind::TokenBudgetUnder => Box::new(user_value::TokenBudgetUnder::read(params)?),
        Kind::TurnCountUnder => Box::new(user_value::TurnCountUnder::read(params)?),
        Kind::NoEndingQuestion => Box::new(user_value::NoEndingQuestion),
        Kind::WidgetRendered => Box::new(user_value::WidgetRendered::read(params)?),
        Kind::WidgetRenderLatencyUnder => {
            Box::new(user_value::WidgetRenderLatencyUnder::read(params)?)
        }
        Kind::WidgetNoConsoleErrors => Box::new(user_value::WidgetNoConsoleErrors::read(params)?),
    })
}
