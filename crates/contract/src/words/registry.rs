//! Every vocabulary in one list, for `strandline explain` and the glossary.

// Every vocabulary is named below; a list of imports would only be a second one.
use super::*;
use crate::exit::ExitCode;

/// Everything that is said about one vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyWords {
    /// The heading it is listed under in the glossary.
    pub group: &'static str,
    /// Its name ("stage reason").
    pub name: &'static str,
    /// What it is for, in Markdown paragraphs.
    pub about: String,
    /// The words of its members, in normative order.
    pub entries: Vec<Entry>,
}

impl VocabularyWords {
    fn of<V: Vocabulary>(group: &'static str) -> Self {
        // Doc comments keep the space after their slashes.
        let lines: Vec<&str> = V::ABOUT.lines().map(str::trim).collect();
        Self {
            group,
            name: V::NAME,
            about: lines.join("\n").trim().to_owned(),
            entries: V::ALL.iter().map(|member| member.entry()).collect(),
        }
    }
}

/// Lists vocabularies under headings.
macro_rules! vocabularies {
    ( $( $group:literal: $( $vocabulary:ident ),+ ; )+ ) => {
        vec![ $( $( VocabularyWords::of::<$vocabulary>($group), )+ )+ ]
    };
}

/// Returns every vocabulary of Strandline, in reading order.
#[must_use]
pub fn registry() -> Vec<VocabularyWords> {
    vocabularies! {
        "The chain": Stage, StageState, StageReason, FailureCategory, ChainStatus, NextAction,
            AdviceStrength;
        "Measurements": Reach, LatencyBasis, SetupPhase;
        "Cases": CaseMode, ToolExpectation, AssertionKind;
        "Setup": SetupOutcome, Attribution, StepErrorSource;
        "Chat sessions": SessionSource, SessionLifecycle, CriteriaStatus, GoalJudgeStatus;
        "LLM judges": JudgeKind, JudgeRole, JudgeStatus, PendingKind, JudgeVerdict,
            JudgeCallOutcome, JudgeAggregation;
        "Runs and trials": RunStatus, ErrorLayer, IterationStatus, TaskResult, ExclusionReason;
        "Verdicts": SummaryVerdict, Verdict, VerdictSource, DecisionReason, UndecidedReason,
            MeasurementUnit, RateState, CoverageKind, RegressionVerdict, VerdictRefusal;
        "Funnels": MaterializationState, ExclusionClass, ExclusionDetail, SliceDimension,
            ParityBlocker, FunnelAbsence;
        "Comparing and repeating": CaseChange, ChangeKind, ComparisonCaution, GateOutcome,
            SequentialDecision;
        "Assertions": StandardCheck, CallOrder, ArgumentMatching, ExpectationFailure, RuleRole, RowStatus, ScoreStatus, ErrorPolicy, Vacuity;
        "Friction": FrictionSignalKind, FrictionState, FrictionGap, PaginationKey,
            SuspectedCondition, JudgeConfidence, ConditionSkipReason, ConditionStatus;
        "Swarms": SwarmTargetKind, AttemptStatus, WithdrawnCode, SwarmLifecycle, SwarmRunStatus,
            GradingState, CriteriaGrader, JudgeGrader, SessionReason, SessionVerdictSource,
            StartEvidence, ObservationStatus, VerdictSummaryStatus, SwarmUndecidedReason;
        "Swarm findings": Disposition, Tone, FindingsSummaryKind, FindingsNote, RecordedSignal,
            FindingScope, FindingBasis, ChainStageBasis, DisclosureRail, FindingsJobStatus;
        "Tool policy": ToolClassification, PolicyReason;
        "Transcripts": CaptureState, ToolErrorKind, TimingProvenance, SizeBasis, RenderStatus;
        "Coverage": GapKind, CoverageUnit, CoverageUnmeasured;
        "The command line": CheckVerdict, ExitCode, RefusalCode;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        fs,
        path::{Path, PathBuf},
    };

    use super::*;

    fn rust_files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder)
            .expect("the source folder is readable")
            .map(|entry| entry.expect("the entry is readable").path())
            .flat_map(|path| {
                if path.is_dir() {
                    rust_files(&path)
                } else {
                    vec![path]
                }
            })
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .collect()
    }

    /// Returns the headings of all `vocabulary!` declarations under `src/`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test reads the sources that it is about"
    )]
    fn declared() -> BTreeSet<String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut headings = BTreeSet::new();
        for file in rust_files(&source) {
            let text = fs::read_to_string(&file).expect("the source file is UTF-8");
            for declaration in text.split("\nvocabulary! {").skip(1) {
                let head = declaration
                    .lines()
                    .map(str::trim)
                    .find(|line| !line.is_empty() && !line.starts_with("//"))
                    .unwrap_or_default();
                let heading = head.split('"').nth(1);
                headings.insert(heading.expect("a heading in quotes").to_owned());
            }
        }
        headings
    }

    #[test]
    fn every_declared_vocabulary_is_registered_once() {
        let registered: Vec<String> = registry()
            .iter()
            .map(|vocabulary| vocabulary.name.to_owned())
            .collect();
        let unique: BTreeSet<String> = registered.iter().cloned().collect();
        assert_eq!(registered.len(), unique.len(), "a name is used twice");
        let missing: Vec<_> = declared().difference(&unique).cloned().collect();
        assert_eq!(missing, [""; 0], "add these to `registry()` in this file");
        assert_eq!(unique, declared());
    }

    #[test]
    fn every_word_is_exact_and_explained() {
        for vocabulary in registry() {
            assert!(!vocabulary.about.is_empty(), "{}", vocabulary.name);
            let wires: BTreeSet<_> = vocabulary.entries.iter().map(|entry| entry.wire).collect();
            assert_eq!(wires.len(), vocabulary.entries.len(), "{}", vocabulary.name);
            for entry in vocabulary.entries {
                assert_eq!(entry.vocabulary, vocabulary.name);
                assert_eq!(entry.wire.trim(), entry.wire);
                assert!(!entry.label.is_empty(), "{}", entry.wire);
                assert!(entry.meaning.ends_with('.'), "{}", entry.wire);
                assert!(!entry.meaning.contains('!'), "{}", entry.wire);
            }
        }
    }
}
