//! Passes over values without building terms, with the errors of [`decode`](crate::decode()) at the same bytes. Most of a document is passed
//! over when a few parts of it are wanted, so this walk keeps less than the driver does: a flag for each open container.

use super::cursor::{Cursor, Follows};
use super::{number, wrong};
use crate::error::Error;
use crate::room::room;
use crate::simd::{Kernel, LANES};

impl<K: Kernel> Cursor<'_, K> {
    /// Skips the value at `pos`, inside this many open containers. Returns the offset after it.
    /// (A call in the WebAssembly module, where seven copies took 68 KB.)
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn value(&mut self, mut pos: usize, depth: usize) -> Result<usize, Error> {
        self.open.clear();
        let mut object = false;
        loop {
            self.count(pos)?;
            let mut end = match self.json.get(pos) {
                Some(b'"') => self.string(pos, self.options.validate_strings)?,
                Some(b'-' | b'0'..=b'9') => match number::short_end(self.json, pos, self.options) {
                    // The value itself may be an element.
                    Some(end) if object || self.open.is_empty() => end,
                    Some(end) => self.integers(end),
                    None => number::skip(self.kernel, self.json, pos, self.options)?,
                },
                Some(&bracket @ (b'{' | b'[')) => {
                    self.check_depth(pos, depth + self.open.len())?;
                    room(self.open, 1).map_err(|kind| Error::new(kind, pos))?;
                    self.open.push(object);
                    object = bracket == b'{';
                    match self.inside(pos) {
                        Follows::Item(next) => {
                            pos = self.item(next, object)?;
                            continue;
                        }
                        Follows::Close(bracket) => {
                            object = self.open.pop().unwrap_or_default();
                            bracket + 1
                        }
                    }
                }
                Some(&first @ (b't' | b'f' | b'n')) => self.literal(pos, first)?,
                _ => return Err(wrong::no_value(self.json, pos)),
            };
            loop {
                if self.open.is_empty() {
                    return Ok(end);
                }
                // One look at which of the two it is, for both steps: `valid?` took 3 % longer with two.
                match if object { self.next(end, true)? } else { self.next(end, false)? } {
                    Follows::Item(value) => {
                        pos = value;
                        break;
                    }
                    Follows::Close(bracket) => {
                        object = self.open.pop().unwrap_or_default();
                        end = bracket + 1;
                    }
                }
            }
        }
    }

    /// [`Cursor::value`] as a call, for functions that are calls themselves: in them, it would take 16 KB each, without the instructions of
    /// the kernel.
    #[inline(never)]
    pub fn value_by_call(&mut self, pos: usize, depth: usize) -> Result<usize, Error> {
        let kernel = self.kernel;
        kernel.vectorize(
            #[inline(always)]
            || self.value(pos, depth),
        )
    }

    /// Passes over the integers of an array behind the value that ends at `pos`, a block of text at a time: 2.4 times as fast as one by
    /// one. (A call: in the loop it takes a tenth more time where numbers are floats.)
    #[inline(never)]
    fn integers(&mut self, pos: usize) -> usize {
        // An integer of a block has fewer digits.
        if self.options.digit_limit.wrapping_sub(1) < LANES as u32 - 1 {
            return pos;
        }
        let kernel = self.kernel;
        kernel.vectorize(
            #[inline(always)]
            || self.blocks_of_integers(pos),
        )
    }

    #[inline(always)]
    fn blocks_of_integers(&mut self, mut pos: usize) -> usize {
        while self.json.get(pos) == Some(&b',')
            && let Some(block) = self.json[pos..].first_chunk()
        {
            let (last, count) = self.kernel.integers(block);
            if last == 0 || self.nodes < u64::from(count) {
                break;
            }
            self.nodes -= u64::from(count);
            pos += last;
        }
        pos
    }

    /// What follows a value in an object or array; of a member, its value. A new line behind a comma is passed in place: in the WebAssembly
    /// module, a call for each takes a tenth of the time of a document laid out in lines.
    #[inline(always)]
    fn next(&mut self, pos: usize, object: bool) -> Result<Follows, Error> {
        let next = if self.json.get(pos) == Some(&b',') {
            self.space_here(pos + 1)
        } else {
            match self.behind(pos, object)? {
                Follows::Item(next) => next,
                close => return Ok(close),
            }
        };
        Ok(Follows::Item(self.item(next, object)?))
    }

    /// The offset of the value of an element, or of a member, whose key and colon are passed over.
    #[inline(always)]
    fn item(&mut self, pos: usize, member: bool) -> Result<usize, Error> {
        if !member {
            return Ok(pos);
        }
        self.key_starts(pos)?;
        let end = self.string(pos, self.options.validate_keys())?;
        // Between key and value, most documents that are laid out in lines have a colon and a space.
        match self.json.get(end..).and_then(|rest| rest.first_chunk()) {
            Some([b':', b' ', value]) if *value > b' ' => Ok(end + 2),
            _ => self.colon(end),
        }
    }

    /// Skips the value of a member, mostly a string. Strings and spaces are skipped in place: in the WebAssembly module, records of
    /// which three of eight members are wanted take a fifth less time, for 6 KB of code. Numbers in place would save a fiftieth, for
    /// 11 KB.
    #[inline(always)]
    pub fn member_value(&mut self, pos: usize, depth: usize) -> Result<usize, Error> {
        match self.json.get(pos) {
            Some(b'"') if cfg!(target_arch = "wasm32") => {
                self.count(pos)?;
                self.string(pos, self.options.validate_strings)
            }
            _ => self.value(pos, depth),
        }
    }
}
