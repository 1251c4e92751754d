//! The embedded run store.
