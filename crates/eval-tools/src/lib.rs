//! Eval tools for coding agents, over MCP.
