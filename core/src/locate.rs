//! Turns a byte offset into what a person can act on: line, column and JSON Pointer (RFC 6901).
//!
//! Errors carry only an offset; this runs once, when one is shown. It reads the text before the offset as structure
//! and nothing more, so it also serves the encoder, whose output so far may have holes.

use alloc::string::String;
use alloc::vec::Vec;

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1; `\n` ends a line.
    pub line: u64,
    /// Column, from 1, in Unicode code points.
    pub column: u64,
    /// JSON Pointer of the value or key reached.
    pub path: String,
}

/// Locates `offset` (or the end of the text, when it is beyond) in `json`.
///
/// Looks only at what stands before the offset, so the text may be cut or wrong from there on.
pub fn locate(json: &[u8], offset: usize) -> Location {
    let before = &json[..offset.min(json.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let newlines = before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    let characters = before[line_start..].iter().filter(|&&byte| !is_continuation(byte)).count();
    Location { line: newlines as u64 + 1, column: characters as u64 + 1, path: path(before) }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// An open container: eight bytes, since a hostile text may open one with every byte of it. The two low bits are the
/// tag, the others the element's index or the offset of the key's opening quote.
#[derive(Clone, Copy)]
struct Frame(u64);

impl Frame {
    const TAG: u64 = 3;
    /// In an array, at the element of this index.
    const ARRAY: u64 = 0;
    /// In an object, where no key is complete.
    const OBJECT: u64 = 1;
    /// After a key.
    const KEY: u64 = 2;
    /// After a colon.
    const VALUE: u64 = 3;

    const fn tag(self) -> u64 {
        self.0 & Self::TAG
    }

    const fn number(self) -> u64 {
        self.0 >> 2
    }

    const fn key(quote: usize) -> Self {
        Self((quote as u64) << 2 | Self::KEY)
    }

    fn comma(&mut self) {
        match self.tag() {
            Self::ARRAY => self.0 += 4,
            _ => self.0 = Self::OBJECT,
        }
    }

    fn colon(&mut self) {
        match self.tag() {
            Self::KEY => self.0 |= Self::VALUE,
            // A key the encoder left out: the value has no name, but a string in it is no key either.
            Self::OBJECT => self.0 = Self::VALUE | NO_KEY << 2,
            _ => {}
        }
    }
}

const NO_KEY: u64 = u64::MAX >> 2;

fn path(before: &[u8]) -> String {
    let mut path = String::new();
    for frame in open_frames(before) {
        match frame.tag() {
            Frame::ARRAY => {
                path.push('/');
                path.push_str(itoa::Buffer::new().format(frame.number()));
            }
            Frame::OBJECT => {}
            _ if frame.number() == NO_KEY => {}
            _ => push_key(&mut path, before, frame.number() as usize),
        }
    }
    path
}

/// The containers open at the end of the text, outermost first; none when there is no memory to count them.
fn open_frames(before: &[u8]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = before.get(at) {
        let mut next = at + 1;
        match byte {
            b'[' | b'{' => {
                if frames.len() == frames.capacity() && frames.try_reserve(1).is_err() {
                    return Vec::new();
                }
                frames.push(Frame(if byte == b'[' { Frame::ARRAY } else { Frame::OBJECT }));
            }
            b']' | b'}' => drop(frames.pop()),
            b',' => frames.last_mut().into_iter().for_each(Frame::comma),
            b':' => frames.last_mut().into_iter().for_each(Frame::colon),
            b'"' => {
                let Some(end) = string_end(before, at) else { break };
                match frames.last_mut() {
                    Some(frame) if frame.tag() == Frame::OBJECT => *frame = Frame::key(at),
                    _ => {}
                }
                next = end;
            }
            _ => {}
        }
        at = next;
    }
    frames
}

/// The offset after the string's closing quote, when it has one.
fn string_end(text: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Appends a reference token: the key as a person reads it, `~` and `/` escaped as RFC 6901 section 3 asks.
fn push_key(path: &mut String, text: &[u8], quote: usize) {
    let end = string_end(text, quote).map_or(text.len(), |end| end - 1);
    let key = unescape(&text[quote + 1..end]);
    path.push('/');
    for character in String::from_utf8_lossy(&key).chars() {
        match character {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            _ => path.push(character),
        }
    }
}

fn unescape(mut raw: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(raw.len());
    while let [byte, rest @ ..] = raw {
        raw = rest;
        if *byte == b'\\' {
            let (character, rest) = escape(rest);
            raw = rest;
            key.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            key.push(*byte);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(json: &str, offset: usize) -> (u64, u64, String) {
        let Location { line, column, path } = locate(json.as_bytes(), offset);
        (line, column, path)
    }

    fn path_at_end(json: &str) -> String {
        locate(json.as_bytes(), json.len()).path
    }

    #[test]
    fn lines_and_columns() {
        assert_eq!(at("", 0), (1, 1, "".into()));
        assert_eq!(at("{\"a\": x}", 6), (1, 7, "/a".into()));
        assert_eq!(at("[1,\n 2,\n x]", 9), (3, 2, "/2".into()));
        assert_eq!(at("[1,\r\nx]", 5), (2, 1, "/1".into()));
        assert_eq!(at("x", 99), (1, 2, "".into()), "beyond the end is the end");
    }

    #[test]
    fn columns_count_code_points() {
        assert_eq!(at("[\"é😀\",x]", 10), (1, 7, "/1".into()));
        assert_eq!(locate(b"\xFF\xFFx", 2).column, 3, "bytes that start nothing count one each");
    }

    #[test]
    fn arrays_count_elements() {
        assert_eq!(path_at_end("["), "/0");
        assert_eq!(path_at_end("[1,[2,3,"), "/1/2");
        assert_eq!(path_at_end("[[],[1],{}"), "/2");
        assert_eq!(path_at_end("[1]"), "");
        assert_eq!(at("[[1]]", 1).2, "/0", "a bracket not yet entered is an element");
    }

    #[test]
    fn objects_name_the_member_once_its_key_is_complete() {
        assert_eq!(path_at_end("{"), "");
        assert_eq!(path_at_end("{\"a"), "");
        assert_eq!(path_at_end("{\"a\""), "/a");
        assert_eq!(path_at_end("{\"a\":{\"b\":[true,"), "/a/b/1");
        assert_eq!(path_at_end("{\"a\":1,"), "");
        assert_eq!(path_at_end("{\"a\":\"b\""), "/a", "a string value is no key");
        assert_eq!(path_at_end("{\"a\":1}"), "");
    }

    #[test]
    fn strings_hide_structure() {
        assert_eq!(path_at_end(r#"["[{,:","\"[",x"#), "/2");
        assert_eq!(path_at_end(r#"["\\","#), "/1");
        assert_eq!(path_at_end(r#"[1,"ab\"#), "/1", "cut inside an escape");
    }

    #[test]
    fn keys_are_unescaped_and_then_escaped_for_the_pointer() {
        assert_eq!(path_at_end(r#"{"a/b":{"m~n":"#), "/a~1b/m~0n");
        assert_eq!(path_at_end(r#"{"":{"":"#), "//");
        assert_eq!(path_at_end(r#"{"\u0061\n\"\\\/":"#), "/a\n\"\\~1");
        assert_eq!(path_at_end(r#"{"\ud83d\uDE00é":"#), "/😀é");
        assert_eq!(path_at_end(r#"{"\ud83dx\uDE00":"#), "/\u{FFFD}x\u{FFFD}");
        assert_eq!(path_at_end(r#"{"\u12G4\q":"#), "/\u{FFFD}12G4\u{FFFD}");
    }

    #[test]
    fn invalid_utf8_in_keys_is_replaced() {
        assert_eq!(locate(b"{\"a\xFFb\":", 7).path, "/a\u{FFFD}b");
    }

    #[test]
    fn holes_of_the_encoder_are_tolerated() {
        assert_eq!(path_at_end("[,,"), "/2");
        assert_eq!(path_at_end("{\"a\":,\"b\":"), "/b");
        assert_eq!(path_at_end("{:"), "");
        assert_eq!(path_at_end("{:\"a\",\"b\":"), "/b");
        assert_eq!(path_at_end("{:[1,"), "/1");
        assert_eq!(path_at_end("]}[1,"), "/1");
    }

    #[test]
    fn depth_is_no_stack() {
        let depth = if cfg!(miri) { 2_000 } else { 200_000 };
        assert_eq!(path_at_end(&"[".repeat(depth)).len(), 2 * depth);
    }

    proptest! {
        #[test]
        fn never_panics(json in proptest::collection::vec(any::<u8>(), 0..200), offset in 0usize..220) {
            let location = locate(&json, offset);
            prop_assert!(location.line >= 1 && location.column >= 1);
            prop_assert!(location.path.is_empty() || location.path.starts_with('/'));
        }

        #[test]
        fn never_panics_near_json(json in "[\\[\\]{}:,\"\\\\u0-9a-fD~/ \n]{0,80}", offset in 0usize..90) {
            locate(json.as_bytes(), offset);
        }

        #[test]
        fn reads_nothing_from_the_offset_on(json in "[\\[\\]{}:,\"ab\\\\\n]{0,60}", cut in 0usize..60) {
            let cut = cut.min(json.len());
            prop_assert_eq!(locate(json.as_bytes(), cut), locate(&json.as_bytes()[..cut], cut));
        }
    }
}
