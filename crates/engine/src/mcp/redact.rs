//! Keeps expanded values and credentials out of everything we record.

use std::{borrow::Cow, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use strandline_contract::{
    binding::{HttpEndpoint, ServerBinding, Transport},
    secret::Secret,
};

/// What stands in place of a secret.
const MASK: &str = "***";

/// Shortest value that is looked for; shorter ones occur by chance.
const SHORTEST_SECRET: usize = 4;

/// How many JSON strings deep a value is looked for: a server's text may hold
/// JSON, its result is JSON, and so is what it came in.
const ESCAPED_LEVELS: usize = 3;

/// Headers whose values are never shown, whoever sent them.
const SECRET_HEADERS: [&str; 10] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-goog-api-key",
    "mcp-session-id",
    "location",
];

/// Replaces a server's secret values in text.
///
/// Secret is every value of a binding that is not written out in its entry,
/// every value of a credential-carrying header, and every stored credential.
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Arc<[String]>,
    /// Finds the longest needle first, so that a secret inside another does
    /// not split it; absent when nothing is secret.
    search: Option<AhoCorasick>,
}

impl Redactor {
    /// Collects the secrets of a binding.
    #[must_use]
    pub fn for_binding(binding: &ServerBinding) -> Self {
        let mut secrets: Vec<&str> = Vec::new();
        let mut expanded = |value: &'_ str| !written_in(&binding.display, value);
        match &binding.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd: _,
            } => {
                secrets.extend(
                    std::iter::once(command)
                        .chain(args)
                        .chain(env.values())
                        .map(String::as_str)
                        .filter(|value| expanded(value)),
                );
            }
            Transport::Http(endpoint) | Transport::Sse(endpoint) => {
                secrets.extend(endpoint_secrets(endpoint, &mut expanded));
            }
        }
        Self::new(secrets)
    }

    /// Collects the secrets of every server of a run, and values that are
    /// secret wherever they turn up.
    #[must_use]
    pub fn for_run(bindings: &[ServerBinding], secrets: &[Secret]) -> Self {
        bindings
            .iter()
            .map(Self::for_binding)
            .fold(Self::new(secrets.iter().map(Secret::expose)), |all, one| {
                all.and(&one)
            })
    }

    /// Collects the given values.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut needles = Vec::new();
        for secret in secrets {
            if secret.len() < SHORTEST_SECRET {
                continue;
            }
            // The same value inside a JSON string, that inside another, and so on.
            let mut form = secret.to_owned();
            for _ in 0..ESCAPED_LEVELS {
                let escaped = json_escaped(&form);
                if escaped == form {
                    break;
                }
                needles.push(std::mem::replace(&mut form, escaped));
            }
            needles.push(form);
        }
        Self::of(needles)
    }

    /// Returns a redactor that knows the secrets of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        if other.needles.is_empty() {
            return self.clone();
        }
        Self::of(
            self.needles
                .iter()
                .chain(&*other.needles)
                .cloned()
                .collect(),
        )
    }

    fn of(mut needles: Vec<String>) -> Self {
        needles.sort_unstable();
        needles.dedup();
        let search = if needles.is_empty() {
            None
        } else {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&needles)
                .ok()
        };
        Self {
            needles: needles.into(),
            search,
        }
    }

    /// Returns whether nothing is secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Returns the length of the longest secret.
    pub(crate) fn longest(&self) -> usize {
        self.needles.iter().map(String::len).max().unwrap_or(0)
    }

    /// Returns `text` without secrets.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(search) = &self.search else {
            return Cow::Borrowed(text);
        };
        let mut clean = String::new();
        let mut rest = 0;
        for found in search.find_iter(text) {
            clean.push_str(&text[rest..found.start()]);
            clean.push_str(MASK);
            rest = found.end();
        }
        if rest == 0 {
            return Cow::Borrowed(text);
        }
        clean.push_str(&text[rest..]);
        Cow::Owned(clean)
    }

    /// Removes secrets from `text` in place.
    pub fn string(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// Removes secrets from every string and key of `value`.
    pub fn value(&self, value: &mut Value) {
        if self.needles.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => self.object(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Removes secrets from every string and key of `members`.
    pub fn object(&self, members: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        let dirty: Vec<String> = members
            .keys()
            .filter(|key| matches!(self.text(key), Cow::Owned(_)))
            .cloned()
            .collect();
        for key in dirty {
            if let Some(member) = members.remove(&key) {
                members.insert(self.text(&key).into_owned(), member);
            }
        }
        members.values_mut().for_each(|member| self.value(member));
    }

    /// Returns a header's value as it may be shown.
    pub(crate) fn header<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        if is_secret_header(name) {
            Cow::Borrowed(MASK)
        } else {
            self.text(value)
        }
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Redactor({} values)", self.needles.len())
    }
}

/// Whether the value of a header is never shown.
fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS
        .iter()
        .any(|secret| name.eq_ignore_ascii_case(secret))
}

/// Whether the entry spells `value` out, plainly or as a JSON string.
fn written_in(display: &str, value: &str) -> bool {
    if display.contains(value) {
        return true;
    }
    display.contains(&json_escaped(value))
}

/// Returns `text` as it is written inside a JSON string.
fn json_escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn endpoint_secrets<'a>(
    endpoint: &'a HttpEndpoint,
    expanded: &mut impl FnMut(&str) -> bool,
) -> Vec<&'a str> {
    let mut secrets = Vec::new();
    // A URL is shown often: only its parts that may carry a secret are masked.
    if expanded(&endpoint.url) {
        secrets.push(endpoint.url.as_str());
        if let Some((_, query)) = endpoint.url.split_once('?') {
            secrets.push(query);
            secrets.extend(
                query
                    .split('&')
                    .filter_map(|pair| Some(pair.split_once('=')?.1)),
            );
        }
    }
    if let Some(credentials) = url_credentials(&endpoint.url) {
        secrets.push(credentials);
    }
    for (name, value) in &endpoint.headers {
        if is_secret_header(name) || expanded(value) {
            secrets.push(value);
            // `Bearer TOKEN`: the token alone is as secret as the whole.
            secrets.extend(value.split_once(' ').map(|(_, token)| token));
        }
    }
    if let Some(credentials) = &endpoint.credentials {
        secrets.extend(
            [
                &credentials.access_token,
                &credentials.refresh_token,
                &credentials.client_secret,
            ]
            .into_iter()
            .flatten()
            .map(String::as_str),
        );
    }
    secrets
}

/// Returns `user:password` of a URL that carries one.
fn url_credentials(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1;
    let authority = authority.split(['/', '?', '#']).next()?;
    Some(authority.rsplit_once('@')?.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn stdio(args: &[&str], env: &[(&str, &str)], display: &str) -> ServerBinding {
        ServerBinding {
            name: "orders".to_owned(),
            id: "orders".to_owned(),
            transport: Transport::Stdio {
                command: "node".to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                cwd: None,
            },
            display: display.to_owned(),
        }
    }

    #[test]
    fn expanded_values_are_masked_and_written_ones_are_not() {
        let redactor = Redactor::for_binding(&stdio(
            &["--key", "k-123\"456"],
            &[("MODE", "production"), ("TOKEN", "s3cret-token")],
            r#"{"command":"node","args":["--key","${KEY}"],"env":{"MODE":"production","TOKEN":"${T}"}}"#,
        ));
        assert_eq!(
            redactor.text("production node s3cret-token k-123\"456"),
            "production node *** ***"
        );
        assert_eq!(redactor.text(r#"{"k":"k-123\"456"}"#), r#"{"k":"***"}"#);
        let mut value = json!({"s3cret-token": ["a s3cret-token b", 1]});
        redactor.value(&mut value);
        assert_eq!(value, json!({"***": ["a *** b", 1]}));
    }

    #[test]
    fn credential_headers_are_masked_even_when_written_out() {
        let binding = ServerBinding {
            name: "api".to_owned(),
            id: "api".to_owned(),
            transport: Transport::Http(HttpEndpoint {
                url: "https://user:pass@example.test/mcp?key=abcdef".to_owned(),
                headers: BTreeMap::from([
                    (
                        "Authorization".to_owned(),
                        "Bearer written-token".to_owned(),
                    ),
                    ("X-Tenant".to_owned(), "acme".to_owned()),
                ]),
                credentials: None,
            }),
            display: "https://user:pass@example.test/mcp?key=${KEY} Bearer written-token acme"
                .to_owned(),
        };
        let redactor = Redactor::for_binding(&binding);
        assert_eq!(
            redactor.text("written-token user:pass abcdef acme"),
            "*** *** *** acme"
        );
        assert_eq!(redactor.header("set-cookie", "a=b"), "***");
        assert_eq!(redactor.header("server", "nginx"), "nginx");
    }
}
