//! How strongly a stage reason may advise (`decision-summary.md` §10).

use super::{StageReason, vocabulary};

vocabulary! {
    /// How strongly a recommendation keyed on a stage reason may speak.
    ///
    /// It stands beside the next action of the failure category, never in its
    /// place.
    AdviceStrength ("advice strength") {
        Direct = "direct", "may instruct",
            "The reason was measured by a rule, so a recommendation may say what to do.";
        CheckWhether = "checkWhether", "may only ask",
            "An LLM judge is behind the reason, so a recommendation may only ask whether it holds.";
        NothingToFix = "nothingToFix", "nothing was learnt about the server",
            "The reason says nothing about the server, and a recommendation must say so.";
    }
}

impl StageReason {
    /// Returns how strongly a recommendation keyed on this reason may speak.
    #[must_use]
    pub const fn advice_strength(self) -> AdviceStrength {
        match self {
            Self::ConnectFailed
            | Self::ToolsListFailed
            | Self::MissingToolCall
            | Self::UnexpectedToolCall
            | Self::ArgumentMismatch
            | Self::ToolError
            | Self::ProtocolError
            | Self::RenderFailed
            | Self::PredicateFailed => AdviceStrength::Direct,
            Self::JudgeObserved
            | Self::JudgePartial
            | Self::JudgeFailed
            | Self::JudgePending
            | Self::JudgeNotRequested => AdviceStrength::CheckWhether,
            Self::NoSpanChannel
            | Self::NoEvidenceCaptured
            | Self::MatchVerdictUnavailable
            | Self::TraceAbsent
            | Self::ExecutorEmitsNoSpans
            | Self::BlockedByPolicy
            | Self::EvaluatorError
            | Self::ProviderError
            | Self::SetupAborted
            | Self::EgressUnverified
            | Self::LifecycleStopped
            | Self::NotAuthored
            | Self::EarlierStageFailed
            | Self::Observed
            | Self::ImpliedByLaterEvidence => AdviceStrength::NothingToFix,
        }
    }
}
