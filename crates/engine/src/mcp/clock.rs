//! One clock for everything that a session records.

use std::{
    sync::OnceLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// Returns the time in milliseconds since the Unix epoch, with fraction.
///
/// The wall clock is read once per process and carried on by the monotonic
/// clock, so that times of different sessions compare and never run backwards.
#[must_use]
pub fn now_ms() -> f64 {
    static ORIGIN: OnceLock<(f64, Instant)> = OnceLock::new();
    let (epoch_ms, started) = ORIGIN.get_or_init(|| {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        (since_epoch.as_secs_f64() * 1_000.0, Instant::now())
    });
    // Microseconds are all that a double of this size carries usefully.
    let micros = (epoch_ms * 1_000.0 + started.elapsed().as_secs_f64() * 1_000_000.0).round();
    micros / 1_000.0
}
