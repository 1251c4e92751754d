//! Who should look next (`vocabulary.md` §4, `decision-summary.md` §8).

use super::{FailureCategory, vocabulary};

vocabulary! {
    /// The one next step a failing trial suggests; it names no cause.
    ///
    /// The step is keyed on the failure category alone: anything finer would
    /// be a diagnosis. The label is the sentence that is shown and stored.
    NextAction ("next action") {
        Setup = "setup", "check that the server can be reached and that the environment is configured",
            "The trial's category is `setup`.";
        Metadata = "metadata", "review the tool names, descriptions and schemas that the server advertises",
            "The trial's category is `metadata`.";
        Selection = "selection", "compare the tools the model chose with the catalog it was offered",
            "The trial's category is `selection`.";
        Arguments = "arguments", "compare the arguments the case requires with the tool's input schema",
            "The trial's category is `arguments`.";
        ServerData = "serverData", "read the tool response that the server returned",
            "The trial's category is `serverData`.";
        UserValue = "userValue", "read whether the answer meets the user's goal",
            "The trial's category is `userValue`.";
        Evaluator = "evaluator", "check the evaluator's configuration: the case was not graded",
            "The trial's category is `evaluator`.";
        NoCategory = "noCategory", "open the trial's trace: no failure category was recorded",
            "Nothing recorded groups the failure.";
        VerdictChainConflict = "verdictChainConflict", "the recorded verdict and the measured chain disagree: open the trial's trace",
            "The trial is recorded as failed, and every stage that applies held.";
        StaleAnalyzer = "staleAnalyzer", "the recorded verdict and the measured chain disagree, and an older analyzer that measures less derived this chain: run the case again first",
            "As `verdictChainConflict`, and the chain comes from an analyzer older than version 7.";
    }
}

impl From<FailureCategory> for NextAction {
    fn from(category: FailureCategory) -> Self {
        match category {
            FailureCategory::Setup => Self::Setup,
            FailureCategory::Metadata => Self::Metadata,
            FailureCategory::Selection => Self::Selection,
            FailureCategory::Arguments => Self::Arguments,
            FailureCategory::ServerData => Self::ServerData,
            FailureCategory::UserValue => Self::UserValue,
            FailureCategory::Evaluator => Self::Evaluator,
        }
    }
}
