//! What a repeated case has shown, and what became of it between two runs.

use super::vocabulary;

vocabulary! {
    /// What the sequential test says of a case variant's pass rate.
    ///
    /// It says when repeating may stop. The verdict stays that of policy v2.
    SequentialDecision ("sequential decision") {
        Meets = "meets", "shown to meet its threshold",
            "The trials so far would be very unlikely of a case whose true pass rate lies clearly below the threshold, and their pass rate meets it.";
        Misses = "misses", "shown to miss its threshold",
            "The trials so far would be very unlikely of a case whose true pass rate lies clearly above the threshold, and their pass rate misses it.";
        Undecided = "undecided", "not decided by repeating yet",
            "The trials so far fit a true pass rate above the threshold as well as one below it.";
    }
}

vocabulary! {
    /// What became of a case variant's verdict between two runs.
    ///
    /// It compares two verdicts. Whether the rates differ by more than chance
    /// explains is the interval's matter.
    CaseChange ("case change") {
        NewlyFailing = "newlyFailing", "newly failing",
            "The base run's case verdict is passed, the compared run's is failed.";
        Fixed = "fixed", "fixed",
            "The base run's case verdict is failed, the compared run's is passed.";
        StillFailing = "stillFailing", "still failing",
            "Both case verdicts are failed.";
        StillPassing = "stillPassing", "still passing",
            "Both case verdicts are passed.";
        NotMeasured = "notMeasured", "not measured on both sides",
            "A side has no gradeable trial of the case, so there is no change to speak of.";
        OnlyInBase = "onlyInBase", "only in the base run",
            "The compared run did not plan the case under this model.";
        OnlyInCompared = "onlyInCompared", "only in the compared run",
            "The base run did not plan the case under this model.";
    }
}

vocabulary! {
    /// What happened to a named part of a server or of a suite between two runs.
    ChangeKind ("change") {
        Added = "added", "added",
            "Only the compared run has it.";
        Removed = "removed", "removed",
            "Only the base run has it.";
        Changed = "changed", "changed",
            "Both runs have it, and it differs.";
    }
}

vocabulary! {
    /// What to keep in mind while reading a comparison.
    ComparisonCaution ("comparison caution") {
        RepeatedUntilDecided = "repeatedUntilDecided", "a run repeated its cases until decided",
            "Its numbers of trials depend on its results: 95 % intervals then cover a little less than they say, and rates over all trials weigh undecided cases more.";
        DifferentTrialCounts = "differentTrialCounts", "cases have different numbers of gradeable trials in the two runs",
            "The rates over all trials weigh the cases differently, so that they can differ without any case having changed. The rows of the cases do not have this problem.";
        NoMultiplicityCorrection = "noMultiplicityCorrection", "each interval stands alone",
            "Intervals are not corrected for their number: among many cases, a few intervals exclude zero by chance alone.";
        Scripted = "scripted", "the model was scripted",
            "The suite names every turn of the model, so a run says how server and checks behave and nothing about a model.";
        NotDecided = "notDecided", "a run decided nothing",
            "A run is inconclusive or no verdict is established for it: its counts describe what was graded, and nothing is a regression for that alone.";
    }
}

vocabulary! {
    /// Whether a gate that was asked for holds.
    GateOutcome ("gate outcome") {
        Held = "held", "holds",
            "What the gate demands was shown, or its opposite was not, as the gate says.";
        NotHeld = "notHeld", "does not hold",
            "What the gate demands is not so.";
        NotEstablished = "notEstablished", "cannot be told",
            "The runs do not say: they may not be compared, decided nothing, or graded too little.";
    }
}
