//! JSON text to terms.

mod float;
mod keys;
mod number;
mod string;

use crate::builder::{Key, TermBuilder, Text};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;
use keys::{Keys, Source};

/// An array or object that is open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    object: bool,
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
    /// Unescaped keys of open objects, then the string at hand.
    text: Vec<u8>,
}

/// Buffers beyond this many bytes are given back after a call.
const KEEP: usize = 1 << 16;

impl Scratch {
    fn clear(&mut self) {
        self.frames.clear();
        self.keys.clear();
        self.text.clear();
    }

    /// Gives large buffers back to the allocator.
    pub fn shrink(&mut self) {
        if self.text.capacity() > KEEP || self.keys.capacity() > KEEP || self.frames.capacity() > KEEP {
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
    scratch.clear();
    if let [0xEF, 0xBB, 0xBF, ..] | [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] = json {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    let nodes = if options.max_nodes == 0 { u64::MAX } else { options.max_nodes };
    let Scratch { frames, keys, text } = scratch;
    with_kernel!(kernel => {
        Driver { kernel, json, options: *options, nodes, frames, keys, text, builder }.run()
    })
}

/// All a run needs, so that the hot loop reads as the grammar.
struct Driver<'a, K, B> {
    kernel: K,
    json: &'a [u8],
    options: DecodeOptions,
    /// Values and keys that may still come.
    nodes: u64,
    frames: &'a mut Vec<Frame>,
    keys: &'a mut Keys,
    text: &'a mut Vec<u8>,
    builder: &'a mut B,
}

/// What a step of the driver leaves to do.
enum Step {
    /// A value must stand at this offset.
    Value(usize),
    /// A value has ended before this offset.
    Ended(usize),
    /// The document has ended.
    Done,
}

impl<K: Kernel, B: TermBuilder> Driver<'_, K, B> {
    /// The hot loop: a value, then what ends with it, until the outermost value has ended.
    #[inline(always)]
    fn run(mut self) -> Result<(), Error> {
        let mut step = Step::Value(self.space(0));
        loop {
            step = match step {
                Step::Value(pos) => self.value(pos)?,
                Step::Ended(pos) => self.after_value(pos)?,
                Step::Done => return Ok(()),
            };
        }
    }

    /// The value that starts at `pos`; an array or object only up to its first element or member.
    #[inline(always)]
    fn value(&mut self, pos: usize) -> Result<Step, Error> {
        self.count(pos)?;
        match self.json.get(pos) {
            Some(b'"') => self.string(pos),
            Some(b'-' | b'0'..=b'9') => number::number(self.json, pos, &self.options, self.builder).map(Step::Ended),
            Some(b'{') => self.open_object(pos),
            Some(b'[') => self.open_array(pos),
            Some(b't') => self.literal(pos, b"true", |builder| builder.boolean(true)),
            Some(b'f') => self.literal(pos, b"false", |builder| builder.boolean(false)),
            Some(b'n') => self.literal(pos, b"null", B::null),
            _ => Err(self.no_value(pos)),
        }
    }

    /// A value ended before `pos`: the next element or member, or the end of what holds it.
    #[inline(always)]
    fn after_value(&mut self, pos: usize) -> Result<Step, Error> {
        let pos = self.space(pos);
        let Some(frame) = self.frames.last_mut() else {
            return if pos == self.json.len() { Ok(Step::Done) } else { Err(Error::new(ErrorKind::TrailingData, pos)) };
        };
        frame.len += 1;
        let frame = *frame;
        match (self.json.get(pos), frame.object) {
            (Some(b','), true) => {
                let pos = self.space(pos + 1);
                self.member(pos)
            }
            (Some(b','), false) => Ok(Step::Value(self.space(pos + 1))),
            (Some(b'}'), true) => self.close_object(frame, pos),
            (Some(b']'), false) => {
                self.frames.pop();
                self.builder.end_array(frame.len);
                Ok(Step::Ended(pos + 1))
            }
            (None, _) => Err(Error::new(ErrorKind::UnexpectedEnd, pos)),
            (_, true) => Err(Error::new(ErrorKind::ExpectedCommaOrObjectEnd, pos)),
            (_, false) => Err(Error::new(ErrorKind::ExpectedCommaOrArrayEnd, pos)),
        }
    }

    #[inline(always)]
    fn open_array(&mut self, pos: usize) -> Result<Step, Error> {
        self.open(pos, false)?;
        self.builder.begin_array();
        let next = self.space(pos + 1);
        if self.json.get(next) != Some(&b']') {
            return Ok(Step::Value(next));
        }
        self.frames.pop();
        self.builder.end_array(0);
        Ok(Step::Ended(next + 1))
    }

    #[inline(always)]
    fn open_object(&mut self, pos: usize) -> Result<Step, Error> {
        self.open(pos, true)?;
        self.builder.begin_object();
        let next = self.space(pos + 1);
        if self.json.get(next) != Some(&b'}') {
            return self.member(next);
        }
        self.frames.pop();
        self.builder.end_object(0, &[]);
        Ok(Step::Ended(next + 1))
    }

    #[inline(always)]
    fn open(&mut self, pos: usize, object: bool) -> Result<(), Error> {
        if self.frames.len() >= self.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos));
        }
        self.frames.push(Frame { object, len: 0, unescaped: self.text.len() });
        Ok(())
    }

    #[inline(always)]
    fn close_object(&mut self, frame: Frame, pos: usize) -> Result<Step, Error> {
        self.frames.pop();
        if self.options.ordered_objects && self.options.duplicates != Duplicates::Error {
            self.keys.discard(frame.len);
            self.builder.end_object(frame.len, &[]);
        } else {
            let source = Source { input: self.json, unescaped: self.text };
            let dropped = self.keys.finish(frame.len, source, self.options.duplicates, self.options.seed)?;
            self.builder.end_object(frame.len, dropped);
        }
        self.text.truncate(frame.unescaped);
        Ok(Step::Ended(pos + 1))
    }

    /// A key, its colon, and up to its value.
    #[inline(always)]
    fn member(&mut self, pos: usize) -> Result<Step, Error> {
        if self.json.get(pos) != Some(&b'"') {
            return Err(self.no_key(pos));
        }
        self.count(pos)?;
        let before = self.text.len();
        let (text, end) = string::string(self.kernel, self.json, pos, self.options.validate_strings, self.text)?;
        let key = Key::new(text);
        let unescaped = matches!(text, Text::Unescaped(_)).then_some(before);
        self.keys.push(&key, pos, unescaped);
        self.builder.key(key).map_err(|kind| Error::new(kind, pos))?;
        let colon = self.space(end);
        match self.json.get(colon) {
            Some(b':') => Ok(Step::Value(self.space(colon + 1))),
            None => Err(Error::new(ErrorKind::UnexpectedEnd, colon)),
            _ => Err(Error::new(ErrorKind::ExpectedColon, colon)),
        }
    }

    #[inline(always)]
    fn string(&mut self, pos: usize) -> Result<Step, Error> {
        let before = self.text.len();
        let (text, end) = string::string(self.kernel, self.json, pos, self.options.validate_strings, self.text)?;
        self.builder.string(text);
        self.text.truncate(before);
        Ok(Step::Ended(end))
    }

    #[inline(always)]
    fn literal(&mut self, pos: usize, word: &'static [u8], add: fn(&mut B)) -> Result<Step, Error> {
        let end = pos + word.len();
        if self.json.get(pos..end) != Some(word) {
            return Err(self.bad_literal(pos, word));
        }
        add(self.builder);
        Ok(Step::Ended(end))
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
        if self.nodes == 0 {
            return Err(self.too_many(pos));
        }
        self.nodes -= 1;
        Ok(())
    }

    /// One value or key more than there may be, if one stands at `pos` at all.
    #[cold]
    fn too_many(&self, pos: usize) -> Error {
        match self.json.get(pos) {
            Some(b'"' | b'-' | b'0'..=b'9' | b'{' | b'[' | b't' | b'f' | b'n') => Error::new(ErrorKind::MaxNodes, pos),
            _ => self.no_value(pos),
        }
    }

    /// Why nothing at `pos` can be a value.
    #[cold]
    fn no_value(&self, pos: usize) -> Error {
        let rest = &self.json[pos..];
        let kind = match rest.first() {
            None => ErrorKind::UnexpectedEnd,
            Some(b']' | b'}') if self.frames.last().is_some_and(|frame| frame.len > 0) && self.after_comma(pos) => {
                ErrorKind::TrailingComma
            }
            Some(b'\'') => ErrorKind::SingleQuotes,
            _ if rest.starts_with(b"NaN") => ErrorKind::Nan,
            _ if rest.starts_with(b"Infinity") => ErrorKind::Infinity,
            _ => ErrorKind::ExpectedValue,
        };
        Error::new(kind, pos)
    }

    /// Why nothing at `pos` can be a key.
    #[cold]
    fn no_key(&self, pos: usize) -> Error {
        let kind = match self.json.get(pos) {
            None => ErrorKind::UnexpectedEnd,
            Some(b'}') if self.after_comma(pos) => ErrorKind::TrailingComma,
            Some(b'\'') => ErrorKind::SingleQuotes,
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') => ErrorKind::UnquotedKey,
            _ => ErrorKind::ExpectedKey,
        };
        Error::new(kind, pos)
    }

    /// Whether the last thing before `pos`, white space aside, is a comma.
    fn after_comma(&self, pos: usize) -> bool {
        self.json[..pos].iter().rev().find(|&&byte| !crate::simd::is_space(byte)) == Some(&b',')
    }

    /// Not the word it starts like; the word may also be cut off by the end of the input.
    #[cold]
    fn bad_literal(&self, pos: usize, word: &[u8]) -> Error {
        if word.starts_with(&self.json[pos..]) {
            return Error::new(ErrorKind::UnexpectedEnd, self.json.len());
        }
        Error::new(ErrorKind::ExpectedValue, pos)
    }
}
