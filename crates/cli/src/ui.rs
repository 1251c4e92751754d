//! The one place that prints: data to stdout, talk to stderr.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
    path::Path,
};

use strandline_contract::exit::ExitCode;
use strandline_report::style::{Colour, Glyphs, Style};
use strandline_service::suite_file::{self, SuiteFile};
use strandline_suite::render::Look;

/// Why a command could not do its work.
pub use strandline_service::Failure as CommandError;

/// What a command returns.
pub type CommandResult = Result<ExitCode, CommandError>;

/// Where and how to print.
#[derive(Debug)]
pub struct Ui {
    /// Colour, glyphs and width of stdout.
    pub style: Style,
    /// Stdout is a terminal.
    pub terminal: bool,
}

/// Width of output that is not a terminal, and of terminals that do not say.
const DEFAULT_WIDTH: usize = 100;

impl Ui {
    /// Reads the terminal, `NO_COLOR`, `CLICOLOR_FORCE`, `TERM`, `COLUMNS` and
    /// the locale.
    #[must_use]
    pub fn from_environment() -> Self {
        let terminal = io::stdout().is_terminal();
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let width = columns
            .or_else(|| terminal.then(|| usize::from(console::Term::stdout().size().1)))
            .unwrap_or(DEFAULT_WIDTH);
        let style = style_from(|name| std::env::var(name).ok(), terminal, width);
        Self { style, terminal }
    }

    /// Returns how findings about a suite file may look.
    #[must_use]
    pub fn look(&self) -> Look {
        Look {
            colour: self.style.colour == Colour::Ansi,
            ascii: self.style.glyphs == Glyphs::Ascii,
        }
    }

    /// Reads a suite file and prints its warnings.
    ///
    /// # Errors
    ///
    /// As [`suite_file::read`].
    pub fn suite(&mut self, path: &Path) -> Result<SuiteFile, CommandError> {
        let file = suite_file::read(path, self.look())?;
        if !file.warnings.is_empty() {
            self.talk(&file.warnings);
        }
        Ok(file)
    }

    /// Prints data to stdout; a closed pipe ends quietly.
    pub fn out(&mut self, text: impl Display) {
        let mut stdout = io::stdout().lock();
        let _ = writeln!(stdout, "{text}");
    }

    /// Returns stdout for data in bulk; the writer sees closed pipes.
    pub fn data(&self) -> impl Write + Send + use<> {
        io::stdout()
    }

    /// Prints a document to stdout as indented JSON.
    ///
    /// # Errors
    ///
    /// When the document has no JSON form.
    pub fn json(&mut self, document: &impl serde::Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(document).map_err(|error| {
            CommandError::new(ExitCode::NoDecision, format_args!("no JSON: {error}"))
        })?;
        self.out(text);
        Ok(())
    }

    /// Prints talk to stderr.
    pub fn talk(&mut self, text: impl Display) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Prints an error with its hints to stderr.
    pub fn error(&mut self, error: &CommandError) {
        self.talk(format_args!("error: {}", error.message));
        for hint in &error.hints {
            self.talk(format_args!("hint: {hint}"));
        }
    }
}

/// Decides colour and glyphs from the environment.
///
/// `NO_COLOR` and dumb terminals get ASCII without colour; a locale that is
/// named and is not UTF-8 gets ASCII; pipes and files get glyphs without
/// colour.
fn style_from(variable: impl Fn(&str) -> Option<String>, terminal: bool, width: usize) -> Style {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb") {
        return Style::ascii(width);
    }
    // The first of these that is set decides the character set.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let utf8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    Style {
        colour: if terminal || set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
            Colour::Ansi
        } else {
            Colour::Off
        },
        glyphs: if utf8 || !terminal {
            Glyphs::Unicode
        } else {
            Glyphs::Ascii
        },
        width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(variables: &[(&str, &str)], terminal: bool) -> Style {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        style_from(variable, terminal, 80)
    }

    #[test]
    fn a_terminal_gets_colour_and_glyphs_unless_told_otherwise() {
        assert_eq!(style(&[], true), Style::colour(80));
        assert_eq!(style(&[("LANG", "en_GB.UTF-8")], true), Style::colour(80));
        assert_eq!(style(&[("NO_COLOR", "1")], true), Style::ascii(80));
        assert_eq!(style(&[("NO_COLOR", "")], true), Style::colour(80));
        assert_eq!(style(&[("TERM", "dumb")], true), Style::ascii(80));
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        let posix = style(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")], true);
        assert_eq!(posix.glyphs, Glyphs::Ascii);
    }

    #[test]
    fn a_pipe_gets_glyphs_without_colour_unless_forced() {
        assert_eq!(style(&[], false), Style::plain(80));
        assert_eq!(style(&[("CLICOLOR_FORCE", "1")], false), Style::colour(80));
        assert_eq!(style(&[("CLICOLOR_FORCE", "0")], false), Style::plain(80));
    }
}
