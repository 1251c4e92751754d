//! Test doubles and harness: fake model endpoint, fault-injecting MCP server, vector runner.

pub mod vectors;
