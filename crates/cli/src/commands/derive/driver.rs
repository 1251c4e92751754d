//! Jobs, order and strictness.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use strandline_contract::exit::ExitCode;

use super::{
    answer::{Malformed, Place, decline_bytes, decline_length},
    families::Family,
    lines::{Chunk, Content, Lines, MAX_LINE_BYTES},
};
use crate::ui::{CommandError, CommandResult, Ui};

/// Malformed lines that are named on stderr; the rest are counted.
const NAMED_LINES: u64 = 20;
/// Finished chunks that may wait for an earlier one, per job.
const WAITING_PER_JOB: u64 = 4;

/// Answers every line, in input order.
pub(super) fn run(
    family: &Family,
    lines: Lines,
    jobs: usize,
    strict: bool,
    ui: &mut Ui,
) -> CommandResult {
    let lines = Mutex::new(lines);
    let written = Written {
        state: Mutex::new(State {
            out: Box::new(ui.data()),
            ui,
            next: 0,
            waiting: BTreeMap::new(),
            malformed: 0,
            unreadable: None,
            end: None,
        }),
        turn: Condvar::new(),
        strict,
        window: jobs as u64 * WAITING_PER_JOB,
    };
    if jobs == 1 {
        work(family, &lines, &written);
    } else {
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| work(family, &lines, &written));
            }
        });
    }
    written.finish()
}

/// Takes chunks until there are none, and answers their lines.
fn work(family: &Family, lines: &Mutex<Lines>, written: &Written<'_>) {
    let mut input = Vec::new();
    let mut output = Vec::new();
    loop {
        // The lock is dropped at the end of the statement.
        let chunk = lock(lines).next_chunk(std::mem::take(&mut input));
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return,
            Err(error) => return lock(&written.state).unreadable = Some(error),
        };
        let sequence = chunk.sequence;
        let mut answers = Answers {
            bytes: std::mem::take(&mut output),
            malformed: Vec::new(),
            before_malformed: None,
        };
        input = answers.of(family, chunk);
        match written.put(sequence, answers) {
            Some(spare) => output = spare,
            None => return,
        }
        output.clear();
    }
}

/// The answers to the lines of one chunk.
struct Answers {
    bytes: Vec<u8>,
    malformed: Vec<Malformed>,
    /// Bytes of the answers before the first malformed line.
    before_malformed: Option<usize>,
}

impl Answers {
    /// Answers a chunk and gives its buffer back.
    fn of(&mut self, family: &Family, chunk: Chunk) -> Vec<u8> {
        let mut place = Place {
            file: &chunk.file,
            line: chunk.first_line,
        };
        let bytes = match chunk.content {
            Content::Lines(bytes) => bytes,
            Content::TooLong => {
                self.note(|out| Err(decline_length(place, MAX_LINE_BYTES, out)));
                return Vec::new();
            }
        };
        // Almost every chunk is text as a whole, which is quicker to check.
        let text = std::str::from_utf8(&bytes).ok();
        let mut start = 0;
        while start < bytes.len() {
            let end =
                memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
            let line = match text {
                Some(text) => Ok(&text[start..end]),
                None => std::str::from_utf8(&bytes[start..end]),
            };
            match line {
                Ok(line) if line.trim_ascii().is_empty() => {}
                Ok(line) => self.note(|out| (family.answer)(line, place, out)),
                Err(error) => {
                    let column = error.valid_up_to() + 1;
                    self.note(|out| Err(decline_bytes(place, column, out)));
                }
            }
            place.line += 1;
            start = end + 1;
        }
        bytes
    }

    fn note(&mut self, answer: impl FnOnce(&mut Vec<u8>) -> Result<(), Malformed>) {
        let before = self.bytes.len();
        if let Err(malformed) = answer(&mut self.bytes) {
            self.malformed.push(malformed);
            self.before_malformed.get_or_insert(before);
        }
    }
}

/// Where answers are written, in input order.
struct Written<'u> {
    state: Mutex<State<'u>>,
    turn: Condvar,
    strict: bool,
    window: u64,
}

struct State<'u> {
    out: Box<dyn Write + Send>,
    ui: &'u mut Ui,
    /// The chunk that is to be written next.
    next: u64,
    /// Chunks that were answered before an earlier one.
    waiting: BTreeMap<u64, Answers>,
    malformed: u64,
    /// Why not every file was read to its end.
    unreadable: Option<CommandError>,
    /// Why nothing more is written.
    end: Option<End>,
}

enum End {
    /// The reader of our output has seen enough.
    Quiet,
    Error(CommandError),
}

impl Written<'_> {
    /// Writes a chunk's answers when it is their turn, or keeps them until it
    /// is. Returns a buffer to use again, or nothing when it is over.
    fn put(&self, sequence: u64, answers: Answers) -> Option<Vec<u8>> {
        let mut state = lock(&self.state);
        while state.end.is_none() && sequence >= state.next + self.window {
            state = self
                .turn
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.insert(sequence, answers);
        let mut spare = Vec::new();
        while state.end.is_none() {
            let next = state.next;
            let Some(answers) = state.waiting.remove(&next) else {
                break;
            };
            state.write(&answers, self.strict);
            state.next += 1;
            spare = answers.bytes;
        }
        self.turn.notify_all();
        state.end.is_none().then_some(spare)
    }

    fn finish(self) -> CommandResult {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match state.end {
            Some(End::Error(error)) => Err(error),
            Some(End::Quiet) => Ok(ExitCode::Passed),
            None => {
                if state.malformed > NAMED_LINES {
                    let more = state.malformed - NAMED_LINES;
                    state
                        .ui
                        .talk(format_args!("… and {more} more lines that are not JSON"));
                }
                state.unreadable.map_or(Ok(ExitCode::Passed), Err)
            }
        }
    }
}

impl State<'_> {
    fn write(&mut self, answers: &Answers, strict: bool) {
        let stop = answers.before_malformed.filter(|_| strict);
        let bytes = &answers.bytes[..stop.unwrap_or(answers.bytes.len())];
        if let Err(error) = self.out.write_all(bytes).and_then(|()| self.out.flush()) {
            self.end = Some(if error.kind() == io::ErrorKind::BrokenPipe {
                End::Quiet
            } else {
                End::Error(CommandError::new(
                    ExitCode::Setup,
                    format_args!("cannot write to stdout: {error}"),
                ))
            });
            return;
        }
        for Malformed(message) in &answers.malformed {
            if strict {
                self.end = Some(End::Error(
                    CommandError::usage(message)
                        .hint("without --strict the other lines are still answered"),
                ));
                return;
            }
            if self.malformed < NAMED_LINES {
                self.ui.talk(message);
            }
            self.malformed += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
