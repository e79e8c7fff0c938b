//! Strings: quoting, escaping and the check that they are UTF-8.

use crate::options::Escape;
use crate::output::{Buffer, Output};
use crate::simd::copy::{CopyKernel, SLACK};
use crate::simd::marks::{BLOCK, Marks, SEEN, TOUCHED, block, copy_part};

/// The bytes are not UTF-8. They may be written all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8 {
    /// Length of the output without them.
    pub start: usize,
}

/// Longest text that one character of the source becomes: a surrogate pair.
const LONGEST: usize = 12;

/// Appends a string in quotes.
///
/// In the default mode one pass copies and checks. Text without anything to escape, by far the most frequent, needs
/// nothing more; text beyond ASCII is then checked to be UTF-8 while it is still in the first-level cache. Checking
/// first and copying then reads everything twice; checking only the runs beyond ASCII costs more in set-up than it saves.
#[inline(always)]
pub fn string<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    escape: Escape,
    bytes: &[u8],
) -> Result<(), NotUtf8> {
    if escape != Escape::Json {
        return other_modes(kernel, out, escape, bytes);
    }
    let Some(room) = out.room(bytes.len() + SLACK + 2) else { return Ok(()) };
    room[0] = b'"';
    let run = kernel.copy_run(bytes, &mut room[1..]);
    if run.end < bytes.len() {
        out.advance(1 + run.end);
        return escaped(kernel, out, bytes, run.end, run.ascii);
    }
    room[1 + bytes.len()] = b'"';
    out.advance(bytes.len() + 2);
    if run.ascii { Ok(()) } else { check(bytes).map_err(|()| NotUtf8 { start: out.len() - bytes.len() - 2 }) }
}

/// [`string`] where size counts more than speed: one copy of the code, 1.3 KB of the WebAssembly module.
#[inline(never)]
pub fn rare_string<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    escape: Escape,
    bytes: &[u8],
) -> Result<(), NotUtf8> {
    kernel.vectorize(
        #[inline(always)]
        || string(kernel, out, escape, bytes),
    )
}

#[inline(always)]
pub(super) fn check(bytes: &[u8]) -> Result<(), ()> {
    simdutf8::basic::from_utf8(bytes).map(drop).map_err(drop)
}

/// Continues at the first character that has to be escaped: all before it is written, with the first quote.
#[inline(never)]
pub(super) fn escaped<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    bytes: &[u8],
    pos: usize,
    ascii: bool,
) -> Result<(), NotUtf8> {
    kernel.vectorize(
        #[inline(always)]
        || escapes_and_runs(kernel, out, bytes, pos, ascii),
    )
}

/// Goes from one mark of a block to the next, as decoding does.
#[inline(always)]
fn escapes_and_runs<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    bytes: &[u8],
    mut pos: usize,
    ascii: bool,
) -> Result<(), NotUtf8> {
    let start = out.len() - pos - 1;
    let (mut short, mut high) = ([0; SEEN], u64::from(!ascii));
    while pos < bytes.len() {
        let rest = &bytes[pos..];
        let (seen, count) = (block(rest, &mut short), rest.len().min(BLOCK));
        let Marks { mut ends, wide } = kernel.string_marks(seen);
        high |= wide;
        let Some(room) = out.room(ROOM) else { return Ok(()) };
        let (mut len, mut from) = (0, 0);
        loop {
            // Behind the end there are zeros, which end a run.
            let at = (ends.trailing_zeros() as usize).min(count);
            copy_part(seen, from, at, &mut room[len..]);
            len += at - from;
            if at == count {
                break;
            }
            len += write_escape(&mut room[len..], seen[at]);
            from = at + 1;
            ends &= ends - 1;
        }
        out.advance(len);
        pos += count;
    }
    out.array([b'"']);
    if high == 0 { Ok(()) } else { check(bytes).map_err(|()| NotUtf8 { start }) }
}

/// The most that a block becomes, a unit for each byte, and what is touched behind it.
const ROOM: usize = UNIT * BLOCK + 2 * TOUCHED;
/// `\uXXXX`.
const UNIT: usize = 6;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The letter after the backslash, or 0 where only `\u` does.
const fn short_escape(byte: u8) -> u8 {
    match byte {
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        b'"' | b'\\' | b'/' => byte,
        _ => 0,
    }
}

/// The same by a table: no processor could foresee which escape comes next.
const SHORT: [u8; 256] = {
    let mut short = [0; 256];
    let mut byte = 0;
    while byte < short.len() {
        short[byte] = short_escape(byte as u8);
        byte += 1;
    }
    short
};

/// Writes the escape of an ASCII character; tells its length.
#[inline(always)]
fn write_escape(room: &mut [u8], byte: u8) -> usize {
    let short = SHORT[usize::from(byte)];
    if short == 0 {
        return write_unit(room, u16::from(byte));
    }
    room[..2].copy_from_slice(&[b'\\', short]);
    2
}

/// Writes `\uXXXX` for one UTF-16 code unit.
fn write_unit(room: &mut [u8], unit: u16) -> usize {
    let digit = |shift: u16| HEX[usize::from(unit >> shift & 15)];
    room[..6].copy_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
    6
}

/// Writes a character as one code unit or a surrogate pair.
fn write_character(room: &mut [u8], character: char) -> usize {
    let mut units = [0; 2];
    let mut len = 0;
    for unit in character.encode_utf16(&mut units) {
        len += write_unit(&mut room[len..], *unit);
    }
    len
}

/// Whether a mode looks at this byte at all: everything else is copied in runs.
fn stops(escape: Escape, byte: u8) -> bool {
    match byte {
        0..0x20 | b'"' | b'\\' => true,
        b'<' | b'/' => escape == Escape::HtmlSafe,
        0xE2 => escape != Escape::Json,
        0x80.. => escape == Escape::UnicodeSafe,
        _ => false,
    }
}

/// The modes that escape more. They see UTF-8 checked text; bytes are looked at one by one, except that text the default
/// mode's kernel finds free of anything beyond ASCII is left to it where the mode allows.
#[inline(never)]
fn other_modes<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    escape: Escape,
    bytes: &[u8],
) -> Result<(), NotUtf8> {
    kernel.vectorize(
        #[inline(always)]
        || in_other_mode(kernel, out, escape, bytes),
    )
}

#[inline(always)]
fn in_other_mode<K: CopyKernel, B: Buffer>(
    kernel: K,
    out: &mut Output<B>,
    escape: Escape,
    bytes: &[u8],
) -> Result<(), NotUtf8> {
    let start = out.len();
    let Some(room) = out.room(bytes.len() + SLACK + 2) else { return Ok(()) };
    room[0] = b'"';
    let run = kernel.copy_run(bytes, &mut room[1..]);
    let written = &room[1..=bytes.len()];
    let html = escape == Escape::HtmlSafe && written.iter().any(|b| matches!(b, b'<' | b'/'));
    if run.end == bytes.len() && run.ascii && !html {
        room[1 + bytes.len()] = b'"';
        out.advance(bytes.len() + 2);
        return Ok(());
    }
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| NotUtf8 { start })?;
    debug_assert_eq!(out.len(), start);
    out.array([b'"']);
    escape_all(out, escape, text);
    out.array([b'"']);
    Ok(())
}

fn escape_all<B: Buffer>(out: &mut Output<B>, escape: Escape, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.bytes().position(|b| stops(escape, b)).unwrap_or(rest.len());
        let (run, stop) = rest.split_at_checked(plain).unwrap_or((rest, ""));
        out.text(run.as_bytes());
        let mut characters = stop.chars();
        if let Some(character) = characters.next() {
            stopped(out, escape, character);
        }
        rest = characters.as_str();
    }
}

/// Writes a character that the mode looked at.
fn stopped<B: Buffer>(out: &mut Output<B>, escape: Escape, character: char) {
    let Some(room) = out.room(LONGEST) else { return };
    let len = match character {
        '<' => write_unit(room, '<' as u16),
        '\0'..='\x7F' => write_escape(room, character as u8),
        '\u{2028}' | '\u{2029}' => write_character(room, character),
        _ if escape == Escape::UnicodeSafe => write_character(room, character),
        _ => character.encode_utf8(room).len(),
    };
    out.advance(len);
}
