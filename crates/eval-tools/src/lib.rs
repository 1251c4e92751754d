//! Eval tools for coding agents, over MCP.
//!
//! One server for both transports. Tools read the run store, check suite files
//! and run suites; every answer is structured, bounded in size and carries a
//! short text for people.
//!
//! | question | module |
//! |---|---|
//! | which tools are there, and when is which used? | `tools`, one file per subject |
//! | what is a tool, and how is it called and listed? | `tool`, `schema` |
//! | what is said when something cannot be done? | `failure` |
//! | how large may an answer be, and how is it paged? | `bounds` |
//! | which project, store and runs do tools see? | `desk` |
//! | which files may be named, and which servers started? | `confine`, `trust`, `asking` |
//! | what does the protocol ask, and who answers? | `server` |
//! | which resources and prompts are there? | `resources`, `prompts`, `completions` |
//! | how is the server reached over HTTP? | [`http`] |

mod asking;
mod bounds;
mod completions;
mod confine;
mod desk;
mod failure;
pub mod http;
mod prompts;
mod resources;
mod schema;
mod server;
mod tool;
mod tools;
mod trust;

pub use desk::{Desk, DeskOptions};
pub use server::{EvalServer, serve_stdio};
