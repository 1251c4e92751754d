//! One winning entry: checked, expanded, made a transport (`suite-file.md` §9.2).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use serde_json::Value as Json;
use strandline_contract::{
    binding::{Credentials, HttpEndpoint, ServerBinding, Transport},
    redact::redact_text,
    words::RefusalCode,
};

use super::{Environment, FileSource, Found, config, expand::expand};
use crate::{
    load::Extensions,
    refusal::Refusal,
    rules::{
        At, Check, Path as Pointer,
        server::{self, Kind},
    },
    source::Span,
    yaml::{Entry, Item, Node, Value},
};

/// Makes the binding of one server, or says why its entry is not usable.
///
/// Names of unset environment variables go to `missing`.
pub(super) fn binding(
    name: &str,
    id: &str,
    found: &Found,
    files: &dyn FileSource,
    environment: Environment<'_>,
    missing: &mut BTreeSet<String>,
) -> Result<ServerBinding, Vec<Refusal>> {
    let kind = check(name, found)?;
    let entry = Reader {
        entry: &found.entry,
        environment,
        missing,
    };
    let transport = match kind {
        Kind::Stdio => stdio(entry, found),
        Kind::Http => Transport::Http(http(name, entry, found, files)?),
        Kind::Sse => Transport::Sse(http(name, entry, found, files)?),
    };
    Ok(ServerBinding {
        name: name.to_owned(),
        id: id.to_owned(),
        transport,
        display: display(&found.entry, kind),
    })
}

/// Checks the shape of a winning entry; other keys are other tools' business.
fn check(name: &str, found: &Found) -> Result<Kind, Vec<Refusal>> {
    let mut check = Check::new(Extensions::Strandline);
    let root = Pointer::Root;
    let path = Pointer::Key(&root, name);
    let at = At {
        node: &found.entry,
        path: &path,
    };
    server::entry(&mut check, at);
    match server::kind_of_entry(&found.entry) {
        Some(kind) if check.findings.is_empty() => Ok(kind),
        _ => Err(check
            .findings
            .into_iter()
            .map(|finding| match &found.source {
                Some((file, text)) => {
                    config::refusal(RefusalCode::ServerBindingInvalid, file, text, finding)
                }
                None => Refusal::new(RefusalCode::ServerBindingInvalid, finding.message),
            })
            .collect()),
    }
}

/// Reads the members of an entry, expanded.
struct Reader<'a> {
    entry: &'a Node,
    environment: Environment<'a>,
    missing: &'a mut BTreeSet<String>,
}

impl Reader<'_> {
    fn expanded(&mut self, text: &str) -> String {
        expand(text, self.environment, self.missing)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let text = self.entry.get(key)?.as_str()?;
        Some(self.expanded(text))
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let Some(list) = self.entry.get(key) else {
            return Vec::new();
        };
        list.items()
            .iter()
            .filter_map(|item| item.node.as_str())
            .map(|text| expand(text, self.environment, self.missing))
            .collect()
    }

    fn map(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(map) = self.entry.get(key) else {
            return BTreeMap::new();
        };
        map.entries()
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), entry.item.node.as_str()?)))
            .map(|(key, text)| (key, expand(text, self.environment, self.missing)))
            .collect()
    }
}

fn stdio(mut entry: Reader<'_>, found: &Found) -> Transport {
    let command = entry.text("command").unwrap_or_default();
    Transport::Stdio {
        command: program(&command, &found.dir),
        args: entry.list("args"),
        env: entry.map("env"),
        cwd: entry.text("cwd").map(|cwd| found.dir.join(cwd)),
    }
}

/// A program given as a relative path belongs to the declaring directory; a
/// bare name is looked up as usual.
fn program(command: &str, dir: &Path) -> String {
    let path = Path::new(command);
    if path.is_relative() && path.components().count() > 1
        || command.starts_with("./")
        || command.starts_with("../")
    {
        return dir.join(path).display().to_string();
    }
    command.to_owned()
}

fn http(
    name: &str,
    mut entry: Reader<'_>,
    found: &Found,
    files: &dyn FileSource,
) -> Result<HttpEndpoint, Vec<Refusal>> {
    let unset_before = entry.missing.len();
    let url = entry.text("url").unwrap_or_default();
    let complete = entry.missing.len() == unset_before;
    let headers = entry.map("headers");
    let credentials_file = entry.text("credentialsFile");
    let mut refusals = Vec::new();
    // An incomplete URL is told by the name that is not set.
    if complete && !is_http_url(&url) {
        refusals.push(Refusal::new(
            RefusalCode::ServerBindingInvalid,
            format!("server `{name}`: `url` is not an http or https URL once expanded"),
        ));
    }
    let credentials = match credentials_file {
        Some(file) if entry.missing.len() == unset_before => {
            match credentials(name, &found.dir.join(file), files) {
                Ok(credentials) => Some(credentials),
                Err(refusal) => {
                    refusals.push(refusal);
                    None
                }
            }
        }
        _ => None,
    };
    if refusals.is_empty() {
        Ok(HttpEndpoint {
            url,
            headers,
            credentials,
        })
    } else {
        Err(refusals)
    }
}

/// Reads a credentials file: JSON with `accessToken`, `refreshToken`,
/// `clientId`, `clientSecret`. No message shows what it holds.
fn credentials(name: &str, path: &Path, files: &dyn FileSource) -> Result<Credentials, Refusal> {
    let refuse = |why: &str| {
        let message = format!(
            "server `{name}`: credentials file `{}` {why}",
            path.display()
        );
        Refusal::new(RefusalCode::CredentialsMissing, message)
    };
    let text = match files.read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(refuse("does not exist")),
        Err(why) => return Err(refuse(&format!("cannot be read: {why}"))),
    };
    let document: Json =
        serde_json::from_str(&text).map_err(|_| refuse("is not a JSON document"))?;
    let member = |key: &str| match document.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(value)) if value.is_empty() => Ok(None),
        Some(Json::String(value)) => Ok(Some(value.clone())),
        Some(_) => Err(refuse(&format!("has a `{key}` that is not text"))),
    };
    let credentials = Credentials {
        access_token: member("accessToken")?,
        refresh_token: member("refreshToken")?,
        client_id: member("clientId")?,
        client_secret: member("clientSecret")?,
    };
    let refreshable = credentials.refresh_token.is_some() && credentials.client_id.is_some();
    if credentials.access_token.is_none() && !refreshable {
        return Err(refuse(
            "needs `accessToken`, or `refreshToken` with `clientId`",
        ));
    }
    Ok(credentials)
}

/// Returns whether a text is an http or https URL with a host.
pub(super) fn is_http_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| !host.is_empty())
    })
}

/// Makes the entry of a URL from the command line.
pub(super) fn of_url(url: &str) -> Arc<Node> {
    // `$${` cannot be written, so a literal reference in an option expands
    // like one in a file.
    map(vec![("url", text(url))])
}

/// Makes the entry of a command from the command line.
pub(super) fn of_command(command: &[String]) -> Arc<Node> {
    let (program, arguments) = command
        .split_first()
        .map_or(("", &[][..]), |(program, arguments)| {
            (program.as_str(), arguments)
        });
    let arguments = arguments.iter().map(|argument| Item::new(text(argument)));
    let arguments = Node::new(Value::Sequence(arguments.collect()), Span::default());
    map(vec![("command", text(program)), ("args", arguments)])
}

fn text(text: &str) -> Arc<Node> {
    Node::text(text, Span::default())
}

fn map(members: Vec<(&str, Arc<Node>)>) -> Arc<Node> {
    let entries = members
        .into_iter()
        .map(|(key, node)| Entry::new(key, Span::default(), node));
    Node::new(Value::Mapping(entries.collect()), Span::default())
}

/// The entry as it may be stored and shown: unexpanded, credentials masked,
/// names only for the environment and headers.
fn display(entry: &Node, kind: Kind) -> String {
    let text = |key: &str| {
        entry
            .get(key)
            .and_then(|node| node.as_str())
            .unwrap_or_default()
    };
    let names = |key: &str| -> String {
        let names: Vec<&str> = entry
            .get(key)
            .map(|map| {
                map.entries()
                    .iter()
                    .map(|entry| entry.key.as_str())
                    .collect()
            })
            .unwrap_or_default();
        if names.is_empty() {
            String::new()
        } else {
            format!(" ({key}: {})", names.join(", "))
        }
    };
    match kind {
        Kind::Stdio => {
            let arguments = entry
                .get("args")
                .map(|list| list.items())
                .unwrap_or_default();
            let words: Vec<&str> = std::iter::once(text("command"))
                .chain(arguments.iter().filter_map(|item| item.node.as_str()))
                .collect();
            format!("{}{}", redact_text(&words.join(" ")), names("env"))
        }
        Kind::Http | Kind::Sse => {
            format!(
                "{}{}",
                redact_text(&without_userinfo(text("url"))),
                names("headers")
            )
        }
    }
}

/// Masks `user:password@` of a URL, expanded or not.
fn without_userinfo(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at) => format!("{scheme}://***@{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}
