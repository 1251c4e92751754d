//! Words of the chain's input (`chain.md` §2).

use super::vocabulary;

vocabulary! {
    /// Who chooses the tool calls of a case.
    CaseMode ("case mode") {
        ModelDriven = "model_driven", "model-driven",
            "A model chooses which tools are called.";
        ModelFree = "model_free", "model-free",
            "The case itself makes every call; no model chooses.";
    }
}

vocabulary! {
    /// What a case prescribes about tool calls.
    ToolExpectation ("tool expectation") {
        Required = "required", "calls required",
            "The case expects at least one call.";
        NotRequired = "not_required", "calls not required",
            "The case says nothing about calls; the same as saying nothing.";
        Open = "open", "calls open",
            "Calls may happen, and none is prescribed.";
    }
}

vocabulary! {
    /// How one setup phase ended, as the harness saw it.
    SetupOutcome ("setup outcome") {
        Ok = "ok", "succeeded",
            "The phase was observed to succeed on every expected server.";
        Failed = "failed", "failed",
            "The phase failed, or was not observed, on some expected server.";
    }
}

vocabulary! {
    /// On whose side a setup failure lies.
    Attribution ("attribution") {
        Ours = "ours", "ours",
            "The failure lies on the harness's side: credentials, name resolution, blocked egress, cancellation.";
        Theirs = "theirs", "theirs",
            "The failure lies at the server: it refused, reset, timed out or answered with a server error.";
        Unknown = "unknown", "unknown",
            "Nothing observed says on whose side the failure lies.";
    }
}

vocabulary! {
    /// Lifecycle of an LLM judge's answer.
    JudgeStatus ("judge status") {
        Scored = "scored", "scored",
            "The LLM judge answered.";
        Error = "error", "error",
            "The LLM judge broke; it says nothing about the server.";
        Skipped = "skipped", "skipped",
            "The LLM judge was deliberately not run.";
        NotApplicable = "not_applicable", "not applicable",
            "There was nothing for the LLM judge to look at.";
        Pending = "pending", "pending",
            "The LLM judge has not answered.";
    }
}

vocabulary! {
    /// Why an LLM judge has not answered yet.
    PendingKind ("pending kind") {
        Scheduled = "scheduled", "scheduled",
            "An answer is due and has not arrived.";
        NotRequested = "not_requested", "not requested",
            "No answer was ever due.";
    }
}

vocabulary! {
    /// What an LLM judge says; advisory, never a rule's verdict.
    JudgeVerdict ("judge verdict") {
        Pass = "pass", "pass",
            "The LLM judge's score reached the threshold.";
        Partial = "partial", "partial",
            "The LLM judge's score lay at or above the floor and below the threshold.";
        Fail = "fail", "fail",
            "The LLM judge's score lay below the floor.";
    }
}

vocabulary! {
    /// Which layer made a step fail.
    StepErrorSource ("step error source") {
        Model = "model", "model provider",
            "The model provider's call failed; nothing about the server follows from it.";
        Setup = "setup", "setup",
            "Preparing the environment failed.";
    }
}
