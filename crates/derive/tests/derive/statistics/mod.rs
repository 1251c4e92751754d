//! Simulations with fixed seeds: what the statistics promise is what happens.

mod intervals;
mod random;
mod repeating;
