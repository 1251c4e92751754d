//! Findings about a server's surface; none of them changes a verdict.
//!
//! | module | answers |
//! |---|---|
//! | [`arguments`] | what a tool could be called with |
//! | [`output`] | whether a result keeps what its tool's output schema promises |
//! | [`providers`] | which model providers would refuse or rename a tool |
//! | [`schema`] | what is wrong in a JSON Schema: references, types |
//! | [`tools`] | what is wrong with a listed tool, whoever calls it |

pub mod arguments;
pub mod output;
pub mod providers;
pub mod schema;
pub mod tools;
