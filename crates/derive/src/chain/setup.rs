//! What setting servers up says to the chain (`chain.md` §14.3).

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use strandline_contract::{
    chain_input::{SetupSignal, SetupSignals},
    ecma::collapse_whitespace,
    words::{Attribution, SetupOutcome, SetupPhase, Vocabulary},
};

/// Most span ids, and most reasons, of one signal.
const MAX_PARTS: usize = 5;
/// Most characters of one reason.
const MAX_REASON: usize = 240;
/// Most bytes of a stored audit.
const MAX_AUDIT_BYTES: usize = 4_096;
/// Version of the attribution table that the engine uses.
const CLASSIFIER: u32 = 2;

/// One observed attempt to set one server up.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupAttempt<'a> {
    /// The phase.
    pub phase: SetupPhase,
    /// The server's id in the suite.
    pub server_id: &'a str,
    /// Start, ms.
    pub started_at: f64,
    /// End, ms.
    pub ended_at: f64,
    /// Whose fault it was and one line about it; absent when it succeeded.
    pub failure: Option<SetupFault<'a>>,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupFault<'a> {
    /// At whose side the fault lies.
    pub attribution: Attribution,
    /// What happened, in one line.
    pub reason: Cow<'a, str>,
}

/// Returns the id of the synthetic span of a phase of a server's setup.
#[must_use]
pub fn setup_span_id(phase: SetupPhase, server_id: &str) -> String {
    match phase {
        SetupPhase::Connection => format!("run-connect-{server_id}"),
        SetupPhase::Discovery => format!("run-toolslist-{server_id}"),
    }
}

/// Folds all attempts into one signal per phase.
///
/// `egress` is what the canary showed, when it ran.
#[must_use]
pub fn derive_setup_signals(
    expected_server_ids: &[&str],
    attempts: &[SetupAttempt<'_>],
    egress: Option<bool>,
) -> SetupSignals<'static> {
    let fold = |phase| fold_phase(phase, expected_server_ids, attempts);
    let mut connection = fold(SetupPhase::Connection);
    if let Some(signal) = connection.as_mut()
        && signal.outcome == SetupOutcome::Failed
        && signal.attribution == Some(Attribution::Theirs)
    {
        signal.egress_verified = egress;
    }
    SetupSignals {
        connection,
        discovery: fold(SetupPhase::Discovery),
    }
}

/// The fold of one phase; first match wins.
fn fold_phase(
    phase: SetupPhase,
    expected: &[&str],
    attempts: &[SetupAttempt<'_>],
) -> Option<SetupSignal<'static>> {
    // 1. No expected server.
    if expected.is_empty() {
        return None;
    }
    let observed: Vec<&SetupAttempt<'_>> = attempts
        .iter()
        .filter(|attempt| attempt.phase == phase && expected.contains(&attempt.server_id))
        .collect();
    // 2. No expected server observed.
    if observed.is_empty() {
        return None;
    }
    let unobserved: Vec<&str> = expected
        .iter()
        .copied()
        .filter(|id| !observed.iter().any(|attempt| attempt.server_id == *id))
        .collect();
    let failures: Vec<(&SetupAttempt<'_>, &SetupFault<'_>)> = observed
        .iter()
        .filter_map(|attempt| Some((*attempt, attempt.failure.as_ref()?)))
        .collect();
    let mut sides: Vec<Attribution> = failures
        .iter()
        .map(|(_, fault)| fault.attribution)
        .collect();
    let failed_ids = failures.iter().map(|(attempt, _)| attempt.server_id);
    // 3. Some expected server unobserved.
    if !unobserved.is_empty() {
        sides.extend(unobserved.iter().map(|_| Attribution::Unknown));
        return Some(SetupSignal {
            attribution: Some(fold_sides(&sides)),
            span_ids: span_ids(phase, failed_ids.chain(unobserved.iter().copied())),
            ..SetupSignal::new(SetupOutcome::Failed)
        });
    }
    // 4. Some failure.
    if !failures.is_empty() {
        let side = fold_sides(&sides);
        return Some(SetupSignal {
            attribution: Some(side),
            span_ids: span_ids(phase, failed_ids),
            reasons: reasons(&failures, side),
            duration_ms: duration(&observed),
            ..SetupSignal::new(SetupOutcome::Failed)
        });
    }
    // 5. All ok.
    Some(SetupSignal {
        duration_ms: duration(&observed),
        ..SetupSignal::new(SetupOutcome::Ok)
    })
}

/// Any `ours` wins, then any `unknown`.
fn fold_sides(sides: &[Attribution]) -> Attribution {
    if sides.contains(&Attribution::Ours) {
        Attribution::Ours
    } else if sides.contains(&Attribution::Unknown) {
        Attribution::Unknown
    } else {
        Attribution::Theirs
    }
}

fn span_ids<'a>(
    phase: SetupPhase,
    servers: impl Iterator<Item = &'a str>,
) -> Vec<Cow<'static, str>> {
    servers
        .take(MAX_PARTS)
        .map(|id| setup_span_id(phase, id).into())
        .collect()
}

/// One line per failing server, lines of the deciding side first.
fn reasons(
    failures: &[(&SetupAttempt<'_>, &SetupFault<'_>)],
    deciding: Attribution,
) -> Vec<Cow<'static, str>> {
    let (first, rest): (Vec<_>, Vec<_>) = failures
        .iter()
        .map(|(_, fault)| *fault)
        .partition(|fault: &&SetupFault<'_>| fault.attribution == deciding);
    let mut lines: Vec<Cow<'static, str>> = Vec::new();
    for fault in first.into_iter().chain(rest) {
        let line = one_line(&fault.reason);
        if !line.is_empty() && !lines.contains(&Cow::Borrowed(line.as_str())) {
            lines.push(line.into());
        }
    }
    lines.truncate(MAX_PARTS);
    lines
}

fn one_line(text: &str) -> String {
    let line = collapse_whitespace(text);
    if line.chars().count() <= MAX_REASON {
        return line;
    }
    line.chars().take(MAX_REASON - 1).chain(['…']).collect()
}

/// Wall time over all attempts; absent when some time is no time.
fn duration(observed: &[&SetupAttempt<'_>]) -> Option<f64> {
    let usable = observed.iter().all(|attempt| {
        attempt.started_at.is_finite()
            && attempt.ended_at.is_finite()
            && attempt.ended_at >= attempt.started_at
    });
    if !usable {
        return None;
    }
    let start = observed
        .iter()
        .map(|attempt| attempt.started_at)
        .fold(f64::INFINITY, f64::min);
    let end = observed
        .iter()
        .map(|attempt| attempt.ended_at)
        .fold(f64::NEG_INFINITY, f64::max);
    Some(end - start)
}

/// What the egress canary did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EgressCanary {
    /// A connection could be made.
    pub ok: bool,
    /// When, ms since the Unix epoch.
    pub at: f64,
}

/// Builds the stored audit of a setup, within its size limit.
#[must_use]
pub fn setup_audit(
    signals: &SetupSignals<'_>,
    attempts: &[SetupAttempt<'_>],
    canary: Option<EgressCanary>,
) -> Value {
    let mut audit = json!({
        "signals": signals,
        "egressCanary": match canary {
            Some(canary) => json!({"ran": true, "ok": canary.ok, "at": canary.at}),
            None => json!({"ran": false}),
        },
        "classifier": CLASSIFIER,
    });
    let failures: Vec<Value> = attempts
        .iter()
        .filter_map(|attempt| {
            let fault = attempt.failure.as_ref()?;
            Some(json!({
                "phase": attempt.phase.wire(),
                "serverId": attempt.server_id,
                "attribution": fault.attribution,
                "reason": one_line(&fault.reason),
            }))
        })
        .collect();
    if failures.is_empty() {
        return audit;
    }
    audit["failures"] = failures.into();
    if audit.to_string().len() <= MAX_AUDIT_BYTES {
        return audit;
    }
    if let Some(members) = audit.as_object_mut() {
        members.remove("failures");
        members.insert("truncated".to_owned(), true.into());
    }
    if audit.to_string().len() > MAX_AUDIT_BYTES
        && let Some(signals) = audit["signals"].as_object_mut()
    {
        for signal in signals.values_mut().filter_map(Value::as_object_mut) {
            drop_bulk(signal);
        }
    }
    audit
}

fn drop_bulk(signal: &mut Map<String, Value>) {
    signal.remove("spanIds");
    signal.remove("reasons");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt<'a>(
        phase: SetupPhase,
        server_id: &'a str,
        failure: Option<(Attribution, &'static str)>,
    ) -> SetupAttempt<'a> {
        SetupAttempt {
            phase,
            server_id,
            started_at: 10.0,
            ended_at: 25.0,
            failure: failure.map(|(attribution, reason)| SetupFault {
                attribution,
                reason: reason.into(),
            }),
        }
    }

    #[test]
    fn one_fault_of_ours_speaks_for_all_and_its_line_comes_first() {
        let attempts = [
            attempt(
                SetupPhase::Connection,
                "a",
                Some((Attribution::Theirs, "refused\n twice")),
            ),
            attempt(
                SetupPhase::Connection,
                "b",
                Some((Attribution::Ours, "no such program")),
            ),
        ];
        let signals = derive_setup_signals(&["a", "b"], &attempts, Some(true));
        let signal = signals.connection.expect("observed");
        assert_eq!(signal.attribution, Some(Attribution::Ours));
        assert_eq!(signal.reasons, ["no such program", "refused twice"]);
        assert_eq!(signal.span_ids, ["run-connect-a", "run-connect-b"]);
        assert_eq!(signal.egress_verified, None);
        assert_eq!(signal.duration_ms, Some(15.0));
        assert_eq!(signals.discovery, None);
    }

    #[test]
    fn a_server_that_nobody_observed_makes_the_side_unknown() {
        let attempts = [attempt(
            SetupPhase::Connection,
            "a",
            Some((Attribution::Theirs, "x")),
        )];
        let signal = derive_setup_signals(&["a", "b"], &attempts, Some(true))
            .connection
            .expect("observed");
        assert_eq!(signal.attribution, Some(Attribution::Unknown));
        assert!(signal.reasons.is_empty() && signal.duration_ms.is_none());
    }

    #[test]
    fn the_canary_is_told_only_of_a_server_at_fault() {
        let attempts = [attempt(
            SetupPhase::Connection,
            "a",
            Some((Attribution::Theirs, "x")),
        )];
        let signals = derive_setup_signals(&["a"], &attempts, Some(false));
        assert_eq!(
            signals.connection.and_then(|signal| signal.egress_verified),
            Some(false)
        );
    }

    #[test]
    fn an_audit_that_grows_too_large_drops_its_bulk_and_says_so() {
        let long = "y".repeat(300);
        let attempts: Vec<SetupAttempt<'_>> = (0..40)
            .map(|_| SetupAttempt {
                failure: Some(SetupFault {
                    attribution: Attribution::Theirs,
                    reason: Cow::Borrowed(&long),
                }),
                ..attempt(SetupPhase::Connection, "a", None)
            })
            .collect();
        let signals = derive_setup_signals(&["a"], &attempts, None);
        let audit = setup_audit(&signals, &attempts, None);
        assert!(audit.to_string().len() <= MAX_AUDIT_BYTES);
        assert_eq!(audit["truncated"], Value::Bool(true));
        assert!(audit.get("failures").is_none());
        assert_eq!(audit["signals"]["connection"]["outcome"], "failed");
    }
}
