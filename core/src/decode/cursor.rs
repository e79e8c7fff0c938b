//! One cursor over JSON text, for all walks that build at most parts of a document. They pass over what is not wanted
//! ([`skip`](super::skip)), find values at pointers, find tags, and read the values of a type. Each keeps the open containers in its own
//! form. The steps between tokens, and the errors where a token is missing, are here. (The driver of [`decode`](crate::decode()) has its
//! own: it is compiled as one loop.)
//!
//! The cursor does not look for repeated keys; the walks do, where they must.

use super::string::Utf8;
use super::{string, wrong};
use crate::builder::Text;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::{Kernel, is_space};
use alloc::vec::Vec;

/// A text, and what walks over it need besides an offset.
pub(crate) struct Cursor<'a, K> {
    pub(super) kernel: K,
    pub json: &'a [u8],
    pub options: &'a DecodeOptions,
    /// Values and keys that may still come.
    pub(super) nodes: u64,
    /// For each container around the current one, whether it is an object: of the value that is passed over.
    pub(super) open: &'a mut Vec<bool>,
    /// What escapes stand for.
    text: &'a mut Vec<u8>,
    utf8: Utf8,
}

/// What comes next in a container, by its offset.
pub(crate) enum Follows {
    /// An element, or the key of a member.
    Item(usize),
    /// The bracket that closes the container.
    Close(usize),
}

// In the WebAssembly module most of these are calls: each copy in the walks over parts would take kilobytes, and they have many.
impl<'a, K: Kernel> Cursor<'a, K> {
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

    /// An error, if no container may open at `pos`, inside this many.
    #[inline(always)]
    pub fn check_depth(&self, pos: usize, depth: usize) -> Result<(), Error> {
        if depth >= self.options.max_depth as usize { Err(Error::new(ErrorKind::MaxDepth, pos)) } else { Ok(()) }
    }

    /// What follows the bracket at `pos`, which opens a container.
    #[inline(always)]
    pub fn inside(&self, pos: usize) -> Follows {
        let next = self.space(pos + 1);
        // The closing bracket is the opening one's code plus two.
        if self.json.get(next) == Some(&(self.json[pos] + 2)) { Follows::Close(next) } else { Follows::Item(next) }
    }

    /// What follows the value that ends at `pos` in an object or array. White space is rare before a comma, so it is looked for last.
    #[inline(always)]
    pub fn behind(&self, mut pos: usize, object: bool) -> Result<Follows, Error> {
        loop {
            match (self.json.get(pos), object) {
                (Some(b','), _) => return Ok(Follows::Item(self.space(pos + 1))),
                (Some(b'}'), true) | (Some(b']'), false) => return Ok(Follows::Close(pos)),
                _ => pos = self.space_before(pos, missing(object))?,
            }
        }
    }

    #[inline(always)]
    pub(super) fn key_starts(&mut self, pos: usize) -> Result<(), Error> {
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

    /// Reads the string at `pos`, and gives the offset behind it. A call, as [`Cursor::value_by_call`].
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

    #[inline(always)]
    pub(super) fn string(&mut self, pos: usize, validate: bool) -> Result<usize, Error> {
        let run = self.kernel.string_run(self.json, pos + 1);
        if !run.ascii && validate {
            self.utf8.check(self.json, pos + 1, run.end)?;
        }
        if self.json.get(run.end) == Some(&b'"') {
            return Ok(run.end + 1);
        }
        string::pass_escapes(self.kernel, self.json, pos + 1, run.end, (&mut self.utf8, validate))
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

    /// The same, never as a call.
    #[inline(always)]
    pub(super) fn space_here(&self, pos: usize) -> usize {
        match self.json.get(pos) {
            Some(&byte) if byte > b' ' => pos,
            _ => self.spaces_here(pos),
        }
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn spaces(&self, pos: usize) -> usize {
        self.spaces_here(pos)
    }

    #[inline(always)]
    fn spaces_here(&self, pos: usize) -> usize {
        match self.json.get(pos + 1) {
            Some(&next) if next > b' ' && is_space(self.json[pos]) => pos + 1,
            _ => self.kernel.space_end(self.json, pos),
        }
    }

    /// The end of the white space before a token that was not found at `pos`. Where there is none, the token is missing.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn space_before(&self, pos: usize, missing: ErrorKind) -> Result<usize, Error> {
        wrong::unless_token(self.json, pos, self.space(pos), missing)
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
const fn missing(object: bool) -> ErrorKind {
    if object { ErrorKind::ExpectedCommaOrObjectEnd } else { ErrorKind::ExpectedCommaOrArrayEnd }
}
