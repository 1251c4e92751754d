//! Puts frames, findings and adaptations where they belong: with the request
//! that they concern, else with the session.

use serde_json::Value;
use strandline_contract::trace::{Adaptation, Lint};

use super::{Capture, RawFrame, Slot, Tap};
use crate::mcp::failure::one_line;

impl Tap {
    /// Records a frame that belongs to a request.
    pub(crate) fn record_for(&self, id: Option<i64>, frame: RawFrame<'_>) {
        let slot = id.and_then(|id| self.slot_of(id));
        self.record(slot.as_deref(), frame);
    }

    /// Records a frame that names no request.
    pub(crate) fn record_ambient(&self, frame: RawFrame<'_>) {
        self.record(self.only_slot().as_deref(), frame);
    }

    pub(super) fn record_some(&self, slot: Option<&Slot>, frame: Option<RawFrame<'_>>) {
        if let Some(frame) = frame {
            self.record(slot, frame);
        }
    }

    pub(super) fn record(&self, slot: Option<&Slot>, frame: RawFrame<'_>) {
        slot.and_then(Slot::capture)
            .unwrap_or(&self.capture)
            .frame(frame, &self.redactor);
    }

    pub(crate) fn lint(&self, code: &str, message: impl AsRef<str>) {
        self.ambient().lint(Lint {
            code: code.to_owned(),
            server: self.server.clone(),
            tool_name: None,
            message: self.redactor.text(message.as_ref()).into_owned(),
        });
    }

    pub(crate) fn adapt(&self, kind: &str, detail: &str) {
        self.ambient().adaptation(Adaptation {
            kind: kind.to_owned(),
            subject: self.server.clone(),
            detail: self.redactor.text(detail).into_owned(),
        });
    }

    pub(super) fn lint_wrong_id(&self, given: &Value, expected: i64) {
        self.lint(
            "answerIdMismatch",
            format!(
                "The server answered with id {} where {expected} was due.",
                one_line(&given.to_string(), 80)
            ),
        );
    }

    fn ambient(&self) -> Capture {
        self.only_slot()
            .and_then(|slot| slot.capture().cloned())
            .unwrap_or_else(|| self.capture.clone())
    }
}
