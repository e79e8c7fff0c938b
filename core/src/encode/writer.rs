//! What a walk writes: JSON text, or a [tape](crate::tape) of which the text is made elsewhere. The walk decides what is written; how it
//! looks, the writer of text knows, and so does whoever plays the tape, with the same functions.

use super::error::{EncodeError, EncodeErrorKind};
use super::reader::{AtomText, Block};
use super::records::RECORD_SEPARATOR;
use super::string::{NotUtf8, rare_string, string};
use super::{error, float, number, repair};
use crate::options::{EncodeOptions, Pretty};
use crate::output::{Buffer, Output};
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// Where a string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is a key. Its colon comes next.
    Key,
    /// It is a value.
    Value,
}

/// What a writer knows of the keys of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Nothing: they are written with their values.
    Unknown,
    /// They were seen before: they are to be written now, and then the values.
    Wanted,
    /// All: the values are enough.
    Known,
}

/// Takes what a walk finds, token by token.
pub trait Writer {
    /// The most that a byte of text counts in [`Writer::length`].
    const DENSITY: usize;
    /// Maps can go without keys that were written before: see [`Writer::keys`].
    const SHAPES: bool;

    /// How much is written.
    fn length(&self) -> usize;
    /// Whether it takes no more.
    fn failed(&self) -> bool;
    /// Whether a walk may keep this many bytes beside what it writes. If not, it takes no more.
    fn may_keep(&mut self, _bytes: usize) -> bool {
        true
    }
    /// Takes back what was written behind this length: a container that is open, or a fragment.
    fn take_back(&mut self, start: usize);

    /// Null.
    fn null(&mut self);
    /// True or false.
    fn boolean(&mut self, value: bool);
    /// An integer. `safe`: those that JavaScript would round become strings.
    fn integer(&mut self, value: i64, safe: bool);
    /// A finite float.
    fn float<K: CopyKernel>(&mut self, kernel: K, value: f64);
    /// An integer of any size, in quotes if it is a key or, with `safe`, a value.
    fn big(&mut self, role: Role, negative: bool, magnitude: &[u8], safe: bool);
    /// A string. An error only if it is not UTF-8 and the writer has looked: then it may be replaced.
    fn string<K: CopyKernel>(
        &mut self,
        kernel: K,
        role: Role,
        options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8>;
    /// [`Writer::string`] where size counts more than speed.
    fn rare_string<K: CopyKernel>(
        &mut self,
        kernel: K,
        role: Role,
        options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8>;
    /// Writes a string anew in which what is no UTF-8 is replaced. `false`: there is no memory.
    fn replace<K: CopyKernel>(&mut self, kernel: K, options: &EncodeOptions<'_>, wrong: NotUtf8, bytes: &[u8]) -> bool;
    /// A string that no mode escapes, out of a block with `"text":`.
    fn plain(&mut self, block: &Block, len: usize);
    /// The same as a key, with its colon, where nothing is written behind colons.
    fn plain_key(&mut self, block: &Block, len: usize);
    /// The name of an atom, where it is a value.
    #[inline(always)]
    fn atom<K: CopyKernel>(&mut self, kernel: K, options: &EncodeOptions<'_>, text: AtomText<'_>) {
        match text.plain {
            Some(block) => self.plain(block, text.bytes.len()),
            // Names are UTF-8.
            None => drop(self.rare_string(kernel, Role::Value, options, text.bytes)),
        }
    }
    /// What stands behind a key.
    fn colon(&mut self, options: &EncodeOptions<'_>);
    /// A part of a fragment: JSON text as it is.
    fn raw(&mut self, text: &[u8]);
    /// The same, a single byte.
    fn raw_byte(&mut self, byte: u8);
    /// The end of a fragment.
    fn end_raw(&mut self);
    /// A place that is left to the shell.
    fn hole(&mut self, role: Role);

    /// The start of a list or an object.
    fn open(&mut self, bracket: u8);
    /// Its end.
    fn close(&mut self, bracket: u8);
    /// One without elements.
    fn empty(&mut self, brackets: [u8; 2]);
    /// What stands between two elements.
    fn comma(&mut self);
    /// A new line.
    fn line(&mut self, pretty: &Pretty<'_>, depth: usize);
    /// The start of a record of a list. `marked`: with a record separator.
    fn record(&mut self, marked: bool);
    /// Its end.
    fn end_record(&mut self);

    /// Looks up the keys of a map, which have this number. If they are known, the object is open, and its values are enough.
    fn keys(&mut self, _number: u64) -> Keys {
        Keys::Unknown
    }
    /// Whether the keys of this number are known. Then the object is open.
    fn known_keys(&mut self, _number: u64) -> bool {
        false
    }
    /// Opens an object whose keys are written first: so many.
    fn start_keys(&mut self, _count: usize) {}
    /// The keys that were wanted, of this number, are written.
    fn end_keys(&mut self, _number: u64) {}

    /// The error of a walk that began at `start`, within the first `reached` bytes behind it (see [`limits::reached`]); `record` is the
    /// number of the current record.
    fn error(
        &mut self,
        start: usize,
        reached: usize,
        kind: EncodeErrorKind,
        payload: Vec<u8>,
        record: Option<usize>,
    ) -> EncodeError;
}

impl<B: Buffer> Writer for Output<B> {
    const DENSITY: usize = 1;
    const SHAPES: bool = false;

    #[inline(always)]
    fn length(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn failed(&self) -> bool {
        Output::failed(self)
    }

    fn take_back(&mut self, start: usize) {
        self.truncate(start);
    }

    #[inline(always)]
    fn null(&mut self) {
        self.array(*b"null");
    }

    #[inline(always)]
    fn boolean(&mut self, value: bool) {
        if value { self.array(*b"true") } else { self.array(*b"false") }
    }

    #[inline(always)]
    fn integer(&mut self, value: i64, safe: bool) {
        if safe && !repair::is_safe(value) { repair::quoted_integer(self, value) } else { number::integer(self, value) }
    }

    #[inline(always)]
    fn float<K: CopyKernel>(&mut self, kernel: K, value: f64) {
        float_text(kernel, self, value);
    }

    fn big(&mut self, role: Role, negative: bool, magnitude: &[u8], safe: bool) {
        let quotes: &[u8] = if safe || role == Role::Key { b"\"" } else { b"" };
        self.text(quotes);
        number::big(self, negative, magnitude);
        self.text(quotes);
    }

    #[inline(always)]
    fn string<K: CopyKernel>(
        &mut self,
        kernel: K,
        _role: Role,
        options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8> {
        string(kernel, self, options.escape, bytes)
    }

    fn rare_string<K: CopyKernel>(
        &mut self,
        kernel: K,
        _role: Role,
        options: &EncodeOptions<'_>,
        bytes: &[u8],
    ) -> Result<(), NotUtf8> {
        rare_string(kernel, self, options.escape, bytes)
    }

    #[cold]
    fn replace<K: CopyKernel>(&mut self, kernel: K, options: &EncodeOptions<'_>, wrong: NotUtf8, bytes: &[u8]) -> bool {
        self.truncate(wrong.start);
        // What is repaired is UTF-8.
        repair::repaired(bytes).is_some_and(|text| rare_string(kernel, self, options.escape, &text).is_ok())
    }

    #[inline(always)]
    fn plain(&mut self, block: &Block, len: usize) {
        self.block(block, len + 2);
    }

    #[inline(always)]
    fn plain_key(&mut self, block: &Block, len: usize) {
        self.block(block, len + 3);
    }

    #[inline(always)]
    fn colon(&mut self, options: &EncodeOptions<'_>) {
        self.array([b':']);
        if let Some(pretty) = options.pretty {
            self.text(pretty.after_colon);
        }
    }

    fn raw(&mut self, text: &[u8]) {
        self.text(text);
    }

    fn raw_byte(&mut self, byte: u8) {
        self.text(&[byte]);
    }

    #[inline(always)]
    fn end_raw(&mut self) {}

    #[inline(always)]
    fn hole(&mut self, _role: Role) {}

    #[inline(always)]
    fn open(&mut self, bracket: u8) {
        self.array([bracket]);
    }

    #[inline(always)]
    fn close(&mut self, bracket: u8) {
        self.array([bracket]);
    }

    #[inline(always)]
    fn empty(&mut self, brackets: [u8; 2]) {
        self.array(brackets);
    }

    #[inline(always)]
    fn comma(&mut self) {
        self.array([b',']);
    }

    fn line(&mut self, pretty: &Pretty<'_>, depth: usize) {
        pretty.line(self, depth);
    }

    fn record(&mut self, marked: bool) {
        if marked {
            self.array([RECORD_SEPARATOR]);
        }
    }

    fn end_record(&mut self) {
        self.array([b'\n']);
    }

    #[cold]
    fn error(
        &mut self,
        start: usize,
        reached: usize,
        kind: EncodeErrorKind,
        payload: Vec<u8>,
        record: Option<usize>,
    ) -> EncodeError {
        let written = &self.written()[start..];
        error::located(&written[..written.len().min(reached)], kind, payload, record)
    }
}

/// Appends a float.
#[inline(never)]
pub(super) fn float_text<K: CopyKernel, B: Buffer>(kernel: K, out: &mut Output<B>, value: f64) {
    kernel.vectorize(
        #[inline(always)]
        || float::float(kernel, out, value),
    );
}
