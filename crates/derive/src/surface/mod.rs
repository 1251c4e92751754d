//! Findings about a server's surface; none of them changes a verdict.
//!
//! | module | answers |
//! |---|---|
//! | [`providers`] | which model providers would refuse or rename a tool |
//! | [`arguments`] | what a tool could be called with

pub mod arguments;
pub mod providers;
