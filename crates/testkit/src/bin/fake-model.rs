//! A model endpoint on loopback for benchmarks and demos: one tool call, then
//! a text.
//!
//! ```text
//! fake-model [--port N] [--latency-ms N] [--tool NAME] [--arguments JSON] [--text TEXT]
//! ```
//!
//! Prints its base URL on one line and serves until it is killed. Without
//! `--tool` it calls the first tool offered.

use std::{error::Error, io::Write as _, process::ExitCode, time::Duration};

use serde_json::{Value, json};
use strandline_testkit::model::{FakeModel, Playbook};

struct Options {
    port: u16,
    latency: Duration,
    tool: Option<String>,
    arguments: Value,
    text: String,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        port: 0,
        latency: Duration::ZERO,
        tool: None,
        arguments: json!({}),
        text: "Done.".to_owned(),
    };
    while let Some(flag) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--port" => options.port = value.parse()?,
            "--latency-ms" => options.latency = Duration::from_millis(value.parse()?),
            "--tool" => options.tool = Some(value),
            "--arguments" => options.arguments = serde_json::from_str(&value)?,
            "--text" => options.text = value,
            _ => return Err(format!("`{flag}` is not known").into()),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "fake-model: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = options(std::env::args().skip(1))?;
    let playbook = Playbook::CallThenText {
        tool: options.tool,
        arguments: options.arguments,
        text: options.text,
    };
    let server = FakeModel::bind(options.port, playbook, options.latency, false).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", server.base_url())?;
    stdout.flush()?;
    std::future::pending().await
}
