//! Words of swarm findings (`swarm.md` §7–§9).

use super::{Stage, vocabulary};

vocabulary! {
    /// Where sessions ended up, in the order that breaks ties between tones.
    ///
    /// A location, never a cause.
    Disposition ("disposition") {
        NotRun = "notRun", "never ran",
            "The session never ran.";
        BlockedConnecting = "blockedConnecting", "stopped connecting",
            "The session stopped at connection.";
        LostFindingTool = "lostFindingTool", "stopped finding a tool",
            "The session stopped at discovery or selection.";
        BlockedCallingTool = "blockedCallingTool", "stopped calling a tool",
            "The session stopped at the call.";
        BlockedByResponse = "blockedByResponse", "stopped at a response",
            "The session stopped at the response.";
        GoalMissed = "goalMissed", "goal not met",
            "Nothing upstream is known to have broken, and the goal was not met.";
        GoalMetWithFriction = "goalMetWithFriction", "goal met with friction",
            "The goal was met, with avoidable trouble on the way.";
        GoalMet = "goalMet", "goal met",
            "The goal was met.";
        NotMeasured = "notMeasured", "not measured",
            "Nothing decided it. Not a pass.";
    }
}

impl Disposition {
    /// Returns the tone that always goes with this disposition.
    #[must_use]
    pub const fn tone(self) -> Tone {
        match self {
            Self::NotRun | Self::NotMeasured => Tone::Muted,
            Self::BlockedConnecting
            | Self::LostFindingTool
            | Self::BlockedCallingTool
            | Self::BlockedByResponse
            | Self::GoalMissed => Tone::Fail,
            Self::GoalMetWithFriction => Tone::Warn,
            Self::GoalMet => Tone::Ok,
        }
    }

    /// Returns the phrase for a row of this disposition (`swarm.md` §9.4).
    #[must_use]
    pub const fn outcome_phrase(self) -> Option<&'static str> {
        match self {
            Self::NotRun => Some("session did not run"),
            Self::BlockedConnecting => Some("could not connect"),
            Self::LostFindingTool => Some("could not find the right tool"),
            Self::BlockedCallingTool => Some("could not make the call"),
            Self::BlockedByResponse => Some("the response could not be used"),
            Self::GoalMissed => Some("goal was not met"),
            Self::GoalMetWithFriction => Some("goal met with friction"),
            Self::GoalMet => Some("goal met"),
            Self::NotMeasured => None,
        }
    }

    /// Returns the sort key that puts the worst first: tone, then order.
    #[must_use]
    pub const fn rank(self) -> (u8, Self) {
        let tone = match self.tone() {
            Tone::Fail => 0,
            Tone::Warn => 1,
            Tone::Muted => 2,
            Tone::Ok => 3,
        };
        (tone, self)
    }
}

vocabulary! {
    /// How a finding is to be read at a glance.
    Tone ("tone") {
        Fail = "fail", "failed",
            "A goal was not met.";
        Warn = "warn", "worth a look",
            "A goal was met with avoidable trouble.";
        Ok = "ok", "good",
            "A goal was met.";
        Muted = "muted", "nothing to say",
            "Nothing was measured. Not a pass.";
    }
}

vocabulary! {
    /// What the findings of a wave say in one word.
    FindingsSummaryKind ("findings summary") {
        NotLaunched = "notLaunched", "not launched",
            "No session of the wave ever started.";
        Broken = "broken", "goals not met",
            "Some goal was not met.";
        Friction = "friction", "met with friction",
            "Some goal was met with avoidable trouble, and none was missed.";
        Landed = "landed", "goals met",
            "Some measured goal was met. It speaks for measured goals only.";
        Ungraded = "ungraded", "not graded",
            "Nothing decided any goal. Not a pass.";
        Unread = "unread", "mostly unread",
            "More started sessions are unread than read, so good news is withheld.";
    }
}

vocabulary! {
    /// What limits a finding or the findings of a wave.
    FindingsNote ("findings coverage note") {
        SessionScanCapped = "sessionScanCapped", "only the first sessions were scanned",
            "More sessions started than one derivation scans.";
        BudgetExhausted = "budgetExhausted", "the reading budget was used up",
            "Spending stopped a model that reads sessions.";
        TranscriptMissing = "transcriptMissing", "a transcript is missing",
            "A scanned session's transcript did not load.";
        ContextTooLarge = "contextTooLarge", "a session was too long to read",
            "Evidence did not fit into a model's context.";
        ExtractionRejected = "extractionRejected", "a reading was rejected",
            "A model's reading failed validation.";
        ChainUnmeasured = "chainUnmeasured", "a chain was not measured",
            "A started session has no measured stage.";
        JudgeNotRun = "judgeNotRun", "the LLM judge did not run",
            "A started session has no verdict because no LLM judge answered.";
        SessionsWithdrawn = "sessionsWithdrawn", "sessions were withdrawn",
            "Some session was cancelled, timed out or lost its runner.";
        SessionsRateLimited = "sessionsRateLimited", "sessions were rate limited",
            "Some session never began because of a limit.";
        PartialRead = "partialRead", "not every session was read",
            "Some started session is not among those read.";
        ToolCatalogMissing = "toolCatalogMissing", "the tool catalog is unknown",
            "A started session has no advertised tool catalog on record.";
        MechanismsRejected = "mechanismsRejected", "proposed causes were rejected",
            "A proposed cause was looked at and did not hold.";
        AnalysisUnavailable = "analysisUnavailable", "the analysis did not finish",
            "A model's analysis was asked for and did not finish.";
    }
}

vocabulary! {
    /// A recorded fact of a session, in the order under which a session is filed.
    RecordedSignal ("recorded signal") {
        OutputTruncated = "outputTruncated", "reply was cut off",
            "An agent turn ended at the model's output limit.";
        HallucinatedTool = "hallucinatedTool", "called a tool that does not exist",
            "A call named a tool that is not in the known catalog.";
        ToolErrored = "toolErrored", "a tool call failed",
            "A result is an error, or a call failed on the wire.";
        NoToolCalled = "noToolCalled", "no tool was called",
            "Tools were offered, and the agent called none. It may have needed none.";
        TurnCapReached = "turnCapReached", "ran out of turns",
            "The conversation ended because its turns were used up.";
    }
}

impl RecordedSignal {
    /// Returns the stage that rows of this signal point at (`swarm.md` §9.3).
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::OutputTruncated | Self::ToolErrored => Stage::Response,
            Self::HallucinatedTool => Stage::Discovery,
            Self::NoToolCalled => Stage::Selection,
            Self::TurnCapReached => Stage::UserValue,
        }
    }

    /// Returns whether the signal is avoidable trouble in a goal that was met.
    #[must_use]
    pub const fn is_friction(self) -> bool {
        match self {
            Self::OutputTruncated
            | Self::HallucinatedTool
            | Self::ToolErrored
            | Self::TurnCapReached => true,
            Self::NoToolCalled => false,
        }
    }
}

vocabulary! {
    /// What a finding speaks about.
    FindingScope ("finding scope") {
        Session = "session", "session",
            "One session.";
        Goal = "goal", "goal",
            "The sessions of one persona, run and target.";
        Persona = "persona", "persona",
            "The sessions of one simulated user.";
        Target = "target", "target",
            "The sessions against one target.";
        Wave = "wave", "wave",
            "Every session of the wave.";
    }
}

vocabulary! {
    /// What a finding rests on.
    FindingBasis ("finding basis") {
        VerifiedMechanism = "verifiedMechanism", "verified cause",
            "A proposed cause that a second, independent reading confirmed.";
        SessionReport = "sessionReport", "one session's account",
            "What one session shows.";
        PopulationFact = "populationFact", "a count",
            "A count of something recorded.";
    }
}

vocabulary! {
    /// How a finding comes by its stage.
    ChainStageBasis ("finding stage basis") {
        Derived = "derived", "recorded at the stage",
            "The stage comes from derived chain rows.";
        Reported = "reported", "pointing at the stage",
            "The stage comes from a reading or from a fixed table.";
        Unmeasured = "unmeasured", "no stage measured",
            "No chain says where the session stood. The stage is absent, not clear.";
    }
}

vocabulary! {
    /// Through which gateway session text reached a model.
    DisclosureRail ("disclosure rail") {
        Gateway = "gateway", "own gateway",
            "The deployment's own model access; also written when nothing was sent.";
        Openrouter = "openrouter", "OpenRouter",
            "A third-party gateway.";
    }
}

vocabulary! {
    /// How far deriving the findings of a wave has come.
    FindingsJobStatus ("findings job status") {
        Pending = "pending", "pending",
            "Findings are due.";
        Completed = "completed", "completed",
            "Findings are on record.";
        Failed = "failed", "failed",
            "Deriving findings broke.";
        Skipped = "skipped", "skipped",
            "Findings were deliberately not derived.";
    }
}
