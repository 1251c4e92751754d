//! Stage measurements (`measurements.md`).

mod attachment;
mod properties;
mod setup;
mod stored;
mod vectors;
