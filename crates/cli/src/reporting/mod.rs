//! Reports of a run for other programs: which format, and where to.

pub mod full_json;
pub mod html;
pub mod source;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::ValueEnum;
use strandline_contract::{exit::ExitCode, run::RunRecord};
use strandline_report::{
    formats::{github, junit, markdown},
    html::file::TRACE_BUDGET,
    terminal::RunInput,
};
use strandline_service::suite_file;
use strandline_suite::{LoadOptions, source::Lines};

use self::source::Source;
use crate::ui::CommandError;

/// A form of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// JUnit XML, one test case per case variant
    Junit,
    /// Markdown for a pull-request comment or a step summary
    Markdown,
    /// Annotations for GitHub's workflow log
    Github,
    /// Everything the run says, as one JSON document (`strandline schema
    /// full-report`)
    Json,
    /// One offline page with every trial, for a browser
    Html,
}

/// Forms that are made in one piece.
enum Short {
    Junit,
    Markdown,
    Github,
}

/// How long reports may become.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest Markdown, bytes.
    pub markdown: usize,
    /// Bytes of timelines in an HTML file.
    pub traces: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            markdown: markdown::COMMENT_LIMIT,
            traces: TRACE_BUDGET,
        }
    }
}

/// Where a report goes to.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// Standard output.
    Stdout,
    /// A file.
    File(&'a Path),
}

impl Target<'_> {
    /// Opens it for writing.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be written.
    pub fn open(&self) -> Result<Box<dyn Write>, CommandError> {
        Ok(match self {
            Self::Stdout => Box::new(BufWriter::new(io::stdout())),
            Self::File(path) => {
                let file = fs::File::create(path).map_err(|error| self.failure(&error))?;
                Box::new(BufWriter::with_capacity(1 << 16, file))
            }
        })
    }

    /// Says that the report could not be written.
    #[must_use]
    pub fn failure(&self, error: &io::Error) -> CommandError {
        let place = match self {
            Self::Stdout => "standard output".to_owned(),
            Self::File(path) => format!("`{}`", path.display()),
        };
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot write {place}: {error}"),
        )
    }
}

/// A report that a run writes at its end: `FORMAT` or `FORMAT=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reporter {
    /// Its form.
    pub format: Format,
    /// Where to; standard output when absent.
    pub file: Option<PathBuf>,
}

impl FromStr for Reporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((format, file)) => (format, Some(file)),
            None => (text, None),
        };
        if file == Some("") {
            return Err(format!("`{text}` names no file after `=`"));
        }
        Ok(Self {
            format: Format::from_str(format, false)
                .map_err(|_| format!("`{format}` is none of {}", names().join(", ")))?,
            file: file.map(PathBuf::from),
        })
    }
}

fn names() -> Vec<String> {
    Format::value_variants()
        .iter()
        .filter_map(|format| Some(format!("`{}`", format.to_possible_value()?.get_name())))
        .collect()
}

/// Writes a run's report in a format.
///
/// # Errors
///
/// When trials cannot be read, the format cannot be written, or the target
/// cannot.
pub async fn write(
    format: Format,
    source: &Source<'_>,
    limits: &Limits,
    target: &Target<'_>,
) -> Result<(), CommandError> {
    let short = match format {
        Format::Json => return full_json::write(source, target).await,
        Format::Html => return html::write(source, limits, target).await,
        Format::Junit => Short::Junit,
        Format::Markdown => Short::Markdown,
        Format::Github => Short::Github,
    };
    let (trials, traces) = source.gather().await?;
    let input = RunInput {
        run: source.run,
        run_reference: source.reference,
        trials: &trials,
        traces: &traces,
    };
    let text = match short {
        Short::Junit => junit::report(&input).map_err(|error| {
            CommandError::new(ExitCode::NoDecision, format_args!("no JUnit XML: {error}"))
        })?,
        Short::Markdown => markdown::report(&input, limits.markdown),
        Short::Github => github::annotations(&input, &case_lines(input.run)),
    };
    let mut out = target.open()?;
    writeln!(out, "{}", text.trim_end())
        .and_then(|()| out.flush())
        .map_err(|error| target.failure(&error))
}

/// Returns the line of each case in the suite file, while the file is still the
/// one that was run.
fn case_lines(run: &RunRecord) -> BTreeMap<String, usize> {
    let Ok(file) = suite_file::read_text(Path::new(&run.suite_path)) else {
        return BTreeMap::new();
    };
    let Ok(loaded) = file.load(LoadOptions::authored()) else {
        return BTreeMap::new();
    };
    if loaded.source_hash != run.source_hash {
        return BTreeMap::new();
    }
    let lines = Lines::new(&file.text);
    loaded
        .case_places()
        .map(|(id, span)| (id.to_owned(), lines.line(span.start)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reporter_is_a_format_and_maybe_a_file() {
        let reporter: Reporter = "junit=out/a=b.xml".parse().expect("a reporter");
        assert_eq!(reporter.format, Format::Junit);
        assert_eq!(reporter.file, Some(PathBuf::from("out/a=b.xml")));
        let reporter: Reporter = "markdown".parse().expect("a reporter");
        assert_eq!(reporter.file, None);
        let unknown = "xunit".parse::<Reporter>().expect_err("unknown");
        assert_eq!(
            unknown,
            "`xunit` is none of `junit`, `markdown`, `github`, `json`, `html`"
        );
        assert!("junit=".parse::<Reporter>().is_err());
    }
}
