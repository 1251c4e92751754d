//! The run report as a person reads it: snapshots of whole reports.

mod fixture;
mod hostile;
mod reports;
mod trials;
