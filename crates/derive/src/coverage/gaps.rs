//! Suite and evidence → counts and gaps.

use strandline_contract::{
    coverage::{COVERAGE_VERSION, Coverage, CoverageGap, CoverageTally, CoveredRun},
    run::RunRecord,
    suite::{ResolvedCase, ResolvedSuite},
    words::{CoverageUnmeasured, GapKind, RateState, Stage, StageState, Vacuity, Vocabulary},
};

use super::{
    demands::Demands,
    evidence::{RunEvidence, TrialEvidence},
    tools::{self, Seen, Tool},
};
use crate::assertions::vacuity::vacuity;

/// What coverage is derived from.
pub struct CoverageInput<'a> {
    /// The suite.
    pub suite: &'a ResolvedSuite,
    /// A run of it; none for the suite alone.
    pub run: Option<&'a RunEvidence<'a>>,
    /// Whether something beside its rules may fail a case, such as a required
    /// judge.
    pub external_check: &'a dyn Fn(&ResolvedCase) -> bool,
}

/// Derives what a suite, or a run of it, leaves unproved.
///
/// Of a run, only the cases of its plan count.
#[must_use]
pub fn derive_coverage(input: &CoverageInput<'_>) -> Coverage {
    let run = input.run.map(|evidence| evidence.run);
    let cases: Vec<&ResolvedCase> = input
        .suite
        .enabled_cases()
        .filter(|case| run.is_none_or(|run| is_planned(run, case)))
        .collect();
    let demands = Demands::of(
        cases.iter().copied(),
        input.suite.defaults.match_options.as_ref(),
    );
    let servers = run.map_or(&[][..], |run| &run.servers);
    let listed = servers.iter().any(|server| server.tool_count.is_some());
    let tools = tools::all(servers, &demands);
    let trials = input.run.map(|evidence| evidence.trials.as_slice());
    let kinds = GapKind::ALL
        .iter()
        .map(|kind| match kind {
            GapKind::ToolNeverExpected => expected(&tools, &demands, trials),
            GapKind::ArgumentNeverAsserted => asserted(&tools, &demands, listed),
            GapKind::ErrorPathNeverExercised => error_paths(&tools, trials),
            GapKind::StageNeverDecided => stages(trials),
            GapKind::EmptyAnswerPasses => empty_answers(&cases, input.external_check),
        })
        .collect::<Vec<Measured>>();
    let mut gaps: Vec<CoverageGap> = Vec::new();
    let kinds = kinds
        .into_iter()
        .map(|measured| {
            gaps.extend(measured.gaps);
            measured.tally
        })
        .collect();
    Coverage {
        version: COVERAGE_VERSION,
        suite: input.suite.suite.clone(),
        run: input.run.map(|evidence| CoveredRun {
            run_id: evidence.run.id.clone(),
            trials: evidence.trials.len() as u64,
            chains: readable(&evidence.trials).count() as u64,
            tools_listed: listed,
        }),
        kinds,
        gaps,
    }
}

fn is_planned(run: &RunRecord, case: &ResolvedCase) -> bool {
    run.plan.iter().any(|plan| plan.case_id == case.id)
}

/// One kind's row with its gaps.
struct Measured {
    tally: CoverageTally,
    gaps: Vec<CoverageGap>,
}

/// Whether one thing is proved.
enum Proof {
    Proved,
    Unproved(CoverageGap),
    Undecided,
}

impl Measured {
    /// Counts proofs; nothing to count is not measured.
    fn count(kind: GapKind, proofs: impl IntoIterator<Item = Proof>) -> Self {
        let mut measured = Self::unmeasured(kind, CoverageUnmeasured::NothingToProve);
        for proof in proofs {
            let tally = &mut measured.tally;
            tally.state = RateState::Measured;
            tally.reason = None;
            tally.total += 1;
            match proof {
                Proof::Proved => tally.proved += 1,
                Proof::Undecided => tally.undecided += 1,
                Proof::Unproved(gap) => {
                    tally.unproved += 1;
                    measured.gaps.push(gap);
                }
            }
        }
        measured
    }

    fn unmeasured(kind: GapKind, reason: CoverageUnmeasured) -> Self {
        Self {
            tally: CoverageTally {
                kind,
                unit: kind.unit(),
                state: RateState::NotMeasured,
                reason: Some(reason),
                total: 0,
                proved: 0,
                unproved: 0,
                undecided: 0,
            },
            gaps: Vec::new(),
        }
    }
}

fn expected(tools: &[Tool], demands: &Demands, trials: Option<&[TrialEvidence]>) -> Measured {
    let proof = |tool: &Tool| {
        if demands.expects(&tool.name) {
            return Proof::Proved;
        }
        Proof::Unproved(CoverageGap::ToolNeverExpected {
            server: tool.server.clone(),
            tool_name: tool.name.clone(),
            called_in_trials: trials.map(|trials| Seen::of(&tool.name, trials).called),
        })
    };
    Measured::count(GapKind::ToolNeverExpected, tools.iter().map(proof))
}

fn asserted(tools: &[Tool], demands: &Demands, listed: bool) -> Measured {
    if !listed {
        let reason = CoverageUnmeasured::NoListing;
        return Measured::unmeasured(GapKind::ArgumentNeverAsserted, reason);
    }
    let of_tool = |tool: &Tool| {
        let server = tool.server.clone().unwrap_or_default();
        let proof = |(argument, required): (&String, &bool)| {
            if demands.asserts(&tool.name, argument) {
                return Proof::Proved;
            }
            Proof::Unproved(CoverageGap::ArgumentNeverAsserted {
                server: server.clone(),
                tool_name: tool.name.clone(),
                argument: argument.clone(),
                required: *required,
            })
        };
        tool.arguments.iter().map(proof).collect::<Vec<_>>()
    };
    Measured::count(
        GapKind::ArgumentNeverAsserted,
        tools.iter().flat_map(of_tool),
    )
}

fn error_paths(tools: &[Tool], trials: Option<&[TrialEvidence]>) -> Measured {
    let kind = GapKind::ErrorPathNeverExercised;
    let Some(trials) = trials else {
        return Measured::unmeasured(kind, CoverageUnmeasured::NoRun);
    };
    if trials.is_empty() {
        return Measured::unmeasured(kind, CoverageUnmeasured::NoTrials);
    }
    let proof = |tool: &Tool| {
        let seen = Seen::of(&tool.name, trials);
        if seen.errored {
            return Proof::Proved;
        }
        if seen.cannot_tell {
            return Proof::Undecided;
        }
        Proof::Unproved(CoverageGap::ErrorPathNeverExercised {
            server: tool.server.clone(),
            tool_name: tool.name.clone(),
            called_in_trials: seen.called,
        })
    };
    Measured::count(kind, tools.iter().map(proof))
}

/// The stages of every trial whose chain can be read.
fn readable(trials: &[TrialEvidence]) -> impl Iterator<Item = &[(Stage, StageState)]> {
    trials.iter().filter_map(|trial| trial.stages.as_deref())
}

fn stages(trials: Option<&[TrialEvidence]>) -> Measured {
    let kind = GapKind::StageNeverDecided;
    let Some(trials) = trials else {
        return Measured::unmeasured(kind, CoverageUnmeasured::NoRun);
    };
    if readable(trials).next().is_none() {
        return Measured::unmeasured(kind, CoverageUnmeasured::NoTrials);
    }
    let proof = |stage: &Stage| {
        let count = |wanted: StageState| {
            let rows = readable(trials).flatten();
            rows.filter(|row| **row == (*stage, wanted)).count() as u64
        };
        if count(StageState::Passed) + count(StageState::Failed) > 0 {
            return Proof::Proved;
        }
        // Never reached: another run may decide it.
        if count(StageState::NotReached) > 0 {
            return Proof::Undecided;
        }
        Proof::Unproved(CoverageGap::StageNeverDecided {
            stage: *stage,
            not_applicable_trials: count(StageState::NotApplicable),
            not_measured_trials: count(StageState::NotMeasured),
        })
    };
    Measured::count(kind, Stage::ALL.iter().map(proof))
}

fn empty_answers(
    cases: &[&ResolvedCase],
    external_check: &dyn Fn(&ResolvedCase) -> bool,
) -> Measured {
    let proof = |case: &&ResolvedCase| match vacuity(case, external_check(case)) {
        // Silence is what a negative case wants.
        Vacuity::NotApplicable => None,
        Vacuity::CanFail => Some(Proof::Proved),
        Vacuity::CannotTell => Some(Proof::Undecided),
        Vacuity::Vacuous => Some(Proof::Unproved(CoverageGap::EmptyAnswerPasses {
            case_id: case.id.clone(),
            title: case.title.clone(),
        })),
    };
    Measured::count(GapKind::EmptyAnswerPasses, cases.iter().filter_map(proof))
}
