//! Closed vocabularies: one table each, total over its members.
//!
//! A vocabulary is declared with the `vocabulary!` macro, which demands the
//! wire spelling, the label and the meaning of every member: a member without
//! its words does not compile. Readers refuse unknown members and never widen
//! a vocabulary (`vocabulary.md`).

mod advice;
mod analytics;
mod assertion;
mod check;
mod comparison;
mod coverage;
mod evidence;
mod friction;
mod grading;
mod judge;
mod matching;
mod measurement;
mod next_action;
mod policy;
mod refusal;
mod registry;
mod run;
mod session;
mod stage;
mod standard_check;
mod swarm;
mod swarm_findings;
mod transcript;
mod trial;
mod verdict;

use std::{fmt, marker::PhantomData};

use serde::{Deserializer, de};

pub use advice::AdviceStrength;
pub use analytics::{
    ExclusionClass, ExclusionDetail, FunnelAbsence, MaterializationState, ParityBlocker,
    SliceDimension,
};
pub use assertion::AssertionKind;
pub use check::CheckVerdict;
pub use comparison::{CaseChange, ChangeKind, ComparisonCaution, GateOutcome, SequentialDecision};
pub use coverage::{CoverageUnit, CoverageUnmeasured, GapKind};
pub use evidence::{
    Attribution, CaseMode, JudgeStatus, JudgeVerdict, PendingKind, SetupOutcome, StepErrorSource,
    ToolExpectation,
};
pub use friction::{
    ConditionSkipReason, ConditionStatus, FrictionGap, FrictionSignalKind, FrictionState,
    JudgeConfidence, PaginationKey, SuspectedCondition,
};
pub use grading::{ErrorPolicy, RowStatus, RuleRole, ScoreStatus, Vacuity};
pub use judge::{JudgeAggregation, JudgeCallOutcome, JudgeKind, JudgeRole};
pub use matching::{ArgumentMatching, CallOrder, ExpectationFailure};
pub use measurement::{LatencyBasis, Reach, SetupPhase};
pub use next_action::NextAction;
pub use policy::{PolicyReason, ToolClassification};
pub use refusal::RefusalCode;
pub use registry::{VocabularyWords, registry};
pub use run::{ErrorLayer, RunStatus};
pub use session::{CriteriaStatus, GoalJudgeStatus, SessionLifecycle, SessionSource};
pub use stage::{FailureCategory, Stage, StageReason, StageState};
pub use standard_check::StandardCheck;
pub use swarm::{
    AttemptStatus, CriteriaGrader, GradingState, JudgeGrader, ObservationStatus, SessionReason,
    SessionVerdictSource, StartEvidence, SwarmLifecycle, SwarmRunStatus, SwarmTargetKind,
    SwarmUndecidedReason, VerdictSummaryStatus, WithdrawnCode,
};
pub use swarm_findings::{
    ChainStageBasis, DisclosureRail, Disposition, FindingBasis, FindingScope, FindingsJobStatus,
    FindingsNote, FindingsSummaryKind, RecordedSignal, Tone,
};
pub use transcript::{CaptureState, RenderStatus, SizeBasis, TimingProvenance, ToolErrorKind};
pub use trial::{IterationStatus, TaskResult};
pub use verdict::{
    ChainStatus, CoverageKind, DecisionReason, ExclusionReason, MeasurementUnit, RateState,
    RegressionVerdict, SummaryVerdict, UndecidedReason, Verdict, VerdictRefusal, VerdictSource,
};

/// One member of a vocabulary with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The vocabulary's name, as a heading ("stage reason").
    pub vocabulary: &'static str,
    /// The exact wire spelling.
    pub wire: &'static str,
    /// The words a person reads instead of the wire spelling.
    pub label: &'static str,
    /// What the member says, and what it does not say.
    pub meaning: &'static str,
}

/// A closed vocabulary of wire words.
pub trait Vocabulary: Sized + Copy + 'static {
    /// The vocabulary's name, as a heading.
    const NAME: &'static str;
    /// What the vocabulary is for: the doc comment of its type, whose code
    /// spans and paragraphs are Markdown.
    const ABOUT: &'static str;
    /// Every member in normative order.
    const ALL: &'static [Self];
    /// Returns the member's words.
    fn entry(self) -> Entry;
    /// Returns the exact wire spelling.
    fn wire(self) -> &'static str {
        self.entry().wire
    }
    /// Returns the words a person reads.
    fn label(self) -> &'static str {
        self.entry().label
    }
    /// Reads an exact wire spelling; unknown words give `None`.
    fn from_wire(wire: &str) -> Option<Self>;
}

/// Reads one word of a closed vocabulary and refuses any other.
pub(crate) fn deserialize_word<'de, D, V>(deserializer: D) -> Result<V, D::Error>
where
    D: Deserializer<'de>,
    V: Vocabulary,
{
    struct Word<V>(PhantomData<V>);

    impl<V: Vocabulary> de::Visitor<'_> for Word<V> {
        type Value = V;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "a {}", V::NAME)
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<V, E> {
            V::from_wire(word).ok_or_else(|| unknown_word::<V, E>(word))
        }
    }

    deserializer.deserialize_str(Word(PhantomData))
}

/// Says which word is unknown, cut to a length that a line of text can bear.
fn unknown_word<V: Vocabulary, E: de::Error>(word: &str) -> E {
    const SHOWN: usize = 60;
    let cut = word.char_indices().nth(SHOWN).map(|(at, _)| at);
    let (shown, more) = cut.map_or((word, ""), |at| (&word[..at], "…"));
    let known: Vec<&str> = V::ALL.iter().map(|member| member.wire()).collect();
    E::custom(format_args!(
        "unknown {} `{shown}{more}`: known are `{}`",
        V::NAME,
        known.join("`, `"),
    ))
}

/// Declares a closed vocabulary: `Variant = "wire", "label", "meaning";`.
///
/// Every vocabulary is also listed in `registry.rs`, for `strandline explain`
/// and the glossary; a test fails when one is missing there.
macro_rules! vocabulary {
    (
        $(#[doc = $about:literal])+
        $name:ident ($heading:literal) {
            $( $variant:ident = $wire:literal, $label:literal, $meaning:literal; )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $( #[doc = $meaning] #[serde(rename = $wire)] $variant, )+
        }

        impl $crate::words::Vocabulary for $name {
            const NAME: &'static str = $heading;
            const ABOUT: &'static str = concat!($($about, "\n"),+);
            const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];
            fn entry(self) -> $crate::words::Entry {
                match self {
                    $( Self::$variant => $crate::words::Entry {
                        vocabulary: $heading,
                        wire: $wire,
                        label: $label,
                        meaning: $meaning,
                    }, )+
                }
            }
            fn from_wire(wire: &str) -> Option<Self> {
                match wire {
                    $( $wire => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::words::deserialize_word(deserializer)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str($crate::words::Vocabulary::wire(*self))
            }
        }
    };
}
pub(crate) use vocabulary;
