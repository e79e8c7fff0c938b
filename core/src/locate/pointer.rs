//! The JSON Pointer through open containers, of bounded length, with its keys as a person reads them.

use super::frames::{Frame, NO_KEY};
use super::{CUT, MAX_KEY, MAX_PATH};
use alloc::string::String;
use alloc::vec::Vec;

/// Input bytes from which [`MAX_KEY`] bytes of text and one more come, even if each is written as an escape.
const RAW_KEY: usize = 6 * (MAX_KEY + 2);

/// The path through these frames. Between `outer` and `inner`, if that has any, others are left out.
pub(super) fn joined(text: &[u8], outer: &[Frame], inner: &[Frame]) -> String {
    let mut path = String::new();
    // The path is empty if a few kilobytes cannot be allocated.
    if path.try_reserve(MAX_PATH + MAX_SEGMENT).is_err() {
        return path;
    }
    let whole = inner.is_empty() && outer.iter().all(|frame| push_segment(&mut path, text, *frame, MAX_PATH));
    if whole {
        return path;
    }
    path.clear();
    let inner = if inner.is_empty() { outer } else { inner };
    let _ = outer.iter().all(|frame| push_segment(&mut path, text, *frame, MAX_PATH / 2));
    path.push('/');
    path.push_str(CUT);
    let from = innermost_that_fit(text, inner, MAX_PATH - path.len());
    inner[from..].iter().for_each(|frame| {
        push_segment(&mut path, text, *frame, MAX_PATH);
    });
    path
}

/// The number of the first frame from which on all of them take at most `room` bytes.
fn innermost_that_fit(text: &[u8], frames: &[Frame], mut room: usize) -> usize {
    let mut segment = String::new();
    if segment.try_reserve(MAX_SEGMENT).is_err() {
        return frames.len();
    }
    let fits = |frame: &&Frame| {
        segment.clear();
        push_segment(&mut segment, text, **frame, MAX_SEGMENT);
        let left = room.checked_sub(segment.len());
        room = left.unwrap_or_default();
        left.is_some()
    };
    frames.len() - frames.iter().rev().take_while(fits).count()
}

/// Bytes of the longest segment: a slash, a key of characters that are escaped, and the mark.
pub(super) const MAX_SEGMENT: usize = 1 + 2 * MAX_KEY + CUT.len();

/// Appends a reference token, unless the path would then be longer than `most`: tells whether it was.
fn push_segment(path: &mut String, text: &[u8], frame: Frame, most: usize) -> bool {
    let before = path.len();
    match frame.tag() {
        Frame::ARRAY => {
            path.push('/');
            path.push_str(itoa::Buffer::new().format(frame.number()));
        }
        Frame::OBJECT => {}
        _ if frame.number() == NO_KEY => {}
        _ => push_key(path, text, frame.number() as usize),
    }
    if path.len() > most {
        path.truncate(before);
        return false;
    }
    true
}

/// Appends a reference token: the key as a person reads it, cut if it is long.
fn push_key(path: &mut String, text: &[u8], quote: usize) {
    let raw = text.get(quote + 1..).unwrap_or_default();
    path.push('/');
    let written = path.len();
    let key = unescape(&raw[..raw.len().min(RAW_KEY)]);
    let mut left = MAX_KEY;
    let replacement = |invalid: &[u8]| (!invalid.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    for character in key.utf8_chunks().flat_map(|chunk| chunk.valid().chars().chain(replacement(chunk.invalid()))) {
        let Some(rest) = left.checked_sub(character.len_utf8()) else {
            path.push_str(CUT);
            break;
        };
        left = rest;
        push_escaped(path, character);
    }
    debug_assert!(path.len() - written < MAX_SEGMENT);
}

/// Appends a character of a key, `~` and `/` escaped as RFC 6901 section 3 asks.
fn push_escaped(path: &mut String, character: char) {
    match character {
        '~' => path.push_str("~0"),
        '/' => path.push_str("~1"),
        _ => path.push(character),
    }
}

/// The path of the container around a place, which is its end or the start of an element or key, by the path of that place.
pub(crate) fn around(mut path: String, text: &[u8], pos: usize, open: Option<u8>) -> String {
    let inside = match open {
        Some(b'{') if text.get(pos) == Some(&b'}') => {
            // At its end an object is still at its last member.
            text[..pos].iter().rev().find(|byte| !crate::simd::is_space(**byte)) != Some(&b'{')
        }
        Some(b'{') => false,
        _ => true,
    };
    if inside {
        path.truncate(path.rfind('/').unwrap_or_default());
    }
    path
}

/// The path of a member of the object with this path.
pub(crate) fn member(mut path: String, key: &[u8]) -> String {
    let mut segment = String::from("/");
    for character in String::from_utf8_lossy(key).chars() {
        push_escaped(&mut segment, character);
    }
    if path.len() + segment.len() <= MAX_PATH {
        path.push_str(&segment);
    }
    path
}

/// What stands before the closing quote, unescaped.
fn unescape(mut raw: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    // An escape that is none is longer as the character that stands for it.
    if key.try_reserve(2 * RAW_KEY).is_err() {
        return key;
    }
    while let [byte, rest @ ..] = raw {
        raw = rest;
        match byte {
            b'"' => break,
            b'\\' => {
                let (character, rest) = escape(rest);
                raw = rest;
                key.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => key.push(*byte),
        }
    }
    key
}

/// The character an escape stands for, by what follows its backslash, and what follows the escape.
fn escape(text: &[u8]) -> (char, &[u8]) {
    let Some((&letter, rest)) = text.split_first() else { return (char::REPLACEMENT_CHARACTER, text) };
    let character = match letter {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(rest),
        b'"' | b'\\' | b'/' => letter as char,
        _ => char::REPLACEMENT_CHARACTER,
    };
    (character, rest)
}

fn unicode_escape(text: &[u8]) -> (char, &[u8]) {
    let Some(high) = hex4(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let rest = &text[4..];
    if let (0xD800..=0xDBFF, [b'\\', b'u', low @ ..]) = (high, rest)
        && let Some(second @ 0xDC00..=0xDFFF) = hex4(low)
    {
        let code = 0x10000 + ((high - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), &low[4..]);
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

fn hex4(text: &[u8]) -> Option<u32> {
    text.get(..4)?.iter().try_fold(0, |code, &byte| Some(code << 4 | (byte as char).to_digit(16)?))
}
