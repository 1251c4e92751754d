//! MCP servers made for tests: one that goes wrong on request, one that is fast.

mod calls;
pub mod echo;
pub mod faulty;
pub mod http;
mod odd_tools;
mod wire;

pub use self::calls::TOOLS;
