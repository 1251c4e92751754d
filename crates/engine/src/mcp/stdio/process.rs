//! A server's process group: started apart, ended whole.

use std::{
    collections::BTreeSet,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use strandline_contract::{
    binding::{ServerBinding, Transport},
    trace::Direction,
};
use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::watch,
    time::timeout,
};

use super::lines::{LineReader, Read};
use crate::mcp::{
    PhaseFailure, attribution::Cause, capture::RawFrame, clock::now_ms, failure::one_line, tap::Tap,
};

/// How long members of a group may outlive its leader.
const STRAGGLER_GRACE: Duration = Duration::from_millis(200);

/// How long after its output the end of a process still counts as the cause.
const END_TOGETHER: Duration = Duration::from_millis(100);

/// How long a killed process may take to be gone.
const REAP_LIMIT: Duration = Duration::from_secs(2);

/// Longest line of standard error that is read whole.
const STDERR_LINE_BYTES: usize = 64 * 1024;

/// Bytes of standard error kept for messages.
const STDERR_TAIL_BYTES: usize = 2 * 1024;

/// Process groups that are still alive.
static LIVE_GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Kills every server process that is still alive, at once.
///
/// For the moment before an abrupt exit of our own process, when no destructor
/// will run; it neither waits nor allocates tasks.
pub fn kill_all_servers() {
    for group in lock(&LIVE_GROUPS).iter() {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
}

/// A running server process with everything that belongs to its group.
pub(crate) struct ServerProcess {
    group: i32,
    status: watch::Receiver<Option<ExitStatus>>,
    notes: Arc<Notes>,
    /// When it was started, ms since the Unix epoch.
    pub(crate) started_at: f64,
}

/// What the process showed beside its protocol.
#[derive(Default)]
struct Notes {
    first_output_at: OnceLock<f64>,
    /// Output ended and the process lived on.
    closed_output: OnceLock<()>,
    /// It stopped reading its input before we closed it.
    input_broke: OnceLock<()>,
    /// We closed its input while it was running.
    alive_at_close: OnceLock<()>,
    stderr_tail: Mutex<String>,
}

/// The protocol ends of a process.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl ServerProcess {
    /// Starts the server of a stdio binding in a process group of its own.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    pub(crate) fn start(
        binding: &ServerBinding,
        tap: &Arc<Tap>,
    ) -> Result<(Self, Pipes), PhaseFailure> {
        let Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } = &binding.transport
        else {
            return Err(PhaseFailure::new(
                Cause::ControlPlane,
                "spawn_failed",
                format!("server `{}` is not a process", binding.name),
            ));
        };
        let mut process = Command::new(command);
        process
            .args(args)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = cwd {
            process.current_dir(cwd);
        }
        let started_at = now_ms();
        let mut child = process.spawn().map_err(|error| {
            let place = cwd
                .as_ref()
                .map_or_else(String::new, |cwd| format!(" in `{}`", cwd.display()));
            PhaseFailure::new(
                Cause::ControlPlane,
                "spawn_failed",
                format!("could not start `{command}`{place}: {error}"),
            )
        })?;
        let (Some(id), Some(stdin), Some(stdout), Some(stderr)) = (
            child.id(),
            child.stdin.take(),
            child.stdout.take(),
            child.stderr.take(),
        ) else {
            return Err(PhaseFailure::new(
                Cause::ControlPlane,
                "spawn_failed",
                format!("could not open the standard streams of `{command}`"),
            ));
        };
        let group = i32::try_from(id).unwrap_or_default();
        lock(&LIVE_GROUPS).insert(group);
        let notes = Arc::new(Notes::default());
        let (announce, status) = watch::channel(None);
        tokio::spawn(supervise(child, group, announce));
        tokio::spawn(read_stderr(stderr, Arc::clone(tap), Arc::clone(&notes)));
        let process = Self {
            group,
            status,
            notes,
            started_at,
        };
        Ok((process, Pipes { stdin, stdout }))
    }

    /// Notes that the process wrote something.
    pub(crate) fn saw_output(&self) {
        self.notes.saw_output();
    }

    /// Returns when the process first wrote something, ms since the Unix epoch.
    pub(crate) fn first_output_at(&self) -> Option<f64> {
        self.notes.first_output_at.get().copied()
    }

    /// Returns how the process ended, if it did.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        *self.status.borrow()
    }

    /// Waits until the process ended.
    pub(crate) async fn exited(&self) -> ExitStatus {
        let mut status = self.status.clone();
        loop {
            if let Some(status) = *status.borrow_and_update() {
                return status;
            }
            if status.changed().await.is_err() {
                // Its supervisor is gone with the runtime: nothing will come.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Notes that output ended, and whether the process ended with it.
    pub(crate) async fn output_ended(&self) {
        if timeout(END_TOGETHER, self.exited()).await.is_err() {
            self.notes.closed_output.get_or_init(|| ());
        }
    }

    /// Notes that it stopped reading its input.
    pub(crate) fn input_broke(&self) {
        self.notes.input_broke.get_or_init(|| ());
    }

    /// Notes that we close its input; what it does from now on is our doing.
    pub(crate) fn input_closing(&self) {
        if self.exit_status().is_none() && self.notes.input_broke.get().is_none() {
            self.notes.alive_at_close.get_or_init(|| ());
        }
    }

    /// Returns what is known about the end of the process, in one line.
    pub(crate) async fn end_detail(&self, patience: Duration) -> String {
        let end = if self.notes.closed_output.get().is_some() {
            "the server process closed its output and kept running".to_owned()
        } else if self.notes.alive_at_close.get().is_some() {
            "the server process was running".to_owned()
        } else {
            match timeout(patience, self.exited()).await {
                Ok(status) => format!("the server process ended with {}", describe(status)),
                Err(_) => "the server process was running".to_owned(),
            }
        };
        let tail = self.stderr_tail();
        if tail.is_empty() {
            format!("{end}; it wrote nothing to stderr")
        } else {
            format!("{end}; stderr ends: {tail}")
        }
    }

    /// Returns the end of what the process wrote to standard error, in one line.
    pub(crate) fn stderr_tail(&self) -> String {
        let tail = lock(&self.notes.stderr_tail);
        let start = tail.ceil_char_boundary(tail.len().saturating_sub(300));
        one_line(&tail[start..], 300)
    }

    /// Ends the group: waits for `grace`, asks for `grace`, then kills.
    ///
    /// The caller has closed the server's input.
    pub(crate) async fn end(&self, grace: Duration) {
        if timeout(grace, self.exited()).await.is_ok() {
            return;
        }
        self.signal(Signal::SIGTERM);
        if timeout(grace, self.exited()).await.is_ok() {
            return;
        }
        self.kill();
        let _ = timeout(REAP_LIMIT, self.exited()).await;
    }

    /// Kills the group at once.
    pub(crate) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// A group that is gone is not signalled: its number may belong to another.
    fn signal(&self, signal: Signal) {
        if lock(&LIVE_GROUPS).contains(&self.group) {
            let _ = killpg(Pid::from_raw(self.group), signal);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Notes {
    fn saw_output(&self) {
        self.first_output_at.get_or_init(now_ms);
    }
}

/// Reaps the leader, then ends what it left behind.
async fn supervise(mut child: Child, group: i32, announce: watch::Sender<Option<ExitStatus>>) {
    let Ok(status) = child.wait().await else {
        return;
    };
    let _ = announce.send(Some(status));
    let leader_gone = Pid::from_raw(group);
    if killpg(leader_gone, None).is_ok() {
        tokio::time::sleep(STRAGGLER_GRACE).await;
        let _ = killpg(leader_gone, Signal::SIGKILL);
    }
    lock(&LIVE_GROUPS).remove(&group);
}

async fn read_stderr(stderr: ChildStderr, tap: Arc<Tap>, notes: Arc<Notes>) {
    let mut lines = LineReader::new(stderr, STDERR_LINE_BYTES, STDERR_LINE_BYTES);
    loop {
        let (kept, bytes, sha256, last) = match lines.read().await {
            Read::Line(line) => (line.to_vec(), line.len() as u64, None, false),
            Read::TooLong(long) => (long.head, long.bytes, Some(long.sha256), false),
            Read::End([]) => return,
            Read::End(rest) => (rest.to_vec(), rest.len() as u64, None, true),
        };
        notes.saw_output();
        {
            let mut tail = lock(&notes.stderr_tail);
            let start = kept.len().saturating_sub(STDERR_TAIL_BYTES);
            tail.push_str(&String::from_utf8_lossy(&kept[start..]));
            tail.push('\n');
            let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES);
            let cut = tail.ceil_char_boundary(surplus);
            tail.drain(..cut);
        }
        tap.record_ambient(RawFrame {
            bytes,
            sha256,
            ..RawFrame::whole(tap.server(), Direction::Stderr, &kept)
        });
        if last {
            return;
        }
    }
}

/// Writes an exit status for people.
pub(crate) fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    if let Some(code) = status.code() {
        return format!("exit code {code}");
    }
    match status.signal().map(Signal::try_from) {
        Some(Ok(signal)) => format!("signal {signal}"),
        Some(Err(_)) | None => "an unknown status".to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
