//! The place where the raw answer to one request of ours arrives.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::Value;
use tokio::sync::Notify;

use super::{Capture, PhaseFailure};

/// A raw answer.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The `result` member.
    Result(Value),
    /// The `error` member.
    Error(Value),
    /// An answer to this request that is none.
    Malformed { message: String, raw: Option<Value> },
    /// The transport knows why there will be none; with the `error` member, when
    /// the refusal carried one.
    Failed {
        failure: PhaseFailure,
        error: Option<Value>,
    },
}

/// One request of ours on its way.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    capture: Option<Capture>,
    answer: Mutex<Option<Answer>>,
    suspicion: Mutex<Option<Answer>>,
    progress: AtomicU64,
    wake: Notify,
}

impl Slot {
    pub(crate) fn new(capture: Option<Capture>) -> Self {
        Self {
            capture,
            ..Self::default()
        }
    }

    /// Returns where the request's frames go, if not to the session's capture.
    pub(crate) const fn capture(&self) -> Option<&Capture> {
        self.capture.as_ref()
    }

    /// Stores the answer; the first one counts.
    pub(crate) fn answer(&self, answer: Answer) {
        lock(&self.answer).get_or_insert(answer);
    }

    pub(crate) fn take_answer(&self) -> Option<Answer> {
        lock(&self.answer).take()
    }

    /// Stores what is the answer unless a better one comes soon.
    pub(crate) fn suspect(&self, answer: Answer) {
        lock(&self.suspicion).get_or_insert(answer);
        self.wake.notify_one();
    }

    pub(crate) fn suspected(&self) -> bool {
        lock(&self.suspicion).is_some()
    }

    pub(crate) fn take_suspicion(&self) -> Option<Answer> {
        lock(&self.suspicion).take()
    }

    /// Counts a progress notification.
    pub(crate) fn progressed(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub(crate) fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Waits for progress or a suspicion.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
