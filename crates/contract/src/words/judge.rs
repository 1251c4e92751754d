//! What an LLM judge is asked, and how asking it ended (`chain.md` §14.4,
//! `friction.md` §9, `suite-file.md` §4.3).

use super::vocabulary;

vocabulary! {
    /// What an LLM judge is asked about a trial.
    ///
    /// A judge is a model, not a rule: its answer is advisory unless the suite
    /// requires it, and it never says on whose side a cause lies.
    JudgeKind ("judge kind") {
        GoalCompletion = "goalCompletion", "goal completion",
            "Whether the user's request was satisfied.";
        MetadataAttribution = "metadataAttribution", "metadata attribution",
            "Whether the tools' own names, descriptions or schemas misled the model; asked only after selection failed.";
        SuspectedCondition = "suspectedCondition", "suspected condition",
            "Which condition of the server's output plausibly contributed to a friction signal; a suspicion, never a cause.";
    }
}

vocabulary! {
    /// How one call of an LLM judge ended.
    JudgeCallOutcome ("judge call outcome") {
        Scored = "scored", "answered",
            "The LLM judge gave the answer that it was asked for.";
        Malformed = "malformed", "malformed answer",
            "The LLM judge answered something else than what it was asked for.";
        Refused = "refused", "refused",
            "The LLM judge, or its provider, withheld the answer.";
        Failed = "failed", "failed",
            "The LLM judge's provider gave no answer.";
    }
}

vocabulary! {
    /// How the samples of one judgement become one answer.
    JudgeAggregation ("judge aggregation") {
        Median = "median", "median",
            "The median of the samples' scores; the mean of the middle two where their number is even.";
        Majority = "majority", "majority",
            "What more than half of the samples say.";
    }
}

vocabulary! {
    /// What the answer of an LLM judge does to a trial's result.
    JudgeRole ("judge role") {
        Advisory = "advisory", "advisory",
            "The answer is shown and may fill user value where no rule decided; it never changes a result.";
        Required = "required", "required",
            "The trial passes only if the LLM judge's score reaches the threshold; without a score it is not graded.";
    }
}
