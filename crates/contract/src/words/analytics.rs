//! Words of stage analytics (`analytics.md` §2, §13, `vocabulary.md` §6).

use super::vocabulary;

vocabulary! {
    /// Whether a run's funnel can still change.
    MaterializationState ("materialization state") {
        Provisional = "provisional", "provisional",
            "Some LLM judge pass that applies to the run is still owed; counts may still move.";
        Final = "final", "final",
            "Every LLM judge pass that applies is done; counts stop moving.";
    }
}

vocabulary! {
    /// Why a trial, or one stage of it, is left out of a funnel's counts.
    ///
    /// The first three leave out a whole trial, the others one stage of it.
    /// These are not the exclusion reasons of a verdict, although some words
    /// coincide.
    ExclusionClass ("analytics exclusion class") {
        Lifecycle = "lifecycle", "no comparable observation",
            "No comparable observation: not finished, not run, stopped, timed out, never set up, or never graded.";
        Integrity = "integrity", "chain or measurements missing or refused",
            "Chain or measurements are missing or were refused by a check; treat it as a bug to chase, not as a property of the data.";
        Version = "version", "made by something newer than this reader",
            "Produced by something newer than this reader; never coerced.";
        NotApplicable = "notApplicable", "the case does not exercise this stage",
            "The case does not exercise this stage.";
        ReachUnknown = "reachUnknown", "nothing recorded says whether it was reached",
            "Nothing was recorded, so we can't tell whether this stage was reached; never counted as a drop-off.";
        NotMeasured = "notMeasured", "reached, and nothing settled it",
            "The stage was reached, and nothing settled it.";
    }
}

vocabulary! {
    /// Why a whole trial is left out of a funnel, in detail.
    ExclusionDetail ("analytics exclusion detail") {
        NotTerminal = "notTerminal", "not finished yet",
            "The trial is pending or running.";
        Skipped = "skipped", "left out on purpose",
            "The trial was deliberately not run.";
        Cancelled = "cancelled", "stopped by request",
            "The trial was cancelled before its end.";
        SetupFailed = "setupFailed", "environment could not be set up",
            "The environment was not ready, so the trial never began.";
        TimedOut = "timedOut", "ran out of time",
            "The trial exceeded its time budget.";
        ExecutionFailed = "executionFailed", "ended in a state this reader can't grade",
            "The trial's status is none that this reader knows.";
        EvaluatorError = "evaluatorError", "the grader broke; nothing learnt about the server",
            "The grader broke, so nothing was learnt about the server.";
        ChainMissing = "chainMissing", "no chain stored",
            "No chain is stored with the trial.";
        ChainUnverified = "chainUnverified", "stored chain did not pass its check",
            "The stored chain did not pass its check.";
        ChainVersionAhead = "chainVersionAhead", "chain made by a newer analyzer",
            "The chain was made by an analyzer newer than this reader.";
        MeasurementsMissing = "measurementsMissing", "no measurements stored",
            "No measurements are stored with the trial.";
        MeasurementsInvalid = "measurementsInvalid", "stored measurements did not pass their check",
            "The stored measurements did not pass their check, or disagree with the chain.";
        MeasurementsVersionAhead = "measurementsVersionAhead", "measurements use a newer schema",
            "The measurements use a schema newer than this reader.";
        AnalyzerMismatch = "analyzerMismatch", "chain and measurements name different analyzers",
            "Chain and measurements name different analyzers.";
    }
}

impl ExclusionDetail {
    /// Returns the class that the detail belongs to (`analytics.md` §4).
    #[must_use]
    pub const fn class(self) -> ExclusionClass {
        match self {
            Self::NotTerminal
            | Self::Skipped
            | Self::Cancelled
            | Self::SetupFailed
            | Self::TimedOut
            | Self::ExecutionFailed
            | Self::EvaluatorError => ExclusionClass::Lifecycle,
            Self::ChainVersionAhead | Self::MeasurementsVersionAhead => ExclusionClass::Version,
            Self::ChainMissing
            | Self::ChainUnverified
            | Self::MeasurementsMissing
            | Self::MeasurementsInvalid
            | Self::AnalyzerMismatch => ExclusionClass::Integrity,
        }
    }
}

vocabulary! {
    /// What a funnel's trials are grouped by; slices of two dimensions overlap.
    SliceDimension ("slice dimension") {
        Overall = "overall", "all trials",
            "Every trial of the run.";
        Intent = "intent", "intent",
            "Trials of cases that name the same intent; cases without one form a slice of their own.";
        Model = "model", "model",
            "Trials under one provider and model.";
        Host = "host", "host",
            "Trials under one host.";
    }
}

vocabulary! {
    /// Why two funnels must not be shown side by side.
    ///
    /// An identity that is absent blocks; it is never assumed equal.
    ParityBlocker ("parity blocker") {
        MissingRunGroup = "missingRunGroup", "a run names no run group",
            "At least one of the two runs names no run group.";
        DifferentRunGroup = "differentRunGroup", "the runs belong to different run groups",
            "The two runs belong to different run groups.";
        MissingConfigIdentity = "missingConfigIdentity", "a run's configuration is not identified",
            "At least one of the two runs does not identify its configuration.";
        DifferentConfigIdentity = "differentConfigIdentity", "the configurations differ",
            "The two runs were made under different configurations.";
        MissingCaseSetIdentity = "missingCaseSetIdentity", "a run's case set is not identified",
            "At least one of the two runs does not identify the cases whose trials it counts.";
        DifferentCaseSetIdentity = "differentCaseSetIdentity", "the case sets differ",
            "The two runs count trials of different cases.";
        DifferentAnalyzerVersion = "differentAnalyzerVersion", "the chains were made by different analyzers",
            "The chains of the two runs were made by different analyzer versions.";
        DifferentMeasurementsVersion = "differentMeasurementsVersion", "the measurements use different schemas",
            "The measurements of the two runs use different schema versions.";
        DifferentMeasurementUnit = "differentMeasurementUnit", "the units differ",
            "The two runs count different things.";
        MixedSourceVersions = "mixedSourceVersions", "a run mixes versions",
            "At least one of the two runs mixes analyzer or schema versions, so it compares with nothing, not even with itself.";
        Provisional = "provisional", "a run's counts still move",
            "An LLM judge pass is still owed to at least one of the two runs.";
    }
}

vocabulary! {
    /// Why there is no funnel to show; none of them is a funnel of zeros.
    FunnelAbsence ("funnel absence") {
        NotYet = "notYet", "not there yet",
            "The run has not ended; its funnel is written with its end.";
        NotRecorded = "notRecorded", "not recorded",
            "The run ended without a funnel, by a version that wrote none or by being killed. It is unmeasured, not zero.";
        Withheld = "withheld", "withheld as invalid",
            "A funnel is stored and does not pass its check, so no part of it is shown.";
    }
}
