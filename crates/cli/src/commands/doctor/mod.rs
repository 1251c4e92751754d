//! `strandline doctor [SUITE] [--server NAME] [--url URL | -- COMMAND…]`.

mod checks;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::json;
use strandline_contract::{
    binding::ServerBinding,
    exit::ExitCode,
    providers::{PROVIDERS, Provider, find_provider},
    suite::{Target, TargetServer},
    words::CheckVerdict,
};
use strandline_report::checks::{Check, checks as render};
use strandline_service::{
    environment,
    suite_file::{Disk, SuiteFile},
};
use strandline_suite::{
    binding::{BindingRequest, Overrides, bind},
    refusal,
};

use self::checks::Providers;
use crate::{
    probe::probe,
    server_name::guess,
    ui::{CommandError, CommandResult, Ui},
};

/// The suite that is checked when none is named.
const DEFAULT_SUITE: &str = "strandline.yaml";

/// Arguments of `strandline doctor`.
///
/// Connects to each server, lists its tools, and holds their schemas against
/// what model providers demand. Nothing is called and nothing is stored.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Suite whose servers, models and keys are checked [default:
    /// `strandline.yaml`, when no server is named].
    suite: Option<PathBuf>,
    /// Check only this server of the suite, or this one of `mcp.json`; repeat
    /// for several.
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,
    /// Read servers from this file.
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// Check a server over streamable HTTP.
    #[arg(long, conflicts_with_all = ["suite", "servers", "command"])]
    url: Option<String>,
    /// Check a server over stdio.
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["suite", "servers"])]
    command: Vec<String>,
    /// Hold tools against this provider's demands; repeat for several
    /// [default: those of the suite's models, else anthropic, openai, google].
    #[arg(long = "provider", value_name = "NAME")]
    providers: Vec<String>,
    /// Seconds that a server may take to start, and to list.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    timeout: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(
                ExitCode::NoDecision,
                format_args!("cannot start a worker: {error}"),
            )
        })?;
    let (found, exit) = runtime.block_on(examine(arguments, ui))?;
    if arguments.json {
        ui.out(format_args!("{:#}", json!({"checks": found})));
    } else {
        ui.out(render(&found, &ui.style));
    }
    Ok(exit)
}

async fn examine(
    arguments: &Arguments,
    ui: &mut Ui,
) -> Result<(Vec<Check>, ExitCode), CommandError> {
    let mut findings = Vec::new();
    let suite = suite(arguments, ui)?;
    let mut providers = named_providers(arguments)?;
    if let Some(suite) = &suite {
        findings.push(checks::suite(suite));
        let (models, used) = checks::models(&suite.loaded.resolved, &environment::variable);
        findings.extend(models);
        if providers.list.is_empty() {
            providers = Providers {
                list: used,
                demanded: true,
            };
        }
    }
    if providers.list.is_empty() {
        providers.list = ["anthropic", "openai", "google"]
            .into_iter()
            .filter_map(find_provider)
            .collect();
    }
    match bindings(arguments, suite.as_ref())? {
        Ok(bindings) => {
            for binding in &bindings {
                let visit = probe(binding, Duration::from_secs(arguments.timeout)).await;
                findings.extend(checks::server(binding, &visit, &providers));
            }
        }
        Err(refusals) => findings.push(checks::unbound(&refusals, refusal::exit_code(&refusals))),
    }
    let exit = findings
        .iter()
        .filter(|finding| finding.check.verdict == CheckVerdict::Failed)
        .map(|finding| finding.exit)
        .reduce(ExitCode::worse)
        .unwrap_or(ExitCode::Passed);
    let checks = findings.into_iter().map(|finding| finding.check).collect();
    Ok((checks, exit))
}

/// Reads the suite that is named, or the one that lies here when nothing is.
fn suite(arguments: &Arguments, ui: &mut Ui) -> Result<Option<SuiteFile>, CommandError> {
    let alone =
        arguments.url.is_some() || !arguments.command.is_empty() || arguments.mcp_config.is_some();
    let path = match &arguments.suite {
        Some(path) => path.as_path(),
        None if alone => return Ok(None),
        None if Path::new(DEFAULT_SUITE).exists() => Path::new(DEFAULT_SUITE),
        None if !arguments.servers.is_empty() => return Ok(None),
        None => {
            return Err(CommandError::usage(format_args!(
                "nothing to check: no suite and no server is named, and there is no `{DEFAULT_SUITE}` here"
            ))
            .hint("strandline doctor suites/orders.yaml")
            .hint("strandline doctor -- npx -y @scope/server"));
        }
    };
    ui.suite(path).map(Some)
}

fn named_providers(arguments: &Arguments) -> Result<Providers, CommandError> {
    let mut list: Vec<&'static Provider> = Vec::new();
    for name in &arguments.providers {
        let Some(provider) = find_provider(name) else {
            let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            return Err(
                CommandError::usage(format_args!("no such provider: `{name}`"))
                    .hint(format_args!("known are `{}`", known.join("`, `"))),
            );
        };
        list.push(provider);
    }
    Ok(Providers {
        demanded: !list.is_empty(),
        list,
    })
}

/// Binds the servers that are to be visited; the inner error is a check.
fn bindings(
    arguments: &Arguments,
    suite: Option<&SuiteFile>,
) -> Result<Result<Vec<ServerBinding>, Vec<refusal::Refusal>>, CommandError> {
    let invocation_dir = std::env::current_dir().unwrap_or_default();
    let named = |names: &[String]| Target {
        servers: Some(
            names
                .iter()
                .map(|name| TargetServer {
                    name: name.clone(),
                    id: None,
                })
                .collect(),
        ),
        ..Target::default()
    };
    let target = match suite {
        Some(suite) => {
            let mut target = suite.loaded.resolved.target.clone();
            if !arguments.servers.is_empty() {
                let all = target.servers.take().unwrap_or_default();
                if let Some(unknown) = arguments
                    .servers
                    .iter()
                    .find(|name| !all.iter().any(|server| server.name.trim() == name.as_str()))
                {
                    let known: Vec<&str> = all.iter().map(|server| server.name.as_str()).collect();
                    return Err(CommandError::usage(format_args!(
                        "`{}` names no server `{unknown}`",
                        suite.name
                    ))
                    .hint(format_args!("it names `{}`", known.join("`, `"))));
                }
                let kept = all.into_iter().filter(|server| {
                    arguments
                        .servers
                        .iter()
                        .any(|name| server.name.trim() == name)
                });
                target.servers = Some(kept.collect());
            }
            target
        }
        None if arguments.servers.is_empty() => {
            named(&[guess(arguments.url.as_deref(), &arguments.command)])
        }
        None => named(&arguments.servers),
    };
    let overrides = Overrides {
        url: arguments.url.clone(),
        command: (!arguments.command.is_empty()).then(|| arguments.command.clone()),
        config: arguments.mcp_config.clone(),
        ..Overrides::default()
    };
    let request = BindingRequest {
        target: &target,
        suite_entries: suite.and_then(|suite| suite.loaded.server_entries()),
        suite_dir: suite.map_or(&invocation_dir, |suite| &suite.directory),
        invocation_dir: &invocation_dir,
        overrides: &overrides,
    };
    Ok(bind(&request, &Disk, &environment::variable))
}
