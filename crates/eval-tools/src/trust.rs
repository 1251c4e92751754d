//! Which servers may be started or reached because of a suite.
//!
//! A suite file can name any command, and an agent can write a suite file. So
//! a server is trusted by what is really started or reached, never by its name
//! or by the file that names it. Trust lasts for the session, or, when the user
//! says so, in a file of the user's own outside every project.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use strandline_contract::{
    binding::{ServerBinding, Transport},
    canonical::{sha256_canonical, sha256_hex},
};
use strandline_report::escape;

/// The version of the file.
const VERSION: u64 = 1;
/// Longest entry shown.
const MAX_SHOWN: usize = 400;

/// A server that a run would use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Identifies what is started or reached.
    pub(crate) fingerprint: String,
    /// Its name in the suite.
    pub(crate) name: String,
    /// What would be done, for the user to read; without secrets.
    pub(crate) shown: String,
}

/// Returns what a run would start or reach for a binding; `here` is the
/// directory that a command without one of its own starts in.
pub(crate) fn candidate(binding: &ServerBinding, here: &Path) -> Candidate {
    let entry = escape::line(&binding.display, MAX_SHOWN);
    let (identity, shown) = match &binding.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let cwd = cwd.as_deref().unwrap_or(here);
            // Variables can change what a command runs as much as arguments can.
            let environment: Vec<_> = env
                .iter()
                .map(|(name, value)| json!([name, sha256_hex(value.as_bytes())]))
                .collect();
            let identity = json!({
                "kind": "stdio", "command": command, "args": args,
                "cwd": cwd.display().to_string(), "env": environment,
            });
            let place = escape::line(&cwd.display().to_string(), MAX_SHOWN);
            (
                identity,
                format!("start the command `{entry}` in `{place}`"),
            )
        }
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            let identity = json!({ "kind": binding.transport.kind(), "url": endpoint.url });
            (identity, format!("connect to `{entry}`"))
        }
    };
    Candidate {
        fingerprint: sha256_canonical(&identity),
        name: binding.name.clone(),
        shown,
    }
}

/// What the user trusts.
#[derive(Debug)]
pub(crate) struct Trust {
    /// Everything, for this session.
    everything: bool,
    /// The user's own file, where there is a place for one.
    file: Option<PathBuf>,
    /// What was trusted in this session.
    session: Mutex<BTreeSet<String>>,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    version: u64,
    servers: Vec<RememberedServer>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RememberedServer {
    fingerprint: String,
    server: String,
    shown: String,
    project: String,
}

impl Trust {
    pub(crate) fn new(everything: bool, file: Option<PathBuf>) -> Self {
        Self {
            everything,
            file,
            session: Mutex::default(),
        }
    }

    /// Returns the servers that are not trusted yet.
    pub(crate) fn missing(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        if self.everything {
            return Vec::new();
        }
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that cannot be read trusts nothing.
        let remembered = self.read().unwrap_or_default();
        candidates
            .into_iter()
            .filter(|candidate| {
                let known = |server: &RememberedServer| server.fingerprint == candidate.fingerprint;
                !session.contains(&candidate.fingerprint) && !remembered.iter().any(known)
            })
            .collect()
    }

    /// Trusts servers for this session.
    pub(crate) fn trust(&self, candidates: &[Candidate]) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.extend(
            candidates
                .iter()
                .map(|candidate| candidate.fingerprint.clone()),
        );
    }

    /// Trusts servers in later sessions too.
    ///
    /// # Errors
    ///
    /// Why that cannot be written down.
    pub(crate) fn remember(&self, candidates: &[Candidate], project: &Path) -> Result<(), String> {
        let Some(file) = &self.file else {
            return Err("no state directory is known: set `XDG_STATE_HOME` or `HOME`".to_owned());
        };
        let cannot = |error: io::Error| format!("cannot write `{}`: {error}", file.display());
        let mut servers = self
            .read()
            .map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        for candidate in candidates {
            servers.retain(|server| server.fingerprint != candidate.fingerprint);
            servers.push(RememberedServer {
                fingerprint: candidate.fingerprint.clone(),
                server: candidate.name.clone(),
                shown: candidate.shown.clone(),
                project: project.display().to_string(),
            });
        }
        let document = Remembered {
            version: VERSION,
            servers,
        };
        let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
        let directory = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(cannot)?;
        // Other processes read the old file or the new one, never half of one.
        let partial = file.with_extension(format!("{}.tmp", std::process::id()));
        write_private(&partial, &(text + "\n")).map_err(cannot)?;
        fs::rename(&partial, file).map_err(cannot)
    }

    fn read(&self) -> Result<Vec<RememberedServer>, String> {
        let Some(file) = &self.file else {
            return Ok(Vec::new());
        };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        };
        let document: Remembered =
            serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("it has version {}", document.version));
        }
        Ok(document.servers)
    }
}

/// Writes a file that only its owner reads.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use strandline_contract::binding::HttpEndpoint;

    use super::*;

    fn stdio(command: &str, args: &[&str], env: &[(&str, &str)], cwd: Option<&str>) -> Candidate {
        let binding = ServerBinding {
            name: "orders".to_owned(),
            id: "orders".to_owned(),
            display: format!("{command} ${{TOKEN}}"),
            transport: Transport::Stdio {
                command: command.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                cwd: cwd.map(PathBuf::from),
            },
        };
        candidate(&binding, Path::new("/project"))
    }

    #[test]
    fn a_server_is_known_by_everything_that_decides_what_runs() {
        let known = stdio("node", &["server.js"], &[], None);
        assert_eq!(known, stdio("node", &["server.js"], &[], None));
        for other in [
            stdio("node", &["other.js"], &[], None),
            stdio("node", &["server.js", "--x"], &[], None),
            stdio("deno", &["server.js"], &[], None),
            stdio(
                "node",
                &["server.js"],
                &[("NODE_OPTIONS", "--require ./evil.js")],
                None,
            ),
            stdio("node", &["server.js"], &[], Some("/elsewhere")),
        ] {
            assert_ne!(known.fingerprint, other.fingerprint, "{other:?}");
        }
        // The directory that is used anyway is no difference.
        assert_eq!(
            known.fingerprint,
            stdio("node", &["server.js"], &[], Some("/project")).fingerprint
        );
        assert!(
            known.shown.contains("${TOKEN}"),
            "shown unexpanded: {}",
            known.shown
        );
    }

    #[test]
    fn a_url_is_known_whatever_its_headers_are() {
        let reached = |url: &str, header: &str| {
            let headers = BTreeMap::from([("Authorization".to_owned(), header.to_owned())]);
            let endpoint = HttpEndpoint {
                url: url.to_owned(),
                headers,
                credentials: None,
            };
            let binding = ServerBinding {
                name: "orders".to_owned(),
                id: "orders".to_owned(),
                display: url.to_owned(),
                transport: Transport::Http(endpoint),
            };
            candidate(&binding, Path::new("/project"))
        };
        let known = reached("https://a.example/mcp", "Bearer one");
        assert_eq!(
            known.fingerprint,
            reached("https://a.example/mcp", "Bearer two").fingerprint
        );
        assert_ne!(
            known.fingerprint,
            reached("https://b.example/mcp", "Bearer one").fingerprint
        );
    }

    #[test]
    fn trust_lasts_for_the_session_unless_it_is_remembered() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("state/trusted-servers.json");
        let server = stdio("node", &["server.js"], &[], None);
        let missing = |trust: &Trust| trust.missing(vec![server.clone()]).len();

        let session = Trust::new(false, Some(file.clone()));
        assert_eq!(missing(&session), 1);
        session.trust(std::slice::from_ref(&server));
        assert_eq!(missing(&session), 0);
        assert_eq!(missing(&Trust::new(false, Some(file.clone()))), 1);

        session
            .remember(std::slice::from_ref(&server), Path::new("/project"))
            .expect("it is written");
        assert_eq!(missing(&Trust::new(false, Some(file.clone()))), 0);
        assert_eq!(missing(&Trust::new(false, None)), 1);
        assert_eq!(missing(&Trust::new(true, None)), 0);
        let text = fs::read_to_string(&file).expect("the file is there");
        assert!(text.contains("${TOKEN}"), "{text}");
    }

    #[test]
    fn a_file_that_cannot_be_read_trusts_nothing_and_is_not_overwritten() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("trusted-servers.json");
        let server = stdio("node", &[], &[], None);
        for text in ["no json", r#"{"version":2,"servers":[]}"#] {
            fs::write(&file, text).expect("writes");
            let trust = Trust::new(false, Some(file.clone()));
            assert_eq!(trust.missing(vec![server.clone()]).len(), 1);
            let refused = trust.remember(std::slice::from_ref(&server), Path::new("/p"));
            assert!(refused.is_err());
            assert_eq!(fs::read_to_string(&file).expect("reads"), text);
        }
    }
}
