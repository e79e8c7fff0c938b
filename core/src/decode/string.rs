//! Strings (RFC 8259 section 7). Most have no escape and are passed on as a part of the input; the others are unescaped
//! into a buffer.

use crate::builder::Text;
use crate::error::{Error, ErrorKind};
use crate::room::room;
use crate::simd::Kernel;
use crate::simd::marks::{BLOCK, Marks, SEEN, TOUCHED, block, copy_part};
use alloc::vec::Vec;

/// Up to where a text is known to be UTF-8.
///
/// A check looks beyond its run, each time twice as far, so most strings that follow are known already. A document that is mostly not
/// ASCII takes three quarters of the time that a check of each string takes.
#[derive(Debug)]
pub(crate) struct Utf8 {
    known: usize,
    ahead: usize,
}

impl Default for Utf8 {
    fn default() -> Self {
        Self::new()
    }
}

impl Utf8 {
    const LEAST: usize = 64;
    const MOST: usize = 4096;

    /// Nothing is known yet.
    pub const fn new() -> Self {
        Self { known: 0, ahead: Self::LEAST }
    }

    /// Checks a run between quotes and escapes, none of which can stand inside a character.
    #[inline(always)]
    pub fn check(&mut self, bytes: &[u8], start: usize, end: usize) -> Result<(), Error> {
        if end <= self.known { Ok(()) } else { self.advance(bytes, start, end) }
    }

    #[inline(never)]
    fn advance(&mut self, bytes: &[u8], start: usize, end: usize) -> Result<(), Error> {
        // What is known ends between two characters.
        let from = start.max(self.known);
        let to = end.max(from + self.ahead).min(bytes.len());
        self.ahead = (2 * self.ahead).min(Self::MOST);
        self.known = match simdutf8::compat::from_utf8(&bytes[from..to]) {
            Ok(_) => to,
            Err(error) => from + error.valid_up_to(),
        };
        // What is wrong behind the run is not its error, and may not be one: the character that `to` cuts.
        if self.known < end { Err(Error::new(ErrorKind::InvalidUtf8, self.known)) } else { Ok(()) }
    }
}

/// Reads the string whose opening quote is at `open`; returns its text and the offset behind the closing quote.
/// What is unescaped is appended to `buffer`.
#[inline(always)]
pub(super) fn string<'a, K: Kernel>(
    kernel: K,
    bytes: &'a [u8],
    open: usize,
    (utf8, validate): (&mut Utf8, bool),
    buffer: &'a mut Vec<u8>,
) -> Result<(Text<'a>, usize), Error> {
    let start = open + 1;
    let run = kernel.string_run(bytes, start);
    if !run.ascii && validate {
        utf8.check(bytes, start, run.end)?;
    }
    if bytes.get(run.end) == Some(&b'"') {
        return Ok((Text::Input(start, &bytes[start..run.end]), run.end + 1));
    }
    let from = buffer.len();
    let end = unescape(kernel, bytes, start, run.end, (utf8, validate), buffer)?;
    Ok((Text::Unescaped(&buffer[from..]), end))
}

/// Continues after the first plain run, which ended at `end` without a quote.
#[inline(never)]
pub(super) fn unescape<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    start: usize,
    end: usize,
    utf8: (&mut Utf8, bool),
    buffer: &mut Vec<u8>,
) -> Result<usize, Error> {
    kernel.vectorize(
        #[inline(always)]
        || runs_and_escapes::<K, true>(kernel, bytes, start, end, utf8, buffer),
    )
}

/// The same for a string that nobody wants: only its errors and its end.
#[inline(never)]
pub(super) fn pass_escapes<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    start: usize,
    end: usize,
    utf8: (&mut Utf8, bool),
) -> Result<usize, Error> {
    kernel.vectorize(
        #[inline(always)]
        || runs_and_escapes::<K, false>(kernel, bytes, start, end, utf8, &mut Vec::new()),
    )
}

/// Goes from one mark of a block to the next. (A JSON text in a string: 3.7 to 2.3 µs for 2.7 KB; an answer of a language model: 3.0 to 2.2
/// µs for 4 KB.) Where the string is not kept, escapes of one letter are not marked, so a run goes on behind them.
#[inline(always)]
fn runs_and_escapes<K: Kernel, const KEPT: bool>(
    kernel: K,
    bytes: &[u8],
    start: usize,
    end: usize,
    (utf8, validate): (&mut Utf8, bool),
    buffer: &mut Vec<u8>,
) -> Result<usize, Error> {
    if KEPT {
        room(buffer, end - start).map_err(|kind| Error::new(kind, start))?;
        buffer.extend_from_slice(&bytes[start..end]);
    }
    let (mut len, mut run, mut pos, mut before) = (buffer.len(), end, end, 0);
    let (mut short, mut character) = ([0; SEEN], [0; 4]);
    loop {
        if KEPT && buffer.len() - len < ROOM {
            more_room(buffer, bytes.len() - pos).map_err(|kind| Error::new(kind, pos))?;
        }
        let seen = block(&bytes[pos..], &mut short);
        let Marks { mut ends, mut wide } = if KEPT { kernel.string_marks(seen) } else { kernel.passed_marks(seen) };
        let mut from = 0;
        loop {
            let at = ends.trailing_zeros() as usize;
            if KEPT {
                copy_part(seen, from, at, &mut buffer[len..]);
                len += at - from;
            }
            if at == BLOCK {
                (pos, before) = (pos + BLOCK, before | wide);
                break;
            }
            let stop = pos + at;
            if (before | wide & !(!0 << at)) != 0 && validate {
                utf8.check(bytes, run, stop)?;
            }
            let (written, next) = match bytes.get(stop) {
                Some(b'\\') => escape(bytes, stop, if KEPT { &mut buffer[len..] } else { &mut character })?,
                Some(b'"') => {
                    buffer.truncate(len);
                    return Ok(stop + 1);
                }
                Some(_) => return Err(Error::new(ErrorKind::ControlCharacter, stop)),
                None => return Err(Error::new(ErrorKind::UnexpectedEnd, stop)),
            };
            (len, run, before, from) = (len + written, next, 0, next - pos);
            if from >= BLOCK {
                pos = next;
                break;
            }
            (ends, wide) = (ends & !0 << from, wide & !0 << from);
        }
    }
}

/// What a block becomes, and what is touched behind it.
const ROOM: usize = BLOCK + TOUCHED;
/// The most that is added to a buffer at once.
const MOST_ROOM: usize = 4096;

/// Makes a buffer twice as long, within limits; not much longer than is left of the input.
#[cold]
#[inline(never)]
fn more_room(buffer: &mut Vec<u8>, left: usize) -> Result<(), ErrorKind> {
    let more = buffer.len().clamp(2 * ROOM, MOST_ROOM).min(left + ROOM);
    room(buffer, more)?;
    buffer.resize(buffer.len() + more, 0);
    Ok(())
}

/// What a piece has of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// All that was missing; the offset behind the closing quote.
    Ended(usize),
    /// The string goes on behind the piece; the offset of the escape or character that it cuts, or its length.
    Cut(usize),
}

/// Goes on inside a string from `start`, between two of its characters; appends its whole characters.
pub(crate) fn chunk<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    mut start: usize,
    validate: bool,
    buffer: &mut Vec<u8>,
) -> Result<Chunk, Error> {
    let mut character = [0; 4];
    loop {
        let run = kernel.string_run(bytes, start);
        let at_end = run.end == bytes.len();
        let end = if at_end && !run.ascii { run.end - cut_character(&bytes[start..]) } else { run.end };
        if !run.ascii && validate {
            check_utf8(bytes, start, end)?;
        }
        room(buffer, end - start + 4).map_err(|kind| Error::new(kind, start))?;
        buffer.extend_from_slice(&bytes[start..end]);
        if at_end {
            return Ok(Chunk::Cut(end));
        }
        match bytes[end] {
            b'"' => return Ok(Chunk::Ended(end + 1)),
            b'\\' => match escape(bytes, end, &mut character) {
                Ok((len, next)) => {
                    buffer.extend_from_slice(&character[..len]);
                    start = next;
                }
                Err(error) if error.kind == ErrorKind::UnexpectedEnd => return Ok(Chunk::Cut(end)),
                Err(error) => return Err(error),
            },
            _ => return Err(Error::new(ErrorKind::ControlCharacter, end)),
        }
    }
}

/// Bytes at the end that are the beginning of a character (RFC 3629 section 4).
fn cut_character(run: &[u8]) -> usize {
    let tail = &run[run.len().saturating_sub(3)..];
    let lead = tail.iter().rposition(|byte| byte & 0b1100_0000 != 0b1000_0000);
    lead.map(|at| &tail[at..]).map_or(0, |rest| match core::str::from_utf8(rest) {
        Err(error) if error.error_len().is_none() => rest.len(),
        _ => 0,
    })
}

/// Checks a run alone.
#[inline(never)]
fn check_utf8(bytes: &[u8], start: usize, end: usize) -> Result<(), Error> {
    let run = &bytes[start..end];
    if run.len() >= 64 && simdutf8::basic::from_utf8(run).is_ok() {
        return Ok(());
    }
    match core::str::from_utf8(run) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(ErrorKind::InvalidUtf8, start + error.valid_up_to())),
    }
}

/// What the second byte of an escape stands for; 0 where that is not one byte.
const SIMPLE: [u8; 256] = {
    let mut simple = [0; 256];
    let pairs = *b"\"\"\\\\//n\nt\tr\rb\x08f\x0C";
    let mut n = 0;
    while n < pairs.len() {
        simple[pairs[n] as usize] = pairs[n + 1];
        n += 2;
    }
    simple
};

/// Writes what the escape whose backslash is at `at` stands for, at most 4 bytes; returns their number, and the offset behind it.
#[inline(always)]
fn escape(bytes: &[u8], at: usize, target: &mut [u8]) -> Result<(usize, usize), Error> {
    // By a table: no processor could foresee which escape comes next.
    let simple = bytes.get(at + 1).map_or(0, |&byte| SIMPLE[usize::from(byte)]);
    if simple != 0 {
        target[0] = simple;
        return Ok((1, at + 2));
    }
    match bytes.get(at + 1) {
        Some(b'u') => unicode_escape(bytes, at, target),
        Some(_) => Err(Error::new(ErrorKind::InvalidEscape, at)),
        None => Err(Error::new(ErrorKind::UnexpectedEnd, bytes.len())),
    }
}

/// `\uXXXX`, or two of them that form a surrogate pair.
fn unicode_escape(bytes: &[u8], at: usize, target: &mut [u8]) -> Result<(usize, usize), Error> {
    let unit = hex4(bytes, at)?;
    let (code, end) = match unit {
        0xD800..=0xDBFF => {
            if bytes.get(at + 6..at + 8).is_none_or(|next| next != b"\\u") {
                return Err(lone_surrogate(bytes, at));
            }
            let low = hex4(bytes, at + 6)?;
            if !(0xDC00..=0xDFFF).contains(&low) {
                return Err(Error::new(ErrorKind::LoneSurrogate, at));
            }
            (0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), at + 12)
        }
        _ => (unit, at + 6),
    };
    let Some(character) = char::from_u32(code) else {
        return Err(Error::new(ErrorKind::LoneSurrogate, at));
    };
    Ok((character.encode_utf8(target).len(), end))
}

/// A high surrogate with nothing that could be its low half; cut off by the end of the input it may still have one.
#[cold]
fn lone_surrogate(bytes: &[u8], at: usize) -> Error {
    match bytes.get(at + 6..) {
        Some([]) | Some([b'\\']) => Error::new(ErrorKind::UnexpectedEnd, bytes.len()),
        _ => Error::new(ErrorKind::LoneSurrogate, at),
    }
}

/// The four hexadecimal digits of the `\u` whose backslash is at `at`.
#[inline(always)]
fn hex4(bytes: &[u8], at: usize) -> Result<u32, Error> {
    let mut unit = 0;
    for i in at + 2..at + 6 {
        let Some(&byte) = bytes.get(i) else {
            return Err(Error::new(ErrorKind::UnexpectedEnd, bytes.len()));
        };
        let Some(digit) = (byte as char).to_digit(16) else {
            return Err(Error::new(ErrorKind::InvalidUnicodeEscape, at));
        };
        unit = unit << 4 | digit;
    }
    Ok(unit)
}
