//! Words of stage measurements (`measurements.md` §1, §7).

use super::vocabulary;

vocabulary! {
    /// Whether a trial got as far as a stage.
    Reach ("reach") {
        Reached = "reached", "reached",
            "The trial got to the stage: something there was measured, or a cited span exists.";
        NotReached = "notReached", "not reached",
            "The chain broke at an earlier stage.";
        Unknown = "unknown", "reach unknown",
            "Nothing says whether the trial got there; counted neither as reached nor as not reached.";
        NotApplicable = "notApplicable", "not applicable",
            "The authored case asserts nothing at the stage.";
    }
}

vocabulary! {
    /// What a latency figure measures; figures of two bases are never mixed.
    LatencyBasis ("latency basis") {
        EvidenceSpanUnion = "evidence_span_union", "time of the cited spans, overlaps counted once",
            "Length of the union of the intervals of the spans that the stage row cites; not the wall time of the stage.";
        SetupPhaseWall = "setup_phase_wall", "wall time of the setup phase",
            "From the first start to the last end over all observed attempts of one setup phase; reported once per run.";
    }
}

vocabulary! {
    /// A phase that precedes every trial.
    SetupPhase ("setup phase") {
        Connection = "connection", "connecting",
            "Connecting to the servers and initializing a session.";
        Discovery = "discovery", "listing tools",
            "Asking the servers for their tools.";
    }
}
