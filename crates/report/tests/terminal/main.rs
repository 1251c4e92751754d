//! The run report as a person reads it: snapshots of whole reports.

mod comparing;
mod coverage;
mod deciding;
mod fixture;
mod formats;
mod friction;
mod funnel;
mod hostile;
mod recorded;
mod reports;
mod trials;
