//! Runs suites: MCP client and capture, model providers, runner.

pub mod judge;
pub mod mcp;
pub mod models;
pub mod run;
mod tls;
