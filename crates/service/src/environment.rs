//! Environment variables as suites see them.

use strandline_contract::{redact::is_secret_key, secret::Secret};

/// Shortest value that is masked for its variable's name alone: shorter ones,
/// such as `true`, are words of their own.
const SHORTEST_SECRET: usize = 8;

/// Names the running binary in `mcpServers`: `command: "${STRANDLINE_EXE}"`.
///
/// Set by Strandline itself, so that example suites can start the demo server
/// wherever the binary lies. A value from outside wins.
pub const STRANDLINE_EXE: &str = "STRANDLINE_EXE";

/// Returns the value of a variable for `${NAME}` in a suite or `mcp.json`.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    if let Ok(value) = std::env::var(name) {
        return Some(value);
    }
    if name != STRANDLINE_EXE {
        return None;
    }
    let binary = std::env::current_exe().ok()?;
    binary.into_os_string().into_string().ok()
}

/// Returns the values of the variables whose names say that they are secret.
///
/// Servers inherit the environment, and one that prints it would otherwise put
/// a provider's key into a trace.
#[must_use]
pub fn secrets() -> Vec<Secret> {
    secrets_of(
        std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }),
    )
}

fn secrets_of(variables: impl Iterator<Item = (String, String)>) -> Vec<Secret> {
    variables
        .filter(|(name, value)| is_secret_key(name) && value.len() >= SHORTEST_SECRET)
        .map(|(_, value)| Secret::new(value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_named_after_secrets_are_secret() {
        let variables = [
            ("OPENAI_API_KEY", "sk-0123456789"),
            ("GITHUB_TOKEN", "ghx-0123456789"),
            ("USE_TOKENS", "true"),
            ("HOME", "/home/somebody"),
        ];
        let secrets = secrets_of(
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let exposed: Vec<&str> = secrets.iter().map(Secret::expose).collect();
        assert_eq!(exposed, ["sk-0123456789", "ghx-0123456789"]);
    }

    #[test]
    fn the_running_binary_has_a_name() {
        let name = variable(STRANDLINE_EXE).expect("the test binary has a path");
        assert!(std::path::Path::new(&name).is_absolute());
        assert_eq!(variable("STRANDLINE_SURELY_UNSET"), None);
    }
}
