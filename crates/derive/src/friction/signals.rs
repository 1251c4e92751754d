//! One trial's calls and results → its friction signals (`friction.md` §6).

use strandline_contract::{
    canonical::by_code_units,
    friction::{
        FRICTION_SIGNALS_VERSION, FrictionSignal, FrictionSignals, IdentifierSignals,
        MAX_FRICTION_CALLS, MAX_FRICTION_SIGNALS, MAX_IDENTIFIER_KEY_PATHS, MAX_PAGINATION_KEYS,
        MAX_REPEAT_CALL_INDEXES,
    },
    words::{FrictionGap, FrictionSignalKind, FrictionState, Vocabulary},
};

use super::{
    arguments, identifiers,
    input::{Call, FrictionInput, MalformedFrictionInput, Ordering},
    result::{NormalResult, normalise},
    tokens::Haystack,
};

/// Derives the friction signals of a trial.
#[must_use]
pub fn derive_friction_signals(input: &FrictionInput) -> FrictionSignals {
    let calls = Call::all(input);
    let counts = Counts::of(&calls);
    // 1. A hole that the producer declares, even with no call at all.
    if let Some(hole) = input.evidence_hole {
        return counts.not_measured(hole);
    }
    // 2. Nothing to examine, or too much.
    if calls.is_empty() {
        return counts.not_measured(FrictionGap::NoToolCalls);
    }
    if calls.len() > MAX_FRICTION_CALLS {
        return counts.not_measured(FrictionGap::Truncated);
    }
    // 3. Every call's arguments need a canonical form.
    if !input.inexact_arguments.is_empty() {
        return counts.not_measured(FrictionGap::EvidenceIncomplete);
    }
    let calls: Vec<Examined<'_>> = calls.into_iter().map(Examined::new).collect();

    // 4. Adjacent calls of one tool.
    let mut signals: Vec<FrictionSignal> = calls
        .windows(2)
        .filter_map(|pair| adjacent(&pair[0], &pair[1]))
        .collect();
    // 5, 6. Identifiers, where they can be followed.
    let gap = identifier_gap(&calls, &counts);
    if gap.is_none() {
        let haystacks: Vec<Haystack<'_>> = calls
            .iter()
            .map(|call| Haystack::new(&call.arguments))
            .collect();
        for call in &calls {
            signals.extend(identifier_signals(call, &calls, &haystacks));
        }
    }
    // 7. In the order in which they were seen.
    signals.sort_by(|left, right| {
        let key = |signal: &FrictionSignal| (signal.observed_at(), signal.kind(), signal.anchor());
        key(left)
            .cmp(&key(right))
            .then_with(|| by_code_units(left.tool_name(), right.tool_name()))
    });
    // 8.
    cap(&mut signals);
    counts.document(None, gap, signals)
}

/// Derives the friction signals of `{toolsCalled, resultsByToolCallId,
/// evidenceHole?}`, given as text.
///
/// # Errors
///
/// Fails on text that is not JSON and where a field has another type.
pub fn derive_friction_signals_from_json(
    text: &str,
) -> Result<FrictionSignals, MalformedFrictionInput> {
    FrictionInput::from_json(text).map(|input| derive_friction_signals(&input))
}

/// Counts on every document, before any cap.
struct Counts {
    calls: u64,
    with_result: u64,
    timed: u64,
}

impl Counts {
    fn of(calls: &[Call<'_>]) -> Self {
        let count = |test: fn(&&Call<'_>) -> bool| calls.iter().filter(test).count() as u64;
        Self {
            calls: calls.len() as u64,
            with_result: count(|call| call.entry.is_some()),
            timed: count(|call| call.ordering() == Ordering::Timed),
        }
    }

    fn not_measured(&self, reason: FrictionGap) -> FrictionSignals {
        self.document(Some(reason), Some(reason), Vec::new())
    }

    fn document(
        &self,
        not_measured_reason: Option<FrictionGap>,
        identifier_gap: Option<FrictionGap>,
        signals: Vec<FrictionSignal>,
    ) -> FrictionSignals {
        FrictionSignals {
            version: FRICTION_SIGNALS_VERSION,
            state: match not_measured_reason {
                None => FrictionState::Measured,
                Some(_) => FrictionState::NotMeasured,
            },
            not_measured_reason,
            call_count: self.calls,
            result_available_count: self.with_result,
            timed_call_count: self.timed,
            identifier_signals: match identifier_gap {
                None => IdentifierSignals::Measured {},
                Some(reason) => IdentifierSignals::NotMeasured { reason },
            },
            signals,
        }
    }
}

/// A call with everything that comparing needs.
struct Examined<'a> {
    call: Call<'a>,
    arguments: String,
    without_pagination: String,
    result: Option<NormalResult<'a>>,
    is_error: bool,
}

impl<'a> Examined<'a> {
    fn new(call: Call<'a>) -> Self {
        let result = call.entry.map(|entry| normalise(&entry.raw));
        Self {
            arguments: arguments::canonical_text(call.arguments),
            without_pagination: arguments::text_without_pagination(call.arguments),
            is_error: call.entry.is_some_and(|entry| entry.is_error)
                || result.as_ref().is_some_and(|result| result.is_error),
            result,
            call,
        }
    }

    const fn index(&self) -> u64 {
        self.call.index as u64
    }
}

/// Compares two adjacent calls; first match wins.
fn adjacent(prior: &Examined<'_>, current: &Examined<'_>) -> Option<FrictionSignal> {
    let tool_name = current.call.tool_name;
    if tool_name.is_empty() || tool_name != prior.call.tool_name {
        return None;
    }
    let (call_index, prior_call_index) = (current.index(), prior.index());
    let tool_name = tool_name.to_owned();
    if prior.arguments == current.arguments {
        return Some(FrictionSignal::IdenticalRetry {
            call_index,
            prior_call_index,
            tool_name,
            after_error: prior.is_error,
        });
    }
    let mut pagination_keys =
        arguments::changed_pagination_keys(prior.call.arguments, current.call.arguments);
    if !pagination_keys.is_empty() && prior.without_pagination == current.without_pagination {
        pagination_keys.truncate(MAX_PAGINATION_KEYS);
        return Some(FrictionSignal::PaginationContinuation {
            call_index,
            prior_call_index,
            tool_name,
            pagination_keys,
        });
    }
    Some(FrictionSignal::ChangedRetry {
        call_index,
        prior_call_index,
        tool_name,
        after_error: prior.is_error,
    })
}

/// Returns why identifiers cannot be followed, if they cannot.
fn identifier_gap(calls: &[Examined<'_>], counts: &Counts) -> Option<FrictionGap> {
    if counts.with_result != counts.calls {
        return Some(FrictionGap::ResultsUnavailable);
    }
    let first = calls.first()?.call.ordering();
    let shared = calls.iter().all(|call| call.call.ordering() == first);
    (!shared || first == Ordering::Unknown).then_some(FrictionGap::OrderingUnknown)
}

/// Follows the identifiers of one call's result into the calls after it.
///
/// `haystacks` are the calls' arguments, in order.
fn identifier_signals(
    source: &Examined<'_>,
    calls: &[Examined<'_>],
    haystacks: &[Haystack<'_>],
) -> Vec<FrictionSignal> {
    let (Some(result), false) = (&source.result, source.is_error) else {
        return Vec::new();
    };
    if source.call.tool_name.is_empty() {
        return Vec::new();
    }
    let found = identifiers::extract(result);
    if found.values.is_empty() || found.truncated {
        return Vec::new();
    }
    let later: Vec<&Examined<'_>> = calls
        .iter()
        .filter(|other| other.call.index != source.call.index)
        .filter(|other| source.call.is_available_to(&other.call))
        .collect();
    let carried = |call: &&Examined<'_>| {
        found
            .values
            .iter()
            .any(|value| haystacks[call.call.index].carries(value))
    };
    if later.is_empty() || later.iter().any(carried) {
        return Vec::new();
    }

    let information_call_index = source.index();
    let after = |call: &&&Examined<'_>| call.index() > information_call_index;
    let tool_name = source.call.tool_name.to_owned();
    let tool_call_id = source.call.tool_call_id.map(str::to_owned);
    let identifier_count = found.values.len() as u64;
    let mut identifier_key_paths = found.key_paths;
    identifier_key_paths.truncate(MAX_IDENTIFIER_KEY_PATHS);

    let mut signals = Vec::new();
    let observed = later.iter().filter(after).map(|call| call.index()).max();
    if let (true, Some(observed_at_call_index)) = (later.len() >= 2, observed) {
        signals.push(FrictionSignal::IdentifierSurfacedUnused {
            information_call_index,
            observed_at_call_index,
            tool_name: tool_name.clone(),
            tool_call_id: tool_call_id.clone(),
            identifier_key_paths: identifier_key_paths.clone(),
            identifier_count,
            later_call_count: later.len() as u64,
        });
    }
    let mut repeat_call_indexes: Vec<u64> = later
        .iter()
        .filter(after)
        .filter(|call| {
            call.call.tool_name == source.call.tool_name
                && call.without_pagination != source.without_pagination
        })
        .map(|call| call.index())
        .collect();
    if let Some(observed_at_call_index) = repeat_call_indexes.iter().copied().max() {
        repeat_call_indexes.sort_unstable();
        repeat_call_indexes.truncate(MAX_REPEAT_CALL_INDEXES);
        signals.push(FrictionSignal::SearchRepeatedAfterIdentifier {
            information_call_index,
            observed_at_call_index,
            tool_name,
            tool_call_id,
            repeat_call_indexes,
            identifier_key_paths,
            identifier_count,
        });
    }
    signals
}

/// Keeps 24 sorted signals: the earliest of every kind, then the earliest.
fn cap(signals: &mut Vec<FrictionSignal>) {
    if signals.len() <= MAX_FRICTION_SIGNALS {
        return;
    }
    let mut kept = vec![false; signals.len()];
    let mut left = MAX_FRICTION_SIGNALS;
    for kind in FrictionSignalKind::ALL {
        if let Some(first) = signals.iter().position(|signal| signal.kind() == *kind) {
            kept[first] = true;
            left -= 1;
        }
    }
    for keep in kept.iter_mut().filter(|keep| !**keep).take(left) {
        *keep = true;
    }
    let mut kept = kept.into_iter();
    signals.retain(|_| kept.next().unwrap_or(false));
}
