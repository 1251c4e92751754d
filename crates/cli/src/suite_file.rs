//! Reading suite files and what they refer to from disk.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use strandline_contract::exit::ExitCode;
use strandline_suite::{
    LoadOptions, Loaded, MAX_FILE_BYTES,
    binding::FileSource,
    load,
    render::{self, Look, Source},
};

use crate::ui::{CommandError, Ui};

/// A suite file that was read and found valid.
#[derive(Debug)]
pub struct SuiteFile {
    /// As it was named.
    pub name: String,
    /// Its directory, absolute.
    pub directory: PathBuf,
    /// What it says.
    pub loaded: Loaded,
}

/// Reads and loads a suite file; prints its warnings.
///
/// # Errors
///
/// Says why the file cannot be read, or renders every finding with its place.
pub fn read(path: &Path, ui: &mut Ui) -> Result<SuiteFile, CommandError> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    let options = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some(stem) => LoadOptions::authored().named(stem),
        None => LoadOptions::authored(),
    };
    let source = Source {
        file: &name,
        text: &text,
    };
    let look = look(ui);
    let loaded = load(&text, &options).map_err(|failure| {
        let count = failure.findings.len();
        let plural = if count == 1 { "" } else { "s" };
        CommandError::usage(format_args!(
            "`{name}` is not a valid suite file: {count} finding{plural}\n\n{}",
            render::findings(&failure.findings, source, look)
        ))
    })?;
    if !loaded.warnings.is_empty() {
        ui.talk(render::warnings(&loaded.warnings, source, look));
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    Ok(SuiteFile {
        name,
        directory: absolute.parent().map(Path::to_path_buf).unwrap_or_default(),
        loaded,
    })
}

fn look(ui: &Ui) -> Look {
    use strandline_report::style::{Colour, Glyphs};
    Look {
        colour: ui.style.colour == Colour::Ansi,
        ascii: ui.style.glyphs == Glyphs::Ascii,
    }
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    let cannot = |why: String| CommandError::usage(format_args!("cannot read `{shown}`: {why}"));
    let metadata = fs::metadata(path).map_err(|error| {
        let failure = cannot(io_reason(&error));
        if error.kind() == io::ErrorKind::NotFound {
            failure.hint("`strandline init` writes a starter suite")
        } else {
            failure
        }
    })?;
    if metadata.is_dir() {
        return Err(cannot("it is a directory".to_owned()));
    }
    if metadata.len() > MAX_FILE_BYTES as u64 {
        return Err(cannot(format!(
            "it has {} bytes, and a suite file has at most {MAX_FILE_BYTES}",
            metadata.len()
        )));
    }
    let bytes = fs::read(path).map_err(|error| cannot(io_reason(&error)))?;
    String::from_utf8(bytes).map_err(|error| {
        cannot(format!(
            "it is not UTF-8 text (byte {})",
            error.utf8_error().valid_up_to()
        ))
    })
}

fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads `mcp.json` and credentials files on demand.
#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl FileSource for Disk {
    fn read(&self, path: &Path) -> Result<Option<String>, String> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_reason(&error)),
        }
    }
}

/// Turns refusals into one error: every reason, its hints, the worst exit code.
#[must_use]
pub fn refused(suite: &str, refusals: &[strandline_suite::refusal::Refusal]) -> CommandError {
    let exit = strandline_suite::refusal::exit_code(refusals);
    let mut message = format!("`{suite}` cannot be run");
    for refusal in refusals {
        message.push_str("\n  ");
        message.push_str(&refusal.code.to_string());
        message.push_str(": ");
        message.push_str(&refusal.message);
        if let Some(place) = &refusal.place
            && let Some(location) = &place.finding.location
        {
            let _ = write!(
                message,
                " ({}:{}:{})",
                place.file, location.line, location.column
            );
        }
    }
    let mut error = CommandError::new(exit, message);
    for hint in refusals.iter().flat_map(|refusal| &refusal.hints) {
        if !error.hints.contains(hint) {
            error = error.hint(hint);
        }
    }
    error
}

/// Returns the exit code of the worst of several suites, usage first.
#[must_use]
pub fn worst(codes: impl IntoIterator<Item = ExitCode>) -> ExitCode {
    codes
        .into_iter()
        .reduce(ExitCode::worse)
        .unwrap_or(ExitCode::Passed)
}
