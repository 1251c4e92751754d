//! The names under which a browser may reach us.
//!
//! A page elsewhere can make its own name resolve to this machine (DNS
//! rebinding) and then read answers as if they were its own. The name still
//! stands in the request's `Host`, so only known names are answered.

use std::net::{IpAddr, SocketAddr};

/// Which `Host` values are ours.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// The address that is listened on.
    listening: IpAddr,
    /// Further names, lower case, without a port.
    names: Vec<String>,
}

impl Hosts {
    /// Returns the names of a listener; `more` are names without a port that a
    /// user gave.
    #[must_use]
    pub fn of(listening: SocketAddr, more: &[String]) -> Self {
        let mut names: Vec<String> = more.iter().map(|name| name.to_ascii_lowercase()).collect();
        if listening.ip().is_loopback() || listening.ip().is_unspecified() {
            names.push("localhost".to_owned());
        }
        Self {
            listening: listening.ip(),
            names,
        }
    }

    /// Tells whether a `Host` is ours. The port does not matter: it may be
    /// forwarded, and another port is no other site's name.
    ///
    /// Where all addresses are listened on, every literal address is ours: it
    /// takes a name to rebind.
    #[must_use]
    pub fn knows(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else {
            return false;
        };
        let literal = name
            .strip_prefix('[')
            .map_or(name, |name| name.strip_suffix(']').unwrap_or(name));
        if let Ok(address) = literal.parse::<IpAddr>() {
            return address == self.listening
                || self.listening.is_unspecified()
                || (address.is_loopback() && self.listening.is_loopback());
        }
        let name = name.to_ascii_lowercase();
        self.names.contains(&name)
    }
}

/// Returns a `Host` without its port; `None` when it is none.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(']') {
        Some(end) => host.split_at(end + 1),
        None => match host.find(':') {
            Some(colon) => host.split_at(colon),
            None => (host, ""),
        },
    };
    let port_is_sound = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    (port_is_sound && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listening: &str, more: &[&str]) -> Hosts {
        let more: Vec<String> = more.iter().map(|name| (*name).to_owned()).collect();
        Hosts::of(listening.parse().expect("an address"), &more)
    }

    #[test]
    fn loopback_knows_its_own_names_only() {
        let hosts = hosts("127.0.0.1:7357", &[]);
        for known in ["127.0.0.1:7357", "localhost:7357", "LOCALHOST", "[::1]:80"] {
            assert!(hosts.knows(known), "{known}");
        }
        for foreign in [
            "evil.example",
            "evil.example:7357",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            ":7357",
            "localhost:",
            "localhost:80@evil.example",
        ] {
            assert!(!hosts.knows(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_public_listener_knows_addresses_and_given_names() {
        let hosts = hosts("0.0.0.0:80", &["Evals.internal"]);
        for known in [
            "192.0.2.7",
            "[2001:db8::1]:80",
            "localhost",
            "evals.internal:80",
        ] {
            assert!(hosts.knows(known), "{known}");
        }
        assert!(!hosts.knows("evil.example"));
    }
}
