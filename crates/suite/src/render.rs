//! Findings as text for people: with a source excerpt, or plain.

use std::fmt::Write as _;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use strandline_contract::redact::redact_text;

use crate::{
    finding::Finding,
    load::Warning,
    source::{Lines, Location, Span},
};

/// How findings may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// ANSI colour.
    pub colour: bool,
    /// Letters and punctuation instead of lines.
    pub ascii: bool,
}

impl Look {
    /// Lines without colour.
    pub const PLAIN: Self = Self {
        colour: false,
        ascii: false,
    };
}

/// The text that findings are about.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file as it was named.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Bytes of it that are never shown (`LoadFailure::secrets`).
    pub secrets: &'a [Span],
}

/// Longest part of a line that is shown, in characters.
const WINDOW: usize = 100;

/// Renders findings with their source excerpts, in order.
#[must_use]
pub fn findings(findings: &[Finding], source: Source<'_>, look: Look) -> String {
    let lines = Lines::new(source.text);
    let mut out = String::new();
    for finding in findings {
        if !out.is_empty() {
            out.push('\n');
        }
        one(&mut out, "error", finding, source, &lines, look);
    }
    out
}

/// Renders warnings like findings.
#[must_use]
pub fn warnings(warnings: &[Warning], source: Source<'_>, look: Look) -> String {
    let lines = Lines::new(source.text);
    let mut out = String::new();
    for warning in warnings {
        if !out.is_empty() {
            out.push('\n');
        }
        one(&mut out, "warning", &warning.finding, source, &lines, look);
    }
    out
}

/// Renders findings one a line (`suite-file.md` §2.3).
#[must_use]
pub fn plain(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "suite file: ok\n".to_owned();
    }
    let mut out = String::new();
    for finding in findings {
        let _ = write!(out, "  {}", finding.code.wire());
        if !finding.pointer.is_empty() {
            let _ = write!(out, " {}", clean(&finding.pointer));
        }
        let _ = write!(out, ": {}", clean(&finding.message));
        if let Some(Location { line, column }) = finding.location {
            let _ = write!(out, " (line {line}, column {column})");
        }
        out.push('\n');
    }
    out
}

/// Masks what must not be shown of a line that starts at a byte of its text,
/// keeping every place where it is.
fn mask(line: &str, start: usize, secrets: &[Span]) -> String {
    let mut bytes = line.as_bytes().to_vec();
    for (index, byte) in bytes.iter_mut().enumerate() {
        let at = start + index;
        let secret = secrets.iter().any(|span| span.start <= at && at < span.end);
        if secret && !matches!(byte, b'"' | b'\'') {
            *byte = b'*';
        }
    }
    let masked = String::from_utf8(bytes).unwrap_or_default();
    if redact_text(&masked) == masked {
        return masked;
    }
    // Something that looks like a credential stands elsewhere in the line:
    // nothing after its first separator is shown.
    let shown = masked.find([':', '=']).map_or(0, |index| index + 1);
    let hidden = masked[shown..].chars().flat_map(|character| {
        let mark = if character.is_whitespace() { ' ' } else { '*' };
        std::iter::repeat_n(mark, character.len_utf8())
    });
    masked[..shown].chars().chain(hidden).collect()
}

fn one(
    out: &mut String,
    severity: &str,
    finding: &Finding,
    source: Source<'_>,
    lines: &Lines,
    look: Look,
) {
    let (on, off) = match (look.colour, severity) {
        (false, _) => ("", ""),
        (true, "error") => ("\u{1b}[1;31m", "\u{1b}[0m"),
        (true, _) => ("\u{1b}[1;33m", "\u{1b}[0m"),
    };
    let _ = writeln!(out, "{on}{severity}{off}: {}", clean(&finding.message));
    match finding.span.zip(finding.location) {
        Some((span, location)) => excerpt(out, finding, span, location, source, lines, look),
        None => {
            let _ = writeln!(out, "  in {}", source.file);
        }
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "hint: {}", clean(help));
    }
}

/// The line of a finding with a mark under the place and a few words beside it.
fn excerpt(
    out: &mut String,
    finding: &Finding,
    span: Span,
    location: Location,
    source: Source<'_>,
    lines: &Lines,
    look: Look,
) {
    let window = Window::of(source, lines, span, location);
    let view = View {
        name: format!("{}:{}:{}", source.file, location.line, location.column),
        line: location.line - 1,
        label: finding.label.as_deref().map(clean),
        window,
    };
    let handler = GraphicalReportHandler::new_themed(theme(look))
        .with_links(false)
        .without_primary_span_start()
        .with_context_lines(0)
        .with_wrap_lines(false)
        .with_width(usize::MAX);
    let mut rendered = String::new();
    if handler.render_report(&mut rendered, &view).is_err() {
        let _ = writeln!(out, "  at {}", view.name);
        return;
    }
    // The first line is the message, which stands above already; the last
    // one closes the frame.
    let body: Vec<&str> = rendered.trim_end().lines().skip(1).collect();
    let body = match body.split_last() {
        Some((_, rest)) if rest.len() > 1 => rest,
        _ => &body,
    };
    for line in body {
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// The shown part of one line and the place in it.
#[derive(Debug)]
struct Window {
    text: String,
    start: usize,
    length: usize,
}

impl Window {
    fn of(source: Source<'_>, lines: &Lines, span: Span, location: Location) -> Self {
        let line_start = lines.start(location.line);
        let line = mask(
            lines.text(source.text, location.line),
            line_start,
            source.secrets,
        );
        let from = line.floor_char_boundary(span.start.saturating_sub(line_start));
        let to = line
            .floor_char_boundary(span.end.saturating_sub(line_start))
            .max(from);

        // A long line is cut to a window around the place.
        let (mut head, mut tail) = ("", "");
        let mut begin = 0;
        let mut end = line.len();
        if line.chars().count() > WINDOW {
            let before = line[..from].char_indices().rev().take(WINDOW / 2).last();
            begin = before.map_or(from, |(index, _)| index);
            let after = line[begin..].char_indices().nth(WINDOW);
            end = after.map_or(line.len(), |(index, _)| begin + index);
            if begin > 0 {
                head = "…";
            }
            if end < line.len() {
                tail = "…";
            }
        }
        let to = to.min(end).max(from);
        Self {
            text: format!("{head}{}{tail}", clean(&line[begin..end])),
            start: head.len() + from - begin,
            length: to - from,
        }
    }
}

/// What the diagnostics library needs to know.
#[derive(Debug)]
struct View {
    name: String,
    /// From 0.
    line: usize,
    label: Option<String>,
    window: Window,
}

impl std::fmt::Display for View {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("message")
    }
}

impl std::error::Error for View {}

impl Diagnostic for View {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = (self.window.start, self.window.length);
        let label = LabeledSpan::new_primary_with_span(self.label.clone(), span);
        Some(Box::new(std::iter::once(label)))
    }
}

impl SourceCode for View {
    fn read_span<'a>(
        &'a self,
        _: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = self.window.text.as_bytes();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            text,
            (0, text.len()).into(),
            self.line,
            0,
            1,
        )))
    }
}

fn theme(look: Look) -> GraphicalTheme {
    GraphicalTheme {
        characters: if look.ascii {
            ThemeCharacters::ascii()
        } else {
            ThemeCharacters::unicode()
        },
        styles: if look.colour {
            ThemeStyles::ansi()
        } else {
            ThemeStyles::none()
        },
    }
}

/// Replaces characters that would move the cursor or hide text by others of
/// the same length in bytes.
fn clean(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
            control if control.is_control() => match control.len_utf8() {
                1 => '?',
                _ => '¿',
            },
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cleaned_keeps_its_place() {
        let text = "a\u{1b}[31m\u{85}\u{202e}b\u{feff}c\n";
        let cleaned = clean(text);
        assert_eq!(cleaned, "a?[31m¿\u{fffd}b\u{fffd}c?");
        assert_eq!(cleaned.len(), text.len());
    }

    #[test]
    fn masked_text_keeps_its_length() {
        let text = "a: b\nkey: \"sécret\" # x";
        let line = "key: \"sécret\" # x";
        let start = text.find('"').expect("quoted");
        let end = text.rfind('"').expect("quoted") + 1;
        let secret = Span { start, end };
        assert_eq!(mask(line, 5, &[secret]), "key: \"*******\" # x");
        assert_eq!(mask("A: Bearer abcdefghij", 0, &[]), "A: ****** **********");
    }
}
