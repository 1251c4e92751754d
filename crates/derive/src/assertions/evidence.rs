//! What rules ask of a transcript (`assertions.md` §6).

use strandline_contract::{
    transcript::{
        Capture, InventoryTool, RenderObservation, ToolCall, ToolCallTiming, ToolDeclaration,
        ToolError, ToolResult, Transcript,
    },
    words::CaptureState,
};

use super::outcome::Outcome;

/// A transcript as rules read it.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    transcript: &'a Transcript,
    capture: Capture,
}

impl<'a> Evidence<'a> {
    /// Reads a transcript; without a capture statement nobody looked.
    #[must_use]
    pub fn new(transcript: &'a Transcript) -> Self {
        Self {
            transcript,
            capture: transcript.capture.unwrap_or_default(),
        }
    }

    pub(super) const fn transcript(&self) -> &'a Transcript {
        self.transcript
    }

    pub(super) const fn capture(&self) -> Capture {
        self.capture
    }

    /// Every call, in order.
    pub(super) fn calls(&self) -> &'a [ToolCall] {
        &self.transcript.tool_calls
    }

    /// Calls in scope.
    pub(super) fn calls_in(&self, scope: &Scope) -> impl Iterator<Item = &'a ToolCall> {
        self.calls()
            .iter()
            .filter(|call| scope.holds(&call.tool_name))
    }

    /// Recorded tool errors; absent means none.
    pub(super) fn errors(&self) -> &'a [ToolError] {
        self.transcript.tool_errors.as_deref().unwrap_or_default()
    }

    /// The final message; absent reads as empty.
    pub(super) fn message(&self) -> &'a str {
        self.transcript
            .final_assistant_message
            .as_deref()
            .unwrap_or_default()
    }

    /// Results in scope.
    pub(super) fn results_in(&self, scope: &Scope) -> Vec<&'a ToolResult> {
        rows_in(self.transcript.tool_results.as_deref(), |row| {
            scope.holds(&row.tool_name)
        })
    }

    /// Timings in scope.
    pub(super) fn timings_in(&self, scope: &Scope) -> Vec<&'a ToolCallTiming> {
        rows_in(self.transcript.tool_call_timings.as_deref(), |row| {
            scope.holds(&row.tool_name)
        })
    }

    /// Render observations in scope.
    pub(super) fn observations_in(&self, scope: &Scope) -> Vec<&'a RenderObservation> {
        rows_in(self.transcript.render_observations.as_deref(), |row| {
            scope.holds(&row.tool_name)
        })
    }

    /// The tools that the model was shown.
    ///
    /// # Errors
    ///
    /// An error outcome when the inventory is not complete.
    pub(super) fn inventory(&self) -> Result<Inventory<'a>, Outcome> {
        match self.capture.tool_inventory {
            CaptureState::Complete => Ok(Inventory(
                self.transcript
                    .tool_inventory
                    .as_deref()
                    .unwrap_or_default(),
            )),
            state @ (CaptureState::Partial | CaptureState::Absent) => Err(Outcome::Error(format!(
                "the tool inventory is {state}, so it cannot be read"
            ))),
        }
    }

    /// The tools as their servers declare them.
    ///
    /// # Errors
    ///
    /// An error outcome unless the declarations are complete and were given.
    pub(super) fn declarations(&self) -> Result<&'a [ToolDeclaration], Outcome> {
        match (
            self.capture.tool_declarations,
            self.transcript.tool_declarations.as_deref(),
        ) {
            (CaptureState::Complete, Some(declarations)) => Ok(declarations),
            (state, _) => Err(Outcome::Error(format!(
                "the servers' tool declarations are {}, so they cannot be read",
                if state == CaptureState::Complete {
                    CaptureState::Absent
                } else {
                    state
                }
            ))),
        }
    }
}

fn rows_in<T>(rows: Option<&[T]>, holds: impl Fn(&T) -> bool) -> Vec<&T> {
    rows.unwrap_or_default()
        .iter()
        .filter(|row| holds(row))
        .collect()
}

/// The tools that the model was shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inventory<'a>(&'a [InventoryTool]);

impl<'a> Inventory<'a> {
    pub(super) const fn tools(self) -> &'a [InventoryTool] {
        self.0
    }

    pub(super) fn tool(self, name: &str) -> Option<&'a InventoryTool> {
        self.0.iter().find(|tool| tool.name == name)
    }
}

/// What a rule is narrowed to: one tool, or any.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Option<String>);

impl Scope {
    pub(super) const fn new(tool_name: Option<String>) -> Self {
        Self(tool_name)
    }

    pub(super) fn holds(&self, tool_name: &str) -> bool {
        self.0.as_deref().is_none_or(|name| name == tool_name)
    }

    /// The scope as reasons name it.
    pub(super) fn label(&self) -> String {
        self.0
            .as_deref()
            .map_or_else(|| "any tool".to_owned(), super::reason::shown_text)
    }
}
