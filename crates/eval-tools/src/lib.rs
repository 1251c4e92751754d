//! Eval tools for coding agents, over MCP.
//!
//! One server for both transports. Tools read the run store, check suite files
//! and run suites; every answer is structured, bounded in size and carries a
//! short text for people.
//!
//! | question | module |
//! |---|---|
//! | which tools are there, and when is which used? | `tools`, one file per subject |
//! | what is a tool, and how is it called? | `tool` |
//! | what is said when something cannot be done? | `failure` |
//! | how large may an answer be, and how is it paged? | `bounds` |
//! | which project, store and runs do tools see? | `desk` |
//! | what does the protocol ask, and who answers? | `server` |
//! | which resources and prompts are there? | `resources`, `prompts` |
//! | how is the server reached over HTTP? | `http` |

mod bounds;
mod desk;
mod failure;
mod prompts;
mod resources;
mod server;
mod tool;
mod tools;

pub use desk::Desk;
pub use server::{EvalServer, serve_stdio};
