//! The run report as a person reads it: snapshots of whole reports.

mod fixture;
mod hostile;
mod recorded;
mod reports;
mod trials;
