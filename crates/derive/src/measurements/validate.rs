//! Whether stored measurements may be believed (`measurements.md` §5).

use serde_json::Value;
use strandline_contract::{
    measurements::MEASUREMENTS_SCHEMA_VERSION,
    words::{LatencyBasis, Reach, Stage, StageState, Vocabulary},
};

use super::{measure::is_latency_eligible, reach::is_consistent};
use crate::document::{Findings, Node, Violation};

/// What order and latency placement are checked on.
struct Row {
    stage: Stage,
    reach: Reach,
    has_latency: bool,
}

/// Checks stored measurements: closed objects, six rows in order, latency only
/// where it may stand. `null` is not absent.
///
/// # Errors
///
/// Returns every violation, with its path.
pub fn validate_measurements(stored: &Value) -> Result<(), Vec<Violation>> {
    let findings = Findings::default();
    let node = Node::root(stored, &findings);
    let rows = read(&node).filter(|_| findings.is_empty());
    // Order and placement only on a value of the right shape.
    if let Some(rows) = &rows {
        check_rows(&node, rows);
    }
    findings.into_result(rows.map(|_| ()))
}

fn read(node: &Node<'_>) -> Option<Vec<Row>> {
    node.closed_object(&["schemaVersion", "stageAnalyzerVersion", "rows"])?;
    let schema = node.required_with("schemaVersion", |node| {
        node.literal_count(u64::from(MEASUREMENTS_SCHEMA_VERSION))
    });
    let analyzer = node.required_with("stageAnalyzerVersion", |node| node.count_from(1));
    let rows = node.required_with("rows", |node| {
        let rows = node.list(read_row)?;
        if rows.len() != Stage::ALL.len() {
            return node.refuse(format_args!("must hold {} rows", Stage::ALL.len()));
        }
        Some(rows)
    });
    schema.and(analyzer).and(rows)
}

fn read_row(node: &Node<'_>) -> Option<Row> {
    node.closed_object(&["stage", "reach", "latency"])?;
    let stage = node.required_with("stage", |node| node.word());
    let reach = node.required_with("reach", |node| node.word());
    let latency = node.optional_with("latency", read_latency);
    Some(Row {
        stage: stage?,
        reach: reach?,
        has_latency: latency?.is_some(),
    })
}

fn read_latency(node: &Node<'_>) -> Option<()> {
    node.closed_object(&["unit", "basis", "value"])?;
    let unit = node.required_with("unit", |node| literal(node, "ms"));
    let basis = node.required_with("basis", |node| {
        literal(node, LatencyBasis::EvidenceSpanUnion.wire())
    });
    let value = node.required_with("value", |node| {
        let value = node.number()?;
        if value < 0.0 {
            return node.refuse("must be at least 0");
        }
        Some(value)
    });
    unit.and(basis).and(value).map(|_| ())
}

fn literal(node: &Node<'_>, text: &str) -> Option<()> {
    if node.text()? != text {
        return node.refuse(format_args!("must be `{text}`"));
    }
    Some(())
}

fn check_rows(node: &Node<'_>, rows: &[Row]) {
    for (index, (row, stage)) in rows.iter().zip(Stage::ALL).enumerate() {
        if row.stage != *stage {
            node.refuse::<()>(format_args!(
                "`rows[{index}]` must be about `{stage}`, not `{}`",
                row.stage
            ));
        }
        if row.has_latency && !is_latency_eligible(row.stage) {
            node.refuse::<()>(format_args!(
                "`rows[{index}]`: `{}` carries no latency",
                row.stage
            ));
        }
        if row.has_latency && row.reach != Reach::Reached {
            node.refuse::<()>(format_args!(
                "`rows[{index}]`: latency only stands where the stage was reached"
            ));
        }
    }
}

/// Why measurements and chain do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisagreementCode {
    /// They name different analyzer versions.
    AnalyzerVersionMismatch,
    /// One of them has no row at the place of a stage.
    RowMissing,
    /// A row at the place of a stage is about another stage.
    RowOutOfOrder,
    /// The reach cannot stand beside the chain's state.
    ReachInconsistent,
}

/// One disagreement between measurements and chain (§5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disagreement {
    /// What does not agree.
    pub code: DisagreementCode,
    /// At which stage; absent for the version.
    pub stage: Option<Stage>,
    /// The stage's place, from 0; absent for the version.
    pub index: Option<usize>,
}

/// Returns where measurements and chain do not agree, in a fixed order; an
/// empty list means that they do. Latency is not compared.
///
/// `measured` and `chained` are the rows as stored: stage with reach, and stage
/// with state.
#[must_use]
pub fn disagreements(
    measured: &[(Stage, Reach)],
    measured_version: i64,
    chained: &[(Stage, StageState)],
    chained_version: i64,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    // 1. The versions.
    if measured_version != chained_version {
        found.push(Disagreement {
            code: DisagreementCode::AnalyzerVersionMismatch,
            stage: None,
            index: None,
        });
    }
    // 2. The stages, by position; first match.
    for (index, stage) in Stage::ALL.iter().copied().enumerate() {
        let code = match (measured.get(index), chained.get(index)) {
            (None, _) | (_, None) => DisagreementCode::RowMissing,
            (Some(measured), Some(chained)) if measured.0 != stage || chained.0 != stage => {
                DisagreementCode::RowOutOfOrder
            }
            (Some(measured), Some(chained)) if !is_consistent(chained.1, measured.1) => {
                DisagreementCode::ReachInconsistent
            }
            (Some(_), Some(_)) => continue,
        };
        found.push(Disagreement {
            code,
            stage: Some(stage),
            index: Some(index),
        });
    }
    found
}
