//! Stored friction documents → accepted or violations (`friction.md` §7).

use serde_json::{Map, Value};
use strandline_contract::{
    friction::{
        FRICTION_SIGNALS_KEY, FRICTION_SIGNALS_VERSION, FrictionSignal, FrictionSignals,
        IdentifierSignals, MAX_FRICTION_SIGNALS, MAX_IDENTIFIER_KEY_PATHS, MAX_PAGINATION_KEYS,
        MAX_REPEAT_CALL_INDEXES,
    },
    words::{FrictionSignalKind, FrictionState, PaginationKey},
};

use crate::document::{Findings, Node, Path, Violation};

/// What a trial's open metadata says about friction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredFriction {
    /// Nothing: friction was never measured, which is not "none".
    Absent,
    /// A document that may be believed.
    Verified(FrictionSignals),
    /// A document that may not.
    Unverified,
}

/// Reads the key `frictionSignals` of a trial's metadata.
#[must_use]
pub fn project_friction_signals(metadata: &Map<String, Value>) -> StoredFriction {
    match metadata
        .get(FRICTION_SIGNALS_KEY)
        .map(validate_friction_signals)
    {
        None => StoredFriction::Absent,
        Some(Ok(document)) => StoredFriction::Verified(document),
        Some(Err(_)) => StoredFriction::Unverified,
    }
}

/// Reads a stored friction document.
///
/// # Errors
///
/// Returns every violation of `friction.md` §7 (the first 100).
pub fn validate_friction_signals(document: &Value) -> Result<FrictionSignals, Vec<Violation>> {
    let findings = Findings::default();
    let typed = read_friction_signals(&Node::root(document, &findings));
    findings.into_result(typed)
}

/// Reads a friction document, on its own or inside another document.
pub(crate) fn read_friction_signals(node: &Node<'_>) -> Option<FrictionSignals> {
    let typed = read_document(node)?;
    if node.findings().is_empty() {
        check(&typed, node.path(), node.findings());
    }
    Some(typed)
}

/// The rules across fields, by their numbers.
fn check(document: &FrictionSignals, root: &Path<'_>, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &root.key(key), message);
    };
    // 1.
    let measured = document.state == FrictionState::Measured;
    demand(
        measured != document.not_measured_reason.is_some(),
        "notMeasuredReason",
        "must be there exactly when not measured",
    );
    demand(
        measured || document.signals.is_empty(),
        "signals",
        "must be empty when not measured",
    );
    // 2.
    demand(
        document.result_available_count <= document.call_count,
        "resultAvailableCount",
        "must be at most `callCount`",
    );
    demand(
        document.timed_call_count <= document.call_count,
        "timedCallCount",
        "must be at most `callCount`",
    );
    let list = root.key("signals");
    let identifiers = matches!(document.identifier_signals, IdentifierSignals::Measured {});
    let mut last = 0;
    for (index, signal) in document.signals.iter().enumerate() {
        let path = list.index(index);
        let demand = |holds: bool, message: &str| findings.demand(holds, &path, message);
        // 3.
        demand(
            identifiers || !signal.kind().is_identifier(),
            "identifiers were not measured",
        );
        // 4.
        let (observed, anchor) = (signal.observed_at(), signal.anchor());
        demand(
            observed < document.call_count && anchor < document.call_count,
            "call indexes must be below `callCount`",
        );
        // 5, 6.
        demand(anchor < observed, "the earlier call must come first");
        if let FrictionSignal::SearchRepeatedAfterIdentifier {
            repeat_call_indexes,
            ..
        } = signal
        {
            demand(
                repeat_call_indexes.iter().all(|repeat| *repeat <= observed),
                "no repeat may come after `observedAtCallIndex`",
            );
        }
        // 7.
        demand(
            last <= observed,
            "signals must be in the order in which they were seen",
        );
        last = observed;
    }
}

fn read_document(node: &Node<'_>) -> Option<FrictionSignals> {
    const KEYS: [&str; 8] = [
        "version",
        "state",
        "notMeasuredReason",
        "callCount",
        "resultAvailableCount",
        "timedCallCount",
        "identifierSignals",
        "signals",
    ];
    node.closed_object(&KEYS)?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let version = node.required_with("version", |node| {
        node.literal_count(FRICTION_SIGNALS_VERSION)
    });
    let state = node.required_with("state", |node| node.word());
    let not_measured_reason = node.optional_with("notMeasuredReason", |node| node.word());
    let call_count = count("callCount");
    let result_available_count = count("resultAvailableCount");
    let timed_call_count = count("timedCallCount");
    let identifier_signals = node.required_with("identifierSignals", read_identifier_signals);
    let signals = node.required_with("signals", |node| {
        bounded(node, 0..=MAX_FRICTION_SIGNALS, read_signal)
    });
    Some(FrictionSignals {
        version: version?,
        state: state?,
        not_measured_reason: not_measured_reason?,
        call_count: call_count?,
        result_available_count: result_available_count?,
        timed_call_count: timed_call_count?,
        identifier_signals: identifier_signals?,
        signals: signals?,
    })
}

fn bounded<T>(
    node: &Node<'_>,
    length: std::ops::RangeInclusive<usize>,
    read: impl FnMut(&Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let found = node.value().as_array().map_or(*length.start(), Vec::len);
    if !length.contains(&found) {
        let (least, most) = (length.start(), length.end());
        return node.refuse(format_args!(
            "must hold {least} to {most} elements, not {found}"
        ));
    }
    node.list(read)
}

fn read_identifier_signals(node: &Node<'_>) -> Option<IdentifierSignals> {
    node.open_object()?;
    match node.required_with("state", |node| node.word::<FrictionState>())? {
        FrictionState::Measured => {
            node.closed_object(&["state"])?;
            Some(IdentifierSignals::Measured {})
        }
        FrictionState::NotMeasured => {
            node.closed_object(&["state", "reason"])?;
            let reason = node.required_with("reason", |node| node.word())?;
            Some(IdentifierSignals::NotMeasured { reason })
        }
    }
}

fn read_signal(node: &Node<'_>) -> Option<FrictionSignal> {
    node.open_object()?;
    let kind = node.required_with("kind", |node| node.word::<FrictionSignalKind>())?;
    let keys: &[&str] = match kind {
        FrictionSignalKind::IdentifierSurfacedUnused => &[
            "kind",
            "informationCallIndex",
            "observedAtCallIndex",
            "toolName",
            "toolCallId",
            "identifierKeyPaths",
            "identifierCount",
            "laterCallCount",
        ],
        FrictionSignalKind::SearchRepeatedAfterIdentifier => &[
            "kind",
            "informationCallIndex",
            "observedAtCallIndex",
            "toolName",
            "toolCallId",
            "repeatCallIndexes",
            "identifierKeyPaths",
            "identifierCount",
        ],
        FrictionSignalKind::IdenticalRetry | FrictionSignalKind::ChangedRetry => &[
            "kind",
            "callIndex",
            "priorCallIndex",
            "toolName",
            "afterError",
        ],
        FrictionSignalKind::PaginationContinuation => &[
            "kind",
            "callIndex",
            "priorCallIndex",
            "toolName",
            "paginationKeys",
        ],
    };
    node.closed_object(keys)?;
    if kind.is_identifier() {
        read_identifier_signal(node, kind)
    } else {
        read_adjacency_signal(node, kind)
    }
}

fn read_text(node: &Node<'_>) -> Option<String> {
    node.non_empty_text().map(str::to_owned)
}

fn read_identifier_signal(node: &Node<'_>, kind: FrictionSignalKind) -> Option<FrictionSignal> {
    let information_call_index = node.required_with("informationCallIndex", |node| node.count());
    let observed_at_call_index = node.required_with("observedAtCallIndex", |node| node.count());
    let tool_name = node.required_with("toolName", read_text);
    let tool_call_id = node.optional_with("toolCallId", read_text);
    let identifier_key_paths = node.required_with("identifierKeyPaths", |node| {
        bounded(node, 0..=MAX_IDENTIFIER_KEY_PATHS, read_text)
    });
    let identifier_count = node.required_with("identifierCount", |node| node.count_from(1));
    if kind == FrictionSignalKind::IdentifierSurfacedUnused {
        let later_call_count = node.required_with("laterCallCount", |node| node.count_from(2));
        return Some(FrictionSignal::IdentifierSurfacedUnused {
            information_call_index: information_call_index?,
            observed_at_call_index: observed_at_call_index?,
            tool_name: tool_name?,
            tool_call_id: tool_call_id?,
            identifier_key_paths: identifier_key_paths?,
            identifier_count: identifier_count?,
            later_call_count: later_call_count?,
        });
    }
    let repeat_call_indexes = node.required_with("repeatCallIndexes", |node| {
        bounded(node, 1..=MAX_REPEAT_CALL_INDEXES, |node| node.count())
    });
    Some(FrictionSignal::SearchRepeatedAfterIdentifier {
        information_call_index: information_call_index?,
        observed_at_call_index: observed_at_call_index?,
        tool_name: tool_name?,
        tool_call_id: tool_call_id?,
        repeat_call_indexes: repeat_call_indexes?,
        identifier_key_paths: identifier_key_paths?,
        identifier_count: identifier_count?,
    })
}

fn read_adjacency_signal(node: &Node<'_>, kind: FrictionSignalKind) -> Option<FrictionSignal> {
    let call_index = node.required_with("callIndex", |node| node.count());
    let prior_call_index = node.required_with("priorCallIndex", |node| node.count());
    let tool_name = node.required_with("toolName", read_text);
    if kind == FrictionSignalKind::PaginationContinuation {
        let pagination_keys = node.required_with("paginationKeys", |node| {
            bounded(node, 1..=MAX_PAGINATION_KEYS, |node| {
                node.word::<PaginationKey>()
            })
        });
        return Some(FrictionSignal::PaginationContinuation {
            call_index: call_index?,
            prior_call_index: prior_call_index?,
            tool_name: tool_name?,
            pagination_keys: pagination_keys?,
        });
    }
    let after_error = node.required_with("afterError", |node| node.boolean());
    let (call_index, prior_call_index) = (call_index?, prior_call_index?);
    let (tool_name, after_error) = (tool_name?, after_error?);
    Some(if kind == FrictionSignalKind::IdenticalRetry {
        FrictionSignal::IdenticalRetry {
            call_index,
            prior_call_index,
            tool_name,
            after_error,
        }
    } else {
        FrictionSignal::ChangedRetry {
            call_index,
            prior_call_index,
            tool_name,
            after_error,
        }
    })
}
