//! Builds the one-line failures of the connect and list phases.

use std::time::Duration;

use super::{
    PhaseFailure, Redactor,
    attribution::{Cause, HttpRefusal, attribute},
    capture::truncate,
};

/// Longest message, in bytes; signals cut theirs to 240 characters anyway.
const MESSAGE_BYTES: usize = 600;

impl PhaseFailure {
    /// Returns a failure attributed by its cause.
    pub(crate) fn new(cause: Cause, code: &'static str, message: impl AsRef<str>) -> Self {
        let (http_status, mcp_code) = match cause {
            Cause::Http(HttpRefusal {
                status, mcp_code, ..
            }) => (Some(status), mcp_code),
            Cause::McpCode(code) => (None, Some(code)),
            _ => (None, None),
        };
        Self {
            attribution: attribute(cause),
            code,
            message: one_line(message.as_ref(), MESSAGE_BYTES),
            http_status,
            mcp_code,
        }
    }

    /// Returns the failure of an attempt that we gave up ourselves.
    pub(crate) fn cancelled(doing: &str) -> Self {
        Self::new(
            Cause::OwnCancellation,
            "cancelled",
            format!("cancelled while {doing}"),
        )
    }

    /// Returns the failure of an attempt that took too long.
    pub(crate) fn timed_out(what: &str, budget: Duration, elapsed: Duration) -> Self {
        Self::new(
            Cause::Timeout,
            "timed_out",
            format!(
                "no answer to `{what}` within {} (waited {})",
                millis(budget),
                millis(elapsed)
            ),
        )
    }

    /// Returns the failure without secrets.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        self.message = redactor.text(&self.message).into_owned();
        self
    }

    /// Appends what else is known, in one line.
    pub(crate) fn with_detail(mut self, detail: &str) -> Self {
        if !detail.is_empty() {
            self.message = one_line(&format!("{}; {detail}", self.message), MESSAGE_BYTES);
        }
        self
    }
}

/// Writes a duration as whole milliseconds.
pub(crate) fn millis(duration: Duration) -> String {
    format!("{} ms", duration.as_millis())
}

/// Folds `text` into one printable line of at most `limit` bytes.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit + 4));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > limit {
            truncate(&mut line, limit);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_bounded_line() {
        let failure = PhaseFailure::new(Cause::Other, "exited", "a\n\tb\u{1b}[31m  c");
        assert_eq!(failure.message, "a b [31m c");
        assert_eq!(
            one_line(&"x".repeat(20), 10),
            format!("{}…", "x".repeat(10))
        );
        assert_eq!(failure.with_detail("d\ne").message, "a b [31m c; d e");
    }
}
