//! Words of swarm runs: attempts, session verdicts and run reports
//! (`swarm.md` §1–§6).

use super::{SummaryVerdict, vocabulary};

vocabulary! {
    /// What a simulated user tries the server through.
    SwarmTargetKind ("swarm target kind") {
        Environment = "environment", "environment",
            "A configured environment with the hosts in it.";
        Host = "host", "host",
            "One host on its own.";
    }
}

vocabulary! {
    /// How far one attempt of a swarm run has come.
    AttemptStatus ("attempt status") {
        Pending = "pending", "not started",
            "The attempt is configured and has not started.";
        Running = "running", "running",
            "The attempt has claimed its session and has not ended.";
        Succeeded = "succeeded", "ran to its end",
            "The simulated user ended the session, or its turns were used up. Whether the goal was met is another matter.";
        Failed = "failed", "did not run to its end",
            "The attempt ended in an error or was withdrawn; it says nothing about the goal.";
        RateLimited = "rate_limited", "rate limited",
            "A limit of the provider or of the spending stopped the attempt.";
    }
}

vocabulary! {
    /// Why an attempt was withdrawn: nobody let it run to its end.
    WithdrawnCode ("withdrawal") {
        Canceled = "canceled", "cancelled",
            "Somebody cancelled the run.";
        StaleRunner = "stale_runner", "runner lost",
            "The process that ran the attempt stopped reporting.";
        RunnerShutdown = "runner_shutdown", "runner shut down",
            "The process that ran the attempt was told to stop.";
        RunTimeout = "run_timeout", "run timed out",
            "The run used up its time.";
    }
}

vocabulary! {
    /// What became of one session of a swarm.
    SwarmLifecycle ("swarm session lifecycle") {
        Pending = "pending", "pending",
            "There is no attempt yet, or it has not started.";
        Running = "running", "running",
            "The conversation goes on.";
        Ran = "ran", "ran",
            "The conversation came to its end.";
        Broke = "broke", "broke",
            "The conversation ended in an error, which says nothing about the goal.";
        Limited = "limited", "limited",
            "A rate or spending limit stopped the session before it began.";
        Withdrawn = "withdrawn", "withdrawn",
            "The session was cancelled, timed out or lost its runner.";
    }
}

impl SwarmLifecycle {
    /// Returns whether a session has come to an end.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Ran | Self::Broke | Self::Limited | Self::Withdrawn => true,
        }
    }
}

vocabulary! {
    /// How far one swarm run has come.
    SwarmRunStatus ("swarm run status") {
        Running = "running", "running",
            "Some attempt has not ended.";
        Completed = "completed", "completed",
            "Every attempt ran to its end.";
        Partial = "partial", "partly completed",
            "Some attempts ran to their end and some did not.";
        Failed = "failed", "failed to run",
            "No attempt ran to its end, and some failed.";
        RateLimited = "rate_limited", "rate limited",
            "No attempt ran to its end: every one was stopped by a limit.";
    }
}

vocabulary! {
    /// Whether the grading that decides a session is ready; observations do not count.
    GradingState ("grading state") {
        NotRequested = "notRequested", "not requested",
            "Nobody asked for grading.";
        Queued = "queued", "queued",
            "Grading is due and has not begun.";
        Running = "running", "running",
            "Grading goes on.";
        Settled = "settled", "settled",
            "Grading is over.";
        Unavailable = "unavailable", "unavailable",
            "Grading cannot be done; this says nothing about the server.";
    }
}

vocabulary! {
    /// What the criteria of a session say of themselves.
    CriteriaGrader ("criteria grader state") {
        NotConfigured = "notConfigured", "not configured",
            "The goal has no criteria.";
        NotClaimed = "notClaimed", "not claimed",
            "There are criteria, and nobody has begun to grade them.";
        Pending = "pending", "pending",
            "The criteria are being graded.";
        Errored = "errored", "could not be graded",
            "Grading broke, or a criterion has no measured result.";
        Scored = "scored", "graded",
            "Every criterion in scope has a measured result.";
    }
}

vocabulary! {
    /// What the goal judge of a session says of itself.
    JudgeGrader ("goal judge grader state") {
        Silent = "silent", "not decisive",
            "Required criteria decide; the LLM judge is only an observation.";
        Scored = "scored", "judged",
            "The LLM judge answered.";
        Errored = "errored", "could not judge",
            "The LLM judge broke or is unavailable; this says nothing about the server.";
        Pending = "pending", "pending",
            "The LLM judge is due and has not answered.";
        NotConfigured = "notConfigured", "not configured",
            "No LLM judge was asked.";
    }
}

vocabulary! {
    /// Which grader decided a session.
    SessionVerdictSource ("session verdict source") {
        GoalJudge = "goalJudge", "LLM judge of the goal",
            "An LLM judge, not a rule, decided.";
        RequiredAssertions = "requiredAssertions", "required criteria",
            "Machine-checked criteria decided.";
        Combined = "combined", "required criteria and LLM judge",
            "Both machine-checked criteria and an LLM judge had to agree.";
        None = "none", "nothing",
            "Nothing decided the session.";
    }
}

vocabulary! {
    /// Why a session's verdict reads as it does.
    SessionReason ("session verdict reason") {
        AttemptPending = "attemptPending", "the session has not started",
            "No verdict: there is nothing to judge yet.";
        AttemptRunning = "attemptRunning", "the session is still going",
            "No verdict: the conversation has not ended.";
        Withdrawn = "withdrawn", "the session was withdrawn",
            "No verdict: it was cancelled, timed out or lost its runner.";
        SpendCapReached = "spendCapReached", "the spending cap was reached before the session began",
            "No verdict: a limit of ours, not the server.";
        NotRun = "notRun", "a rate limit stopped the session before it began",
            "No verdict: a limit of the provider, not the server.";
        ExecutionFailed = "executionFailed", "the session broke and left no transcript",
            "No verdict: there is nothing to judge.";
        Ungraded = "ungraded", "nothing was to grade the session",
            "No verdict: no criterion is required and no judge was due. Not a pass.";
        GradingNotClaimed = "gradingNotClaimed", "grading is due and nobody has begun it",
            "No verdict yet.";
        CriteriaPending = "criteriaPending", "required criteria are being graded",
            "No verdict yet.";
        JudgePending = "judgePending", "the LLM judge of the goal has not answered",
            "No verdict yet.";
        GatingCriterionFailed = "gatingCriterionFailed", "a required criterion did not hold",
            "Failed: machine-checked. It does not say why.";
        JudgeFailed = "judgeFailed", "the LLM judge found the goal not met",
            "Failed: a model, not a rule, decided.";
        CriteriaGradingErrored = "criteriaGradingErrored", "grading the required criteria broke",
            "Inconclusive: the grader broke, not the server.";
        GatingCriterionUnmeasured = "gatingCriterionUnmeasured", "a required criterion could not be measured",
            "Inconclusive: a required result is missing or errored.";
        JudgeErrored = "judgeErrored", "the LLM judge of the goal broke",
            "Inconclusive: the grader broke, not the server.";
        GradingUnavailable = "gradingUnavailable", "the session could not be graded",
            "Inconclusive: a grade was due and cannot be had.";
        AllGatingCriteriaPassed = "allGatingCriteriaPassed", "every required criterion held",
            "Passed: machine-checked.";
        JudgePassed = "judgePassed", "the LLM judge found the goal met",
            "Passed: a model, not a rule, decided.";
        AllGradersPassed = "allGradersPassed", "every required criterion held and the LLM judge found the goal met",
            "Passed: rules and a model agree.";
    }
}

impl SessionReason {
    /// Returns the one verdict that goes with this reason (`swarm.md` §4.3).
    #[must_use]
    pub const fn verdict(self) -> SummaryVerdict {
        match self {
            Self::AttemptPending
            | Self::AttemptRunning
            | Self::Withdrawn
            | Self::SpendCapReached
            | Self::NotRun
            | Self::ExecutionFailed
            | Self::Ungraded
            | Self::GradingNotClaimed
            | Self::CriteriaPending
            | Self::JudgePending => SummaryVerdict::NotEstablished,
            Self::GatingCriterionFailed | Self::JudgeFailed => SummaryVerdict::Failed,
            Self::CriteriaGradingErrored
            | Self::GatingCriterionUnmeasured
            | Self::JudgeErrored
            | Self::GradingUnavailable => SummaryVerdict::Inconclusive,
            Self::AllGatingCriteriaPassed | Self::JudgePassed | Self::AllGradersPassed => {
                SummaryVerdict::Passed
            }
        }
    }
}

vocabulary! {
    /// Whether a session is known to have started.
    StartEvidence ("start evidence") {
        Started = "started", "started",
            "At least one message was exchanged, or the session runs or ran.";
        NotStarted = "notStarted", "never started",
            "The session ended without a message.";
        Unknown = "unknown", "unknown",
            "Nothing shows whether the session started.";
    }
}

vocabulary! {
    /// What one advisory check says of one session.
    ObservationStatus ("observation status") {
        Passed = "passed", "held",
            "The check was evaluated and holds.";
        Failed = "failed", "did not hold",
            "The check was evaluated and does not hold.";
        Pending = "pending", "pending",
            "The check has not been evaluated.";
        Unavailable = "unavailable", "unavailable",
            "The check errored or was not captured. Never a failure.";
    }
}

vocabulary! {
    /// Why a swarm run has no verdict.
    SwarmUndecidedReason ("swarm undecided reason") {
        ExecutionPending = "executionPending", "some session has not ended",
            "The run is still going.";
        GradingPending = "gradingPending", "grading that decides is not over",
            "Sessions ended and wait for their grade.";
        VerdictSummaryUnavailable = "verdictSummaryUnavailable", "the run's decision is not on record",
            "Execution and grading ended, and no decision can be read.";
        IntegrityFailed = "integrityFailed", "the run's sessions cannot be decided together",
            "The policy's input is inconsistent; a bug report, not a property of the server.";
        GradingNotConfigured = "gradingNotConfigured", "nothing was to grade the sessions",
            "Every session that ran is ungraded. Not a pass.";
    }
}

vocabulary! {
    /// What a swarm run's verdict summary says.
    VerdictSummaryStatus ("verdict summary status") {
        Pending = "pending", "pending",
            "Some session has no final grade.";
        Decided = "decided", "decided",
            "Verdict policy v2 decided over the sessions.";
        NotEstablished = "notEstablished", "no verdict established",
            "Nothing was to grade the sessions.";
        IntegrityFailed = "integrityFailed", "integrity failed",
            "The sessions cannot be decided together.";
    }
}
