//! Pages and an HTTP API over the run store.
