//! `strandline mcp`: the eval tools as clients meet them.

mod conformance;
mod evals;
mod inspector;
mod paths;
mod reading;
mod running;
mod session;
mod trust;

use std::{fs, path::Path};

use assert_cmd::Command;
use tempfile::TempDir;

/// A suite of two cases on the built-in order desk; one passes, one does not.
const SUITE: &str = r#"
schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: { id: s_desk, name: Desk }
target: { servers: [{ name: orders }] }
mcpServers:
  orders: { command: "${STRANDLINE_EXE:-strandline}", args: [demo-server] }
defaults: { model: scripted/desk, iterations: 3, passThreshold: 1, validity: {} }
cases:
  - id: looks-up
    title: Looks an order up
    steps:
      - { id: ask, kind: prompt, prompt: "Where is order 1017?" }
    assertions:
      - { type: toolCalledAtLeastOnce, toolName: get_order }
    script:
      - call: [{ tool: get_order, arguments: { id: 1017 } }]
      - say: "It is {{1/structuredContent/status}}."
  - id: refunds
    title: Refunds an order
    steps:
      - { id: ask, kind: prompt, prompt: "Refund order 1017." }
    assertions:
      - { type: toolCalledAtLeastOnce, toolName: refund_order }
    script:
      - say: "I cannot do that."
"#;

/// A project in a private home.
pub(crate) struct Project {
    directory: TempDir,
}

impl Project {
    /// Makes a project with the suite `evals/desk.yaml`.
    pub(crate) fn new() -> Self {
        let project = Self {
            directory: TempDir::new().expect("a temporary directory"),
        };
        project.write("evals/desk.yaml", SUITE);
        project
    }

    /// The project's root; the home lies beside it.
    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("project")
    }

    pub(crate) fn home(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("makes directories");
        fs::write(path, text).expect("writes");
    }

    /// Runs the binary in the project.
    pub(crate) fn strandline(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        Command::new(env!("CARGO_BIN_EXE_strandline"))
            .args(arguments)
            .current_dir(self.root())
            .env("HOME", self.home())
            .env_remove("XDG_STATE_HOME")
            .env_remove("STRANDLINE_STORE")
            .assert()
    }

    /// Runs the suite, which does not pass.
    pub(crate) fn run(&self) {
        self.strandline(&["run", "evals/desk.yaml", "--quiet"])
            .code(1);
    }
}
