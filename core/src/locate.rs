//! Turns a byte offset into line, column and JSON Pointer (RFC 6901).
//!
//! Errors carry only an offset; this runs once, when one is shown. It reads the text before the offset as structure
//! and nothing more, so it also serves the encoder, whose output so far may have holes.
//!
//! A path is bounded whatever the text is: [`MAX_KEY`] and [`MAX_PATH`] say how. The memory used here does not depend on the
//! text either, and when it is denied the path is empty.

use crate::room::room;
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
    /// The bracket of the innermost array or object that is open.
    pub open: Option<u8>,
}

/// Locates `offset` (or the end of the text, when it is beyond) in `json`.
///
/// Looks only at what stands before the offset, so the text may be cut or wrong from there on.
pub fn locate(json: &[u8], offset: usize) -> Location {
    let before = &json[..offset.min(json.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let newlines = before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    let characters = before[line_start..].iter().filter(|&&byte| !is_continuation(byte)).count();
    let (path, open) = path(before);
    Location { line: newlines as u64 + 1, column: characters as u64 + 1, path, open }
}

/// Locates offsets, which ascend, in one walk over the text.
pub(crate) fn locate_all(json: &[u8], offsets: impl Iterator<Item = usize>, mut found: impl FnMut(usize, Location)) {
    let mut walk = Walk { line: 1, column: 1, counted: 0, at: 0, frames: Vec::new(), lost: false };
    for offset in offsets {
        let before = &json[..offset.min(json.len())];
        walk.count(before);
        walk.open(before);
        let open = walk.frames.last().map(|frame| frame.bracket());
        found(offset, Location { line: walk.line, column: walk.column, path: walk.path(before), open });
    }
}

/// How far [`locate_all`] is.
struct Walk {
    line: u64,
    column: u64,
    /// The offset that line and column are those of.
    counted: usize,
    /// The offset up to which brackets and keys were read.
    at: usize,
    /// All open containers: as many as the decoder, which has read the same text, keeps.
    frames: Vec<Frame>,
    /// There was no memory for them.
    lost: bool,
}

impl Walk {
    fn count(&mut self, before: &[u8]) {
        for &byte in before.get(self.counted..).unwrap_or_default() {
            if byte == b'\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else if !is_continuation(byte) {
                self.column += 1;
            }
        }
        self.counted = before.len();
    }

    fn open(&mut self, before: &[u8]) {
        while let Some((next, step)) = step(before, self.at) {
            match step {
                Step::Enter(frame) => match room(&mut self.frames, 1) {
                    Ok(()) => self.frames.push(frame),
                    Err(_) => self.lost = true,
                },
                Step::Leave => drop(self.frames.pop()),
                step => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.take(&step, self.at);
                    }
                }
            }
            self.at = next;
        }
    }

    fn path(&self, before: &[u8]) -> String {
        let (half, depth) = (MAX_FRAMES / 2, self.frames.len());
        match depth {
            _ if self.lost => String::new(),
            0..=MAX_FRAMES => joined(before, &self.frames, &[]),
            _ => joined(before, &self.frames[..half], &self.frames[depth - half..]),
        }
    }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Bytes of a key that a path shows; what is cut ends in [`CUT`].
pub const MAX_KEY: usize = 128;
/// Bytes of a whole path. A longer one keeps its beginning and its end, with a segment [`CUT`] between them.
pub const MAX_PATH: usize = 4096;
/// Marks what was left out.
pub const CUT: &str = "…";

/// Open containers that a path names: half of them the outermost, half the innermost.
const MAX_FRAMES: usize = 128;
/// Input bytes from which [`MAX_KEY`] bytes of text and one more come, even if each is written as an escape.
const RAW_KEY: usize = 6 * (MAX_KEY + 2);

/// An open container. The two low bits are the tag, the others the element's index or the offset of the key's opening
/// quote.
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

    const fn bracket(self) -> u8 {
        if self.tag() == Self::ARRAY { b'[' } else { b'{' }
    }

    const fn number(self) -> u64 {
        self.0 >> 2
    }

    const fn key(quote: usize) -> Self {
        Self((quote as u64) << 2 | Self::KEY)
    }

    /// What stands at `at` in the container, which neither opens nor closes.
    fn take(&mut self, step: &Step, at: usize) {
        match step {
            Step::Comma => self.comma(),
            Step::Colon => self.colon(),
            Step::Text if self.tag() == Self::OBJECT => *self = Self::key(at),
            _ => {}
        }
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
            // A key the encoder left out: the value has no name, but a string in it is not a key either.
            Self::OBJECT => self.0 = Self::VALUE | NO_KEY << 2,
            _ => {}
        }
    }
}

const NO_KEY: u64 = u64::MAX >> 2;

/// Containers open at the end of a text, as far as they are kept: depths from `from` on.
struct Open {
    from: usize,
    depth: usize,
    frames: [Frame; MAX_FRAMES],
}

impl Open {
    /// Walks over the text. The memory is the same for every text, since a hostile one may open a container with every
    /// byte of it.
    fn at_end(before: &[u8], from: usize) -> Self {
        let mut open = Self { from, depth: 0, frames: [Frame(0); MAX_FRAMES] };
        let mut at = 0;
        while let Some((next, step)) = step(before, at) {
            match step {
                Step::Enter(frame) => open.enter(frame),
                Step::Leave => open.depth = open.depth.saturating_sub(1),
                step => open.innermost().into_iter().for_each(|frame| frame.take(&step, at)),
            }
            at = next;
        }
        open
    }

    fn enter(&mut self, new: Frame) {
        self.depth += 1;
        self.innermost().into_iter().for_each(|frame| *frame = new);
    }

    /// The frame of the innermost container, if it is one of those that are kept.
    fn innermost(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.wrapping_sub(1).wrapping_sub(self.from))
    }
}

/// What stands at an offset, as far as paths go.
enum Step {
    Enter(Frame),
    Leave,
    Comma,
    Colon,
    Text,
    Other,
}

/// What stands at `at`, and the offset behind it. `None`: the text ends there, or inside a string.
#[inline(always)]
fn step(before: &[u8], at: usize) -> Option<(usize, Step)> {
    let step = match before.get(at)? {
        b'[' => Step::Enter(Frame(Frame::ARRAY)),
        b'{' => Step::Enter(Frame(Frame::OBJECT)),
        b']' | b'}' => Step::Leave,
        b',' => Step::Comma,
        b':' => Step::Colon,
        b'"' => return string_end(before, at).map(|end| (end, Step::Text)),
        _ => Step::Other,
    };
    Some((at + 1, step))
}

/// The path of the end of a text, and the bracket that is open there.
fn path(before: &[u8]) -> (String, Option<u8>) {
    let mut outer = Open::at_end(before, 0);
    if outer.depth <= MAX_FRAMES {
        let open = outer.innermost().map(|frame| frame.bracket());
        return (joined(before, &outer.frames[..outer.depth], &[]), open);
    }
    let half = MAX_FRAMES / 2;
    // Which containers are the innermost is known only now.
    let mut inner = Open::at_end(before, outer.depth - half);
    let open = inner.innermost().map(|frame| frame.bracket());
    (joined(before, &outer.frames[..half], &inner.frames[..half]), open)
}

/// The path through these frames. Between `outer` and `inner`, if that has any, others are left out.
fn joined(text: &[u8], outer: &[Frame], inner: &[Frame]) -> String {
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
const MAX_SEGMENT: usize = 1 + 2 * MAX_KEY + CUT.len();

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

/// Appends a reference token: the key as a person reads it, cut if it is long, `~` and `/` escaped as RFC 6901 section 3
/// asks.
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
        match character {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            _ => path.push(character),
        }
    }
    debug_assert!(path.len() - written < MAX_SEGMENT);
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

/// The path of a member that is missing where its object ends at `brace`, by the path of that place.
pub(crate) fn absent(path: String, text: &[u8], brace: usize, key: &[u8]) -> String {
    let mut path = around(path, text, brace, Some(b'{'));
    let mut segment = String::from("/");
    for character in String::from_utf8_lossy(key).chars() {
        match character {
            '~' => segment.push_str("~0"),
            '/' => segment.push_str("~1"),
            _ => segment.push(character),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(json: &str, offset: usize) -> (u64, u64, String) {
        let Location { line, column, path, .. } = locate(json.as_bytes(), offset);
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
        assert_eq!(path_at_end("{\"a\":\"b\""), "/a", "a string value is not a key");
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
    fn long_keys_are_cut_between_characters() {
        let key = |text: &str| path_at_end(&format!("{{\"{text}\":"));
        assert_eq!(key(&"k".repeat(MAX_KEY)), format!("/{}", "k".repeat(MAX_KEY)));
        assert_eq!(key(&"k".repeat(MAX_KEY + 1)), format!("/{}…", "k".repeat(MAX_KEY)));
        assert_eq!(key(&format!("k{}", "é".repeat(MAX_KEY))), format!("/k{}…", "é".repeat(MAX_KEY / 2 - 1)));
        assert_eq!(key(&"\\u0061".repeat(MAX_KEY)), format!("/{}", "a".repeat(MAX_KEY)));
        assert_eq!(key(&"\\u0061".repeat(MAX_KEY + 1)), format!("/{}…", "a".repeat(MAX_KEY)));
        assert_eq!(key(&"\\ud83d\\ude00".repeat(1000)), format!("/{}…", "😀".repeat(MAX_KEY / 4)));
        assert_eq!(key(&"/".repeat(1000)), format!("/{}…", "~1".repeat(MAX_KEY)));
        let invalid = [b"{\"", &b"\xFF".repeat(1000)[..], b"\":"].concat();
        assert_eq!(locate(&invalid, invalid.len()).path, format!("/{}…", "\u{FFFD}".repeat(MAX_KEY / 3)));
    }

    #[test]
    fn long_paths_keep_their_beginning_and_their_end() {
        let keys = |count: usize| (0..count).map(|i| format!("{{\"{i:0>120}\":")).collect::<String>();
        let path = path_at_end(&keys(33));
        assert_eq!((path.len(), path.contains(CUT)), (33 * 121, false));
        let path = path_at_end(&keys(100));
        assert!(path.len() <= MAX_PATH && path.len() > MAX_PATH - 2 * MAX_SEGMENT, "{}", path.len());
        assert!(path.starts_with(&format!("/{:0>120}/{:0>120}/", 0, 1)) && path.ends_with(&format!("/{:0>120}", 99)));
        assert_eq!(path.split('/').filter(|segment| *segment == CUT).count(), 1);
    }

    #[test]
    fn depth_is_no_memory() {
        let depth = if cfg!(miri) { 2_000 } else { 200_000 };
        let half = "/0".repeat(MAX_FRAMES / 2);
        assert_eq!(path_at_end(&"[".repeat(MAX_FRAMES)), "/0".repeat(MAX_FRAMES));
        assert_eq!(path_at_end(&"[".repeat(depth)), format!("{half}/…{half}"));
        let text = format!("[1,{}{}{{\"a\":[2,", "[".repeat(depth), "]".repeat(depth - 1));
        assert_eq!(path_at_end(&text), "/1/0/a/1", "back from the depth");
        let text = format!("{}0{},[{{\"a\":", "[1,".repeat(depth), "]".repeat(10));
        let path = path_at_end(&text);
        assert!(path.starts_with("/1/1") && path.contains("/1/…/1") && path.ends_with("/1/2/0/a"), "{path}");
    }

    proptest! {
        #[test]
        fn never_panics(json in proptest::collection::vec(any::<u8>(), 0..200), offset in 0usize..220) {
            let location = locate(&json, offset);
            prop_assert!(location.line >= 1 && location.column >= 1);
            prop_assert!(location.path.is_empty() || location.path.starts_with('/'));
            prop_assert!(location.path.len() <= MAX_PATH);
        }

        #[test]
        fn never_panics_near_json(json in "[\\[\\]{}:,\"\\\\u0-9a-fD~/ \n]{0,80}", offset in 0usize..90) {
            locate(json.as_bytes(), offset);
        }

        #[test]
        fn many_offsets_are_located_as_each_is(
            json in "[\\[\\]{}:,\"\\\\abé\n]{0,60}",
            deep in 0usize..300,
            mut offsets in proptest::collection::vec(0usize..400, 0..6),
        ) {
            let json = "[{\"a\":".repeat(deep) + &json;
            offsets.sort_unstable();
            let mut found = Vec::new();
            locate_all(json.as_bytes(), offsets.iter().copied(), |offset, location| found.push((offset, location)));
            let each: Vec<_> = offsets.iter().map(|offset| (*offset, locate(json.as_bytes(), *offset))).collect();
            prop_assert_eq!(found, each);
        }

        #[test]
        fn reads_nothing_from_the_offset_on(json in "[\\[\\]{}:,\"ab\\\\\n]{0,60}", cut in 0usize..60) {
            let cut = cut.min(json.len());
            prop_assert_eq!(locate(json.as_bytes(), cut), locate(&json.as_bytes()[..cut], cut));
        }
    }
}
