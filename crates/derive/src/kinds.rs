//! Where an assertion kind is judged: the one routing table (`chain.md` §5).
//!
//! The table is total over [`AssertionKind`]: a new kind does not compile
//! without its route.

use strandline_contract::words::{AssertionKind, FailureCategory, Stage, StageReason};

/// How a row of one assertion kind enters the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The one stage whose rule consumes the row.
    pub judged_at: Stage,
    /// What a failing gating row gives there.
    pub reason: StageReason,
    /// The bucket of such a failure.
    pub category: FailureCategory,
    /// The stage the catalogue files the kind under; an unknown kind has none.
    pub catalogue: Option<Stage>,
    /// The kind demands that a call happens (`chain.md` §14.1).
    pub positive_call: bool,
}

impl Route {
    /// The route of every kind that is not in the table, and of no kind at all.
    pub const UNKNOWN: Self = Self {
        catalogue: None,
        ..USER_VALUE
    };
}

const DISCOVERY: Route = filed(
    Stage::Discovery,
    StageReason::PredicateFailed,
    FailureCategory::Setup,
);
const SELECTION: Route = filed(
    Stage::Selection,
    StageReason::UnexpectedToolCall,
    FailureCategory::Selection,
);
const CALL: Route = filed(
    Stage::Call,
    StageReason::ArgumentMismatch,
    FailureCategory::Arguments,
);
const RESPONSE: Route = filed(
    Stage::Response,
    StageReason::PredicateFailed,
    FailureCategory::ServerData,
);
const USER_VALUE: Route = filed(
    Stage::UserValue,
    StageReason::PredicateFailed,
    FailureCategory::UserValue,
);

const fn filed(stage: Stage, reason: StageReason, category: FailureCategory) -> Route {
    Route {
        judged_at: stage,
        reason,
        category,
        catalogue: Some(stage),
        positive_call: false,
    }
}

/// Returns the route of a kind.
#[must_use]
pub const fn route(kind: AssertionKind) -> Route {
    use AssertionKind as Kind;
    match kind {
        Kind::ToolDescriptionsPresent
        | Kind::ToolAnnotationsPresent
        | Kind::ToolNamesUnique
        | Kind::NoDeprecatedToolExposed
        | Kind::ToolInputSchemasWellFormed
        | Kind::ToolOutputSchemasPresent => DISCOVERY,
        Kind::ToolCalledAtLeastOnce => Route {
            reason: StageReason::MissingToolCall,
            positive_call: true,
            ..SELECTION
        },
        Kind::FirstToolWas => Route {
            positive_call: true,
            ..SELECTION
        },
        Kind::ToolNeverCalled
        | Kind::OnlyToolsCalled
        | Kind::ToolCallCountUnder
        | Kind::ToolCalledBefore
        | Kind::NoDeprecatedToolCalled
        | Kind::NoDestructiveToolCalled => SELECTION,
        Kind::ArgumentsMatchToolSchema | Kind::NoRepeatedIdenticalCall | Kind::ToolInputMatches => {
            CALL
        }
        Kind::NoToolErrors
        | Kind::ToolLatencyUnder
        | Kind::ToolResultContains
        | Kind::ToolResultMatches
        | Kind::ToolResultMatchesSchema
        | Kind::ToolResultSizeUnder
        | Kind::ToolErrorNamesInput
        | Kind::FullPageHasContinuation => RESPONSE,
        // Filed under selection in the catalogue, not consumed there.
        Kind::ToolCalledWith => Route {
            catalogue: Some(Stage::Selection),
            ..USER_VALUE
        },
        Kind::ResponseCloseTo
        | Kind::ResponseContains
        | Kind::ResponseMatches
        | Kind::FinalAssistantMessageNonEmpty
        | Kind::TokenBudgetUnder
        | Kind::TurnCountUnder
        | Kind::NoEndingQuestion
        | Kind::WidgetRendered
        | Kind::WidgetRenderLatencyUnder
        | Kind::WidgetNoConsoleErrors => USER_VALUE,
    }
}

/// Returns the route of a stored row's kind, known or not.
#[must_use]
pub const fn route_of(kind: Option<AssertionKind>) -> Route {
    match kind {
        Some(kind) => route(kind),
        None => Route::UNKNOWN,
    }
}
