//! Pages made from stored documents.

mod file;
#[path = "../terminal/fixture.rs"]
#[expect(dead_code, reason = "the terminal's tests use more of it")]
mod fixture;
mod funnels;
mod look;
mod runs;
mod series;
mod trials;
