//! Grades one turn's calls against its expectations (`assertions.md` §3.3–§3.5).

use std::collections::BTreeSet;

use strandline_contract::{
    assertion::ArgumentMismatch,
    transcript::ToolCall,
    words::{CallOrder, ExpectationFailure},
};

use super::{
    expectations::{Expectation, Turn, matchable_calls},
    matching::{Partner, Wanted, pair, within},
};

/// Most demanded calls that a list names one by one beyond the slots; counts
/// stay exact.
const MAX_LISTED_DROPPED: u64 = 100;

/// What one turn's calls say about the turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnGrade {
    /// One entry per expectation, in authored order.
    pub expectations: Vec<ExpectationGrade>,
    /// The order of calls; never fails an expectation.
    pub sequence: SequenceGrade,
    /// Calls without an expectation.
    pub extras: ExtrasGrade,
    /// Silence, where it is demanded.
    pub negative: NegativeGrade,
    /// Every expectation, the sequence, the extras and the silence hold.
    pub passed: bool,
    /// Demanded calls, one per slot.
    pub(super) expected: Vec<ToolCall>,
    /// Demanded calls without a partner.
    pub(super) missing: Vec<ToolCall>,
    /// Pairs whose arguments differ.
    pub(super) argument_mismatches: Vec<ArgumentMismatch>,
    /// Indexes of matchable calls without a partner.
    pub(super) unexpected: Vec<usize>,
    /// Indexes of matchable calls.
    pub(super) matchable: Vec<usize>,
}

/// What a turn's calls say about one expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectationGrade {
    /// The step's id.
    pub step_id: String,
    /// The tool to be called.
    pub tool_name: String,
    /// Calls demanded and not made.
    pub missing_slots: u64,
    /// Calls made with other arguments.
    pub argument_mismatch_slots: u64,
    /// Calls made in another order; these fail the sequence, not this.
    pub out_of_order_slots: u64,
    /// Why it does not hold; `None` means that it does.
    pub failure: Option<ExpectationFailure>,
    /// The authored count was no positive integer.
    pub invalid_min_count: bool,
    /// Indexes of the calls that stand in its place, ascending.
    pub paired_call_indexes: Vec<usize>,
}

impl ExpectationGrade {
    /// Returns whether the expectation holds.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// What a turn's calls say about their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceGrade {
    /// Whether the order counts.
    pub mode: CallOrder,
    /// Calls made in another order than demanded.
    pub out_of_order_slots: u64,
    /// The order holds.
    pub passed: bool,
}

/// What a turn's calls say about calls without an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtrasGrade {
    /// Calls without an expectation.
    pub count: usize,
    /// Most of them; `None` is unlimited.
    pub cap: Option<u64>,
    /// They are within the cap.
    pub passed: bool,
}

/// What a turn's calls say about silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegativeGrade {
    /// Silence is demanded.
    pub active: bool,
    /// Calls made.
    pub call_count: usize,
    /// The turn was silent, or need not be.
    pub passed: bool,
}

/// The place of one demanded call.
struct Slot {
    /// Index of the expectation that owns it.
    owner: usize,
    graded: Option<Partner>,
    agnostic: Option<Partner>,
}

/// How one slot fared.
enum SlotClass {
    Ok,
    Missing,
    Arguments,
    Order,
}

impl Slot {
    /// 3. Classifies a slot by its two pairings.
    const fn class(&self) -> SlotClass {
        match (self.graded, self.agnostic) {
            (
                Some(Partner {
                    mismatch: false, ..
                }),
                _,
            ) => SlotClass::Ok,
            (_, None) => SlotClass::Missing,
            (_, Some(Partner { mismatch: true, .. })) => SlotClass::Arguments,
            (
                _,
                Some(Partner {
                    mismatch: false, ..
                }),
            ) => SlotClass::Order,
        }
    }
}

/// Grades a finished turn (`assertions.md` §3.3).
///
/// `calls` are all calls of the turn that reached a server, in order;
/// `skill_tools` tells whether the agent was offered skill tools.
#[must_use]
pub fn grade_turn(turn: &Turn, calls: &[ToolCall], skill_tools: bool) -> TurnGrade {
    let matchable = matchable_calls(turn, calls, skill_tools);
    grade_expectations(turn, &turn.expectations, calls, matchable)
}

/// Grades one expectation on the calls that its turn has made so far
/// (`assertions.md` §3.4); `None` when the step is no expectation of the turn.
#[must_use]
pub fn grade_at_step(
    turn: &Turn,
    position: usize,
    calls_so_far: &[ToolCall],
    skill_tools: bool,
) -> Option<ExpectationGrade> {
    let above = turn
        .expectations
        .iter()
        .take_while(|expectation| expectation.position <= position)
        .count();
    let reached = &turn.expectations[..above];
    reached
        .last()
        .filter(|expectation| expectation.position == position)?;
    // The exemption still looks at the names of the whole turn.
    let matchable = matchable_calls(turn, calls_so_far, skill_tools);
    grade_expectations(turn, reached, calls_so_far, matchable)
        .expectations
        .pop()
}

fn grade_expectations(
    turn: &Turn,
    expectations: &[Expectation],
    all_calls: &[ToolCall],
    matchable: Vec<usize>,
) -> TurnGrade {
    let calls: Vec<&ToolCall> = matchable.iter().map(|&index| &all_calls[index]).collect();

    // 1. Identical adjacent slots; more than one past the calls tells nothing.
    let mut owners = Vec::new();
    let mut dropped = Vec::with_capacity(expectations.len());
    for (owner, expectation) in expectations.iter().enumerate() {
        let slots = expectation.min_count.min(calls.len() as u64 + 1);
        owners.extend((0..slots).map(|_| owner));
        dropped.push(expectation.min_count - slots);
    }

    // 2. Pair under the turn's order, and once more without any order.
    let wanted: Vec<Wanted<'_>> = owners
        .iter()
        .map(|&owner| Wanted {
            tool_name: &expectations[owner].tool_name,
            arguments: &expectations[owner].args,
            mode: expectations[owner].argument_matching,
        })
        .collect();
    let graded = pair(&wanted, &calls, turn.order);
    let agnostic = match turn.order {
        CallOrder::Ignore => graded.clone(),
        CallOrder::Superset | CallOrder::Strict => pair(&wanted, &calls, CallOrder::Ignore),
    };
    let slots: Vec<Slot> = owners
        .into_iter()
        .zip(graded.partners.iter().zip(&agnostic.partners))
        .map(|(owner, (graded, agnostic))| Slot {
            owner,
            graded: *graded,
            agnostic: *agnostic,
        })
        .collect();

    // 4. Per expectation.
    let grades: Vec<ExpectationGrade> = expectations
        .iter()
        .zip(&dropped)
        .enumerate()
        .map(|(owner, (expectation, &dropped))| {
            let own = slots.iter().filter(|slot| slot.owner == owner);
            grade_expectation(expectation, own, dropped, &matchable)
        })
        .collect();

    // 5. The turn's own rows.
    let out_of_order_slots = grades.iter().map(|grade| grade.out_of_order_slots).sum();
    let sequence = SequenceGrade {
        mode: turn.order,
        out_of_order_slots,
        passed: turn.pinned || out_of_order_slots == 0,
    };
    let unexpected: Vec<usize> = graded.extras().map(|call| matchable[call]).collect();
    let count = if turn.pinned { 0 } else { unexpected.len() };
    let extras = ExtrasGrade {
        count,
        cap: turn.extras_cap,
        passed: turn.pinned || turn.negative || within(count, turn.extras_cap),
    };
    let negative = NegativeGrade {
        active: turn.negative,
        call_count: calls.len(),
        passed: !turn.negative || turn.pinned || calls.is_empty(),
    };

    // 6. The turn.
    let passed = grades.iter().all(ExpectationGrade::passed)
        && sequence.passed
        && extras.passed
        && negative.passed;

    TurnGrade {
        expected: slots
            .iter()
            .map(|slot| expectations[slot.owner].call())
            .collect(),
        missing: missing_calls(expectations, &slots, &dropped),
        argument_mismatches: mismatched_calls(expectations, &slots, &calls),
        unexpected,
        matchable,
        expectations: grades,
        sequence,
        extras,
        negative,
        passed,
    }
}

fn grade_expectation<'a>(
    expectation: &Expectation,
    slots: impl Iterator<Item = &'a Slot>,
    dropped: u64,
    matchable: &[usize],
) -> ExpectationGrade {
    let mut missing_slots = dropped;
    let mut argument_mismatch_slots = 0;
    let mut out_of_order_slots = 0;
    let mut paired = BTreeSet::new();
    for slot in slots {
        match slot.class() {
            SlotClass::Ok => {}
            SlotClass::Missing => missing_slots += 1,
            SlotClass::Arguments => argument_mismatch_slots += 1,
            SlotClass::Order => out_of_order_slots += 1,
        }
        if let Some(partner) = slot.graded.or(slot.agnostic) {
            paired.insert(matchable[partner.call]);
        }
    }
    let failure = if missing_slots > 0 || expectation.invalid_min_count {
        Some(ExpectationFailure::Missing)
    } else if argument_mismatch_slots > 0 {
        Some(ExpectationFailure::Arguments)
    } else {
        None
    };
    ExpectationGrade {
        step_id: expectation.step_id.clone(),
        tool_name: expectation.tool_name.clone(),
        missing_slots,
        argument_mismatch_slots,
        out_of_order_slots,
        failure,
        invalid_min_count: expectation.invalid_min_count,
        paired_call_indexes: paired.into_iter().collect(),
    }
}

/// Slots without a graded partner, and the demanded calls beyond the slots.
fn missing_calls(expectations: &[Expectation], slots: &[Slot], dropped: &[u64]) -> Vec<ToolCall> {
    let mut missing = Vec::new();
    for (owner, expectation) in expectations.iter().enumerate() {
        let unpaired = slots
            .iter()
            .filter(|slot| slot.owner == owner && slot.graded.is_none())
            .count() as u64;
        let listed = unpaired + dropped[owner].min(MAX_LISTED_DROPPED);
        missing.extend((0..listed).map(|_| expectation.call()));
    }
    missing
}

/// Graded pairs whose arguments differ.
fn mismatched_calls(
    expectations: &[Expectation],
    slots: &[Slot],
    calls: &[&ToolCall],
) -> Vec<ArgumentMismatch> {
    slots
        .iter()
        .filter_map(|slot| {
            let partner = slot.graded.filter(|partner| partner.mismatch)?;
            let expectation = &expectations[slot.owner];
            Some(ArgumentMismatch {
                tool_name: expectation.tool_name.clone(),
                expected_args: expectation.args.clone(),
                actual_args: calls[partner.call].arguments.clone(),
            })
        })
        .collect()
}
