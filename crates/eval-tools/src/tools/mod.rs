//! The tools: one table, one file per subject.

mod runs;
mod terms;

use rmcp::model::Tool;

use crate::tool::Definition;

/// Every tool, in the order in which the loop uses them.
const TOOLS: &[Definition] = &[
    Definition::of::<runs::GetRun>(),
    Definition::of::<runs::ListRuns>(),
    Definition::of::<terms::ExplainTerm>(),
];

/// Returns the tool of that name.
pub(crate) fn find(name: &str) -> Option<&'static Definition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns every tool as it is listed.
pub(crate) fn listed() -> Vec<Tool> {
    TOOLS.iter().map(Definition::tool).collect()
}
