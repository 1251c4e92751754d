//! `strandline init [URL | -- COMMAND…]`.

mod starter;

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};
use strandline_contract::{
    binding::ServerBinding,
    exit::ExitCode,
    redact::looks_like_credential,
    suite::{Target, TargetServer},
};
use strandline_service::{
    environment,
    suite_file::{Disk, refused},
};
use strandline_suite::render::Look;
use strandline_suite::{
    LoadOptions,
    binding::{BindingRequest, Overrides, bind},
    load,
};

use self::starter::Starter;
use crate::{
    probe::{failure_line, failure_next, probe},
    server_name::guess,
    ui::{CommandError, CommandResult, Ui},
};

/// The suite that `strandline init` writes without a server.
const EXAMPLE: &str = include_str!("../../../../../examples/orders.yaml");
/// How the example calls itself, to be replaced by the file it is written to.
const EXAMPLE_COMMAND: &str = "cargo run --release -- run examples/orders.yaml";

/// Arguments of `strandline init`.
///
/// With a server it connects, lists its tools and writes one case per tool.
/// Without one it writes the example suite, which needs no key and no network.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// URL of a server over streamable HTTP.
    #[arg(conflicts_with_all = ["command", "server"])]
    url: Option<String>,
    /// Command that starts a server over stdio.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "server")]
    command: Vec<String>,
    /// A server that `mcp.json` or `.mcp.json` of this directory knows.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Read the server from this file instead.
    #[arg(long, value_name = "FILE", requires = "server")]
    mcp_config: Option<PathBuf>,
    /// The server's name in the suite [default: from the command or URL].
    #[arg(long, conflicts_with = "server")]
    name: Option<String>,
    /// File to write; never overwritten.
    #[arg(short, long, value_name = "FILE", default_value = "strandline.yaml")]
    output: PathBuf,
    /// Seconds that the server may take to start, and to list.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    timeout: u64,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let file = arguments.output.display().to_string();
    if arguments.output.exists() {
        return Err(exists(&file));
    }
    if arguments.url.is_none() && arguments.command.is_empty() && arguments.server.is_none() {
        let command = format!("strandline run {file}");
        write_new(
            &arguments.output,
            &EXAMPLE.replace(EXAMPLE_COMMAND, &command),
        )?;
        ui.talk(format_args!(
            "wrote `{file}`: the example suite; its server is part of strandline, its model is scripted"
        ));
        ui.talk(format_args!("next: {command}"));
        ui.talk("for a server of your own: strandline init -- COMMAND…, or strandline init URL");
        return Ok(ExitCode::Passed);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(
                ExitCode::NoDecision,
                format_args!("cannot start a worker: {error}"),
            )
        })?;
    runtime.block_on(write_starter(arguments, &file, ui))
}

async fn write_starter(arguments: &Arguments, file: &str, ui: &mut Ui) -> CommandResult {
    let name = server_name(arguments);
    let entry = entry(arguments);
    let binding = binding(arguments, &name)?;
    for (key, value) in secrets(&entry) {
        ui.talk(format_args!(
            "warning: {key} of the server looks like a credential and will stand in `{file}`; \
             write `${{NAME}}` instead and set the variable: {value}"
        ));
    }
    let visit = probe(&binding, Duration::from_secs(arguments.timeout)).await;
    let connected = visit.connected.map_err(|failure| {
        let what = format!("cannot connect to `{name}`: {}", failure_line(&failure));
        CommandError::new(ExitCode::Setup, what).hint(failure_next(&failure))
    })?;
    let listing = visit.listing.unwrap_or_else(|| Ok(Default::default()));
    let listing = listing.map_err(|failure| {
        let what = format!("`{name}` cannot list its tools: {}", failure_line(&failure));
        CommandError::new(ExitCode::Setup, what).hint(failure_next(&failure))
    })?;
    let called = connected.called().unwrap_or_else(|| name.clone());
    let suite = Starter {
        file,
        server: &name,
        entry: &entry,
        called: &called,
        tools: &listing.tools,
    }
    .write();
    if suite.cases == 0 {
        return Err(CommandError::new(
            ExitCode::Setup,
            format_args!("`{name}` lists no tools, so there is nothing to write a case for"),
        ));
    }
    // What is written must be readable; if it is not, that is our defect.
    if let Err(failure) = load(&suite.text, &LoadOptions::authored()) {
        let findings = strandline_suite::render::plain(&failure.findings);
        return Err(CommandError::new(
            ExitCode::NoDecision,
            format_args!("the starter suite does not load, which is a defect of ours:\n{findings}"),
        ));
    }
    write_new(&arguments.output, &suite.text)?;
    ui.talk(format_args!(
        "wrote `{file}`: {} cases; {} run as they are, held back until you have looked: {}",
        suite.cases,
        suite.enabled,
        suite.cases - suite.enabled
    ));
    let config = arguments.mcp_config.as_ref();
    let config = config.map_or(String::new(), |path| {
        format!(" --mcp-config {}", path.display())
    });
    ui.talk(format_args!("next: strandline run {file}{config}"));
    Ok(ExitCode::Passed)
}

fn exists(file: &str) -> CommandError {
    CommandError::usage(format_args!("`{file}` exists and is not overwritten"))
        .hint("name another file with `--output FILE`")
}

fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    let shown = path.display().to_string();
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(&shown),
        _ => CommandError::new(
            ExitCode::Setup,
            format_args!("cannot write `{shown}`: {error}"),
        ),
    })
}

/// Returns the server's name in the suite.
fn server_name(arguments: &Arguments) -> String {
    if let Some(name) = arguments.server.as_ref().or(arguments.name.as_ref()) {
        return name.clone();
    }
    guess(arguments.url.as_deref(), &arguments.command)
}

/// Returns the `mcpServers` entry to write; none when `mcp.json` has it.
fn entry(arguments: &Arguments) -> Vec<(&'static str, Value)> {
    if let Some(url) = &arguments.url {
        return vec![("type", json!("http")), ("url", json!(url))];
    }
    match arguments.command.as_slice() {
        [] => Vec::new(),
        [program] => vec![("command", json!(program))],
        [program, rest @ ..] => vec![("command", json!(program)), ("args", json!(rest))],
    }
}

/// Returns the parts of an entry that look like credentials, masked.
fn secrets(entry: &[(&'static str, Value)]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in entry {
        let texts: Vec<&str> = match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            value => value.as_str().into_iter().collect(),
        };
        for text in texts {
            if !text.contains("${") && looks_like_credential("", text) {
                let masked = strandline_contract::redact::redact_text(text);
                found.push((format!("`{key}`"), masked));
            }
        }
    }
    found
}

fn binding(arguments: &Arguments, name: &str) -> Result<ServerBinding, CommandError> {
    let target = Target {
        servers: Some(vec![TargetServer {
            name: name.to_owned(),
            id: None,
        }]),
        ..Target::default()
    };
    let overrides = Overrides {
        url: arguments.url.clone(),
        command: (!arguments.command.is_empty()).then(|| arguments.command.clone()),
        config: arguments.mcp_config.clone(),
        ..Overrides::default()
    };
    let invocation_dir = std::env::current_dir().unwrap_or_default();
    let output = std::path::absolute(&arguments.output).unwrap_or_default();
    let request = BindingRequest {
        target: &target,
        suite_entries: None,
        suite_dir: output.parent().unwrap_or(&invocation_dir),
        invocation_dir: &invocation_dir,
        overrides: &overrides,
    };
    bind(&request, &Disk, &environment::variable)
        .map_err(|refusals| refused(name, &refusals, Look::PLAIN))?
        .into_iter()
        .next()
        .ok_or_else(|| CommandError::usage("no server is named"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_on_the_command_line_are_seen_and_masked() {
        let entry = [("args", json!(["--token=abcdef123456", "--port=80"]))];
        let found = secrets(&entry);
        assert_eq!(found.len(), 1);
        assert!(!found[0].1.contains("abcdef123456"), "{found:?}");
        let named = [("args", json!(["--token=${TOKEN}"]))];
        assert!(secrets(&named).is_empty());
    }

    #[test]
    fn the_example_names_the_command_that_is_replaced() {
        assert!(EXAMPLE.contains(EXAMPLE_COMMAND));
    }
}
