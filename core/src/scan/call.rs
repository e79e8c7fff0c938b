//! What a shell hands over and gets back for a piece, as bytes: the same for the native library and the WebAssembly module.

use super::fed::{End, Fed, Trouble};
use super::partial::LONGEST;
use super::plan::{Format, Plan};
use super::state::{MAX_POINTER_KEY, State};
use super::walk::MOST_POINTERS;
use super::wire::{Reader, Writer};
use crate::error::ErrorKind;
use crate::locate::MAX_PATH;
use crate::options::DecodeOptions;
use alloc::string::String;
use alloc::vec::Vec;

/// What goes along with a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Bytes of the stream before the piece.
    pub before: u64,
    /// Bytes of them that are kept outside.
    pub held: u64,
    /// Nothing follows.
    pub last: bool,
    /// The number of a key that is not an existing atom, for a shell that cannot look it up; [`Question::UNASKED`] or
    /// [`Question::KNOWN`] for none.
    pub stop: u64,
    /// What the stream is cut into.
    pub plan: Plan,
    /// Where it stands.
    pub state: State,
}

impl Question {
    /// Nobody has asked yet which keys are atoms. Maps may have repeated keys, for which the answer is refused.
    pub const UNASKED: u64 = u64::MAX;
    /// All keys are atoms.
    pub const KNOWN: u64 = u64::MAX - 1;

    /// Reads a question and returns the bytes after it, which are the shell's options. Its fields are `before` and `held` (`u64`
    /// each), `last` (`u8`), `stop` (`u64`), the plan and the state, each after its length (`u32`).
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut reader = Reader(bytes);
        let (before, held) = (reader.count()?, reader.count()?);
        let (last, stop) = (reader.flag()?, reader.u64()?);
        let (plan, state) = (Plan::read(reader.slice()?)?, State::read(reader.slice()?)?);
        Some((Self { before, held, last, stop, plan, state }, reader.0))
    }
}

/// What came of a piece, beside the terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The bytes from this offset on were not processed.
    pub kept: usize,
    /// Why it stopped.
    pub end: End,
    /// Where the stream stands.
    pub state: &'a [u8],
}

/// What an answer can have at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// Bytes of a document that could have it.
    pub document: usize,
    /// Values and keys; 0 for as many as such a document can have.
    pub nodes: u64,
    /// Keys.
    pub keys: u64,
    /// Elements of the list.
    items: usize,
}

const MORE: u8 = 0;
const AGAIN: u8 = 1;
const JOIN: u8 = 2;
const WRONG: u8 = 3;

/// Appends an answer: `kept` (`u32`), the state behind its length (`u32`), and the end: 0 more, 1 again, 2 join, or 3 and the
/// code (`u8`), offset, line and column (8 bytes each), where the current value starts and ends (`u32`), and the path behind
/// its length (`u32`).
pub fn write_answer(fed: &Fed, state: &State, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    state.write(&mut bytes);
    let mut out = Writer(out);
    out.u32(fed.kept);
    out.slice(&bytes);
    match &fed.end {
        End::More => out.bytes(&[MORE]),
        End::Again => out.bytes(&[AGAIN]),
        End::Join => out.bytes(&[JOIN]),
        End::Wrong(trouble) => {
            out.bytes(&[WRONG, trouble.kind as u8]);
            out.u64(trouble.offset.cast_unsigned());
            out.u64(trouble.line);
            out.u64(trouble.column);
            out.u32(trouble.value.0);
            out.u32(trouble.value.1);
            out.slice(trouble.path.as_bytes());
        }
    }
}

/// Bytes of a state beside what is listed here: its numbers, and a token of its scanner.
const STATE: usize = 128;

impl Question {
    /// Most bytes of a pointer, or of the state of a level.
    const LEVEL: usize = 2 * MAX_POINTER_KEY + 32;

    /// What an honest answer to a piece of this length can have. Bytes that are kept come again, so the answer is held to those
    /// before them, unless the stream ends with it.
    pub fn most(&self, piece: usize, answer: &Answer<'_>) -> Most {
        let ends = matches!(answer.end, End::Wrong(_)) && !self.plan.has_records();
        let done = if ends { piece } else { answer.kept };
        if self.plan.format == Format::Partial { Self::most_events(piece, done) } else { self.most_of(piece, done) }
    }

    /// The values of a stream in this many bytes of a piece, a list around them, and pointers.
    fn most_of(&self, piece: usize, done: usize) -> Most {
        let values = self.plan.most_values(piece, done);
        let keys = done as u64 / 5;
        // Each second byte can be a value, whose place takes up to 21 bytes.
        let (pointers, places) = match (self.plan.pointers, self.plan.places) {
            (_, true) => (self.most_pointers(piece, values), 2 * done),
            (true, false) => (self.most_pointers(piece, values), 0),
            (false, false) => (0, 0),
        };
        // Each byte can be an answer as many times as answers overlap, and each has its number.
        let overlap = self.plan.overlap();
        let parts = if self.plan.selected().is_some() { (17 * overlap + 16).saturating_mul(done) } else { 0 };
        let document = (2 * done + 16 + pointers + places).saturating_add(parts);
        // A value with a pointer can become a row, which is longer than what it is made of.
        let items = values.saturating_mul(1 + usize::from(self.plan.pointers));
        Most { document, nodes: 0, keys: keys.saturating_mul(overlap.max(1) as u64), items }
    }

    /// Bytes of pointers in an answer with this many values.
    fn most_pointers(&self, piece: usize, values: usize) -> usize {
        let pointer = self.plan.segments.len() * Self::LEVEL;
        values.saturating_mul(2 * pointer).min(piece + MOST_POINTERS + 2 * pointer)
    }

    /// Each byte of a partial document may be an event, which tells of a key and its place. A number that goes on is kept, and told
    /// of all the same.
    fn most_events(piece: usize, done: usize) -> Most {
        let events = 8 * done + 80;
        let number = (piece - done).min(LONGEST);
        Most { document: events + number, nodes: events as u64, keys: events as u64 / 5, items: usize::MAX }
    }

    /// How many lists stand around the deepest part of a value in an answer.
    pub fn lists(&self) -> u32 {
        if self.plan.selected().is_some() { 2 } else { 1 }
    }

    /// Takes a record behind its status apart, as the guest writes it: a list in External Term Format, the answer, and the
    /// length of the list (`u32`). `None` for what no honest guest writes about a piece of this length.
    pub fn open<'a>(&self, record: &'a [u8], piece: usize, options: &DecodeOptions) -> Option<(&'a [u8], Answer<'a>)> {
        let (record, len) = record.split_last_chunk()?;
        let (list, answer) = record.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let answer = self.answer(answer, piece, options)?;
        if count(list).is_some_and(|count| count > self.most(piece, &answer).items) {
            return None;
        }
        let joins = answer.end != End::Join || self.held > 0 && list == EMPTY;
        joins.then_some((list, answer))
    }

    fn answer<'a>(&self, bytes: &'a [u8], piece: usize, options: &DecodeOptions) -> Option<Answer<'a>> {
        let mut reader = Reader(bytes);
        let kept = reader.u32()? as usize;
        let levels = self.plan.segments.len() * Self::LEVEL;
        let depth = u64::from(options.max_depth).min(self.before + piece as u64) as usize;
        let state = reader.slice().filter(|state| state.len() <= STATE + levels + depth / 8)?;
        // It comes back with the next piece.
        State::read(state)?;
        let end = match reader.byte()? {
            MORE => End::More,
            AGAIN if kept > 0 => End::Again,
            JOIN if kept == 0 => End::Join,
            // Records go on behind a bad one.
            WRONG if kept > 0 || piece == 0 || !self.plan.has_records() => {
                End::Wrong(self.trouble(&mut reader, piece, kept)?)
            }
            _ => return None,
        };
        (kept <= piece && reader.0.is_empty()).then_some(Answer { kept, end, state })
    }

    /// Each of many bad records has a path, which is one of its bytes.
    fn longest_path(&self, kept: usize) -> usize {
        let most = 2 * MAX_PATH + self.plan.segments.len() * Self::LEVEL;
        if self.plan.has_records() { most.min(4 * kept + 16) } else { most }
    }

    fn trouble(&self, reader: &mut Reader<'_>, piece: usize, kept: usize) -> Option<Trouble> {
        let kind = ErrorKind::from_code(reader.byte()?)?;
        let offset = reader.u64()?.cast_signed();
        let (line, column) = (reader.count()?, reader.count()?);
        let value = (reader.u32()? as usize, reader.u32()? as usize);
        let path = core::str::from_utf8(reader.slice()?).ok()?;
        let most = self.before + piece as u64 + 1;
        let possible = offset.unsigned_abs() <= if offset < 0 { self.before } else { piece as u64 }
            && (1..=most).contains(&line)
            && (1..=most).contains(&column)
            && value.0 <= value.1
            && value.1 <= piece
            // What is quoted reaches to the place.
            && offset <= value.1 as i64
            && path.len() <= self.longest_path(kept);
        possible.then(|| Trouble { kind, offset, line, column, path: String::from(path), value })
    }
}

/// The number of elements, where bytes in External Term Format start a list.
fn count(list: &[u8]) -> Option<usize> {
    let (&head, rest) = list.split_first_chunk()?;
    let count = rest.first_chunk()?;
    (head == LIST).then(|| u32::from_be_bytes(*count) as usize)
}

/// What a list with elements starts with.
const LIST: [u8; 2] = [131, 108];
/// An empty list in External Term Format.
const EMPTY: &[u8] = &[131, 106];
