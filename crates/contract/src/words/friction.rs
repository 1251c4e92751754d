//! Friction signals and suspected conditions (`friction.md` §1, §9,
//! `vocabulary.md` §7).

use super::vocabulary;

vocabulary! {
    /// Something that a trial's tool calls show about avoidable work.
    ///
    /// Never a verdict. Each kind has a benign reading that is often the right
    /// one; say it on every surface.
    FrictionSignalKind ("friction signal") {
        IdentifierSurfacedUnused = "identifierSurfacedUnused", "a result held identifiers that no later call used",
            "A result carried identifiers, at least two later calls ran, and none carried any of them.";
        SearchRepeatedAfterIdentifier = "searchRepeatedAfterIdentifier", "the same tool was searched again after it had returned identifiers",
            "A result carried identifiers that no later call used, and its tool was asked again with other arguments.";
        IdenticalRetry = "identicalRetry", "a call was repeated with identical arguments",
            "Two adjacent calls of one tool have equal arguments.";
        ChangedRetry = "changedRetry", "the same tool was called again with other arguments",
            "Two adjacent calls of one tool differ in their arguments.";
        PaginationContinuation = "paginationContinuation", "only pagination arguments changed",
            "Two adjacent calls of one tool differ in top-level pagination arguments only.";
    }
}

impl FrictionSignalKind {
    /// Returns the benign reading that must stay possible.
    #[must_use]
    pub const fn benign_reading(self) -> &'static str {
        match self {
            Self::IdentifierSurfacedUnused => "the search had already answered",
            Self::SearchRepeatedAfterIdentifier => "a refinement, or a second question",
            Self::IdenticalRetry => "recovery from a passing error",
            Self::ChangedRetry => "ordinary exploration",
            Self::PaginationContinuation => "paging; never a repeat",
        }
    }

    /// Returns whether the signal rests on identifiers in results (the others
    /// rest on adjacent calls alone).
    #[must_use]
    pub const fn is_identifier(self) -> bool {
        match self {
            Self::IdentifierSurfacedUnused | Self::SearchRepeatedAfterIdentifier => true,
            Self::IdenticalRetry | Self::ChangedRetry | Self::PaginationContinuation => false,
        }
    }
}

vocabulary! {
    /// Whether a trial's calls, or the identifier half of them, were examined.
    FrictionState ("friction state") {
        Measured = "measured", "measured",
            "The calls were examined; no signal means that none was seen.";
        NotMeasured = "notMeasured", "not measured",
            "The calls could not be examined; no signal means nothing.";
    }
}

vocabulary! {
    /// Why friction was not measured.
    FrictionGap ("friction gap") {
        NoToolCalls = "noToolCalls", "the trial made no tool call",
            "There is nothing to examine.";
        ResultsUnavailable = "resultsUnavailable", "a call kept no result",
            "At least one call has no recorded result, so identifiers cannot be followed.";
        OrderingUnknown = "orderingUnknown", "the order of calls and results is not known",
            "Calls do not all share one known ordering, so identifiers cannot be followed.";
        EvidenceIncomplete = "evidenceIncomplete", "the recorded calls are incomplete",
            "Some arguments have no canonical form, or the producer declares a hole.";
        Truncated = "truncated", "the trial made more calls than are examined",
            "More than 200 calls.";
    }
}

vocabulary! {
    /// A tool argument whose change is paging.
    PaginationKey ("pagination argument") {
        Cursor = "cursor", "cursor", "The argument `cursor`.";
        NextCursor = "nextCursor", "nextCursor", "The argument `nextCursor`.";
        Page = "page", "page", "The argument `page`.";
        PageToken = "pageToken", "pageToken", "The argument `pageToken`.";
        Offset = "offset", "offset", "The argument `offset`.";
        After = "after", "after", "The argument `after`.";
        Before = "before", "before", "The argument `before`.";
        Start = "start", "start", "The argument `start`.";
        Limit = "limit", "limit", "The argument `limit`.";
    }
}

vocabulary! {
    /// A server-side condition that an LLM judge suspects behind a signal.
    ///
    /// Advisory: the word "suspected" stays on every surface, since only a
    /// controlled change of the server could show a cause.
    SuspectedCondition ("suspected condition") {
        Unclear = "unclear", "no condition could be attributed",
            "The window does not single out a condition. It does not say that nothing is wrong.";
        IdBuriedInPayload = "idBuriedInPayload", "suspected: the needed id lies deep in the result",
            "The id that the next step needed was returned, but only deep inside nested data.";
        IdNameCollision = "idNameCollision", "suspected: several fields share an id name",
            "Several fields go by the same id name, so the result does not say which one the next tool wants.";
        MissingQueryEcho = "missingQueryEcho", "suspected: the result leaves out its query",
            "The result leaves out the query or filter it answers, so it cannot be matched to its request.";
        SilentTruncation = "silentTruncation", "suspected: the result was cut without a marker",
            "Fewer items or less text than exist came back with no marker, total or cursor.";
        AmbiguousErrorSemantics = "ambiguousErrorSemantics", "suspected: the error leaves open what to do",
            "An error leaves open whether to repeat, change or stop.";
        MissingUnits = "missingUnits", "suspected: a quantity has no unit",
            "A quantity came back without unit, currency, time zone or scale.";
        ResponseWasClear = "responseWasClear", "the server's output does not explain the pattern",
            "The LLM judge looked, and the server's output does not explain the pattern.";
        DescriptionMisleading = "descriptionMisleading", "suspected: the tool's description promises something else",
            "Name, description or schema promised something that the tool does not do.";
    }
}

vocabulary! {
    /// How sure an LLM judge is of a suspected condition.
    JudgeConfidence ("judge confidence") {
        Low = "low", "low", "A named condition at this confidence is stored as `unclear`.";
        Medium = "medium", "medium", "The least confidence of a named condition.";
        High = "high", "high", "The greatest confidence; still a suspicion.";
    }
}

vocabulary! {
    /// Why no LLM judge looked for a suspected condition.
    ConditionSkipReason ("condition skip reason") {
        SpendBlocked = "spendBlocked", "the judge budget refused",
            "The budget for LLM judges does not allow another call.";
        TraceIncomplete = "traceIncomplete", "the trace is incomplete",
            "A call in the window has no retained result, or the trace is cut.";
        NoEvidence = "noEvidence", "no readable result",
            "The window holds no result that could be read.";
        Cap = "cap", "the run's limit of judged trials is reached",
            "As many trials of the run were judged as its limit allows.";
    }
}

vocabulary! {
    /// How looking for a suspected condition ended.
    ConditionStatus ("condition status") {
        Scored = "scored", "judged",
            "An LLM judge answered; the answer may be `unclear`.";
        Skipped = "skipped", "not judged",
            "No LLM judge looked; nothing is said about the trial.";
        Error = "error", "the judge failed",
            "The LLM judge failed or answered nonsense; nothing is said about the trial.";
    }
}
