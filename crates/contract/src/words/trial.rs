//! Lifecycle words of one trial (`chain.md` §1, `verdict.md` §1).

use super::vocabulary;

vocabulary! {
    /// The lifecycle of one trial; never its verdict.
    IterationStatus ("iteration status") {
        Pending = "pending", "not started",
            "The trial is configured and has not started.";
        Running = "running", "running",
            "The trial has started and has not ended.";
        Completed = "completed", "completed",
            "The trial ran to its end, whether or not it passed its checks.";
        Failed = "failed", "execution failed",
            "The trial could not run to its end: an error of ours, the provider or the environment.";
        Cancelled = "cancelled", "cancelled",
            "The trial was cancelled before its end.";
        TimedOut = "timed_out", "timed out",
            "The trial exceeded its time budget.";
        SetupFailed = "setup_failed", "setup failed",
            "The environment was not ready, so the trial never began.";
        Skipped = "skipped", "skipped",
            "The trial was deliberately not run.";
    }
}

vocabulary! {
    /// What a completed trial's checks say.
    TaskResult ("task result") {
        Passed = "passed", "passed",
            "Every required check of the trial held.";
        Failed = "failed", "failed",
            "Some required check of the trial did not hold.";
    }
}
