//! Lifecycle words of a run, and whose side a trial broke on.

use super::vocabulary;

vocabulary! {
    /// The lifecycle of a run; all but `running` end it. Never its verdict.
    RunStatus ("run status") {
        Running = "running", "running",
            "Trials are still being run, or the process was killed meanwhile.";
        Completed = "completed", "completed",
            "Every trial that could run has ended.";
        Failed = "failed", "could not be carried out",
            "The run could not be carried out. Not a failed decision.";
        Cancelled = "cancelled", "stopped",
            "The user stopped the run.";
        TimedOut = "timed_out", "timed out",
            "The run exceeded its time budget.";
    }
}

vocabulary! {
    /// Who broke a trial that did not run to its end.
    ErrorLayer ("error layer") {
        Model = "model", "model provider",
            "The model provider failed; nothing about the server follows from it.";
        Setup = "setup", "setup",
            "Connecting to the server or preparing it failed.";
        Server = "server", "server",
            "The server failed after it was connected.";
        Harness = "harness", "strandline",
            "Strandline itself failed; nothing about the server follows from it.";
    }
}
