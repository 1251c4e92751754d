//! `strandline ui`.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use strandline_contract::exit::ExitCode;
use strandline_engine::run::Stop;
use strandline_service::{
    launch::Launcher,
    project::{PROJECT_DIRECTORY, Project},
};
use strandline_store::{Store, StoreError};
use strandline_web::{App, Hosts, Settings, Token, router, serve};
use tokio::net::TcpListener;

use super::run::watch_signals;
use crate::{
    store::{StoreArguments, worker_threads},
    ui::{CommandError, CommandResult, Ui},
};

/// The port that is tried first when none is named.
const USUAL_PORT: u16 = 7357;

/// Arguments of `strandline ui`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Serve pages and an HTTP API over the stored runs, until Ctrl-C.\n\n\
        It listens on loopback only, where reading is open to this machine and every change needs \
        a token that the pages know. Where `--listen` names more than loopback, reading needs the \
        token too.",
    after_help = "The first line of standard output is the address. Connections are not encrypted: \
        beyond this machine, put a proxy with TLS in front and name it with `--allow-host`."
)]
pub struct Arguments {
    /// Listen here [default: port 7357 of 127.0.0.1, or a free one]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// A further name under which browsers may come; repeat for several
    #[arg(long = "allow-host", value_name = "NAME")]
    allowed_hosts: Vec<String>,
    /// The token [default: a random one]
    #[arg(
        long,
        value_name = "TOKEN",
        env = "STRANDLINE_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
    /// Open the pages in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    worker_threads()?.block_on(serve_pages(arguments, ui))
}

async fn serve_pages(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let token = match &arguments.token {
        None => Token::random().map_err(|why| CommandError::new(ExitCode::Setup, why))?,
        Some(text) => Token::chosen(text)
            .map_err(|why| CommandError::usage(why).hint("leave `--token` out for a random one"))?,
    };
    let path = arguments.store.path()?;
    let (store, launcher) = open(&path, ui).await?;
    let project = Project::open(&project_of(&path))?;
    let listener = listen(arguments.listen.as_deref()).await?;
    let address = listener
        .local_addr()
        .map_err(|error| CommandError::new(ExitCode::Setup, format_args!("no address: {error}")))?;
    let public = !address.ip().is_loopback();
    let mut names = arguments.allowed_hosts.clone();
    names.extend(arguments.listen.as_deref().and_then(name_of));
    let pages = format!("http://{}/", shown(address));
    let way_in = format!("{pages}?token={}", token.expose());
    let stopping = Stop::new();
    let app = App::new(
        Settings {
            store: store.clone(),
            launcher,
            project,
            token,
            reading_needs_token: public,
            hosts: Hosts::of(address, &names),
        },
        stopping.clone(),
    );
    ui.out(&pages);
    if public {
        ui.talk(format_args!(
            "listening on {address}, which is more than loopback: reading needs the token too, and \
             nothing is encrypted"
        ));
        if arguments.token.is_none() {
            ui.talk(format_args!("open it with its token: {way_in}"));
        }
    }
    ui.talk(format_args!(
        "serving the runs in `{}`; Ctrl-C stops",
        path.display()
    ));
    if arguments.open {
        let target = if public { &way_in } else { &pages };
        if let Err(why) = browse(target) {
            ui.talk(format_args!("warning: no browser was opened: {why}"));
        }
    }
    let watching = watch_signals(stopping.clone());
    let served = serve(listener, router(app.clone()), stopping).await;
    if app.is_running() {
        ui.talk(
            "stopping: runs that were started here are stored as far as they came; again to abort",
        );
    }
    app.finish().await;
    watching.abort();
    store.close().await?;
    served.map_err(|error| {
        CommandError::new(ExitCode::Setup, format_args!("cannot listen: {error}"))
    })?;
    ui.talk("stopped");
    Ok(ExitCode::Passed)
}

/// Opens the store for writing, or for reading where it cannot be written.
async fn open(path: &Path, ui: &mut Ui) -> Result<(Store, Option<Launcher>), CommandError> {
    match Store::open(path).await {
        Ok(store) => Ok((store.clone(), Some(Launcher::new(store)))),
        Err(error @ (StoreError::ReadOnly { .. } | StoreError::NewerFormat { .. })) => {
            let store = Store::open_read_only(path).await?;
            ui.talk(format_args!(
                "warning: {error}; runs can be read here and not started"
            ));
            Ok((store, None))
        }
        Err(error) => Err(error.into()),
    }
}

async fn listen(named: Option<&str>) -> Result<TcpListener, CommandError> {
    let cannot = |place: &str, error: &io::Error| {
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot listen on `{place}`: {error}"),
        )
        .hint("name another place with `--listen HOST:PORT`; port 0 is a free one")
    };
    if let Some(place) = named {
        let listener = TcpListener::bind(place).await;
        return listener.map_err(|error| cannot(place, &error));
    }
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    match TcpListener::bind(loopback(USUAL_PORT)).await {
        Ok(listener) => Ok(listener),
        Err(_) => {
            let free = TcpListener::bind(loopback(0)).await;
            free.map_err(|error| cannot("127.0.0.1", &error))
        }
    }
}

/// Returns the host of `HOST:PORT` when it is a name.
fn name_of(place: &str) -> Option<String> {
    let (host, _) = place.rsplit_once(':')?;
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal.parse::<IpAddr>().is_err().then(|| host.to_owned())
}

/// Returns an address that a browser on this machine can open.
fn shown(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V6(std::net::Ipv6Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

/// Returns the directory whose runs a store keeps.
fn project_of(store: &Path) -> PathBuf {
    let absolute = std::path::absolute(store).unwrap_or_else(|_| store.to_path_buf());
    let own = absolute
        .parent()
        .filter(|own| own.ends_with(PROJECT_DIRECTORY));
    match own.and_then(Path::parent) {
        Some(project) => project.to_path_buf(),
        None => std::env::current_dir().unwrap_or_default(),
    }
}

fn browse(target: &str) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    std::process::Command::new(opener)
        .arg(target)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_listen_is_a_name_of_ours() {
        assert_eq!(
            name_of("evals.internal:80").as_deref(),
            Some("evals.internal")
        );
        assert_eq!(name_of("127.0.0.1:80"), None);
        assert_eq!(name_of("[::1]:80"), None);
    }

    #[test]
    fn an_address_of_all_interfaces_is_shown_as_loopback() {
        let all: SocketAddr = "0.0.0.0:80".parse().expect("an address");
        assert_eq!(shown(all).to_string(), "127.0.0.1:80");
        let all: SocketAddr = "[::]:80".parse().expect("an address");
        assert_eq!(shown(all).to_string(), "[::1]:80");
    }
}
