//! Bounds on work that must not be cut off in the middle of a record.

use std::{future::Future, pin::pin, time::Duration};

use tokio_util::sync::CancellationToken;

/// How long cancelled work may take to come to its end before it is dropped.
const GRACE: Duration = Duration::from_secs(5);

/// Why work was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Its budget was used up.
    TimedOut,
    /// Somebody outside cancelled it.
    Cancelled,
}

/// Does work within a budget and until `outside` is cancelled.
///
/// Work that is cut is told so through `token` and may still end by itself, so
/// that what it was doing is recorded; after a grace period it is dropped.
/// Returns what it returned, if it came to its end, and why it was cut, if it was.
pub(super) async fn within<F: Future>(
    budget: Duration,
    outside: &CancellationToken,
    token: &CancellationToken,
    work: F,
) -> (Option<F::Output>, Option<Cut>) {
    let mut work = pin!(work);
    let cut = tokio::select! {
        biased;
        output = &mut work => return (Some(output), None),
        () = outside.cancelled() => Cut::Cancelled,
        () = tokio::time::sleep(budget) => Cut::TimedOut,
    };
    token.cancel();
    let output = tokio::time::timeout(GRACE, work).await.ok();
    (output, Some(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_listens_still_records_its_end() {
        let (outside, token) = (CancellationToken::new(), CancellationToken::new());
        let inner = token.clone();
        let work = async move {
            inner.cancelled().await;
            "recorded"
        };
        let end = within(Duration::from_millis(5), &outside, &token, work).await;
        assert_eq!(end, (Some("recorded"), Some(Cut::TimedOut)));
    }
}
