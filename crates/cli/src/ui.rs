//! The one place that prints: data to stdout, talk to stderr.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use strandline_contract::exit::ExitCode;

/// Why a command could not do its work.
#[derive(Debug)]
pub struct CommandError {
    /// How the process ends.
    pub exit: ExitCode,
    /// What happened, where and why; one or more lines.
    pub message: String,
    /// What to do next, one line each.
    pub hints: Vec<String>,
}

impl CommandError {
    /// Makes an error that ends the process with `exit`.
    pub fn new(exit: ExitCode, message: impl Display) -> Self {
        Self {
            exit,
            message: message.to_string(),
            hints: Vec::new(),
        }
    }

    /// Makes an error about the request itself (exit code 2).
    pub fn usage(message: impl Display) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

/// What a command returns.
pub type CommandResult = Result<ExitCode, CommandError>;

/// Where and how to print.
#[derive(Debug)]
pub struct Ui {
    /// Colour and glyphs may be used on stdout.
    pub colour: bool,
    /// Stdout is a terminal.
    pub terminal: bool,
    /// Width of the terminal in columns.
    pub width: usize,
}

impl Ui {
    /// Reads the terminal and `NO_COLOR`, `CLICOLOR_FORCE`, `TERM`, `COLUMNS`.
    #[must_use]
    pub fn from_environment() -> Self {
        let terminal = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = !set("NO_COLOR") && !dumb && (terminal || set("CLICOLOR_FORCE"));
        let width = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok())
            .unwrap_or(100);
        Self {
            colour,
            terminal,
            width,
        }
    }

    /// Prints data to stdout; a closed pipe ends quietly.
    pub fn out(&mut self, text: impl Display) {
        let mut stdout = io::stdout().lock();
        let _ = writeln!(stdout, "{text}");
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
