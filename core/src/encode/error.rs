//! Encoding errors, and the holes that the shell has to fill.

use crate::error::kinds;
use crate::locate::{CUT, MAX_KEY, MAX_PATH, locate};
use crate::output::Output;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

kinds! {
    /// Why a term is not encoded. The number is the code that shells pass on.
    EncodeErrorKind:
    /// A binary that is not UTF-8; the payload is its first invalid byte, then its first [`MAX_START`] bytes.
    InvalidUtf8 = 1,
    /// Two keys of one map become the same text under `maps: :strict`; the payload is that text, cut if it is long.
    DuplicateKey = 2,
    /// Nested deeper than `max_depth`.
    MaxDepth = 3,
    /// The output is longer than `max_bytes`.
    MaxBytes = 4,
    /// A map key that cannot be a text.
    InvalidKey = 5,
    /// An improper list.
    ImproperList = 6,
    /// Bytes that are not a term.
    Unsupported = 7,
    /// The shell could not get memory.
    OutOfMemory = 8,
    /// The work budget is used up: the shell starts over where it has time. Not an error that a caller sees.
    Budget = 9,
}

/// An error and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// What is wrong.
    pub kind: EncodeErrorKind,
    /// JSON Pointer (RFC 6901) of the term that failed.
    pub path: String,
    /// More about it, by kind.
    pub payload: Vec<u8>,
}

impl EncodeError {
    /// A walk without a budget that gave up.
    #[cold]
    pub fn out_of_memory() -> Self {
        Self { kind: EncodeErrorKind::OutOfMemory, path: String::new(), payload: Vec::new() }
    }

    /// The budget is used up.
    #[cold]
    pub(super) fn budget() -> Self {
        Self { kind: EncodeErrorKind::Budget, path: String::new(), payload: Vec::new() }
    }
}

/// The error at the place which the text has reached. Of a list of records, whose number is that of the current one, the path leads from
/// the list on; one that is too long then ends at the record.
#[cold]
pub(super) fn located(
    mut written: &[u8],
    kind: EncodeErrorKind,
    payload: Vec<u8>,
    mut record: Option<usize>,
) -> EncodeError {
    if kind == EncodeErrorKind::MaxBytes && record.is_some() {
        // The limit may stand in an earlier record than the one in which it was noticed. Between records there are line breaks.
        record = Some(written.iter().filter(|&&byte| byte == b'\n').count());
        written = written.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    }
    let mut path = match kind {
        EncodeErrorKind::Budget | EncodeErrorKind::OutOfMemory => String::new(),
        _ => locate(written, written.len()).path,
    };
    if kind == EncodeErrorKind::ImproperList {
        // It is found at its end, and is the container.
        path.truncate(path.rfind('/').unwrap_or_default());
    }
    if let Some(record) = record {
        let number = format!("/{record}");
        path = if number.len() + path.len() <= MAX_PATH { number + &path } else { number };
    }
    EncodeError { kind, path, payload }
}

/// Bytes of the start of an invalid binary that its error has: more than Elixir's `inspect/2` shows, which is 50, and 100 from
/// Elixir 1.20 on.
pub const MAX_START: usize = 128;
/// Bytes of the longest payload: a key of characters that are all written as escapes, and the mark where it was cut.
pub const MAX_PAYLOAD: usize = 6 * MAX_KEY + CUT.len();

/// The payload for a binary that is not UTF-8.
#[cold]
pub(super) fn invalid_utf8(bytes: &[u8]) -> Vec<u8> {
    let end = core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| bytes.len());
    let start = &bytes[..bytes.len().min(MAX_START)];
    gathered(&[&[bytes.get(end).copied().unwrap_or_default()], start])
}

/// The payload for a key that comes twice: as it would be written, without the quotes. `write` writes it.
#[cold]
pub(super) fn duplicate_key(key: &[u8], write: impl FnOnce(&mut Output<Vec<u8>>, &[u8]) -> bool) -> Vec<u8> {
    let shown = cut(key);
    let mut text = Output::new(Vec::new());
    let written = write(&mut text, shown);
    let quoted = text.written();
    let text = if written && quoted.len() > 1 { &quoted[1..quoted.len() - 1] } else { shown };
    gathered(&[text, if shown.len() < key.len() { CUT.as_bytes() } else { b"" }])
}

/// At most [`MAX_KEY`] bytes of a key, and no part of a character at the end.
fn cut(key: &[u8]) -> &[u8] {
    let Some(mut shown) = key.get(..MAX_KEY) else { return key };
    if key.len() > MAX_KEY && key[MAX_KEY] & 0xC0 == 0x80 {
        let last = shown.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(MAX_KEY);
        shown = &shown[..last];
    }
    shown
}

/// Empty if a few hundred bytes cannot be allocated.
fn gathered(parts: &[&[u8]]) -> Vec<u8> {
    let mut payload = Vec::new();
    if payload.try_reserve(MAX_PAYLOAD).is_ok() {
        parts.iter().for_each(|part| payload.extend_from_slice(part));
    }
    payload
}

/// A term that the core leaves to the shell: nothing is written at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole<T> {
    /// Offset into the output at which its text belongs.
    pub offset: usize,
    /// Depth at which it stands: the number of containers around it.
    pub depth: u32,
    /// The term.
    pub term: T,
    /// It stands in key position: its text is a string, quotes included; the colon is there already.
    pub key: bool,
}
