//! Stages, their states and reasons, and failure categories
//! (`vocabulary.md` §1–§4).

use super::vocabulary;

vocabulary! {
    /// One of the six links of the user-value chain, in normative order.
    ///
    /// A first failed stage is a location, never a cause.
    Stage ("stage") {
        Connection = "connection", "Connection",
            "The client reached the server and initialized a session.";
        Discovery = "discovery", "Discovery",
            "The client received usable primitives and metadata.";
        Selection = "selection", "Selection",
            "The model chose the right tool for the request.";
        Call = "call", "Tool call",
            "The call was made with usable arguments.";
        Response = "response", "Response",
            "The server returned data the model could use.";
        UserValue = "userValue", "User value",
            "The user's actual request was satisfied.";
    }
}

impl Stage {
    /// Returns the question that this stage answers.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Connection => "Could the client reach the server and initialize a session?",
            Self::Discovery => "Did the client receive usable primitives and metadata?",
            Self::Selection => "Did the model choose the right tool for the request?",
            Self::Call => "Was the call made with usable arguments?",
            Self::Response => "Did the server return data the model could use?",
            Self::UserValue => "Was the user's actual request satisfied?",
        }
    }

    /// Returns what a stage that held looks like.
    #[must_use]
    pub const fn good(self) -> &'static str {
        match self {
            Self::Connection => "Session connected",
            Self::Discovery => "Tools and resources discovered",
            Self::Selection => "Right tool selected",
            Self::Call => "Valid call made",
            Self::Response => "Usable response returned",
            Self::UserValue => "Request satisfied",
        }
    }
}

vocabulary! {
    /// What is known about one stage of one trial.
    ///
    /// The three non-verdicts (`notReached`, `notMeasured`, `notApplicable`)
    /// are three different facts, and none of them is a pass.
    StageState ("stage state") {
        Passed = "passed", "passed",
            "Measured, and the link held.";
        Failed = "failed", "failed",
            "Measured, and the link did not hold.";
        NotReached = "notReached", "never ran (an earlier stage failed)",
            "The chain broke upstream and nothing is known here. No verdict about this stage; a later stage that was measured keeps its row.";
        NotMeasured = "notMeasured", "not measured",
            "Reached, and the run captured nothing that could decide it. Not a pass.";
        NotApplicable = "notApplicable", "not applicable to this case",
            "The authored case asserts nothing this stage could decide. Not a pass.";
    }
}

vocabulary! {
    /// Why a stage has its state; each label completes "…because".
    StageReason ("stage reason") {
        NoSpanChannel = "noSpanChannel", "this run captures no evidence channel for that stage",
            "Nothing could be measured: the run has no channel that carries evidence for the stage.";
        NoEvidenceCaptured = "noEvidenceCaptured", "nothing eligible for that stage was captured",
            "Nothing could be measured: the run captured no evidence that the stage's rules read.";
        MatchVerdictUnavailable = "matchVerdictUnavailable", "extra tool calls were captured but the run did not report whether its match options tolerate them",
            "Nothing could be measured: calls were captured, and no verdict says whether the case tolerates them.";
        TraceAbsent = "traceAbsent", "the iteration recorded no trace",
            "Nothing could be measured: the trial has no trace at all.";
        ExecutorEmitsNoSpans = "executorEmitsNoSpans", "the executor emitted no spans",
            "Nothing could be measured: a trace exists, and its executor emits no spans.";
        BlockedByPolicy = "blockedByPolicy", "a policy blocked the run before it could be measured",
            "Nothing could be measured: a policy stopped the trial.";
        EvaluatorError = "evaluatorError", "the evaluator itself failed, so the run says nothing about the server",
            "Nothing could be measured: the grader broke, not the server.";
        ProviderError = "providerError", "the model provider failed the call, so this stage was never measured",
            "Nothing could be measured: the model provider failed, not the server.";
        SetupAborted = "setupAborted", "the environment was never prepared, so the test never began",
            "Nothing could be measured: our own side failed before the test began.";
        ConnectFailed = "connectFailed", "the configured server was reached and initialize failed there",
            "Failed, with evidence that our own network egress works and the fault lies at the server.";
        ToolsListFailed = "toolsListFailed", "initialize succeeded and listing tools failed",
            "Failed: the session was proven and `tools/list` was not answered usably.";
        EgressUnverified = "egressUnverified", "the connection failed with no evidence that our own network egress works",
            "Nothing could be measured: the failure may lie on our side of the network.";
        LifecycleStopped = "lifecycleStopped", "the run was stopped mid-flight",
            "Nothing could be measured: the trial was cancelled, timed out or skipped.";
        NotAuthored = "notAuthored", "the case states nothing that could decide this stage",
            "Does not apply: the authored case asserts nothing here.";
        EarlierStageFailed = "earlierStageFailed", "the chain had already broken at an earlier stage",
            "Position only: nothing is known about this stage itself.";
        MissingToolCall = "missingToolCall", "a tool call that the case requires never happened",
            "Measured failure: a required call is missing. It does not say why the model did not make it.";
        UnexpectedToolCall = "unexpectedToolCall", "a tool call happened that the case does not allow",
            "Measured failure: a call happened that the case rules out.";
        ArgumentMismatch = "argumentMismatch", "the call's arguments differ from what the case requires",
            "Measured failure: the right tool was called with other arguments than required.";
        ToolError = "toolError", "the tool answered with an error",
            "Measured failure: the tool's own result says it is an error.";
        ProtocolError = "protocolError", "the call came back without any result",
            "Measured failure: the call ended in a JSON-RPC or transport error instead of a result.";
        RenderFailed = "renderFailed", "the widget never rendered",
            "Measured failure: a widget that the case expects did not render.";
        PredicateFailed = "predicateFailed", "an assertion on the outcome did not hold",
            "Measured failure: an authored assertion judged at this stage did not hold.";
        Observed = "observed", "the evidence was examined and the stage held",
            "Measured pass: evidence for this stage was examined directly.";
        ImpliedByLaterEvidence = "impliedByLaterEvidence", "something observed later could not have happened without it",
            "Measured pass: later evidence is impossible unless this stage held.";
        JudgeObserved = "judgeObserved", "the LLM judge's score reached the threshold",
            "Advisory pass: a model, not a rule, decided.";
        JudgePartial = "judgePartial", "the LLM judge's score lay in the partial band: at or above the floor, below the threshold",
            "Advisory failure: a model, not a rule, decided.";
        JudgeFailed = "judgeFailed", "the LLM judge's score lay below the partial floor",
            "Advisory failure: a model, not a rule, decided.";
        JudgePending = "judgePending", "an LLM judge verdict is due and has not arrived",
            "Nothing could be measured yet: the LLM judge has not answered.";
        JudgeNotRequested = "judgeNotRequested", "no LLM judge verdict was ever due",
            "Nothing could be measured: no rule decided and no LLM judge was asked.";
    }
}

vocabulary! {
    /// The bucket a failed trial is grouped under; a bucket is never a cause.
    FailureCategory ("failure category") {
        Setup = "setup", "setup",
            "Harness, environment or provider never let the test happen.";
        Metadata = "metadata", "tool metadata",
            "Tool names, descriptions or schemas misled the model (only an evidence-carrying judge may say so).";
        Selection = "selection", "tool selection",
            "The model picked a wrong tool, or none.";
        Arguments = "arguments", "call arguments",
            "Right tool, wrong arguments.";
        ServerData = "serverData", "server data",
            "The server answered with data the model could not use.";
        UserValue = "userValue", "user value",
            "All mechanics worked and the user was still not served.";
        Evaluator = "evaluator", "evaluator",
            "The grader broke; the run says nothing about the server.";
    }
}
