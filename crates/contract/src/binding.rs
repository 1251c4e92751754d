//! How a server's name is bound to a transport (`suite-file.md` §9.2).

use std::{collections::BTreeMap, path::PathBuf};

/// A server entry after `${NAME}` expansion, ready to connect.
///
/// Values may be secret: `Debug` shows names and counts only.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerBinding {
    /// The server's name in the suite.
    pub name: String,
    /// Its id in the suite, or its name.
    pub id: String,
    /// How it is reached.
    pub transport: Transport,
    /// The entry as written, unexpanded: safe to store and show.
    pub display: String,
}

/// A transport with its expanded values.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process spoken to over its standard streams.
    Stdio {
        /// Program; never passed to a shell.
        command: String,
        /// Arguments.
        args: Vec<String>,
        /// Added to the inherited environment.
        env: BTreeMap<String, String>,
        /// Working directory; absent means the invocation directory.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http(HttpEndpoint),
    /// The older HTTP+SSE transport.
    Sse(HttpEndpoint),
}

/// An HTTP server under test.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpEndpoint {
    /// `http` or `https` URL.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// OAuth credentials read from a file (`accessToken`, …).
    pub credentials: Option<Credentials>,
}

/// OAuth credentials of a headless run.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Sent as a bearer token.
    pub access_token: Option<String>,
    /// Exchanged for a new access token.
    pub refresh_token: Option<String>,
    /// OAuth client id.
    pub client_id: Option<String>,
    /// OAuth client secret.
    pub client_secret: Option<String>,
}

impl Transport {
    /// Returns `stdio`, `http` or `sse`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }
}

impl std::fmt::Debug for ServerBinding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ServerBinding")
            .field("name", &self.name)
            .field("transport", &self.transport.kind())
            .field("display", &self.display)
            .finish()
    }
}
