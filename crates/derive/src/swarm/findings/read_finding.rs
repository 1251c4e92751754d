//! One stored finding: its shape and its rules (`swarm.md` §8).

use strandline_contract::{
    ecma,
    swarm::findings::{
        Finding, FindingGoal, FindingPersona, FindingPopulation, FindingTarget, MAX_ACCOUNT_UNITS,
        MAX_ACTUAL_UNITS, MAX_CITATIONS, MAX_FINDING_SESSIONS, MAX_OUTCOME_PHRASE_UNITS,
        MAX_OUTCOME_PHRASE_WORDS, ReportExcerpt,
    },
};

use crate::{document::Node, swarm::report_validate::read_unit};

const KEYS: [&str; 22] = [
    "id",
    "basis",
    "scopeLevel",
    "persona",
    "goal",
    "target",
    "population",
    "sessionIds",
    "citations",
    "verdictSeen",
    "chainStage",
    "chainStageState",
    "chainStageBasis",
    "disposition",
    "tone",
    "coverageNotes",
    "outcomePhrase",
    "mechanismPhrase",
    "fixPhrase",
    "reportExcerpt",
    "mechanismId",
    "signal",
];

/// Reads one finding.
pub(super) fn read_finding(node: &Node<'_>) -> Option<Finding> {
    node.closed_object(&KEYS)?;
    let id = node.required_with("id", |node| node.owned_non_empty_text());
    let basis = node.required_with("basis", |node| node.word());
    let scope_level = node.required_with("scopeLevel", |node| node.word());
    let persona = node.required_with("persona", read_persona);
    let goal = node.required_with("goal", read_goal);
    let target = node.required_with("target", read_target);
    let population = node.required_with("population", read_population);
    let session_ids = node.required_with("sessionIds", |node| {
        at_most(node, MAX_FINDING_SESSIONS, owned)
    });
    let citations = node.required_with("citations", read_citations);
    let verdict_seen = node.required_with("verdictSeen", |node| node.word());
    let chain_stage = node.nullable_with("chainStage", |node| node.word());
    let chain_stage_state = node.nullable_with("chainStageState", |node| node.word());
    let chain_stage_basis = node.required_with("chainStageBasis", |node| node.word());
    let disposition = node.required_with("disposition", |node| node.word());
    let tone = node.required_with("tone", |node| node.word());
    let coverage_notes = node.required_with("coverageNotes", |node| node.list(|node| node.word()));
    let outcome_phrase = node.nullable_with("outcomePhrase", read_outcome_phrase);
    let mechanism_phrase = node.nullable_with("mechanismPhrase", owned);
    let fix_phrase = node.nullable_with("fixPhrase", owned);
    let report_excerpt = node.nullable_with("reportExcerpt", read_excerpt);
    let mechanism_id = node.nullable_with("mechanismId", owned);
    let signal = optional_nullable(node, "signal", |node| node.word());
    Some(Finding {
        id: id?,
        basis: basis?,
        scope_level: scope_level?,
        persona: persona?,
        goal: goal?,
        target: target?,
        population: population?,
        session_ids: session_ids?,
        citations: citations?,
        verdict_seen: verdict_seen?,
        chain_stage: chain_stage?,
        chain_stage_state: chain_stage_state?,
        chain_stage_basis: chain_stage_basis?,
        disposition: disposition?,
        tone: tone?,
        coverage_notes: coverage_notes?,
        outcome_phrase: outcome_phrase?,
        mechanism_phrase: mechanism_phrase?,
        fix_phrase: fix_phrase?,
        report_excerpt: report_excerpt?,
        mechanism_id: mechanism_id?,
        signal: signal?,
    })
}

pub(super) fn owned(node: &Node<'_>) -> Option<String> {
    node.owned_text()
}

/// Reads a list of at most `most` elements.
pub(super) fn at_most<T>(
    node: &Node<'_>,
    most: usize,
    read: impl FnMut(&Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let length = node.value().as_array().map_or(0, Vec::len);
    if length > most {
        return node.refuse(format_args!(
            "must hold at most {most} elements, not {length}"
        ));
    }
    node.list(read)
}

/// Reads a member that may be absent or `null`, which are the same here.
fn optional_nullable<T>(
    node: &Node<'_>,
    key: &str,
    read: impl FnOnce(&Node<'_>) -> Option<T>,
) -> Option<Option<T>> {
    match node.optional(key) {
        Some(member) if !member.value().is_null() => read(&member).map(Some),
        Some(_) | None => Some(None),
    }
}

pub(super) fn read_persona(node: &Node<'_>) -> Option<FindingPersona> {
    node.closed_object(&["personaRefId", "name"])?;
    let persona_ref_id = node.nullable_with("personaRefId", owned);
    let name = node.required_with("name", owned);
    Some(FindingPersona {
        persona_ref_id: persona_ref_id?,
        name: name?,
    })
}

pub(super) fn read_goal(node: &Node<'_>) -> Option<FindingGoal> {
    node.closed_object(&["runId", "journeyRefId", "title"])?;
    let run_id = node.required_with("runId", owned);
    let journey_ref_id = node.required_with("journeyRefId", owned);
    let title = node.required_with("title", owned);
    Some(FindingGoal {
        run_id: run_id?,
        journey_ref_id: journey_ref_id?,
        title: title?,
    })
}

pub(super) fn read_target(node: &Node<'_>) -> Option<FindingTarget> {
    node.closed_object(&["kind", "id", "label", "modelId"])?;
    let kind = node.required_with("kind", |node| node.word());
    let id = node.required_with("id", owned);
    let label = node.required_with("label", owned);
    let model_id = node.nullable_with("modelId", owned);
    Some(FindingTarget {
        kind: kind?,
        id: id?,
        label: label?,
        model_id: model_id?,
    })
}

fn read_population(node: &Node<'_>) -> Option<FindingPopulation> {
    node.closed_object(&["count", "total", "unit"])?;
    let count = node.required_with("count", |node| node.count());
    let total = node.required_with("total", |node| node.count());
    let unit = node.required_with("unit", read_unit);
    Some(FindingPopulation {
        count: count?,
        total: total?,
        unit: unit?,
    })
}

fn read_excerpt(node: &Node<'_>) -> Option<ReportExcerpt> {
    node.closed_object(&["actual", "account", "citations"])?;
    let actual = node.required_with("actual", |node| text_up_to(node, MAX_ACTUAL_UNITS));
    let account = optional_nullable(node, "account", |node| text_up_to(node, MAX_ACCOUNT_UNITS));
    let citations = node.required_with("citations", read_citations);
    Some(ReportExcerpt {
        actual: actual?,
        account: account?,
        citations: citations?,
    })
}

fn text_up_to(node: &Node<'_>, most: usize) -> Option<String> {
    let text = node.text()?;
    let units = ecma::utf16_len(text);
    if units > most {
        return node.refuse(format_args!(
            "must be at most {most} UTF-16 code units long, not {units}"
        ));
    }
    Some(text.to_owned())
}

fn read_citations(node: &Node<'_>) -> Option<Vec<String>> {
    at_most(node, MAX_CITATIONS, |node| {
        let text = node.text()?;
        if !is_citation(text) {
            return node.refuse("must be `SESSION/m:INDEX` or `SESSION/signal:SIGNAL:N`");
        }
        Some(text.to_owned())
    })
}

/// `^[^/]+/.+$`: something before the first slash, and one line after it. A
/// line end before the slash is allowed, as it is there.
fn is_citation(text: &str) -> bool {
    text.split_once('/').is_some_and(|(session, place)| {
        !session.is_empty() && !place.is_empty() && !place.contains(is_line_terminator)
    })
}

/// Returns whether ECMAScript ends a line with this character.
pub(super) const fn is_line_terminator(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn read_outcome_phrase(node: &Node<'_>) -> Option<String> {
    let text = text_up_to(node, MAX_OUTCOME_PHRASE_UNITS)?;
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        return node.refuse("must hold no digit");
    }
    let words = word_count(&text);
    if words > MAX_OUTCOME_PHRASE_WORDS {
        return node.refuse(format_args!(
            "must hold at most {MAX_OUTCOME_PHRASE_WORDS} words, not {words}"
        ));
    }
    Some(text)
}

/// Words between runs of white space; empty text counts one.
fn word_count(text: &str) -> usize {
    let words = text
        .split(ecma::is_whitespace)
        .filter(|word| !word.is_empty());
    words.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_names_a_session_and_a_place_on_one_line() {
        for (text, holds) in [
            ("s1/m:2", true),
            ("s1/signal:toolErrored:0", true),
            ("s\n1/m:2", true),
            ("s1/a/b", true),
            ("/m:2", false),
            ("s1/", false),
            ("s1", false),
            ("s1/m:2\n", false),
            ("s1/a\u{2028}b", false),
            ("s1/a\u{85}b", true),
        ] {
            assert_eq!(is_citation(text), holds, "{text:?}");
        }
    }

    #[test]
    fn words_are_counted_as_ecmascript_splits_them() {
        for (text, words) in [
            ("", 1),
            (" \u{feff}", 1),
            ("a  b\u{a0}c", 3),
            ("a\u{85}b", 1),
        ] {
            assert_eq!(word_count(text), words, "{text:?}");
        }
    }
}
