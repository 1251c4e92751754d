//! `strandline fmt [--check] FILE…`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use strandline_contract::exit::ExitCode;
use strandline_service::suite_file::{counted, is_stdin, read_text};
use strandline_suite::{LoadOptions, write_json, write_yaml};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline fmt`.
#[derive(Debug, clap::Args)]
#[command(long_about = "Rewrite suite files in the usual order and layout.\n\n\
        Comments and blank lines stay, aliases are written out, nothing is added. A `.json` \
        file stays JSON, any other is written as YAML, and a short file stays short. A file \
        with findings is left as it is. `-` reads standard input and writes standard output; \
        input that begins with a brace is JSON.")]
pub struct Arguments {
    /// Suite files, or `-`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing; exit with 2 when a file would change.
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let mut changed = 0;
    let mut broken = 0;
    let mut exit = ExitCode::Passed;
    for path in &arguments.files {
        match format(path, arguments.check, ui) {
            Ok(true) => changed += 1,
            Ok(false) => {}
            Err(error) => {
                ui.error(&error);
                broken += 1;
                exit = exit.worse(error.exit);
            }
        }
    }
    let total = counted(arguments.files.len(), "file");
    let (done, clean) = if arguments.check {
        ("would change", ExitCode::Usage)
    } else {
        ("changed", ExitCode::Passed)
    };
    let left = match broken {
        0 => String::new(),
        _ => format!(", {broken} left as they are"),
    };
    ui.talk(format_args!("{changed} of {total} {done}{left}"));
    if changed > 0 {
        exit = exit.worse(clean);
    }
    Ok(exit)
}

/// Formats one file; returns whether it changes.
fn format(path: &Path, check: bool, ui: &mut Ui) -> Result<bool, CommandError> {
    let file = read_text(path)?;
    let loaded = file.load(LoadOptions::authored()).map_err(|failure| {
        CommandError::usage(format_args!(
            "`{}` is not a valid suite file: {}\n\n{}",
            file.name,
            counted(failure.findings.len(), "finding"),
            file.findings(&failure, ui.look())
        ))
    })?;
    let stdin = is_stdin(path);
    let json = if stdin {
        file.text.trim_start().starts_with('{')
    } else {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    };
    let text = if json {
        write_json(&loaded.authored)
    } else {
        write_yaml(&loaded.authored)
    };
    let changes = text != file.text;
    if stdin {
        if !check {
            ui.out(text.trim_end());
        }
        return Ok(changes);
    }
    if !changes {
        return Ok(false);
    }
    if !check {
        replace(path, &text).map_err(|error| {
            CommandError::new(
                ExitCode::Setup,
                format_args!("cannot write `{}`: {error}", file.name),
            )
        })?;
    }
    ui.out(&file.name);
    Ok(true)
}

/// Replaces a file at once, so that a crash leaves the old or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path)?;
    let mut name = target
        .file_name()
        .ok_or_else(|| io::Error::other("it has no name"))?
        .to_owned();
    name.push(format!(".strandline-{}", std::process::id()));
    let temporary = target.with_file_name(name);
    let written = fs::write(&temporary, text)
        .and_then(|()| fs::set_permissions(&temporary, fs::metadata(&target)?.permissions()))
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
