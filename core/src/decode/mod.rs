//! JSON text to terms.

pub(crate) mod cursor;
pub(crate) mod float;
mod keys;
mod many;
pub(crate) mod number;
mod places;
mod skip;
mod string;
mod wrong;

use crate::builder::{Key, Nothing, TermBuilder, Text};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::room::room;
use crate::simd::{Kernel, is_space};
use crate::with_kernel;
use alloc::vec::Vec;
use keys::{Keys, Source};
pub use many::decode_many;
pub(crate) use places::{Found, Places, Seen};
use string::Utf8;
pub(crate) use string::{Chunk, chunk};
pub(crate) use wrong::at_start;

/// What a value stands in. A whole word: padding would be copied too, in pieces that the processor has to wait for (5 ns for each
/// container).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Container {
    Document,
    Array,
    Object,
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    container: Container,
    /// Elements or members so far.
    len: usize,
    /// Length of the buffer of unescaped keys when the object opened.
    unescaped: usize,
}

/// Buffers of [`decode()`] that a shell keeps between calls, so that a small document allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    frames: Vec<Frame>,
    keys: Keys,
    /// Unescaped keys of open objects, then the current string.
    text: Vec<u8>,
    utf8: Utf8,
    /// For parts of a document.
    pub(crate) places: Places,
    /// Values and keys that the last call of [`value`] left.
    left: u64,
}

/// Buffers beyond this many bytes are given back after a call.
const KEEP: usize = 1 << 16;

impl Scratch {
    fn clear(&mut self) {
        self.frames.clear();
        self.keys.clear();
        self.text.clear();
        self.utf8 = Utf8::new();
    }

    /// Values and keys that may still come, behind the last value.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Gives large buffers back to the allocator.
    pub fn shrink(&mut self) {
        let places = self.places.capacity();
        if places > KEEP || self.text.capacity() > KEEP || self.keys.capacity() > KEEP || self.frames.capacity() > KEEP
        {
            *self = Self::default();
        }
    }
}

/// Decodes a JSON text (RFC 8259) into the builder, which holds exactly one value afterwards.
///
/// # Errors
/// The first error of the text, or the limit that it exceeds. The builder then holds an unfinished value.
///
/// ```
/// use rustyjson_core::{DecodeOptions, ErrorKind, Scratch, decode, etf::writer::Writer};
///
/// let mut out = Writer::new(b"[1]", Vec::new(), &DecodeOptions::default());
/// decode(b"[1]", &DecodeOptions::default(), &mut Scratch::default(), &mut out).unwrap();
/// assert_eq!(out.finish().unwrap(), [131, 108, 0, 0, 0, 1, 97, 1, 106]);
///
/// let mut out = Writer::new(b"[1", Vec::new(), &DecodeOptions::default());
/// let error = decode(b"[1", &DecodeOptions::default(), &mut Scratch::default(), &mut out).unwrap_err();
/// assert_eq!((error.kind, error.offset), (ErrorKind::UnexpectedEnd, 2));
/// ```
pub fn decode<B: TermBuilder>(
    json: &[u8],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Error> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    with_kernel!(kernel => Driver::new(kernel, json, options, scratch, builder).document())
}

/// Decodes a text that does not start with a byte order mark, with this kernel.
#[inline(always)]
pub(crate) fn document<K: Kernel, B: TermBuilder>(
    kernel: K,
    json: &[u8],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Error> {
    Driver::new(kernel, json, options, scratch, builder).document()
}

/// Whether a byte order mark stands first.
#[inline(always)]
pub(crate) const fn starts_with_mark(text: &[u8]) -> bool {
    matches!(text, [0xEF, 0xBB, 0xBF, ..] | [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..])
}

/// Decodes the one value that starts at `pos`; gives the offset behind it. (A call in the WebAssembly module: once for each
/// value of a stream it costs nothing, and each copy would take 30 KB.)
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(crate) fn value<K: Kernel, B: TermBuilder>(
    kernel: K,
    json: &[u8],
    pos: usize,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<usize, Error> {
    let mut driver = Driver::new(kernel, json, options, scratch, builder);
    let result = driver.run(pos);
    scratch.left = driver.nodes;
    result
}

/// The same as a call, for parts of a document: a copy of the driver in each walk over one would take minutes to compile.
#[inline(never)]
pub(crate) fn part<B: TermBuilder>(
    json: &[u8],
    pos: usize,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<usize, Error> {
    with_kernel!(kernel => value(kernel, json, pos, options, scratch, builder))
}

/// Checks the text from this offset on, which does not start with a byte order mark, with all limits. Builds nothing. (It shares the driver of [`part`]:
/// another one would take 10 KB of the WebAssembly module.)
pub(crate) fn validate(json: &[u8], from: usize, options: &DecodeOptions, scratch: &mut Scratch) -> Result<(), Error> {
    let spaces = |from: usize| from + json[from..].iter().take_while(|byte| is_space(**byte)).count();
    let end = spaces(part(json, spaces(from), options, scratch, &mut Nothing)?);
    if end < json.len() { Err(Error::new(ErrorKind::TrailingData, end)) } else { Ok(()) }
}

/// Reads the string whose opening quote is at `pos` into a buffer; gives the offset behind it.
pub(crate) fn text<K: Kernel>(
    kernel: K,
    json: &[u8],
    pos: usize,
    validate: bool,
    buffer: &mut Vec<u8>,
) -> Result<usize, Error> {
    buffer.clear();
    let (plain, end) = match string::string(kernel, json, pos, (&mut Utf8::new(), validate), buffer)? {
        (Text::Input(start, bytes), end) => (start..start + bytes.len(), end),
        (Text::Unescaped(_), end) => (0..0, end),
    };
    room(buffer, plain.len()).map_err(|kind| Error::new(kind, pos))?;
    buffer.extend_from_slice(&json[plain]);
    Ok(end)
}

/// All a run needs, so that the hot loop reads as the grammar. What calls take by reference stands elsewhere: the compiler then keeps what
/// is here in registers.
struct Driver<'a, K, B> {
    kernel: K,
    json: &'a [u8],
    options: &'a DecodeOptions,
    /// Values and keys that may still come.
    nodes: u64,
    /// Repeated keys are looked for.
    distinct: bool,
    /// The current container. It is not on the stack: what is done for every element touches no memory but this.
    frame: Frame,
    /// The containers around it.
    frames: &'a mut Vec<Frame>,
    keys: &'a mut Keys,
    text: &'a mut Vec<u8>,
    utf8: &'a mut Utf8,
    builder: &'a mut B,
}

/// What stands at an offset.
enum Next {
    /// A value must start here.
    Value(usize),
    /// A value has ended before this.
    Ended(usize),
}

impl<'a, K: Kernel, B: TermBuilder> Driver<'a, K, B> {
    #[inline(always)]
    fn new(
        kernel: K,
        json: &'a [u8],
        options: &'a DecodeOptions,
        scratch: &'a mut Scratch,
        builder: &'a mut B,
    ) -> Self {
        scratch.clear();
        let nodes = if options.max_nodes == 0 { u64::MAX } else { options.max_nodes };
        let Scratch { frames, keys, text, utf8, .. } = scratch;
        let frame = Frame { container: Container::Document, len: 0, unescaped: 0 };
        let distinct = options.duplicates == Duplicates::Error || !builder.keeps_repeats();
        Self { kernel, json, options, nodes, distinct, frame, frames, keys, text, utf8, builder }
    }

    /// One value with nothing but white space around it.
    #[inline(always)]
    fn document(mut self) -> Result<(), Error> {
        let start = self.space(0);
        let end = self.run(start)?;
        self.end_of_document(end)
    }

    /// The hot loop: a value, then what follows it, until the first value has ended; the offset behind it. One turn for each
    /// value or end of a container: every turn of a loop costs the WebAssembly module a look at its deadline.
    #[inline(always)]
    fn run(&mut self, pos: usize) -> Result<usize, Error> {
        let mut next = Next::Value(pos);
        loop {
            let end = match next {
                Next::Ended(end) => end,
                Next::Value(pos) => match self.value(pos)? {
                    Next::Ended(end) => end,
                    first => {
                        next = first;
                        continue;
                    }
                },
            };
            next = match self.frame.container {
                Container::Array => self.after_element(end)?,
                Container::Object => self.after_member(end)?,
                Container::Document => return Ok(end),
            };
        }
    }

    /// The value that starts at `pos`; an array or object only up to its first element or member.
    #[inline(always)]
    fn value(&mut self, pos: usize) -> Result<Next, Error> {
        if B::SKIPS
            && let Some(end) = self.builder.skipped(pos).map_err(|kind| Error::new(kind, pos))?
        {
            return Ok(Next::Ended(end));
        }
        self.count(pos)?;
        match self.json.get(pos) {
            Some(b'"') => self.string(pos),
            Some(b'-' | b'0'..=b'9') => number::number(self.json, pos, self.options, self.builder).map(Next::Ended),
            Some(b'{') => self.open_object(pos),
            Some(b'[') => self.open_array(pos),
            Some(b't') => self.literal(pos, b"true", |builder| builder.boolean(true)),
            Some(b'f') => self.literal(pos, b"false", |builder| builder.boolean(false)),
            Some(b'n') => self.literal(pos, b"null", B::null),
            _ => Err(wrong::no_value(self.json, pos)),
        }
    }

    /// The next element, or the end of the array. White space is rare before a comma, so it is looked for last.
    #[inline(always)]
    fn after_element(&mut self, mut pos: usize) -> Result<Next, Error> {
        self.frame.len += 1;
        if !matches!(self.json.get(pos), Some(b',' | b']')) {
            pos = self.space_before(pos, ErrorKind::ExpectedCommaOrArrayEnd)?;
        }
        match self.json.get(pos) {
            Some(b',') => Ok(Next::Value(self.space(pos + 1))),
            Some(b']') => {
                self.builder.end_array(self.frame.len).map_err(|kind| Error::new(kind, pos))?;
                Ok(self.leave(pos))
            }
            _ => Err(Error::new(ErrorKind::ExpectedCommaOrArrayEnd, pos)),
        }
    }

    /// The value of the next member, or the end of the object.
    #[inline(always)]
    fn after_member(&mut self, mut pos: usize) -> Result<Next, Error> {
        self.frame.len += 1;
        if !matches!(self.json.get(pos), Some(b',' | b'}')) {
            pos = self.space_before(pos, ErrorKind::ExpectedCommaOrObjectEnd)?;
        }
        match self.json.get(pos) {
            Some(b',') => {
                let key = self.space(pos + 1);
                self.member(key)
            }
            Some(b'}') => self.close_object(pos),
            _ => Err(Error::new(ErrorKind::ExpectedCommaOrObjectEnd, pos)),
        }
    }

    /// The end of the white space before a token that was not found at `pos`. Where there is none, the token is missing.
    #[inline(always)]
    fn space_before(&self, pos: usize, missing: ErrorKind) -> Result<usize, Error> {
        wrong::unless_token(self.json, pos, self.space(pos), missing)
    }

    #[inline(always)]
    fn end_of_document(&self, pos: usize) -> Result<(), Error> {
        let pos = self.space(pos);
        if pos == self.json.len() { Ok(()) } else { Err(Error::new(ErrorKind::TrailingData, pos)) }
    }

    #[inline(always)]
    fn open_array(&mut self, pos: usize) -> Result<Next, Error> {
        self.enter(pos, Container::Array)?;
        self.builder.begin_array();
        let next = self.space(pos + 1);
        if self.json.get(next) != Some(&b']') {
            return Ok(Next::Value(next));
        }
        self.builder.end_array(0).map_err(|kind| Error::new(kind, next))?;
        Ok(self.leave(next))
    }

    #[inline(always)]
    fn open_object(&mut self, pos: usize) -> Result<Next, Error> {
        self.enter(pos, Container::Object)?;
        self.builder.begin_object();
        let next = self.space(pos + 1);
        if self.json.get(next) != Some(&b'}') {
            return self.member(next);
        }
        self.builder.end_object(0, &[]).map_err(|kind| Error::new(kind, next))?;
        Ok(self.leave(next))
    }

    #[inline(always)]
    fn enter(&mut self, pos: usize, container: Container) -> Result<(), Error> {
        if self.frames.len() >= self.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos));
        }
        room(self.frames, 1).map_err(|kind| Error::new(kind, pos))?;
        self.frames.push(self.frame);
        self.frame = Frame { container, len: 0, unescaped: self.text.len() };
        Ok(())
    }

    /// The current container ends with the bracket at `pos`.
    #[inline(always)]
    fn leave(&mut self, pos: usize) -> Next {
        if let Some(around) = self.frames.pop() {
            self.frame = around;
        }
        Next::Ended(pos + 1)
    }

    #[inline(always)]
    fn close_object(&mut self, pos: usize) -> Result<Next, Error> {
        let len = self.frame.len;
        if !self.distinct {
            self.builder.end_object(len, &[])
        } else if self.builder.end_distinct(len).map_err(|kind| Error::new(kind, pos))? {
            self.keys.discard(len);
            Ok(())
        } else if self.options.ordered_objects && self.options.duplicates != Duplicates::Error {
            self.keys.discard(len);
            self.builder.end_object(len, &[])
        } else {
            let source = Source { input: self.json, unescaped: self.text };
            let dropped = self.keys.finish(len, source, self.options.duplicates, self.options.seed)?;
            self.builder.end_object(len, dropped)
        }
        .map_err(|kind| Error::new(kind, pos))?;
        self.text.truncate(self.frame.unescaped);
        Ok(self.leave(pos))
    }

    /// A key, its colon, and up to its value.
    #[inline(always)]
    fn member(&mut self, pos: usize) -> Result<Next, Error> {
        if self.json.get(pos) != Some(&b'"') {
            return Err(wrong::no_key(self.json, pos));
        }
        self.count(pos)?;
        let before = self.text.len();
        let utf8 = (&mut *self.utf8, self.options.validate_keys());
        let (text, end) = string::string(self.kernel, self.json, pos, utf8, self.text)?;
        let key = if B::WORDS || self.distinct { Key::new(text) } else { Key::without_words(text) };
        let unescaped = matches!(text, Text::Unescaped(_)).then_some(before);
        if self.distinct {
            self.keys.push(&key, pos, unescaped)?;
        }
        self.builder.key(key).map_err(|kind| Error::new(kind, pos))?;
        let mut colon = end;
        if self.json.get(colon) != Some(&b':') {
            colon = self.space_before(colon, ErrorKind::ExpectedColon)?;
            if self.json.get(colon) != Some(&b':') {
                return Err(Error::new(ErrorKind::ExpectedColon, colon));
            }
        }
        Ok(Next::Value(self.space(colon + 1)))
    }

    #[inline(always)]
    fn string(&mut self, pos: usize) -> Result<Next, Error> {
        let before = self.text.len();
        let utf8 = (&mut *self.utf8, self.options.validate_strings);
        let (text, end) = string::string(self.kernel, self.json, pos, utf8, self.text)?;
        self.builder.string(text).map_err(|kind| Error::new(kind, pos))?;
        self.text.truncate(before);
        Ok(Next::Ended(end))
    }

    #[inline(always)]
    fn literal(
        &mut self,
        pos: usize,
        word: &'static [u8],
        add: fn(&mut B) -> Result<(), ErrorKind>,
    ) -> Result<Next, Error> {
        let end = pos + word.len();
        if self.json.get(pos..end) != Some(word) {
            return Err(wrong::bad_literal(self.json, pos, word));
        }
        add(self.builder).map_err(|kind| Error::new(kind, pos))?;
        Ok(Next::Ended(end))
    }

    /// One or no space is by far the most common, so the kernel is called only behind a second one.
    #[inline(always)]
    fn space(&self, pos: usize) -> usize {
        match self.json.get(pos) {
            Some(&byte) if byte > b' ' => pos,
            Some(_) => match self.json.get(pos + 1) {
                Some(&next) if next > b' ' && crate::simd::is_space(self.json[pos]) => pos + 1,
                _ => self.kernel.space_end(self.json, pos),
            },
            None => pos,
        }
    }

    #[inline(always)]
    fn count(&mut self, pos: usize) -> Result<(), Error> {
        let (left, over) = self.nodes.overflowing_sub(1);
        if over {
            return Err(wrong::too_many(self.json, pos));
        }
        self.nodes = left;
        Ok(())
    }
}
