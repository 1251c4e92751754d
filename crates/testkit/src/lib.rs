//! Test doubles and harness: fake model endpoint, fault-injecting MCP server, vector runner.

pub mod http;
pub mod mcp;
pub mod model;
mod programs;
pub mod vectors;

pub use programs::program;
