//! Stored summaries → accepted or violations (`decision-summary.md` §9).

use serde_json::Value;
use strandline_contract::{
    decision::{
        AbsentChain, DECISION_SUMMARY_SCHEMA_VERSION, DecisionSummary, Diagnostic, Diagnostics,
        EvidenceLocator, ExpectedTools, Observed, SummaryChain, SummaryCounts, Undecided,
        UnverifiedChain, VerifiedChain, VersionAhead,
    },
    verdict::is_opaque_id,
    words::{ChainStatus, MeasurementUnit, SummaryVerdict, VerdictSource},
};

use super::{chain, resolution};
use crate::{
    document::{Findings, Node, Path, Violation},
    verdict::{check_decision, read_decision},
};

/// Reads a stored summary.
///
/// # Errors
///
/// Returns every violation of `decision-summary.md` §9 (the first 100).
pub fn validate_decision_summary(document: &Value) -> Result<DecisionSummary, Vec<Violation>> {
    let findings = Findings::default();
    let summary = read_summary(&Node::root(document, &findings));
    if let (Some(summary), true) = (&summary, findings.is_empty()) {
        check_page(&summary.diagnostics, &findings);
        check_source(summary, &findings);
    }
    findings.into_result(summary)
}

/// The rules between a page's fields.
fn check_page(page: &Diagnostics, findings: &Findings) {
    let path = Path::ROOT;
    let path = path.key("diagnostics");
    findings.demand(
        !(page.complete && page.next_cursor.is_some()),
        &path.key("nextCursor"),
        "a complete page has no next page",
    );
    findings.demand(
        page.items.len() as u64 <= page.scanned_iterations,
        &path.key("scannedIterations"),
        "must be at least the number of items",
    );
}

/// The rules between the verdict's source and everything else.
fn check_source(summary: &DecisionSummary, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &Path::ROOT.key(key), message);
    };
    let source = summary.verdict_source;
    match source {
        VerdictSource::PolicyV2 => {
            let Some(decision) = &summary.decision else {
                return demand(false, "decision", "must be there under policy v2");
            };
            demand(
                summary.verdict == decision.verdict.into(),
                "verdict",
                "must be the decision's",
            );
            demand(
                summary.undecided.is_none(),
                "undecided",
                "contradicts the decision",
            );
            demand(
                summary.counts == Some(resolution::tally(decision)),
                "counts",
                "must be the case variants of the decision by verdict",
            );
        }
        VerdictSource::Legacy => {
            demand(
                matches!(
                    summary.verdict,
                    SummaryVerdict::Passed | SummaryVerdict::Failed
                ),
                "verdict",
                "must be `passed` or `failed` without policy v2",
            );
            demand(
                summary.undecided.is_none(),
                "undecided",
                "contradicts the verdict",
            );
            demand(
                !matches!(summary.counts, Some(SummaryCounts::CaseVariant { .. })),
                "counts",
                "must count trials without policy v2",
            );
        }
        VerdictSource::None => {
            demand(
                summary.verdict == SummaryVerdict::NotEstablished,
                "verdict",
                "must be `notEstablished` without a source",
            );
            demand(
                summary.undecided.is_some(),
                "undecided",
                "must say why there is no verdict",
            );
            demand(
                summary.counts.is_none(),
                "counts",
                "must be absent without a verdict",
            );
        }
    }
    demand(
        source == VerdictSource::PolicyV2 || summary.decision.is_none(),
        "decision",
        "must be absent unless policy v2 decided",
    );
}

fn read_summary(node: &Node<'_>) -> Option<DecisionSummary> {
    const KEYS: [&str; 9] = [
        "schemaVersion",
        "runId",
        "runStatus",
        "diagnostics",
        "verdict",
        "verdictSource",
        "undecided",
        "counts",
        "decision",
    ];
    node.closed_object(&KEYS)?;
    let schema_version = node.required_with("schemaVersion", |node| {
        node.literal_count(DECISION_SUMMARY_SCHEMA_VERSION)
    });
    let run_id = required_text(node, "runId");
    let run_status = required_text(node, "runStatus");
    let diagnostics = node.required_with("diagnostics", read_page);
    let verdict = node.required_with("verdict", |node| node.word());
    let verdict_source = node.required_with("verdictSource", |node| node.word());
    let undecided = node.optional_with("undecided", read_undecided);
    let counts = node.optional_with("counts", read_counts);
    let decision = node.optional_with("decision", |node| {
        let decision = read_decision(node)?;
        check_decision(node, &decision);
        Some(decision)
    });
    Some(DecisionSummary {
        schema_version: schema_version?,
        run_id: run_id?,
        run_status: run_status?,
        diagnostics: diagnostics?,
        verdict: verdict?,
        verdict_source: verdict_source?,
        undecided: undecided?,
        counts: counts?,
        decision: decision?,
    })
}

fn read_text(node: &Node<'_>) -> Option<String> {
    node.non_empty_text().map(str::to_owned)
}

fn required_text(node: &Node<'_>, key: &str) -> Option<String> {
    node.required_with(key, read_text)
}

fn optional_text(node: &Node<'_>, key: &str) -> Option<Option<String>> {
    node.optional_with(key, read_text)
}

/// Reads a list of at least one non-empty text.
fn read_texts(node: &Node<'_>) -> Option<Vec<String>> {
    let texts = node.list(read_text)?;
    if texts.is_empty() {
        return node.refuse("must not be empty");
    }
    Some(texts)
}

fn read_undecided(node: &Node<'_>) -> Option<Undecided> {
    node.closed_object(&["reason", "detail"])?;
    let reason = node.required_with("reason", |node| node.word());
    let detail = optional_text(node, "detail");
    Some(Undecided {
        reason: reason?,
        detail: detail?,
    })
}

fn read_counts(node: &Node<'_>) -> Option<SummaryCounts> {
    node.open_object()?;
    let unit = node.required_with("measurementUnit", |node| node.word::<MeasurementUnit>())?;
    match unit {
        MeasurementUnit::CaseVariant => {
            const KEYS: [&str; 5] = [
                "measurementUnit",
                "total",
                "passed",
                "failed",
                "inconclusive",
            ];
            node.closed_object(&KEYS)?;
            let count = |key: &str| node.required_with(key, |node| node.count());
            let (total, passed) = (count("total"), count("passed"));
            let (failed, inconclusive) = (count("failed"), count("inconclusive"));
            Some(SummaryCounts::CaseVariant {
                total: total?,
                passed: passed?,
                failed: failed?,
                inconclusive: inconclusive?,
            })
        }
        MeasurementUnit::Trial => {
            node.closed_object(&["measurementUnit", "total", "passed", "failed"])?;
            let count = |key: &str| node.optional_with(key, |node| node.count());
            let (total, passed, failed) = (count("total"), count("passed"), count("failed"));
            Some(SummaryCounts::Trial {
                total: total?,
                passed: passed?,
                failed: failed?,
            })
        }
    }
}

fn read_page(node: &Node<'_>) -> Option<Diagnostics> {
    node.closed_object(&["items", "complete", "nextCursor", "scannedIterations"])?;
    let items = node.required_with("items", |node| node.list(read_item));
    let complete = node.required_with("complete", |node| node.boolean());
    let next_cursor = optional_text(node, "nextCursor");
    let scanned_iterations = node.required_with("scannedIterations", |node| node.count());
    Some(Diagnostics {
        items: items?,
        complete: complete?,
        next_cursor: next_cursor?,
        scanned_iterations: scanned_iterations?,
    })
}

fn read_item(node: &Node<'_>) -> Option<Diagnostic> {
    const KEYS: [&str; 12] = [
        "iterationId",
        "iterationNumber",
        "caseId",
        "testCaseId",
        "title",
        "status",
        "result",
        "chain",
        "expected",
        "observed",
        "evidence",
        "nextAction",
    ];
    node.closed_object(&KEYS)?;
    let iteration_id = required_text(node, "iterationId");
    let iteration_number = node.required_with("iterationNumber", |node| node.count());
    let case_id = node.optional_with("caseId", |node| {
        let text = node.text()?;
        if !is_opaque_id(text) {
            return node.refuse("must be 1 to 128 of letters, digits, `_` and `-`");
        }
        Some(text.to_owned())
    });
    let test_case_id = optional_text(node, "testCaseId");
    let title = optional_text(node, "title");
    let status = required_text(node, "status");
    let result = node.optional_with("result", |node| node.word());
    let chain = node.required_with("chain", read_chain);
    let expected = node.optional_with("expected", |node| {
        node.closed_object(&["toolNames"])?;
        let tool_names = node.required_with("toolNames", read_texts)?;
        Some(ExpectedTools { tool_names })
    });
    let observed = node.optional_with("observed", |node| {
        node.closed_object(&["toolNames", "failure"])?;
        let tool_names = node.optional_with("toolNames", read_texts);
        let failure = optional_text(node, "failure");
        Some(Observed {
            tool_names: tool_names?,
            failure: failure?,
        })
    });
    let evidence = node.required_with("evidence", read_evidence);
    let next_action = required_text(node, "nextAction");
    Some(Diagnostic {
        iteration_id: iteration_id?,
        iteration_number: iteration_number?,
        case_id: case_id?,
        test_case_id: test_case_id?,
        title: title?,
        status: status?,
        result: result?,
        chain: chain?,
        expected: expected?,
        observed: observed?,
        evidence: evidence?,
        next_action: next_action?,
    })
}

fn read_chain(node: &Node<'_>) -> Option<SummaryChain> {
    node.open_object()?;
    let status = node.required_with("status", |node| node.word::<ChainStatus>())?;
    match status {
        ChainStatus::Verified => {
            const KEYS: [&str; 6] = [
                "status",
                "stages",
                "firstFailedStage",
                "failureCategory",
                "analyzerVersion",
                "analyzerVersionAhead",
            ];
            node.closed_object(&KEYS)?;
            let stages = node.required_with("stages", |node| node.list(chain::read_stage));
            let first_failed_stage = node.optional_with("firstFailedStage", |node| node.word());
            let failure_category = node.optional_with("failureCategory", |node| node.word());
            let analyzer_version = node.required_with("analyzerVersion", |node| node.count());
            let ahead = node.optional_with("analyzerVersionAhead", read_ahead);
            Some(SummaryChain::Verified(VerifiedChain {
                stages: stages?,
                first_failed_stage: first_failed_stage?,
                failure_category: failure_category?,
                analyzer_version: analyzer_version?,
                analyzer_version_ahead: ahead?,
            }))
        }
        ChainStatus::Unverified => {
            node.closed_object(&["status", "analyzerVersion", "analyzerVersionAhead"])?;
            let analyzer_version = node.optional_with("analyzerVersion", |node| node.count());
            let ahead = node.optional_with("analyzerVersionAhead", read_ahead);
            Some(SummaryChain::Unverified(UnverifiedChain {
                analyzer_version: analyzer_version?,
                analyzer_version_ahead: ahead?,
            }))
        }
        ChainStatus::Absent => {
            node.closed_object(&["status"])?;
            Some(SummaryChain::Absent(AbsentChain {}))
        }
    }
}

fn read_ahead(node: &Node<'_>) -> Option<VersionAhead> {
    node.closed_object(&["reported", "known"])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let (reported, known) = (count("reported"), count("known"));
    Some(VersionAhead {
        reported: reported?,
        known: known?,
    })
}

fn read_evidence(node: &Node<'_>) -> Option<EvidenceLocator> {
    const KEYS: [&str; 7] = [
        "runId",
        "iterationId",
        "tracePath",
        "stage",
        "spanIds",
        "promptIndexes",
        "reasons",
    ];
    node.closed_object(&KEYS)?;
    let run_id = required_text(node, "runId");
    let iteration_id = required_text(node, "iterationId");
    let trace_path = required_text(node, "tracePath");
    let stage = node.optional_with("stage", |node| node.word());
    let span_ids = node.optional_with("spanIds", read_texts);
    let prompt_indexes = node.optional_with("promptIndexes", |node| {
        let indexes = node.list(|node| node.count())?;
        if indexes.is_empty() {
            return node.refuse("must not be empty");
        }
        Some(indexes)
    });
    let reasons = node.optional_with("reasons", read_texts);
    Some(EvidenceLocator {
        run_id: run_id?,
        iteration_id: iteration_id?,
        trace_path: trace_path?,
        stage: stage?,
        span_ids: span_ids?,
        prompt_indexes: prompt_indexes?,
        reasons: reasons?,
    })
}
