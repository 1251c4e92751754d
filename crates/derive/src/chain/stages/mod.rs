//! One rule table per stage (`chain.md` §8): first match wins.

pub(super) mod call;
pub(super) mod connection;
pub(super) mod discovery;
pub(super) mod response;
pub(super) mod selection;
pub(super) mod user_value;
