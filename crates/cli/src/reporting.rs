//! Reports of a run for other programs: which format, and where to.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::ValueEnum;
use strandline_contract::{exit::ExitCode, run::RunRecord};
use strandline_report::{
    formats::{github, junit, markdown},
    terminal::RunInput,
};
use strandline_suite::{LoadOptions, source::Lines};

use crate::{suite_file, ui::CommandError};

/// A form of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// JUnit XML, one test case per case variant
    Junit,
    /// Markdown for a pull-request comment or a step summary
    Markdown,
    /// Annotations for GitHub's workflow log
    Github,
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

/// Returns a run's report in a format.
///
/// # Errors
///
/// When the format cannot be written.
pub fn render(
    format: Format,
    input: &RunInput<'_>,
    markdown_limit: usize,
) -> Result<String, CommandError> {
    let text = match format {
        Format::Junit => junit::report(input).map_err(|error| {
            CommandError::new(ExitCode::NoDecision, format_args!("no JUnit XML: {error}"))
        })?,
        Format::Markdown => markdown::report(input, markdown_limit),
        Format::Github => github::annotations(input, &case_lines(input.run)),
    };
    Ok(text.trim_end().to_owned())
}

/// Writes a report to a file.
///
/// # Errors
///
/// Says why the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    fs::write(path, format!("{text}\n")).map_err(|error| {
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot write `{}`: {error}", path.display()),
        )
    })
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
        assert_eq!(unknown, "`xunit` is none of `junit`, `markdown`, `github`");
        assert!("junit=".parse::<Reporter>().is_err());
    }
}
