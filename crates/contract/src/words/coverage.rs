//! Words of coverage: what a suite, or a run of it, leaves unproved.

use super::vocabulary;

vocabulary! {
    /// Something that a suite leaves unproved.
    ///
    /// A gap says what nobody looked at; it is no defect of the server and
    /// changes no verdict.
    GapKind ("coverage gap") {
        ToolNeverExpected = "toolNeverExpected", "tool never expected",
            "No enabled case demands a call of the tool.";
        ArgumentNeverAsserted = "argumentNeverAsserted", "argument never asserted",
            "No enabled case demands a value for the argument. That arguments fit their schema is another check and does not count.";
        ErrorPathNeverExercised = "errorPathNeverExercised", "error path never exercised",
            "In no trial of the run did a call of the tool end in an error, so nothing is known about what it says then.";
        StageNeverDecided = "stageNeverDecided", "stage that no case could decide",
            "In every trial of the run the stage was not applicable or not measured.";
        EmptyAnswerPasses = "emptyAnswerPasses", "case that passes on an empty answer",
            "Every required rule of the case holds when nothing is called and nothing is said, so a pass says nothing.";
    }
}

impl GapKind {
    /// Returns what the kind's counts count.
    #[must_use]
    pub const fn unit(self) -> CoverageUnit {
        match self {
            Self::ToolNeverExpected | Self::ErrorPathNeverExercised => CoverageUnit::Tool,
            Self::ArgumentNeverAsserted => CoverageUnit::Argument,
            Self::StageNeverDecided => CoverageUnit::Stage,
            Self::EmptyAnswerPasses => CoverageUnit::Case,
        }
    }

    /// Returns what is said of those that are no gap.
    #[must_use]
    pub const fn proved(self) -> &'static str {
        match self {
            Self::ToolNeverExpected => "expected",
            Self::ArgumentNeverAsserted => "asserted",
            Self::ErrorPathNeverExercised => "seen to fail",
            Self::StageNeverDecided => "decided",
            Self::EmptyAnswerPasses => "able to fail on an empty answer",
        }
    }
}

vocabulary! {
    /// What a count of coverage counts.
    CoverageUnit ("coverage unit") {
        Tool = "tool", "tool",
            "One tool of one server, or one that only the suite names.";
        Argument = "argument", "argument",
            "One top-level argument that a listed tool declares.";
        Stage = "stage", "stage",
            "One of the six stages.";
        Case = "case", "case",
            "One enabled case; negative cases are left out.";
    }
}

impl CoverageUnit {
    /// Returns the unit's words beside a count; the singular only for exactly 1.
    #[must_use]
    pub const fn words(self, count: u64) -> &'static str {
        match (self, count) {
            (Self::Tool, 1) => "tool",
            (Self::Tool, _) => "tools",
            (Self::Argument, 1) => "argument",
            (Self::Argument, _) => "arguments",
            (Self::Stage, 1) => "stage",
            (Self::Stage, _) => "stages",
            (Self::Case, 1) => "case",
            (Self::Case, _) => "cases",
        }
    }
}

vocabulary! {
    /// Why a kind of coverage was not measured.
    CoverageUnmeasured ("coverage not measured") {
        NoRun = "noRun", "only a stored run can show it",
            "A suite file alone says nothing about it.";
        NoListing = "noListing", "no listing of tools is stored",
            "No server of the run listed its tools, or there is no run.";
        NoTrials = "noTrials", "no trial shows it",
            "The run stored no trial, or none with a chain that can be read.";
        NothingToProve = "nothingToProve", "there is nothing to prove",
            "There is no tool, argument or case of that kind.";
    }
}
