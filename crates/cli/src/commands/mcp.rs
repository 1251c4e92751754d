//! `strandline mcp`.

use std::{
    net::{SocketAddr, ToSocketAddrs},
    path::{Path, PathBuf},
    sync::Arc,
};

use strandline_contract::{canonical::sha256_hex, exit::ExitCode};
use strandline_eval_tools::{
    Desk, DeskOptions,
    http::{self, Guard},
    serve_stdio,
};
use strandline_service::project::Project;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    store::{StoreArguments, worker_threads},
    ui::{CommandError, CommandResult, Ui},
};

/// The variable that holds the token for `--http`.
const TOKEN: &str = "STRANDLINE_MCP_TOKEN";
/// The file that remembers trust, below the user's state directory.
const TRUST_FILE: &str = "strandline/trusted-servers.json";

/// Arguments of `strandline mcp`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Serve eval tools for coding agents over MCP: list, check and run suites, read \
        runs down to single trials, compare them.\n\n\
        Speaks over standard input and output unless --http is given. A suite whose servers are \
        not trusted yet is not run before the user was asked.",
    after_help = "With --http, a token in STRANDLINE_MCP_TOKEN must come with every request as \
        `Authorization: Bearer TOKEN`. Beyond loopback there always is one; without the variable \
        a random one is made and printed."
)]
pub struct Arguments {
    /// The project's root; suites outside of it are refused [default: this
    /// directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Serve streamable HTTP at this address, under `/mcp`, instead of standard
    /// input and output; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// A host name under which --http is reached, beside `localhost` and plain
    /// addresses.
    #[arg(long = "allow-host", value_name = "NAME", requires = "http")]
    hosts: Vec<String>,
    /// Run suites without asking whether their servers are trusted.
    #[arg(long)]
    trust_servers: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let desk = Arc::new(Desk::new(options(arguments)?));
    let runtime = worker_threads()?;
    let served = match &arguments.http {
        None => runtime.block_on(over_stdio(desk)),
        Some(address) => runtime.block_on(over_http(desk, address, arguments, ui)),
    };
    // A read of standard input cannot be called off.
    runtime.shutdown_background();
    served.map(|()| ExitCode::Passed)
}

/// Reads the command line and moves into the project's root: servers without a
/// directory of their own start there.
fn options(arguments: &Arguments) -> Result<DeskOptions, CommandError> {
    let named = arguments.project.as_deref().unwrap_or(Path::new("."));
    let project = Project::open(named)?;
    let store = std::path::absolute(arguments.store.path_in(project.root()));
    let cannot = |why: std::io::Error| {
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot work in `{}`: {why}", named.display()),
        )
    };
    let store = store.map_err(cannot)?;
    std::env::set_current_dir(project.root()).map_err(cannot)?;
    Ok(DeskOptions {
        project,
        store,
        trust_servers: arguments.trust_servers,
        trust_file: trust_file(|name| std::env::var_os(name)),
    })
}

/// Returns where trust is remembered: in the user's state directory.
fn trust_file(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let directory = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let state = directory("XDG_STATE_HOME");
    let state = state.or_else(|| directory("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join(TRUST_FILE))
}

async fn over_stdio(desk: Arc<Desk>) -> Result<(), CommandError> {
    serve_stdio(desk)
        .await
        .map_err(|error| CommandError::new(ExitCode::Setup, format_args!("no session: {error}")))
}

async fn over_http(
    desk: Arc<Desk>,
    address: &str,
    arguments: &Arguments,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let cannot = |why: &dyn std::fmt::Display| {
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot listen at `{address}`: {why}"),
        )
    };
    let listener = TcpListener::bind(resolved(address)?)
        .await
        .map_err(|error| cannot(&error))?;
    let bound = listener.local_addr().map_err(|error| cannot(&error))?;
    let given = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let local = http::is_local(&bound);
    let made = (given.is_none() && !local).then(random_token);
    ui.talk(format_args!("strandline mcp: http://{bound}{}", http::PATH));
    if !local {
        ui.talk("it is reachable from other machines; every request needs the token");
    }
    if let Some(token) = &made {
        ui.talk(format_args!("token (only shown now): {token}"));
    }
    let guard = Guard {
        token: given.or(made),
        hosts: arguments.hosts.clone(),
    };
    let stop = CancellationToken::new();
    let interrupted = stop.clone();
    tokio::spawn(async move {
        ended().await;
        interrupted.cancel();
    });
    http::serve_http(desk, listener, guard, stop)
        .await
        .map_err(|error| cannot(&error))
}

/// Waits until the process is asked to end.
async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a way to be told, it runs until it is killed.
        std::future::pending::<()>().await;
    }
}

fn resolved(address: &str) -> Result<SocketAddr, CommandError> {
    let found = address.to_socket_addrs().map(|mut found| found.next());
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) | Err(_) => Err(CommandError::usage(format_args!(
            "`{address}` is no address to listen at"
        ))
        .hint("`--http 127.0.0.1:8000`, or port 0 for a free one")),
    }
}

/// Makes a token from the random halves of two ids.
fn random_token() -> String {
    let ids = [uuid::Uuid::now_v7(), uuid::Uuid::now_v7()];
    let bytes: Vec<u8> = ids.iter().flat_map(|id| *id.as_bytes()).collect();
    sha256_hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_remembered_in_the_users_state_directory() {
        let of = |variables: &'static [(&str, &str)]| {
            trust_file(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).into())
            })
        };
        let file = |path: &str| Some(PathBuf::from(path));
        assert_eq!(
            of(&[("HOME", "/home/a")]),
            file("/home/a/.local/state/strandline/trusted-servers.json")
        );
        assert_eq!(
            of(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "/state")]),
            file("/state/strandline/trusted-servers.json")
        );
        assert_eq!(of(&[("XDG_STATE_HOME", "relative")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (random_token(), random_token());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
    }
}
