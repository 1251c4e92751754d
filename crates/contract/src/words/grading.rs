//! Words of assertion rows and score rows (`assertions.md` §5, §7, §11).

use super::vocabulary;

vocabulary! {
    /// Whether a rule could be evaluated; absent means `scored`.
    RowStatus ("row status") {
        Scored = "scored", "scored",
            "The rule was evaluated; whether it holds is another matter.";
        Error = "error", "could not be evaluated",
            "Evidence is missing or the rule is unusable. Not a failure of the server, the model or the case.";
    }
}

vocabulary! {
    /// Whether a failing rule fails the trial.
    ///
    /// `gating` is the older spelling of `required`; whatever is not
    /// `advisory` is required.
    RuleRole ("rule role") {
        Required = "required", "required",
            "A failing rule fails the trial.";
        Advisory = "advisory", "advisory",
            "The rule is recorded and shown; it never fails a trial, stops it or decides a stage.";
    }
}

vocabulary! {
    /// Whether a score has a value.
    ScoreStatus ("score status") {
        Scored = "scored", "scored",
            "The rule was evaluated and the score has a value.";
        Error = "error", "no value",
            "The rule could not be evaluated, so there is no value.";
    }
}

vocabulary! {
    /// What follows when a score has no value.
    ErrorPolicy ("error policy") {
        Ignore = "ignore", "ignored",
            "An advisory score without a value changes nothing.";
        Unresolved = "unresolved", "unresolved",
            "A required score without a value leaves the trial ungraded: an evaluator error, not a failure.";
    }
}

vocabulary! {
    /// Whether a case passes when nothing is called and nothing is said.
    Vacuity ("vacuity") {
        NotApplicable = "not_applicable", "not applicable",
            "A negative case: silence is what it wants.";
        CanFail = "can_fail", "can fail",
            "An empty answer fails some required rule.";
        CannotTell = "cannot_tell", "cannot be told",
            "No required rule fails on an empty answer, and some rule cannot be decided without a trial.";
        Vacuous = "vacuous", "passes on an empty answer",
            "Every required rule holds on an empty answer, so a pass says nothing.";
    }
}
