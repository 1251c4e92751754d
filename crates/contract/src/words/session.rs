//! Words of chat sessions (`chain.md` §14.6).

use super::vocabulary;

vocabulary! {
    /// Where a chat session comes from.
    SessionSource ("session source") {
        UserTesting = "user_testing", "user testing",
            "A person tried the server in a recorded session.";
        Swarm = "swarm", "swarm",
            "A simulated user tried the server.";
        Direct = "direct", "direct",
            "A session that belongs to no test.";
    }
}

vocabulary! {
    /// How far a chat session has come.
    SessionLifecycle ("session lifecycle") {
        Running = "running", "running",
            "The session goes on.";
        Settled = "settled", "settled",
            "The session came to its end.";
        Stopped = "stopped", "stopped",
            "The session was stopped before its end.";
    }
}

vocabulary! {
    /// How far the grading of a session's criteria has come.
    CriteriaStatus ("criteria status") {
        Pending = "pending", "pending",
            "The criteria have not been graded.";
        Completed = "completed", "completed",
            "The criteria have been graded.";
        Failed = "failed", "failed",
            "Grading broke; it says nothing about the server.";
    }
}

vocabulary! {
    /// How far a session's goal judge has come.
    GoalJudgeStatus ("goal judge status") {
        Running = "running", "running",
            "The LLM judge has not answered.";
        Completed = "completed", "completed",
            "The LLM judge answered.";
        Failed = "failed", "failed",
            "The LLM judge broke; it says nothing about the server.";
    }
}
