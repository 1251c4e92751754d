//! Names to transports (`suite-file.md` §9.1–§9.3).
//!
//! The first source that has an entry for a name wins whole; entries for other
//! names are ignored. Nothing here reads a file or the environment: the caller
//! brings both, and files are asked for only while a name is unbound.

mod config;
mod entry;
mod expand;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use strandline_contract::{
    binding::ServerBinding,
    ecma,
    suite::{Target, TargetServer},
    words::RefusalCode,
};

pub use expand::expand;
pub(crate) use expand::has_reference;

use crate::{refusal::Refusal, yaml::Node};

/// Gives the text of a file on demand.
pub trait FileSource {
    /// Returns the text of a file, `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// Why a file that exists cannot be read, in words.
    fn read(&self, path: &Path) -> Result<Option<String>, String>;
}

/// Looks up an environment variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the command line says about servers.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--server name=url`, in order.
    pub servers: Vec<String>,
    /// `--url`, for a suite with one server.
    pub url: Option<String>,
    /// `--command`, for a suite with one server: program and arguments.
    pub command: Option<Vec<String>>,
    /// `--mcp-config`.
    pub config: Option<PathBuf>,
}

/// Everything that says how servers are reached.
#[derive(Debug, Clone, Copy)]
pub struct BindingRequest<'a> {
    /// The servers of the suite.
    pub target: &'a Target,
    /// `mcpServers` of the suite file.
    pub suite_entries: Option<&'a Node>,
    /// The suite file's directory.
    pub suite_dir: &'a Path,
    /// The directory that Strandline was called in.
    pub invocation_dir: &'a Path,
    /// The command line.
    pub overrides: &'a Overrides,
}

/// Binds every server of a suite to a transport, in the suite's order.
///
/// # Errors
///
/// Every refusal of the first step that has any: the target, the options,
/// the sources, then the winning entries.
pub fn bind(
    request: &BindingRequest<'_>,
    files: &dyn FileSource,
    environment: Environment<'_>,
) -> Result<Vec<ServerBinding>, Vec<Refusal>> {
    let servers = servers(request.target)?;
    let overrides = overrides(request, &servers)?;
    let found = find(request, &servers, overrides, files)?;

    let mut bindings = Vec::new();
    let mut refusals = Vec::new();
    let mut missing = BTreeSet::new();
    for (server, found) in servers.iter().zip(found) {
        let name = ecma::trim(&server.name);
        let id = server.id.as_deref().unwrap_or(name);
        match entry::binding(name, id, &found, files, environment, &mut missing) {
            Ok(binding) => bindings.push(binding),
            Err(refusal) => refusals.extend(refusal),
        }
    }
    if !missing.is_empty() {
        // Names only, and all of them at once (§9.2).
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        let plural = if names.len() == 1 { "" } else { "s" };
        refusals.push(
            Refusal::new(
                RefusalCode::SetupFailed,
                format!("environment variable{plural} not set: {}", names.join(", ")),
            )
            .hint("set them, or write `${NAME:-default}` in the server's entry"),
        );
    }
    if refusals.is_empty() {
        Ok(bindings)
    } else {
        Err(refusals)
    }
}

/// The servers to bind: names trimmed, none twice, at least one.
fn servers(target: &Target) -> Result<Vec<TargetServer>, Vec<Refusal>> {
    let Some(servers) = &target.servers else {
        let environment = target.environment.as_deref().unwrap_or_default();
        return Err(vec![
            Refusal::new(
                RefusalCode::TargetUnsupported,
                format!(
                    "the suite runs against the hosted environment `{environment}` and names no \
                     server"
                ),
            )
            .hint("add `target.servers` to run it here"),
        ]);
    };
    let mut seen = BTreeSet::new();
    let mut refusals = Vec::new();
    for server in servers {
        let name = ecma::trim(&server.name);
        if name.is_empty() {
            let message = "a server of the suite has a blank name";
            refusals.push(Refusal::new(RefusalCode::ServerBindingInvalid, message));
        } else if !seen.insert(name) {
            let message = format!("the suite names the server `{name}` twice");
            refusals.push(Refusal::new(RefusalCode::ServerBindingInvalid, message));
        }
    }
    if refusals.is_empty() {
        Ok(servers.clone())
    } else {
        Err(refusals)
    }
}

/// An entry and where it was declared.
#[derive(Debug, Clone)]
struct Found {
    entry: std::sync::Arc<Node>,
    /// Relative paths resolve to this.
    dir: PathBuf,
    /// The file and its text, to show a place in it.
    source: Option<(String, String)>,
}

/// Source 1: the command line, by position in the suite's servers.
fn overrides(
    request: &BindingRequest<'_>,
    servers: &[TargetServer],
) -> Result<Vec<Option<Found>>, Vec<Refusal>> {
    let mut found: Vec<Option<Found>> = vec![None; servers.len()];
    let mut refusals = Vec::new();
    let mut refuse = |message: String| {
        refusals.push(Refusal::new(RefusalCode::OptionsInvalid, message));
    };
    let here = |entry| Found {
        entry,
        dir: request.invocation_dir.to_path_buf(),
        source: None,
    };
    for option in &request.overrides.servers {
        let Some((name, url)) = option.split_once('=') else {
            refuse(format!("`--server {option}` must be `--server NAME=URL`"));
            continue;
        };
        let name = ecma::trim(name);
        if !entry::is_http_url(url) {
            refuse(format!("`--server {name}` needs an http or https URL"));
            continue;
        }
        let position = servers
            .iter()
            .position(|server| ecma::trim(&server.name) == name);
        match position.map(|position| &mut found[position]) {
            None => {
                let known: Vec<String> = servers
                    .iter()
                    .map(|server| format!("`{}`", ecma::trim(&server.name)))
                    .collect();
                refuse(format!(
                    "`--server {name}`: the suite names {} only",
                    known.join(", ")
                ));
            }
            Some(Some(_)) => refuse(format!("`--server {name}` is given twice")),
            Some(slot) => *slot = Some(here(entry::of_url(url))),
        }
    }
    let alone = match (&request.overrides.url, &request.overrides.command) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            refuse("`--url` and `--command` exclude each other".to_owned());
            None
        }
        (Some(url), None) if !entry::is_http_url(url) => {
            refuse("`--url` needs an http or https URL".to_owned());
            None
        }
        (Some(url), None) => Some(("--url", entry::of_url(url))),
        (None, Some(command)) if command.first().is_none_or(String::is_empty) => {
            refuse("`--command` needs a program".to_owned());
            None
        }
        (None, Some(command)) => Some(("--command", entry::of_command(command))),
    };
    if let Some((option, entry)) = alone {
        match found.as_mut_slice() {
            [slot @ None] => *slot = Some(here(entry)),
            [Some(_)] => refuse(format!("`{option}` and `--server` name the same server")),
            _ => refuse(format!(
                "`{option}` is for suites with one server, this one has {}: use `--server NAME=URL`",
                servers.len()
            )),
        }
    }
    if refusals.is_empty() {
        Ok(found)
    } else {
        Err(refusals)
    }
}

/// Sources 2 to 5 (§9.3), each read only while a name is unbound; the second
/// is always read.
fn find(
    request: &BindingRequest<'_>,
    servers: &[TargetServer],
    mut found: Vec<Option<Found>>,
    files: &dyn FileSource,
) -> Result<Vec<Found>, Vec<Refusal>> {
    let mut looked_in = Vec::new();
    if let Some(path) = &request.overrides.config {
        let path = request.invocation_dir.join(path);
        let document = config::read(&path, files)?.ok_or_else(|| {
            vec![Refusal::new(
                RefusalCode::SetupFailed,
                format!("`--mcp-config`: there is no file `{}`", path.display()),
            )]
        })?;
        take(servers, &mut found, &document);
        looked_in.push(path.display().to_string());
    }
    if let Some(entries) = request.suite_entries {
        let document = config::Entries {
            entries: entries.entries().to_vec(),
            dir: request.suite_dir.to_path_buf(),
            source: None,
        };
        take(servers, &mut found, &document);
    }
    looked_in.push("`mcpServers` of the suite file".to_owned());
    for path in [
        request.suite_dir.join("mcp.json"),
        request.suite_dir.join(".mcp.json"),
        request.invocation_dir.join(".mcp.json"),
    ] {
        if found.iter().all(Option::is_some) {
            break;
        }
        let shown = path.display().to_string();
        if looked_in.contains(&shown) {
            continue;
        }
        if let Some(document) = config::read(&path, files)? {
            take(servers, &mut found, &document);
        }
        looked_in.push(shown);
    }

    let unbound: Vec<String> = servers
        .iter()
        .zip(&found)
        .filter(|(_, found)| found.is_none())
        .map(|(server, _)| format!("`{}`", ecma::trim(&server.name)))
        .collect();
    if !unbound.is_empty() {
        let plural = if unbound.len() == 1 { "" } else { "s" };
        return Err(vec![
            Refusal::new(
                RefusalCode::ServerBindingMissing,
                format!(
                    "nothing says how to reach server{plural} {}",
                    unbound.join(", ")
                ),
            )
            .hint(format!("looked in {}", looked_in.join(", ")))
            .hint("add an entry to `mcp.json` next to the suite, or give `--server NAME=URL`"),
        ]);
    }
    Ok(found.into_iter().flatten().collect())
}

/// Fills the unbound names that a source has an entry for.
fn take(servers: &[TargetServer], found: &mut [Option<Found>], source: &config::Entries) {
    for (server, slot) in servers.iter().zip(found) {
        if slot.is_some() {
            continue;
        }
        *slot = source.get(ecma::trim(&server.name)).map(|entry| Found {
            entry,
            dir: source.dir.clone(),
            source: source.source.clone(),
        });
    }
}
