//! When another attempt is made, and how long is waited for it.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, header::RETRY_AFTER};
use jiff::Timestamp;

/// Bounds on the attempts of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most requests made for one answer, the first included.
    pub max_attempts: u32,
    /// Wait before the second attempt; doubles each time.
    pub first_delay: Duration,
    /// Longest wait that we choose ourselves.
    pub longest_delay: Duration,
    /// Longest time spent waiting between attempts, all waits together. A
    /// provider that asks for more is not waited for.
    pub total_wait: Duration,
    /// Makes the jitter of a run repeatable.
    pub seed: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(20),
            total_wait: Duration::from_secs(60),
            seed: 0,
        }
    }
}

impl RetryPolicy {
    /// Returns how long to wait after a failed attempt, or `None` to give up.
    ///
    /// `attempt` counts the attempts made, `waited` the waits so far, and
    /// `request` tells the requests of a run apart. Our own waits lie between
    /// half of the exponential delay and the whole of it; a provider's wish is
    /// honoured and prolonged by up to a tenth, so that trials that were
    /// refused together do not come back together.
    pub(super) fn delay(
        &self,
        attempt: u32,
        waited: Duration,
        retry_after: Option<Duration>,
        request: u64,
    ) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let left = self.total_wait.saturating_sub(waited);
        let fraction = jitter(self.seed ^ request.rotate_left(32) ^ u64::from(attempt));
        let delay = match retry_after {
            Some(asked) if asked > left => return None,
            Some(asked) => asked.mul_f64(1.0 + 0.1 * fraction),
            None => {
                let doubled = 1u32
                    .checked_shl(attempt.saturating_sub(1))
                    .unwrap_or(u32::MAX);
                self.first_delay
                    .saturating_mul(doubled)
                    .min(self.longest_delay)
                    .mul_f64(0.5 + 0.5 * fraction)
            }
        };
        Some(delay.min(left))
    }
}

/// Returns an evenly spread fraction, 0 to 1, that depends on nothing else
/// (the finalizer of SplitMix64).
fn jitter(input: u64) -> f64 {
    let mut bits = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Reads how long a provider asks to wait.
///
/// `retry-after-ms`, then `retry-after` in seconds or as an HTTP date.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let text = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let now = Timestamp::try_from(now).ok()?;
    Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn own_waits_double_and_stay_within_their_half() {
        let policy = RetryPolicy::default();
        for (attempt, whole) in [(1, 500), (2, 1_000), (3, 2_000)] {
            for request in 0..50 {
                let delay = policy
                    .delay(attempt, Duration::ZERO, None, request)
                    .expect("another attempt");
                assert!(delay >= MS(whole / 2) && delay <= MS(whole), "{delay:?}");
            }
        }
        assert_eq!(policy.delay(4, Duration::ZERO, None, 0), None);
    }

    #[test]
    fn a_provider_is_waited_for_at_least_as_long_as_it_asks() {
        let policy = RetryPolicy::default();
        let delay = policy.delay(1, Duration::ZERO, Some(MS(17_000)), 3);
        assert!(delay.is_some_and(|delay| delay >= MS(17_000) && delay <= MS(18_700)));
    }

    #[test]
    fn a_provider_that_asks_for_more_than_is_left_is_not_waited_for() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.delay(1, Duration::ZERO, Some(MS(61_000)), 0), None);
        assert_eq!(policy.delay(2, MS(50_000), Some(MS(17_000)), 0), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        let policy = |seed| RetryPolicy {
            seed,
            ..RetryPolicy::default()
        };
        let delays = |seed: u64| -> Vec<_> {
            (0..20)
                .map(|request| policy(seed).delay(1, Duration::ZERO, None, request))
                .collect()
        };
        assert_eq!(delays(7), delays(7));
        assert_ne!(delays(7), delays(8));
    }

    #[test]
    fn waits_are_read_in_every_spelling() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_430);
        let read = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, http::HeaderValue::from_static(value));
            retry_after(&headers, now)
        };
        assert_eq!(read("retry-after", "17"), Some(MS(17_000)));
        assert_eq!(read("retry-after", "0.5"), Some(MS(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(MS(250)));
        assert_eq!(
            read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(MS(50_000))
        );
        assert_eq!(
            read("retry-after", "Tue, 21 Oct 2014 07:28:00 GMT"),
            Some(Duration::ZERO)
        );
        for nonsense in ["-1", "soon", "NaN", "1e999"] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
