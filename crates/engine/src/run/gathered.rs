//! What a trial has gathered so far.
//!
//! Everything is recorded at the moment it happens, so that a trial that is
//! stopped keeps what it has, and an assertion in the middle of a case reads
//! the state so far. What assertions and the chain read is derived from the
//! trace, never kept beside it.

use std::{borrow::Cow, collections::BTreeSet};

use strandline_contract::{
    policy::PolicyBlock,
    run::{SkippedStep, Usage},
    trace::{Adaptation, Message, Part, Role, Trace},
    transcript::{TokenUsage, ToolCall, Transcript},
};
use strandline_derive::assertions::{
    grade::StepGrade,
    trace::{TraceContext, calls, transcript},
};

use super::catalog::Catalog;
use crate::mcp::Captured;

/// One turn of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// It was opened by a call that needs no model.
    pub(super) pinned: bool,
    /// Expected tools that the model was never offered in this turn.
    pub(super) not_offered: Vec<String>,
}

/// The growing record of one trial.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Messages, spans, frames, adaptations, lints.
    pub(super) trace: Trace,
    /// Turns that were opened, in order.
    pub(super) turns: Vec<Turn>,
    /// What assert steps said, in step order.
    pub(super) step_grades: Vec<StepGrade>,
    /// Tokens used.
    pub(super) usage: Usage,
    /// Calls that the tool policy blocked.
    pub(super) policy_blocks: Vec<PolicyBlock>,
    /// Steps that never ran.
    pub(super) skipped_steps: Vec<SkippedStep>,
    /// A call that needs no model failed.
    pub(super) pinned_tool_errors: bool,
    /// Model requests made, retries included.
    pub(super) model_requests: u32,
    /// Time waiting for the model, ms.
    pub(super) model_wait_ms: f64,
    /// Time waiting for servers, ms.
    pub(super) server_wait_ms: f64,
    call_ids: BTreeSet<String>,
    spans: u32,
}

impl Gathered {
    /// Opens the next turn.
    pub(super) fn open_turn(&mut self, pinned: bool) {
        self.turns.push(Turn {
            pinned,
            not_offered: Vec::new(),
        });
    }

    /// Opens turn 0 when nothing has opened a turn yet.
    pub(super) fn ensure_turn(&mut self) {
        if self.turns.is_empty() {
            self.open_turn(false);
        }
    }

    /// Returns the ordinal of the open turn.
    pub(super) fn prompt_index(&self) -> u32 {
        u32::try_from(self.turns.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Appends a message to the open turn.
    pub(super) fn say(&mut self, role: Role, parts: Vec<Part>) {
        self.trace.messages.push(Message {
            role,
            prompt_index: self.prompt_index(),
            parts,
        });
    }

    /// Appends a message of one text part.
    pub(super) fn say_text(&mut self, role: Role, text: impl Into<String>) {
        self.say(role, vec![Part::Text { text: text.into() }]);
    }

    /// Returns the conversation as a model is given it: of a pinned call only
    /// the plain texts (`suite-file.md` §6.2).
    pub(super) fn conversation(&self) -> Cow<'_, [Message]> {
        let messages = &self.trace.messages;
        if self.turns.iter().any(|turn| turn.pinned) {
            messages
                .iter()
                .filter(|message| !self.is_pinned_exchange(message))
                .cloned()
                .collect::<Vec<_>>()
                .into()
        } else {
            messages.into()
        }
    }

    fn is_pinned_exchange(&self, message: &Message) -> bool {
        self.turns
            .get(message.prompt_index as usize)
            .is_some_and(|turn| turn.pinned)
            && message
                .parts
                .iter()
                .all(|part| !matches!(part, Part::Text { .. }))
    }

    /// Records something we changed or tolerated, once.
    pub(super) fn adapt(&mut self, adaptation: Adaptation) {
        if !self.trace.adaptations.contains(&adaptation) {
            self.trace.adaptations.push(adaptation);
        }
    }

    /// Returns a call id that no other call of the trial has: the wanted one
    /// where possible.
    pub(super) fn unique_call_id(&mut self, wanted: &str) -> String {
        if !wanted.is_empty() && self.call_ids.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let mut ordinal = self.call_ids.len() + 1;
        loop {
            let id = format!("call_{ordinal}");
            if self.call_ids.insert(id.clone()) {
                return id;
            }
            ordinal += 1;
        }
    }

    /// Returns the id of a new span.
    pub(super) fn span_id(&mut self, kind: &str) -> String {
        self.spans += 1;
        format!("{kind}-{}", self.spans)
    }

    /// Adds what a session or a capture recorded.
    pub(super) fn absorb(&mut self, captured: Captured) {
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
    pub(super) fn spend(&mut self, usage: Usage) {
        let add = |sum: &mut Option<u64>, part: Option<u64>| {
            if let Some(part) = part {
                *sum = Some(sum.unwrap_or(0).saturating_add(part));
            }
        };
        let sum = &mut self.usage;
        add(&mut sum.input_tokens, usage.input_tokens);
        add(&mut sum.output_tokens, usage.output_tokens);
        add(&mut sum.total_tokens, usage.total_tokens);
        add(&mut sum.cached_input_tokens, usage.cached_input_tokens);
    }

    /// Returns the calls of every opened turn, in order.
    pub(super) fn turn_calls(&self) -> Vec<Vec<ToolCall>> {
        let mut turns = vec![Vec::new(); self.turns.len()];
        for (prompt_index, call) in calls(&self.trace.messages) {
            if let Some(turn) = turns.get_mut(prompt_index as usize) {
                turn.push(call);
            }
        }
        turns
    }

    /// Returns what assertions read of the trial so far.
    pub(super) fn transcript(&self, catalog: &Catalog) -> Transcript {
        transcript(
            &self.trace,
            &TraceContext {
                usage: token_usage(self.usage),
                explicit_errors: &[],
                inventory: Some(&catalog.inventory),
                declarations: Some(&catalog.declarations),
            },
        )
    }
}

fn token_usage(usage: Usage) -> Option<TokenUsage> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "tokens of one trial are far below 2^53"
    )]
    let count = |number: u64| number as f64;
    (usage != Usage::default()).then(|| TokenUsage {
        input_tokens: usage.input_tokens.map(count),
        output_tokens: usage.output_tokens.map(count),
        total_tokens: usage.total_tokens.map(count),
    })
}
