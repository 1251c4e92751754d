//! Environment variables as suites see them.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_binary_has_a_name() {
        let name = variable(STRANDLINE_EXE).expect("the test binary has a path");
        assert!(std::path::Path::new(&name).is_absolute());
        assert_eq!(variable("STRANDLINE_SURELY_UNSET"), None);
    }
}
