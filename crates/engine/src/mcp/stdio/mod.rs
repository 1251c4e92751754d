//! A server as a child process, spoken to over its standard streams.

mod lines;
mod process;

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::Map;
use tokio::{
    io::AsyncWriteExt as _,
    process::{ChildStdin, ChildStdout},
    sync::Mutex,
};

use self::lines::{LineReader, Read};
pub use self::process::kill_all_servers;
pub(crate) use self::process::{Pipes, ServerProcess, describe};
use super::tap::{Origin, Tap};

/// How long output may keep coming after the process ended.
const DRAIN_AFTER_EXIT: Duration = Duration::from_secs(1);

/// Carries messages between rmcp and a process, through the tap.
pub(crate) struct StdioTransport {
    tap: Arc<Tap>,
    process: Arc<ServerProcess>,
    lines: LineReader<ChildStdout>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    /// Messages of a batch that rmcp has not taken yet.
    ready: VecDeque<ServerJsonRpcMessage>,
}

impl StdioTransport {
    /// Takes the pipes of a process.
    pub(crate) fn new(tap: Arc<Tap>, process: Arc<ServerProcess>, pipes: Pipes) -> Self {
        let limits = tap.limits();
        Self {
            lines: LineReader::new(
                pipes.stdout,
                limits.message_bytes,
                limits.capture.frame_bytes,
            ),
            stdin: Arc::new(Mutex::new(Some(pipes.stdin))),
            tap,
            process,
            ready: VecDeque::new(),
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let line = self.tap.outgoing(&item, Map::new()).map(|mut line| {
            line.push(b'\n');
            line
        });
        let stdin = Arc::clone(&self.stdin);
        let process = Arc::clone(&self.process);
        async move {
            let line = line?;
            let mut stdin = stdin.lock().await;
            let stdin = stdin
                .as_mut()
                .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
            let written = match stdin.write_all(&line).await {
                Ok(()) => stdin.flush().await,
                Err(error) => Err(error),
            };
            written.inspect_err(|_| process.input_broke())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let process = &self.process;
            let read = tokio::select! {
                biased;
                read = self.lines.read() => read,
                // A descendant outside the group may hold the pipe open.
                () = async {
                    process.exited().await;
                    tokio::time::sleep(DRAIN_AFTER_EXIT).await;
                } => return None,
            };
            match read {
                Read::Line(line) => {
                    self.process.saw_output();
                    self.tap
                        .incoming(line, Map::new(), Origin::Stream, &mut self.ready);
                }
                Read::TooLong(long) => {
                    self.tap.too_long(long, Origin::Stream, &mut self.ready);
                }
                Read::End(rest) => {
                    if !rest.is_empty() {
                        self.tap.cut_off(rest);
                    }
                    self.process.output_ended().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.process.input_closing();
        // Waiting for a writer that is stuck would wait for ever.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        }
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.process.input_closing();
    }
}
