//! What `strandline doctor` says about one check.

use super::vocabulary;

vocabulary! {
    /// The verdict of one check of `strandline doctor`.
    ///
    /// It is about the set-up and the server's surface, never about a run.
    CheckVerdict ("check verdict") {
        Ok = "ok", "ok",
            "The check was made and nothing was found.";
        Warning = "warning", "warning",
            "The check was made, and something was found that does not stop a run.";
        Failed = "failed", "failed",
            "The check was made, and a run cannot work as things are.";
        NotChecked = "notChecked", "not checked",
            "The check could not be made because an earlier one failed. Not a pass.";
    }
}
