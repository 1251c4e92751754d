//! A document that nothing can be derived from.

use std::fmt;

use serde_json::Value;

use crate::document::{Findings, Node, Path, Violation};

/// A document that is refused, with every violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSwarmDocument {
    /// What is wrong with it; at least one.
    pub violations: Vec<Violation>,
}

impl fmt::Display for InvalidSwarmDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Violations that are told; the rest are counted.
        const TOLD: usize = 3;
        for (index, violation) in self.violations.iter().take(TOLD).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(formatter, "{separator}{violation}")?;
        }
        match self.violations.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}

impl std::error::Error for InvalidSwarmDocument {}

impl From<Vec<Violation>> for InvalidSwarmDocument {
    fn from(violations: Vec<Violation>) -> Self {
        Self { violations }
    }
}

/// Reads a document: its shape first, then the rules across its fields.
pub(super) fn read_checked<T>(
    document: &Value,
    read: impl FnOnce(&Node<'_>) -> Option<T>,
    check: impl FnOnce(&T, &Path<'_>, &Findings),
) -> Result<T, Vec<Violation>> {
    let findings = Findings::default();
    let typed = read(&Node::root(document, &findings));
    if let (Some(typed), true) = (&typed, findings.is_empty()) {
        check(typed, &Path::ROOT, &findings);
    }
    findings.into_result(typed)
}

/// Checks a document that was built in code.
pub(super) fn checked<T>(
    typed: &T,
    check: impl FnOnce(&T, &Path<'_>, &Findings),
) -> Result<(), InvalidSwarmDocument> {
    let findings = Findings::default();
    check(typed, &Path::ROOT, &findings);
    Ok(findings.into_result(Some(()))?)
}
