//! The store as its callers use it; one module per promise.

mod sample;
mod trials;
