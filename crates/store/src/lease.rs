//! Who is running a run, and whether that process still lives.
//!
//! A run in progress is leased by its process. The lease is renewed every
//! [`RENEW_EVERY`] and ends [`LEASE`] after the last renewal, so a run whose
//! lease has ended is not being run, wherever its process was. On the machine
//! where it ran we need not wait: its process is gone, or another one has got
//! its number, and both are seen at once. Whoever claims a dead run raises its
//! token, and an owner that comes back finds its own token refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a lease is renewed.
pub const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How long a lease lasts without renewal.
pub const LEASE: Duration = Duration::from_secs(30);

/// Whether a run is still being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Its status is terminal.
    Ended,
    /// Its process lives and holds the lease.
    Live {
        /// The process.
        pid: u32,
    },
    /// Its status is `running`, and nobody runs it: it was killed.
    Dead {
        /// The process that ran it.
        pid: u32,
    },
}

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Boot and process namespace; empty where neither can be read.
    pub(crate) machine: String,
    /// Process id.
    pub(crate) pid: u32,
    /// When it started, in clock ticks since boot; 0 where unknown.
    pub(crate) started: i64,
}

impl Owner {
    /// Returns this process.
    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self {
            machine: machine().unwrap_or_default(),
            pid,
            started: process_start(pid).unwrap_or(0),
        }
    }

    /// Tells whether a running run is alive; `now` in ms since the epoch.
    pub(crate) fn liveness(&self, lease_until: i64, now: i64) -> Liveness {
        let pid = self.pid;
        if lease_until <= now {
            return Liveness::Dead { pid };
        }
        let here = !self.machine.is_empty() && machine().as_ref() == Some(&self.machine);
        if here && self.started != 0 && process_start(pid) != Some(self.started) {
            return Liveness::Dead { pid };
        }
        Liveness::Live { pid }
    }
}

/// Names this boot of this machine, and the namespace that pids count in.
fn machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// Reads when a living process started; `None` when it is gone or a zombie.
fn process_start(pid: u32) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name is in parentheses and may hold spaces and parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let state = *fields.first()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// Returns the time in ms since the Unix epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|elapsed| i64::try_from(elapsed.as_millis()).ok())
        .unwrap_or(0)
}

/// Returns when a lease that is renewed now ends.
pub(crate) fn lease_end() -> i64 {
    now().saturating_add(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_until_its_lease_ends() {
        let owner = Owner::current();
        let pid = owner.pid;
        assert_eq!(owner.liveness(1_001, 1_000), Liveness::Live { pid });
        assert_eq!(owner.liveness(1_000, 1_000), Liveness::Dead { pid });
    }

    #[test]
    fn a_process_elsewhere_is_known_by_its_lease_only() {
        let owner = Owner {
            machine: "another boot".to_owned(),
            pid: u32::MAX,
            started: 1,
        };
        assert_eq!(
            owner.liveness(1_001, 1_000),
            Liveness::Live { pid: u32::MAX }
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reused_process_number_is_not_the_owner() {
        let mut owner = Owner::current();
        owner.started += 1;
        let pid = owner.pid;
        assert_eq!(owner.liveness(1_001, 1_000), Liveness::Dead { pid });
    }
}
