//! What a trial has gathered so far.
//!
//! Everything is recorded at the moment it happens, so that a trial that is
//! stopped keeps what it has, and an assertion in the middle of a case reads
//! the state so far.

use std::borrow::Cow;

use serde_json::Value;
use strandline_contract::{
    policy::PolicyBlock,
    run::{SkippedStep, TrialError, Usage},
    trace::{Adaptation, Message, Part, Role, Trace},
    transcript::{ToolCall, ToolError, Transcript},
};

use crate::mcp::Captured;

/// How a turn was opened (`suite-file.md` §6.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// By a user message.
    Prompt(String),
    /// By a pinned call: the tool and the server it names.
    Pinned {
        /// The server's own tool name.
        tool_name: String,
        /// The server's name in the suite.
        server: String,
    },
    /// By an assertion before anything else happened.
    Nothing,
}

/// One turn and the calls made in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// How it was opened.
    pub opened: Opened,
    /// Calls in order, policy-blocked ones left out.
    pub calls: Vec<ToolCall>,
    /// Expected tools that the model was never offered in this turn.
    pub not_offered: Vec<String>,
}

/// The growing record of one trial.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Messages, spans, frames, adaptations, lints.
    pub trace: Trace,
    /// What assertions read; the final message and the usage are filled in
    /// by [`Gathered::transcript`].
    pub transcript: Transcript,
    /// Turns in order.
    pub turns: Vec<Turn>,
    /// Tokens used.
    pub usage: Usage,
    /// Calls that the tool policy blocked, as stored.
    pub policy_blocks: Vec<PolicyBlock>,
    /// Steps that never ran.
    pub skipped_steps: Vec<SkippedStep>,
    /// Model requests made, retries included.
    pub model_requests: u32,
    /// Time waiting for the model, ms.
    pub model_wait_ms: f64,
    /// Time waiting for servers, ms.
    pub server_wait_ms: f64,
    /// Why the trial did not run to its end.
    pub error: Option<TrialError>,
    /// Rows of step assertions, with their step index.
    pub step_rows: Vec<(usize, Value)>,
    /// Some timing did not fit in the transcript.
    pub timings_dropped: bool,
    /// Some result row did not fit in the transcript.
    pub results_dropped: bool,
    next_call: u32,
    next_span: u32,
}

impl Gathered {
    /// Opens the next turn.
    pub fn open_turn(&mut self, opened: Opened) {
        self.turns.push(Turn {
            opened,
            calls: Vec::new(),
            not_offered: Vec::new(),
        });
    }

    /// Opens turn 0 when nothing has opened a turn yet.
    pub fn ensure_turn(&mut self) {
        if self.turns.is_empty() {
            self.open_turn(Opened::Nothing);
        }
    }

    /// Returns the ordinal of the open turn.
    #[must_use]
    pub fn prompt_index(&self) -> u32 {
        u32::try_from(self.turns.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Returns the conversation as a model is given it: of a pinned call only
    /// the plain texts (`suite-file.md` §6.2).
    #[must_use]
    pub fn conversation(&self) -> Cow<'_, [Message]> {
        let pinned = |message: &Message| {
            message.role == Role::Tool
                && matches!(
                    self.turns.get(message.prompt_index as usize),
                    Some(Turn {
                        opened: Opened::Pinned { .. },
                        ..
                    })
                )
        };
        let messages = &self.trace.messages;
        if messages.iter().any(pinned) {
            messages
                .iter()
                .filter(|message| !pinned(message))
                .cloned()
                .collect::<Vec<_>>()
                .into()
        } else {
            messages.into()
        }
    }

    /// Appends a message to the open turn.
    pub fn say(&mut self, role: Role, parts: Vec<Part>) {
        self.trace.messages.push(Message {
            role,
            prompt_index: self.prompt_index(),
            parts,
        });
    }

    /// Appends a message of one text part.
    pub fn say_text(&mut self, role: Role, text: impl Into<String>) {
        self.say(role, vec![Part::Text { text: text.into() }]);
    }

    /// Records something we changed or tolerated, once per subject.
    pub fn adapt(&mut self, adaptation: Adaptation) {
        if !self.trace.adaptations.contains(&adaptation) {
            self.trace.adaptations.push(adaptation);
        }
    }

    /// Returns a call id that no other call of the trial has: the given one
    /// where possible.
    pub fn unique_call_id(&mut self, wanted: &str) -> String {
        let taken = |id: &str| {
            self.transcript
                .tool_calls
                .iter()
                .any(|call| call.tool_call_id.as_deref() == Some(id))
        };
        if !wanted.is_empty() && !taken(wanted) {
            return wanted.to_owned();
        }
        loop {
            self.next_call += 1;
            let id = format!("call_{}", self.next_call);
            if !taken(&id) {
                return id;
            }
        }
    }

    /// Returns the id of a new span.
    pub fn span_id(&mut self, kind: &str) -> String {
        self.next_span += 1;
        format!("{kind}-{}", self.next_span)
    }

    /// Records a call in the open turn and in the transcript.
    pub fn record_call(&mut self, call: ToolCall) {
        if let Some(turn) = self.turns.last_mut() {
            turn.calls.push(call.clone());
        }
        self.transcript.tool_calls.push(call);
    }

    /// Records a tool error.
    pub fn record_tool_error(&mut self, error: ToolError) {
        self.transcript
            .tool_errors
            .get_or_insert_default()
            .push(error);
    }

    /// Adds what a session or a capture recorded.
    pub fn absorb(&mut self, captured: Captured) {
        self.trace.frames.extend(captured.frames);
        self.trace.frames_dropped += captured.frames_dropped;
        for lint in captured.lints {
            if !self.trace.lints.contains(&lint) {
                self.trace.lints.push(lint);
            }
        }
        for adaptation in captured.adaptations {
            self.adapt(adaptation);
        }
    }

    /// Adds the tokens of one answer.
    pub fn spend(&mut self, usage: Usage) {
        let add = |sum: &mut Option<u64>, part: Option<u64>| {
            if let Some(part) = part {
                *sum = Some(sum.unwrap_or(0).saturating_add(part));
            }
        };
        add(&mut self.usage.input_tokens, usage.input_tokens);
        add(&mut self.usage.output_tokens, usage.output_tokens);
        add(&mut self.usage.total_tokens, usage.total_tokens);
    }

    /// Returns the text of the last assistant message, unless it is blank
    /// (`assertions.md` §6.1).
    #[must_use]
    pub fn final_assistant_message(&self) -> Option<String> {
        let last = self
            .trace
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::Assistant)?;
        let text: String = last
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::ToolCall { .. } | Part::ToolResult { .. } => None,
            })
            .collect();
        (!strandline_contract::ecma::is_blank(&text)).then_some(text)
    }
}
