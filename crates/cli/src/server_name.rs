//! A server's name when nobody gives one: what runs, or where.

/// Programs that run another one, which is the one that names the server.
const LAUNCHERS: [&str; 10] = [
    "bun", "bunx", "cargo", "deno", "docker", "node", "npx", "python", "python3", "uvx",
];

/// Guesses a name from a URL or a command: letters, digits and `-`.
#[must_use]
pub fn guess(url: Option<&str>, command: &[String]) -> String {
    let guessed = match (url, command) {
        (Some(url), _) => host_of(url),
        // `npx -y @scope/server-orders@1` is named by what it runs.
        (None, [program, rest @ ..]) => {
            let program = base_name(program);
            if LAUNCHERS.contains(&program) {
                rest.iter()
                    .find(|word| !word.starts_with('-') && *word != "run")
                    .map_or(program, |word| base_name(word))
            } else {
                program
            }
        }
        (None, []) => "server",
    };
    let name: String = guessed
        .chars()
        .take_while(|character| *character != '@')
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .collect();
    match name.trim_matches('-') {
        "" => "server".to_owned(),
        name => name.to_owned(),
    }
}

fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.strip_prefix('@').unwrap_or(name);
    [".js", ".mjs", ".cjs", ".ts", ".py", ".exe"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name)
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    host.split(':').next().unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        guess(None, &words)
    }

    #[test]
    fn servers_are_named_by_what_runs() {
        assert_eq!(
            command(&["npx", "-y", "@acme/server-orders@1.2"]),
            "server-orders"
        );
        assert_eq!(command(&["node", "dist/orders.js", "--stdio"]), "orders");
        assert_eq!(command(&["./target/debug/orders-server"]), "orders-server");
        assert_eq!(command(&["uvx", "mcp-server-time"]), "mcp-server-time");
        assert_eq!(command(&["docker", "run", "-i", "acme/orders"]), "orders");
        assert_eq!(command(&["…"]), "server");
        assert_eq!(command(&[]), "server");
    }

    #[test]
    fn servers_over_http_are_named_by_their_host() {
        let url = "https://user@mcp.example.com:8443/v1/mcp";
        assert_eq!(guess(Some(url), &[]), "mcp-example-com");
    }
}
