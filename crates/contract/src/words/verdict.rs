//! What a run decided, and why (`verdict.md` §1, `vocabulary.md` §5).

use super::vocabulary;

vocabulary! {
    /// The verdict of a run or of a case variant under policy v2.
    Verdict ("verdict") {
        Passed = "passed", "passed",
            "The validity checks held and every case variant met its threshold.";
        Failed = "failed", "failed",
            "The validity checks held and a case variant missed its threshold.";
        Inconclusive = "inconclusive", "inconclusive",
            "The validity phase ran and withheld a verdict: the run did not measure the server well enough. A decision, not a defect.";
    }
}

vocabulary! {
    /// The verdict that a run's decision summary reports.
    ///
    /// `notEstablished` is the absence of a decision: never a failure, never a
    /// regression, and not `inconclusive`, which is a decision.
    SummaryVerdict ("run verdict") {
        Passed = "passed", "passed",
            "The run decided: passed.";
        Failed = "failed", "failed",
            "The run decided: failed.";
        Inconclusive = "inconclusive", "inconclusive",
            "The validity phase ran and withheld a verdict: the run did not measure the server well enough. A decision, not a defect.";
        NotEstablished = "notEstablished", "no verdict established",
            "No verdict exists: unfinished, stopped early, or unreadable; the undecided reason says which. Never a regression.";
    }
}

impl From<Verdict> for SummaryVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Inconclusive => Self::Inconclusive,
        }
    }
}

vocabulary! {
    /// Why a decision or a case row reads as it does, in order of emission.
    DecisionReason ("decision reason") {
        ConfiguredTrialsNotAttempted = "configuredTrialsNotAttempted", "some configured trial never ran",
            "Validity: full coverage is demanded, and fewer trials were attempted than configured.";
        NoGradeableTrials = "noGradeableTrials", "nothing could be graded",
            "Validity: full coverage is demanded, and not one trial could be graded.";
        EligibleTrialsBelowMinimum = "eligibleTrialsBelowMinimum", "fewer gradeable trials than the suite demands",
            "Validity: the suite names a least number of gradeable trials, and the run has fewer.";
        CompletionRateBelowMinimum = "completionRateBelowMinimum", "too few attempted trials completed",
            "Validity: the fraction of attempted trials that completed lies below the floor.";
        CompletionRateNotMeasured = "completionRateNotMeasured", "nothing was attempted, so no completion floor can be met",
            "Validity: no trial was attempted, so there is no completion rate.";
        EvaluatorErrorRateAboveMaximum = "evaluatorErrorRateAboveMaximum", "the evaluator broke too often for the run to describe the server",
            "Validity: the fraction of attempted trials that the evaluator lost lies above the ceiling.";
        EvaluatorErrorRateNotMeasured = "evaluatorErrorRateNotMeasured", "nothing was attempted, so no evaluator-error ceiling can be met",
            "Validity: no trial was attempted, so there is no evaluator-error rate.";
        CaseHasNoEligibleTrials = "caseHasNoEligibleTrials", "a case graded nothing at all",
            "Validity: some case variant has not one trial that could be graded.";
        CasePassRateMetThreshold = "casePassRateMetThreshold", "the case met its threshold",
            "Task: the case variant's pass rate reached its threshold. Said of a case, never of a run.";
        CasePassRateBelowThreshold = "casePassRateBelowThreshold", "a case missed its threshold",
            "Task: a case variant's pass rate lies below its threshold.";
        AllMeasuredCasesMetThreshold = "allMeasuredCasesMetThreshold", "every measured case met its threshold",
            "Task: every case variant's pass rate reached its threshold. Said of a run, never of a case.";
    }
}

impl DecisionReason {
    /// Returns whether this reason withholds a verdict (the others give one).
    #[must_use]
    pub const fn is_validity(self) -> bool {
        match self {
            Self::ConfiguredTrialsNotAttempted
            | Self::NoGradeableTrials
            | Self::EligibleTrialsBelowMinimum
            | Self::CompletionRateBelowMinimum
            | Self::CompletionRateNotMeasured
            | Self::EvaluatorErrorRateAboveMaximum
            | Self::EvaluatorErrorRateNotMeasured
            | Self::CaseHasNoEligibleTrials => true,
            Self::CasePassRateMetThreshold
            | Self::CasePassRateBelowThreshold
            | Self::AllMeasuredCasesMetThreshold => false,
        }
    }
}

vocabulary! {
    /// Why a trial is left out of a rate's denominator.
    ExclusionReason ("trial exclusion reason") {
        NotTerminal = "notTerminal", "not ended",
            "The trial has not ended, or a configured trial has no entry at all.";
        Skipped = "skipped", "skipped",
            "The trial was deliberately not run.";
        SetupFailed = "setupFailed", "setup failed",
            "The environment was not ready, so the trial never began.";
        Cancelled = "cancelled", "cancelled",
            "The trial was cancelled before its end.";
        TimedOut = "timedOut", "timed out",
            "The trial exceeded its time budget.";
        ExecutionFailed = "executionFailed", "execution failed",
            "The trial could not run to its end.";
        EvaluatorError = "evaluatorError", "evaluator error",
            "The grader broke, so the trial says nothing about the server.";
    }
}

vocabulary! {
    /// Whether a rate has a denominator at all.
    RateState ("rate state") {
        Measured = "measured", "measured",
            "The denominator is at least 1, so the rate has a value.";
        NotMeasured = "notMeasured", "not measured",
            "The denominator is 0, so the rate has no value: neither 0 % nor 100 %.";
    }
}

vocabulary! {
    /// How much of a run must be measured before it may decide.
    CoverageKind ("coverage kind") {
        AllConfiguredTrialsAttempted = "allConfiguredTrialsAttempted", "every configured trial attempted",
            "Every configured trial must be attempted and at least one must be gradeable. The default.";
        MinEligibleTrials = "minEligibleTrials", "a least number of gradeable trials",
            "The run must hold at least the stated number of gradeable trials; trials that never ran are tolerated.";
    }
}

vocabulary! {
    /// Where a summary's verdict comes from.
    VerdictSource ("verdict source") {
        PolicyV2 = "policyV2", "decided by policy v2",
            "The stored decision was validated and is reported as it is.";
        Legacy = "legacy", "older run, judged by pass percentage",
            "The run predates policy v2; its recorded result is reported.";
        None = "none", "undecided",
            "There is no verdict to report.";
    }
}

vocabulary! {
    /// What a count counts; every count travels with its unit.
    MeasurementUnit ("measurement unit") {
        CaseVariant = "caseVariant", "case variant",
            "One case under one provider and model; trials are repeats inside it.";
        Trial = "trial", "trial",
            "One iteration of one case.";
    }
}

impl MeasurementUnit {
    /// Returns the unit's words beside a count; the singular only for exactly 1.
    #[must_use]
    pub const fn words(self, count: u64) -> &'static str {
        match (self, count) {
            (Self::CaseVariant, 1) => "case variant",
            (Self::CaseVariant, _) => "case variants",
            (Self::Trial, 1) => "trial",
            (Self::Trial, _) => "trials",
        }
    }
}

vocabulary! {
    /// Why a run has no verdict.
    UndecidedReason ("undecided reason") {
        RunNotTerminal = "runNotTerminal", "the run is still going",
            "The run has not ended, or its process was killed before it could say so.";
        RunStatusNotAVerdict = "runStatusNotAVerdict", "the run stopped early, so its counts describe a sample",
            "The run was stopped, timed out or failed, and no policy v2 decision was due.";
        RunResultNotAVerdict = "runResultNotAVerdict", "the run ended without recording a verdict",
            "The run completed, and neither passed nor failed is on record.";
        VerdictSummaryUnavailable = "verdictSummaryUnavailable", "the run was decided under policy v2 and its decision cannot be read",
            "A policy v2 decision was due and is absent, malformed or inconsistent. Legacy counts are no fallback.";
    }
}

vocabulary! {
    /// Whether a trial's stored chain may be believed.
    ChainStatus ("chain status") {
        Verified = "verified", "verified",
            "The stored chain passed its validator and is shown.";
        Unverified = "unverified", "unverified",
            "A chain is stored and does not pass its validator; it is withheld together with the claims made from it.";
        Absent = "absent", "absent",
            "No chain is stored.";
    }
}

vocabulary! {
    /// What comparing two samples says (`verdict.md` §11.3).
    RegressionVerdict ("comparison verdict") {
        Regression = "regression", "regression",
            "The whole interval of the difference lies below zero, and the difference is at least the effect floor.";
        NoRegression = "no_regression", "no regression shown",
            "The sample does not show a regression. It does not show that there is none.";
        InsufficientData = "insufficient_data", "too little data",
            "A side has fewer gradeable trials than the smallest sample that may be compared.";
    }
}

vocabulary! {
    /// Why no decision could be made from a run's trials (`verdict.md` §3, §7).
    ///
    /// A refusal is an integrity problem of the run: no decision is stored.
    VerdictRefusal ("verdict refusal") {
        PolicyNotObject = "policy_not_object", "the policy is not an object",
            "R1: the validity policy is null, a list or a scalar.";
        PolicyUnknownField = "policy_unknown_field", "the policy has an unknown field",
            "R2: a policy holds `coverage`, `minCompletionRate` and `maxEvaluatorErrorRate` only.";
        RateNotFinite = "rate_not_finite", "a policy rate is not a number",
            "R3, R4: a policy rate is missing or not a finite number.";
        RateOutOfRange = "rate_out_of_range", "a policy rate lies outside 0 to 1",
            "R3, R4: rates are fractions, so a percent is out of range.";
        CoverageNotObject = "coverage_not_object", "the coverage is not an object",
            "R5: the coverage is missing, null, a list or a scalar.";
        CoverageUnknownField = "coverage_unknown_field", "the coverage has an unknown field",
            "R6, R9: each coverage kind has exactly one further field.";
        MinGradeableNotOne = "min_gradeable_not_one", "`minGradeableTrials` is not 1",
            "R7: full coverage always demands one gradeable trial.";
        CoverageUnknownKind = "coverage_unknown_kind", "the coverage kind is unknown",
            "R8: a coverage is `allConfiguredTrialsAttempted` or `minEligibleTrials`.";
        MinEligibleNotCount = "min_eligible_not_count", "`minEligibleTrials` is not a count",
            "R10: it must be an integer of at least 1.";
        MinEligibleBelowOne = "min_eligible_below_one", "`minEligibleTrials` is 0",
            "R10: it must be an integer of at least 1.";
        NoCases = "no_cases", "there is no case",
            "R11: a run without case rows decides nothing.";
        TooManyRows = "too_many_rows", "there are more than 50000 rows",
            "R12: a decision holds at most 50000 case variants.";
        DuplicateIdentity = "duplicate_identity", "two rows have the same case and variant",
            "R13: a case variant has exactly one row.";
        MixedIdentity = "mixed_identity", "a case has rows with and without a variant",
            "R14: a case either fans out over variants or does not.";
        TooManyCases = "too_many_cases", "there are more than 500 cases",
            "R15: a decision holds at most 500 distinct cases.";
        ConfiguredTrialsOutOfRange = "configured_trials_out_of_range", "`configuredTrials` lies outside 1 to 100",
            "R16: a case variant has 1 to 100 configured trials.";
        ThresholdNotFinite = "threshold_not_finite", "the pass threshold is not a number",
            "R17: the threshold is missing or not a finite number.";
        ThresholdOutOfRange = "threshold_out_of_range", "the pass threshold lies outside 0 to 1",
            "R17: thresholds are fractions, so a percent is out of range.";
        UnknownStatus = "unknown_status", "a trial has an unknown status",
            "R18: a trial's status is one of the iteration statuses.";
        CompletedWithoutVerdict = "completed_without_verdict", "a completed trial was never graded",
            "R19: a completed trial has a task verdict or an evaluator error.";
        TooManyTrials = "too_many_trials", "a case has more trials than configured",
            "R20: a case variant has at most its configured number of trials.";
        CaseIdInvalid = "case_id_invalid", "a case id is malformed",
            "R21: a case id is 1 to 128 of letters, digits, `_` and `-`.";
        VariantNotObject = "variant_not_object", "a variant is not an object",
            "R22: a variant is an object with a model.";
        VariantUnknownField = "variant_unknown_field", "a variant has an unknown field",
            "R23: a variant given to the aggregator holds `model` and `provider` only.";
        ModelEmpty = "model_empty", "a variant names no model",
            "R24: the model is missing, not a string, or empty.";
        ModelTooLong = "model_too_long", "a model name is longer than 200 characters",
            "R25: counted in UTF-16 code units.";
        ProviderEmpty = "provider_empty", "a variant's provider is empty",
            "R26: a provider that is present is a non-empty string.";
        ProviderTooLong = "provider_too_long", "a provider name is longer than 200 characters",
            "R26: counted in UTF-16 code units.";
        SelfCheckFailed = "self_check_failed", "the built decision does not pass its own validator",
            "R27: reachable only through a `minEligibleTrials` above 2^53 − 1.";
        CompletedWithoutTaskVerdict = "completed_without_task_verdict", "a completed iteration has neither passed nor failed",
            "Trial observation: a completed iteration's result is neither `passed` nor `failed`, and the evaluator did not break.";
        MalformedInput = "malformed_input", "the input has another shape",
            "The input is not `{policy, cases}` as the aggregator reads it.";
    }
}
