//! Writes a tape, in parts of a fixed size, each handed on as soon as it is full: no large binary of the caller's is made, and a term that
//! has far more parts than cells is stopped by whoever takes the parts.

use super::{BEHIND_COMMA, IN_RECORDS, Kind, MOST, SLACK, TOKEN, small, token};
use crate::encode::{AtomText, Block, EncodeError, EncodeErrorKind, Keys, NotUtf8, Role, Writer};
use crate::options::{EncodeOptions, Pretty};
use crate::simd::copy::CopyKernel;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Takes what is written.
pub trait Sink {
    /// Takes the bytes that stand at this place of the tape, behind all others. `false`: no more is taken.
    fn take(&mut self, at: usize, bytes: &[u8]) -> bool;
}

/// Bytes that are handed on at once: they stay in the nearest caches.
const PART: usize = 16 << 10;
/// Bytes that any token may take, but for long texts.
const ROOM: usize = 80;
/// Bytes that a hole takes, as an entry of a list that grows and as a term.
const BYTES_PER_HOLE: usize = 128;
/// The length of a tape that takes no more: above all limits, with room for what is written all the same.
const FAILED: usize = usize::MAX / 2;
/// Sets of keys that are known at a time.
const SHAPES: usize = 256;

/// Memory for the next tape.
pub struct Memory {
    part: Box<[u8; PART]>,
    shapes: Box<[Shape; SHAPES]>,
    /// The number of the tape: what an earlier one left in the table does not count.
    tape: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { part: Box::new([0; PART]), shapes: Box::new([Shape::default(); SHAPES]), tape: 0 }
    }
}

/// The keys of maps, by their number.
#[derive(Clone, Copy, Default)]
struct Shape {
    keys: u64,
    tape: u64,
    /// The number of the shape on the tape, and the bytes that its keys would take.
    shape: Option<(u32, u32)>,
}

/// A tape that is written.
pub struct Tape<'m, S> {
    part: &'m mut [u8; PART],
    shapes: &'m mut [Shape; SHAPES],
    /// The number of the tape in the table of shapes.
    tape: &'m mut u64,
    at: usize,
    /// Bytes that were handed on.
    before: usize,
    /// Bytes that keys would have taken where the number of a shape stands for them.
    more: usize,
    /// Shapes on the tape.
    known: u32,
    /// Where the keys of the current shape start.
    keys: usize,
    /// Behind the token of single bytes that may get more: its place in the part, and how many there are.
    bytes: Option<(usize, usize)>,
    /// Of the length, what was taken back.
    back: usize,
    /// Where the last comma stands.
    comma: usize,
    /// Holes that it may still have.
    holes: usize,
    /// Bytes that the walk may keep.
    limit: usize,
    failed: bool,
    /// Takes it.
    pub sink: S,
}

impl<'m, S: Sink> Tape<'m, S> {
    /// An empty tape. The walk may take this many bytes of memory beside it, and so may its holes.
    pub fn new(memory: &'m mut Memory, sink: S, limit: usize) -> Self {
        let holes = limit / BYTES_PER_HOLE;
        let Memory { part, shapes, tape } = memory;
        *tape += 1;
        Self {
            part,
            shapes,
            tape,
            at: 0,
            before: 0,
            more: 0,
            known: 0,
            keys: 0,
            bytes: None,
            back: 0,
            comma: usize::MAX,
            holes,
            limit,
            failed: false,
            sink,
        }
    }

    /// The bytes that it has.
    pub const fn size(&self) -> usize {
        self.before + self.at
    }

    /// The bytes that it would have without shapes.
    pub const fn whole(&self) -> usize {
        self.size().saturating_add(self.more)
    }

    /// Ends it. `false`: the sink has not taken all of it.
    pub fn end(&mut self) -> bool {
        self.token(Kind::End, 0);
        self.room(SLACK);
        self.put([0; SLACK]);
        self.flush();
        !self.failed
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.part[self.at..self.at + N].copy_from_slice(&bytes);
        self.at += N;
    }

    /// Room for this many bytes.
    #[inline(always)]
    fn room(&mut self, bytes: usize) {
        if self.at + bytes > PART {
            self.flush();
        }
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        let len = core::mem::take(&mut self.at);
        self.bytes = None;
        if !self.failed && !self.sink.take(self.before, &self.part[..len]) {
            self.fail();
        }
        self.before += len;
    }

    /// No more is taken. The walk sees it as a length above all limits.
    #[cold]
    fn fail(&mut self) {
        (self.failed, self.before) = (true, FAILED);
    }

    #[inline(always)]
    fn token(&mut self, kind: Kind, number: usize) {
        self.room(TOKEN);
        self.put(token(kind, number));
    }

    #[inline(always)]
    fn eight(&mut self, kind: Kind, bytes: [u8; 8]) {
        self.room(TOKEN + 8);
        self.put(token(kind, 0));
        self.put(bytes);
    }

    #[inline(always)]
    fn text(&mut self, role: Role, text: &[u8]) {
        if text.len() > ROOM - TOKEN {
            return self.long_text(role, text);
        }
        self.room(ROOM);
        self.put(token(if role == Role::Key { Kind::Key } else { Kind::String }, text.len()));
        copy_few(text, &mut self.part[self.at..]);
        self.at += text.len();
    }

    #[inline(never)]
    fn long_text(&mut self, role: Role, text: &[u8]) {
        let [short, long] = match role {
            Role::Key => [Kind::Key, Kind::LongKey],
            Role::Value => [Kind::String, Kind::LongString],
        };
        if text.len() > MOST {
            return self.sized(long, 0, text);
        }
        self.token(short, text.len());
        self.copy(text);
    }

    /// A token with a length of four bytes.
    fn sized(&mut self, kind: Kind, number: usize, bytes: &[u8]) {
        // No module addresses more.
        let Ok(len) = u32::try_from(bytes.len()) else {
            return self.fail();
        };
        self.token(kind, number);
        self.room(4);
        self.put(len.to_le_bytes());
        self.copy(bytes);
    }

    #[inline(never)]
    fn copy(&mut self, bytes: &[u8]) {
        if bytes.len() <= PART / 4 {
            self.room(bytes.len());
            self.part[self.at..self.at + bytes.len()].copy_from_slice(bytes);
            self.at += bytes.len();
            return;
        }
        self.flush();
        for chunk in bytes.chunks(PART) {
            if !self.failed && !self.sink.take(self.before, chunk) {
                self.fail();
            }
            self.before += chunk.len();
        }
    }

    #[inline(always)]
    fn shape(&mut self, keys: u64) -> &mut Shape {
        &mut self.shapes[(keys >> 4 ^ keys >> 12 ^ keys >> 56) as usize % SHAPES]
    }
}

impl<S: Sink> Writer for Tape<'_, S> {
    // A record that is a hole is three tokens, and its text a line break.
    const DENSITY: usize = 3 * TOKEN;
    const SHAPES: bool = true;

    #[inline(always)]
    fn length(&self) -> usize {
        self.before + self.at + self.more - self.back
    }

    #[inline(always)]
    fn failed(&self) -> bool {
        self.failed
    }

    fn may_keep(&mut self, bytes: usize) -> bool {
        if bytes > self.limit {
            self.fail();
        }
        !self.failed
    }

    /// It stays on the tape, for whoever plays it may find an error in it; the length forgets it.
    fn take_back(&mut self, start: usize) {
        let len = self.length();
        if len > start {
            self.bytes = None;
            self.back += len - start;
            self.token(Kind::Back, 0);
            self.back += TOKEN;
        }
    }

    #[inline(always)]
    fn null(&mut self) {
        self.token(Kind::Nil, 0);
    }

    #[inline(always)]
    fn boolean(&mut self, value: bool) {
        self.token(if value { Kind::True } else { Kind::False }, 0);
    }

    #[inline(always)]
    fn integer(&mut self, value: i64, _safe: bool) {
        match small(value) {
            Some(token) => {
                self.room(TOKEN);
                self.put(token);
            }
            None => self.eight(Kind::Integer, value.to_le_bytes()),
        }
    }

    #[inline(always)]
    fn float<K: CopyKernel>(&mut self, _kernel: K, value: f64) {
        self.eight(Kind::Float, value.to_le_bytes());
    }

    fn big(&mut self, role: Role, negative: bool, magnitude: &[u8], _safe: bool) {
        self.sized(if role == Role::Key { Kind::BigKey } else { Kind::Big }, usize::from(negative), magnitude);
    }

    #[inline(always)]
    fn string<K: CopyKernel>(
        &mut self,
        _kernel: K,
        role: Role,
        _options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8> {
        self.text(role, bytes);
        Ok(())
    }

    #[inline(never)]
    fn rare_string<K: CopyKernel>(
        &mut self,
        _kernel: K,
        role: Role,
        _options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8> {
        self.text(role, bytes);
        Ok(())
    }

    /// Nothing is found to be wrong here.
    fn replace<K: CopyKernel>(&mut self, _: K, _: &EncodeOptions<'_>, _: NotUtf8, _: &[u8]) -> bool {
        false
    }

    #[inline(always)]
    fn plain(&mut self, block: &Block, len: usize) {
        self.text(Role::Value, &block[1..1 + len]);
    }

    #[inline(always)]
    fn plain_key(&mut self, block: &Block, len: usize) {
        self.text(Role::Key, &block[1..1 + len]);
    }

    #[inline(always)]
    fn atom<K: CopyKernel>(&mut self, _kernel: K, _options: &EncodeOptions<'_>, text: AtomText<'_>) {
        self.text(Role::Value, text.bytes);
    }

    #[inline(always)]
    fn colon(&mut self, _options: &EncodeOptions<'_>) {}

    fn raw(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.bytes = None;
            self.sized(Kind::Raw, 0, text);
        }
    }

    fn raw_byte(&mut self, byte: u8) {
        self.room(TOKEN + 1);
        let (place, count) = match self.bytes {
            Some((place, count)) if count < MOST => (place, count + 1),
            _ => {
                self.put([0; TOKEN]);
                (self.at - TOKEN, 1)
            }
        };
        self.part[place..place + TOKEN].copy_from_slice(&token(Kind::Bytes, count));
        self.put([byte]);
        self.bytes = Some((place, count));
    }

    fn end_raw(&mut self) {
        self.bytes = None;
        self.token(Kind::EndRaw, 0);
    }

    fn hole(&mut self, role: Role) {
        match self.holes.checked_sub(1) {
            Some(left) => self.holes = left,
            None => self.fail(),
        }
        self.token(if role == Role::Key { Kind::HoleKey } else { Kind::Hole }, 0);
    }

    #[inline(always)]
    fn open(&mut self, bracket: u8) {
        self.token(if bracket == b'[' { Kind::List } else { Kind::Map }, 0);
    }

    #[inline(always)]
    fn close(&mut self, bracket: u8) {
        self.token(if bracket == b']' { Kind::EndList } else { Kind::EndMap }, 0);
    }

    #[inline(always)]
    fn empty(&mut self, brackets: [u8; 2]) {
        self.token(if brackets[0] == b'[' { Kind::EmptyList } else { Kind::EmptyMap }, 0);
    }

    #[inline(always)]
    fn comma(&mut self) {
        self.comma = self.before + self.at;
    }

    fn line(&mut self, _pretty: &Pretty<'_>, _depth: usize) {}

    fn record(&mut self, marked: bool) {
        self.token(if marked { Kind::MarkedRecord } else { Kind::Record }, 0);
    }

    fn end_record(&mut self) {
        self.token(Kind::EndRecord, 0);
    }

    #[inline(always)]
    fn known_keys(&mut self, number: u64) -> bool {
        let tape = *self.tape;
        let slot = self.shape(number);
        let Some((shape, more)) = slot.shape.filter(|_| slot.keys == number && slot.tape == tape) else { return false };
        self.more += more as usize;
        self.token(Kind::Shaped, shape as usize);
        true
    }

    fn keys(&mut self, number: u64) -> Keys {
        let (tape, room) = (*self.tape, (self.known as usize) < MOST);
        let slot = self.shape(number);
        if slot.keys != number || slot.tape != tape {
            *slot = Shape { keys: number, tape, shape: None };
            return Keys::Unknown;
        }
        match slot.shape {
            Some(_) => {
                self.known_keys(number);
                Keys::Known
            }
            None if room => Keys::Wanted,
            None => Keys::Unknown,
        }
    }

    fn start_keys(&mut self, count: usize) {
        self.keys = self.before + self.at;
        self.token(Kind::Shape, count);
    }

    fn end_keys(&mut self, number: u64) {
        // What is longer counts as this: no module holds so much.
        let more = u32::try_from(self.before + self.at - self.keys).unwrap_or(u32::MAX);
        let (tape, known) = (*self.tape, self.known);
        *self.shape(number) = Shape { keys: number, tape, shape: Some((known, more)) };
        self.known += 1;
    }

    /// The path is found where the text is.
    fn error(
        &mut self,
        _start: usize,
        _reached: usize,
        kind: EncodeErrorKind,
        payload: Vec<u8>,
        record: Option<usize>,
    ) -> EncodeError {
        if !matches!(kind, EncodeErrorKind::Budget | EncodeErrorKind::OutOfMemory) {
            self.bytes = None;
            let records = if record.is_some() { IN_RECORDS } else { 0 };
            let comma = if self.comma == self.size() { BEHIND_COMMA } else { 0 };
            self.sized(Kind::Failed, kind as usize | records | comma, &payload);
        }
        EncodeError { kind, path: String::new(), payload }
    }
}

/// Copies bytes to the start of a target. Most are few, for which a call of the library function takes longer than the copy: 16 at a time,
/// or 8 or 4 from either end, overlapping.
#[inline(always)]
fn copy_few(bytes: &[u8], target: &mut [u8]) {
    let (len, target) = (bytes.len(), &mut target[..bytes.len()]);
    match len {
        0..4 => target.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from),
        4..8 => {
            target[..4].copy_from_slice(&bytes[..4]);
            target[len - 4..].copy_from_slice(&bytes[len - 4..]);
        }
        8..16 => {
            target[..8].copy_from_slice(&bytes[..8]);
            target[len - 8..].copy_from_slice(&bytes[len - 8..]);
        }
        _ => {
            for at in (0..len - 16).step_by(16) {
                target[at..at + 16].copy_from_slice(&bytes[at..at + 16]);
            }
            target[len - 16..].copy_from_slice(&bytes[len - 16..]);
        }
    }
}
