//! Files and stdin as chunks of whole lines.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    vec,
};

use strandline_contract::exit::ExitCode;

use crate::ui::CommandError;

/// Bytes asked for at once; a chunk is about as long.
const READ_BYTES: usize = 256 * 1024;
/// The longest line that is read.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;
/// The mark that some editors put in front of UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines of one file, in order.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Ordinal among all chunks, from 0.
    pub(super) sequence: u64,
    /// The file's name, for people.
    pub(super) file: Arc<str>,
    /// Number of the first line, from 1.
    pub(super) first_line: u64,
    /// What the lines are.
    pub(super) content: Content,
}

/// What a chunk holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Lines, each but the last ending in a line feed.
    Lines(Vec<u8>),
    /// One line that is too long to be read.
    TooLong,
}

/// The lines of all files, in order.
#[derive(Debug)]
pub(super) struct Lines {
    files: vec::IntoIter<PathBuf>,
    current: Option<Current>,
    sequence: u64,
}

#[derive(Debug)]
struct Current {
    name: Arc<str>,
    source: Source,
    next_line: u64,
    /// The start of a line whose end has not been read.
    rest: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    Stdin(io::Stdin),
    File(File),
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stdin(stdin) => stdin.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}

impl Lines {
    /// Prepares to read files in order; none means stdin.
    ///
    /// # Errors
    ///
    /// Names every file that is not there, before anything is read.
    pub(super) fn open(mut files: Vec<PathBuf>) -> Result<Self, CommandError> {
        if files.is_empty() {
            files.push(PathBuf::from("-"));
        }
        let missing: Vec<String> = files
            .iter()
            .filter(|path| !is_stdin(path))
            .filter_map(|path| {
                let error = std::fs::metadata(path).err()?;
                Some(format!("cannot read `{}`: {error}", path.display()))
            })
            .collect();
        if !missing.is_empty() {
            return Err(CommandError::usage(missing.join("\n")));
        }
        Ok(Self {
            files: files.into_iter(),
            current: None,
            sequence: 0,
        })
    }

    /// Returns the next chunk, or nothing at the end; `buffer` is reused for it.
    ///
    /// # Errors
    ///
    /// Says which file cannot be read; nothing is read after that.
    pub(super) fn next_chunk(&mut self, buffer: Vec<u8>) -> Result<Option<Chunk>, CommandError> {
        let chunk = self.read_chunk(buffer);
        if chunk.is_err() {
            self.files = Vec::new().into_iter();
            self.current = None;
        }
        chunk
    }

    fn read_chunk(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>, CommandError> {
        loop {
            if self.current.is_none() {
                let Some(path) = self.files.next() else {
                    return Ok(None);
                };
                self.current = Some(Current::open(&path)?);
            }
            let Some(current) = &mut self.current else {
                return Ok(None);
            };
            let first_line = current.next_line;
            let content = current.next_content(buffer)?;
            let file = Arc::clone(&current.name);
            match content {
                Next::Content(content) => {
                    let sequence = self.sequence;
                    self.sequence += 1;
                    return Ok(Some(Chunk {
                        sequence,
                        file,
                        first_line,
                        content,
                    }));
                }
                Next::End(unused) => {
                    self.current = None;
                    buffer = unused;
                }
            }
        }
    }
}

enum Next {
    Content(Content),
    End(Vec<u8>),
}

impl Current {
    fn open(path: &Path) -> Result<Self, CommandError> {
        let name: Arc<str> = if is_stdin(path) {
            "stdin".into()
        } else {
            path.display().to_string().into()
        };
        let source = if is_stdin(path) {
            Source::Stdin(io::stdin())
        } else {
            Source::File(File::open(path).map_err(|error| unreadable(&name, &error))?)
        };
        Ok(Self {
            name,
            source,
            next_line: 1,
            rest: Vec::new(),
        })
    }

    /// Reads until at least one line is whole, and returns all that are.
    fn next_content(&mut self, mut buffer: Vec<u8>) -> Result<Next, CommandError> {
        buffer.clear();
        buffer.append(&mut self.rest);
        loop {
            let mut old = buffer.len();
            let read = self.fill(&mut buffer)?;
            if self.next_line == 1 && old < BYTE_ORDER_MARK.len() {
                if buffer.starts_with(BYTE_ORDER_MARK) {
                    buffer.drain(..BYTE_ORDER_MARK.len());
                }
                old = 0;
            }
            if read == 0 {
                if buffer.is_empty() {
                    return Ok(Next::End(buffer));
                }
                self.next_line += 1;
                return Ok(Next::Content(Content::Lines(buffer)));
            }
            if let Some(end) = memchr::memrchr(b'\n', &buffer[old..]) {
                let end = old + end + 1;
                self.rest.extend_from_slice(&buffer[end..]);
                buffer.truncate(end);
                self.next_line += memchr::memchr_iter(b'\n', &buffer).count() as u64;
                return Ok(Next::Content(Content::Lines(buffer)));
            }
            if buffer.len() > MAX_LINE_BYTES {
                self.skip_line(&mut buffer)?;
                self.next_line += 1;
                return Ok(Next::Content(Content::TooLong));
            }
        }
    }

    /// Appends what one read gives; 0 is the end.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<usize, CommandError> {
        let old = buffer.len();
        buffer.resize(old + READ_BYTES, 0);
        loop {
            match self.source.read(&mut buffer[old..]) {
                Ok(read) => {
                    buffer.truncate(old + read);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.name, &error)),
            }
        }
    }

    /// Drops the rest of a line that is too long.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> Result<(), CommandError> {
        loop {
            buffer.clear();
            if self.fill(buffer)? == 0 {
                return Ok(());
            }
            if let Some(end) = memchr::memchr(b'\n', buffer) {
                self.rest.extend_from_slice(&buffer[end + 1..]);
                return Ok(());
            }
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn unreadable(name: &str, error: &io::Error) -> CommandError {
    CommandError::new(
        ExitCode::Setup,
        format_args!("cannot read `{name}`: {error}"),
    )
}
