//! Passes over values without building terms, with the errors of [`decode`](crate::decode()) at the same bytes.
//!
//! Repeated keys are the one thing that is not looked for. Most of a document is passed over when a few parts of it are wanted,
//! so this walk keeps less than the driver does: a flag for each open container, and no record of keys.

use super::string::Utf8;
use super::{number, string, wrong};
use crate::builder::Text;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::room::room;
use crate::simd::{Kernel, is_space};
use alloc::vec::Vec;

/// A walk over a text.
pub(crate) struct Skip<'a, K> {
    pub kernel: K,
    pub json: &'a [u8],
    pub options: &'a DecodeOptions,
    /// Values and keys that may still come.
    nodes: u64,
    /// For each container around the current one, whether it is an object.
    open: &'a mut Vec<bool>,
    /// What escapes stand for.
    text: &'a mut Vec<u8>,
    utf8: Utf8,
}

// In the WebAssembly module most of these are calls: each copy in the walks over parts would take kilobytes, and they have many.
impl<'a, K: Kernel> Skip<'a, K> {
    #[inline(always)]
    pub fn new(
        kernel: K,
        json: &'a [u8],
        options: &'a DecodeOptions,
        open: &'a mut Vec<bool>,
        text: &'a mut Vec<u8>,
    ) -> Self {
        let nodes = if options.max_nodes == 0 { u64::MAX } else { options.max_nodes };
        Self { kernel, json, options, nodes, open, text, utf8: Utf8::new() }
    }

    /// Skips the value at `pos`, inside this many open containers. Returns the offset after it.
    /// (A call in the WebAssembly module, where seven copies took 68 KB.)
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn value(&mut self, mut pos: usize, depth: usize) -> Result<usize, Error> {
        self.open.clear();
        let deepest = (self.options.max_depth as usize).saturating_sub(depth);
        let mut object = false;
        loop {
            self.count(pos)?;
            let mut end = match self.json.get(pos) {
                Some(b'"') => self.string(pos, self.options.validate_strings)?,
                Some(b'-' | b'0'..=b'9') => number::skip(self.json, pos, self.options)?,
                Some(&bracket @ (b'{' | b'[')) => {
                    if self.open.len() >= deepest {
                        return Err(Error::new(ErrorKind::MaxDepth, pos));
                    }
                    room(self.open, 1).map_err(|kind| Error::new(kind, pos))?;
                    self.open.push(object);
                    object = bracket == b'{';
                    let next = self.space(pos + 1);
                    // The closing bracket is the opening one's code plus two.
                    if self.json.get(next) != Some(&(bracket + 2)) {
                        pos = if object { self.member(next)? } else { next };
                        continue;
                    }
                    object = self.open.pop().unwrap_or_default();
                    next + 1
                }
                Some(&first @ (b't' | b'f' | b'n')) => self.literal(pos, first)?,
                _ => return Err(wrong::no_value(self.json, pos)),
            };
            loop {
                if self.open.is_empty() {
                    return Ok(end);
                }
                match (self.json.get(end), object) {
                    (Some(b','), true) => {
                        let next = self.space(end + 1);
                        pos = self.member(next)?;
                        break;
                    }
                    (Some(b','), false) => {
                        pos = self.space(end + 1);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        object = self.open.pop().unwrap_or_default();
                        end += 1;
                    }
                    _ => end = self.space_before(end, missing(object))?,
                }
            }
        }
    }

    /// [`Skip::value`] as a call, for functions that are calls themselves: in them, it would take 16 KB each, without the instructions of
    /// the kernel.
    #[inline(never)]
    pub fn value_by_call(&mut self, pos: usize, depth: usize) -> Result<usize, Error> {
        let kernel = self.kernel;
        kernel.vectorize(
            #[inline(always)]
            || self.value(pos, depth),
        )
    }

    /// Passes over a key and its colon; gives the offset of its value.
    #[inline(always)]
    fn member(&mut self, pos: usize) -> Result<usize, Error> {
        self.key_starts(pos)?;
        let end = self.string(pos, self.options.validate_keys())?;
        self.colon(end)
    }

    #[inline(always)]
    fn key_starts(&mut self, pos: usize) -> Result<(), Error> {
        if self.json.get(pos) != Some(&b'"') {
            return Err(wrong::no_key(self.json, pos));
        }
        self.count(pos)
    }

    /// Reads the key at `pos`, and gives the offset behind it.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn key(&mut self, pos: usize) -> Result<(Text<'_>, usize), Error> {
        self.key_starts(pos)?;
        self.text.clear();
        let utf8 = (&mut self.utf8, self.options.validate_keys());
        string::string(self.kernel, self.json, pos, utf8, self.text)
    }

    /// Reads the string at `pos`, and gives the offset behind it. A call, as [`Skip::value_by_call`].
    #[inline(never)]
    pub fn text(&mut self, pos: usize) -> Result<(Text<'_>, usize), Error> {
        let kernel = self.kernel;
        kernel.vectorize(
            #[inline(always)]
            || self.text_here(pos),
        )
    }

    /// The same, never as a call.
    #[inline(always)]
    pub fn text_here(&mut self, pos: usize) -> Result<(Text<'_>, usize), Error> {
        self.text.clear();
        let utf8 = (&mut self.utf8, self.options.validate_strings);
        string::string(self.kernel, self.json, pos, utf8, self.text)
    }

    /// Passes over the colon behind a key.
    #[inline(always)]
    pub fn colon(&self, mut pos: usize) -> Result<usize, Error> {
        while self.json.get(pos) != Some(&b':') {
            pos = self.space_before(pos, ErrorKind::ExpectedColon)?;
        }
        Ok(self.space(pos + 1))
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn string(&mut self, pos: usize, validate: bool) -> Result<usize, Error> {
        self.string_here(pos, validate)
    }

    /// Skips the value of a member, mostly a string. Strings and spaces are skipped in place: in the WebAssembly module, records of
    /// which three of eight members are wanted take a fifth less time, for 6 KB of code. Numbers in place would save a fiftieth, for
    /// 11 KB.
    #[inline(always)]
    pub fn member_value(&mut self, pos: usize, depth: usize) -> Result<usize, Error> {
        match self.json.get(pos) {
            Some(b'"') if cfg!(target_arch = "wasm32") => {
                self.count(pos)?;
                self.string_here(pos, self.options.validate_strings)
            }
            _ => self.value(pos, depth),
        }
    }

    #[inline(always)]
    fn string_here(&mut self, pos: usize, validate: bool) -> Result<usize, Error> {
        let run = self.kernel.string_run(self.json, pos + 1);
        if !run.ascii && validate {
            self.utf8.check(self.json, pos + 1, run.end)?;
        }
        if self.json.get(run.end) == Some(&b'"') {
            return Ok(run.end + 1);
        }
        self.text.clear();
        let utf8 = (&mut self.utf8, validate);
        string::unescape(self.kernel, self.json, pos + 1, run.end, utf8, self.text)
    }

    /// Passes over the literal that starts with this byte. It does not branch on which literal that is: in many documents the
    /// processor could not predict it.
    #[inline(always)]
    pub fn literal(&self, pos: usize, first: u8) -> Result<usize, Error> {
        // Four bytes, for `false` behind the first.
        let start = pos + usize::from(first == b'f');
        let word = if first == b't' { b"true" } else { b"null" };
        let word = if first == b'f' { b"alse" } else { word };
        match self.json.get(start..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) if bytes == word => Ok(start + 4),
            _ => Err(wrong::no_literal(self.json, pos, first)),
        }
    }

    /// The end of the white space at `pos`. One or no space is by far the most common.
    #[inline(always)]
    pub fn space(&self, pos: usize) -> usize {
        match self.json.get(pos) {
            Some(&byte) if byte > b' ' => pos,
            _ => self.spaces(pos),
        }
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn spaces(&self, pos: usize) -> usize {
        match self.json.get(pos + 1) {
            Some(&next) if next > b' ' && is_space(self.json[pos]) => pos + 1,
            _ => self.kernel.space_end(self.json, pos),
        }
    }

    /// The end of the white space before a token that was not found at `pos`. Where there is none, the token is missing.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn space_before(&self, pos: usize, missing: ErrorKind) -> Result<usize, Error> {
        let end = self.space(pos);
        match self.json.get(end) {
            None => Err(Error::new(ErrorKind::UnexpectedEnd, end)),
            Some(_) if end == pos => Err(Error::new(missing, pos)),
            Some(_) => Ok(end),
        }
    }

    #[inline(always)]
    pub fn count(&mut self, pos: usize) -> Result<(), Error> {
        let (left, over) = self.nodes.overflowing_sub(1);
        if over {
            return Err(wrong::too_many(self.json, pos));
        }
        self.nodes = left;
        Ok(())
    }

    /// Passes over the white space behind the document.
    pub fn end_of_document(&self, pos: usize) -> Result<(), Error> {
        let pos = self.space(pos);
        if pos == self.json.len() { Ok(()) } else { Err(Error::new(ErrorKind::TrailingData, pos)) }
    }
}

/// The error of a container that neither continues nor ends.
#[inline(always)]
pub(crate) const fn missing(object: bool) -> ErrorKind {
    if object { ErrorKind::ExpectedCommaOrObjectEnd } else { ErrorKind::ExpectedCommaOrArrayEnd }
}
