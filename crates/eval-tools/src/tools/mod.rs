//! The tools: one table, one file per subject.

mod comparing;
mod coverage;
mod find;
mod friction;
mod funnel;
mod running;
mod runs;
mod suites;
mod terms;
mod trace;
mod trials;

use rmcp::model::Tool;

pub(crate) use terms::unknown as unknown_term;

use crate::tool::Definition;

/// Every tool, in the order in which the loop uses them.
const TOOLS: &[Definition] = &[
    Definition::of::<suites::ListSuites>(),
    Definition::of::<suites::ValidateSuite>(),
    Definition::of::<suites::ListCases>(),
    Definition::of::<running::RunSuite>(),
    Definition::of::<running::WaitRun>(),
    Definition::of::<running::StopRun>(),
    Definition::of::<runs::GetRun>(),
    Definition::of::<runs::ListRuns>(),
    Definition::of::<trials::ListDiagnostics>(),
    Definition::of::<trials::GetTrialChain>(),
    Definition::of::<trace::GetTrace>(),
    Definition::of::<funnel::GetStageAnalytics>(),
    Definition::of::<comparing::CompareRuns>(),
    Definition::of::<comparing::DiffServerSurface>(),
    Definition::of::<friction::GetFriction>(),
    Definition::of::<coverage::GetCoverage>(),
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
