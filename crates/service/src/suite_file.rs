//! Reading suite files and what they refer to from disk.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use strandline_contract::exit::ExitCode;
use strandline_suite::{
    LoadFailure, LoadOptions, Loaded, MAX_FILE_BYTES,
    binding::FileSource,
    load,
    refusal::{Refusal, exit_code},
    render::{self, Look, Source},
};

use crate::Failure;

/// A suite file that was read and found valid.
#[derive(Debug)]
pub struct SuiteFile {
    /// As it was named.
    pub name: String,
    /// Its directory, absolute.
    pub directory: PathBuf,
    /// What it says.
    pub loaded: Loaded,
    /// How findings about it may look.
    pub look: Look,
    /// Its warnings with their places; empty when there are none.
    pub warnings: String,
}

/// The text of a suite file, valid or not.
#[derive(Debug)]
pub struct SuiteText {
    /// As it was named.
    pub name: String,
    /// Its text; empty when the file is larger than a suite file may be.
    pub text: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its name without the extension.
    pub stem: Option<String>,
}

impl SuiteText {
    /// Loads the text.
    ///
    /// # Errors
    ///
    /// Every finding.
    pub fn load(&self, mut options: LoadOptions) -> Result<Loaded, LoadFailure> {
        options.measured_bytes = Some(self.bytes);
        options.name = options.name.or_else(|| self.stem.clone());
        load(&self.text, &options)
    }

    /// Renders findings with their places.
    #[must_use]
    pub fn findings(&self, failure: &LoadFailure, look: Look) -> String {
        let source = Source {
            file: &self.name,
            text: &self.text,
            secrets: &failure.secrets,
        };
        render::findings(&failure.findings, source, look)
    }

    /// Renders the warnings of a suite with their places.
    #[must_use]
    pub fn warnings(&self, loaded: &Loaded, look: Look) -> String {
        let source = Source {
            file: &self.name,
            text: &self.text,
            secrets: &loaded.secrets,
        };
        render::warnings(&loaded.warnings, source, look)
    }
}

/// Reads and loads a suite file.
///
/// # Errors
///
/// Says why the file cannot be read, or renders every finding with its place.
pub fn read(path: &Path, look: Look) -> Result<SuiteFile, Failure> {
    let file = read_text(path)?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let directory = absolute.parent().map(Path::to_path_buf).unwrap_or_default();
    loaded(file, directory, look)
}

/// Loads a suite file that was read from a directory, which is absolute.
///
/// # Errors
///
/// Renders every finding with its place.
pub(crate) fn loaded(
    file: SuiteText,
    directory: PathBuf,
    look: Look,
) -> Result<SuiteFile, Failure> {
    let loaded = file.load(LoadOptions::authored()).map_err(|failure| {
        Failure::usage(format_args!(
            "`{}` is not a valid suite file: {}\n\n{}",
            file.name,
            counted(failure.findings.len(), "finding"),
            file.findings(&failure, look)
        ))
    })?;
    let warnings = if loaded.warnings.is_empty() {
        String::new()
    } else {
        file.warnings(&loaded, look)
    };
    Ok(SuiteFile {
        name: file.name,
        directory,
        loaded,
        look,
        warnings,
    })
}

/// Returns whether a suite file is named as standard input.
#[must_use]
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads the text of a suite file; `-` is standard input.
///
/// # Errors
///
/// Says why it cannot be read: missing, a directory, not text.
pub fn read_text(path: &Path) -> Result<SuiteText, Failure> {
    if is_stdin(path) {
        return read_stdin();
    }
    let name = path.display().to_string();
    let cannot = |why: String| cannot_read(&name, &why);
    let metadata = fs::metadata(path).map_err(|error| {
        let failure = cannot(io_reason(&error));
        if error.kind() == io::ErrorKind::NotFound {
            failure.hint("`strandline init` writes a starter suite")
        } else {
            failure
        }
    })?;
    if metadata.is_dir() {
        return Err(cannot("it is a directory".to_owned())
            .hint("name the suite files in it, such as `DIRECTORY/*.yaml`"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| {
            let limit = MAX_FILE_BYTES as u64 + 1;
            file.take(limit).read_to_end(&mut bytes)
        })
        .map_err(|error| cannot(io_reason(&error)))?;
    let length = metadata.len().max(bytes.len() as u64);
    if length > MAX_FILE_BYTES as u64 {
        bytes.clear();
    }
    Ok(SuiteText {
        text: as_text(&name, bytes)?,
        name,
        bytes: length,
        stem: path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .map(str::to_owned),
    })
}

/// Reads a suite file from standard input; it has no stem to be named after.
fn read_stdin() -> Result<SuiteText, Failure> {
    let name = "stdin".to_owned();
    let mut bytes = Vec::new();
    // One byte more than a suite file may have is enough to refuse it.
    io::stdin()
        .lock()
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read(&name, &io_reason(&error)))?;
    let length = bytes.len() as u64;
    if length > MAX_FILE_BYTES as u64 {
        bytes.clear();
    }
    Ok(SuiteText {
        text: as_text(&name, bytes)?,
        name,
        bytes: length,
        stem: None,
    })
}

fn cannot_read(name: &str, why: &str) -> Failure {
    Failure::usage(format_args!("cannot read `{name}`: {why}"))
}

fn as_text(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..start]).into_owned();
        let place = strandline_suite::source::Lines::new(&before).locate(&before, start);
        let (line, column) = (place.line, place.column);
        cannot_read(
            name,
            &format!("it is not UTF-8 text (line {line}, column {column})"),
        )
    })
}

fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a number with its noun.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
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

/// Turns refusals into one error: every reason with its place, every hint
/// once, the worst exit code.
#[must_use]
pub fn refused(suite: &str, refusals: &[Refusal], look: Look) -> Failure {
    let mut message = format!("`{suite}` cannot be run");
    for refusal in refusals {
        message.push_str("\n  ");
        message.push_str(&refusal.code.to_string());
        message.push_str(": ");
        message.push_str(&refusal.message);
    }
    for place in refusals.iter().filter_map(|refusal| refusal.place.as_ref()) {
        let source = Source {
            file: &place.file,
            text: &place.text,
            secrets: &place.secrets,
        };
        message.push_str("\n\n");
        let shown = render::findings(std::slice::from_ref(&place.finding), source, look);
        message.push_str(shown.trim_end());
    }
    let mut error = Failure::new(exit_code(refusals), message);
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
