//! Objects whose members are collected before the first is written: sorted keys, and keys that must differ.

use super::driver::{Driver, Frame, LONG_STRING, Next, Walk};
use super::error::{EncodeErrorKind, duplicate_key};
use super::gathered::{Member, Range};
use super::limits;
use super::reader::{Step, TermReader, Value};
use super::string::rare_string;
use super::writer::Writer;
use crate::options::Escape;
use crate::options::shape::Shape;
use crate::output::Output;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// Larger maps take too long for a short slice.
pub(super) const LARGE: usize = 1024;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Opens a map, or a struct as an object.
    #[inline(never)]
    pub fn gather_map(&mut self, term: R::Term, map: R::Map, is_struct: bool) -> Walk<Next<R::Term>> {
        let size = self.reader.map_size(&map);
        self.charge(limits::STRUCT);
        let range = self.start_gathering(size)?;
        let mut entries =
            self.reader.entries(&map, self.options.reverse_large_maps, true).ok_or(EncodeErrorKind::OutOfMemory)?;
        while let Some((key, value)) = self.reader.next_entry(&mut entries) {
            let skip = is_struct && self.is_struct_key(key);
            if !skip && !self.gather(range, key, value)? {
                self.reader.end_entries();
                return self.drop_gathered(term, range);
            }
        }
        self.reader.end_entries();
        self.open_gathered(range, map)
    }

    /// Opens an ordered object.
    pub fn gather_pairs(&mut self, term: R::Term, map: R::Map, mut list: R::List) -> Walk<Next<R::Term>> {
        let range = self.start_gathering(0)?;
        loop {
            let pair = match self.reader.next_item(&mut list) {
                Step::Item(item) => item,
                Step::End => return self.open_gathered(range, map),
                Step::Tail(_) if self.options.leave_unsupported => return self.drop_gathered(term, range),
                Step::Tail(_) => {
                    // This error is found in a container, and nothing of the object is written yet.
                    self.out.open(b'[');
                    return Err(EncodeErrorKind::ImproperList);
                }
            };
            if self.in_slice() && self.gathered.members.len() - range.members > LARGE {
                return Err(EncodeErrorKind::Budget);
            }
            let (key, value) = match self.pair(pair) {
                Ok(pair) => pair,
                Err(EncodeErrorKind::InvalidKey) if self.options.leave_unsupported => {
                    return self.drop_gathered(term, range);
                }
                Err(kind) => return Err(kind),
            };
            if !self.gather(range, key, value)? {
                return self.drop_gathered(term, range);
            }
            self.reader.pass(value);
        }
    }

    /// Opens a struct that has a plan.
    pub fn gather_planned(&mut self, term: R::Term, map: R::Map, mut plan: R::Plan) -> Walk<Next<R::Term>> {
        let range = self.start_gathering(0)?;
        while let Some((field, value)) = self.reader.next_planned(&mut plan, &map) {
            let Some(value) = value else { return self.drop_gathered(term, range) };
            self.gather_field(&plan, field, value)?;
        }
        self.open_gathered(range, map)
    }

    fn start_gathering(&self, size: usize) -> Walk<Range> {
        if self.in_slice() && size > LARGE {
            return Err(EncodeErrorKind::Budget);
        }
        Ok(self.gathered.range())
    }

    /// Adds a member. `false`: the text of its key is not known here.
    fn gather(&mut self, range: Range, key: R::Term, value: R::Term) -> Walk<bool> {
        let look = self.reader.read(key);
        if let Value::Binary(bytes) = look
            && bytes.len() > LONG_STRING
            && self.in_slice()
        {
            return Err(EncodeErrorKind::Budget);
        }
        let is_big = matches!(look, Value::Big);
        let is_atom = matches!(look, Value::Atom | Value::Nil | Value::True | Value::False);
        self.keys_fit(range, if let Value::Binary(bytes) = look { bytes.len() } else { 0 })?;
        self.spend(limits::MEMBER)?;
        let mut text = core::mem::replace(&mut self.gathered.text, Output::new(Vec::new()));
        let start = text.len();
        let known = self.key_text(key, look, &mut text);
        let end = text.len();
        let failed = text.failed();
        self.gathered.text = text;
        if failed {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        if self.in_slice() && end > LONG_STRING {
            return Err(EncodeErrorKind::Budget);
        }
        if matches!(known, Ok(true)) {
            self.add_member(start, is_atom, value)?;
            if is_big && self.gathered.text.len() == start {
                self.lost_digits(end - start)?;
            }
        }
        known
    }

    /// Checks that one more key of this length can be kept: keys may be many and long, and share their bytes. Those of one object that are
    /// together too long for the text are an error of the object.
    fn keys_fit(&mut self, range: Range, len: usize) -> Walk<()> {
        let all = self.gathered.text.len().saturating_add(len);
        // What is left out is not too long.
        let max = if self.shape.is_some_and(Shape::omits) { 0 } else { self.options.max_bytes };
        if max != 0 && (all - range.text) as u64 > max {
            return Err(EncodeErrorKind::MaxBytes);
        }
        if self.out.may_keep(all) { Ok(()) } else { Err(EncodeErrorKind::OutOfMemory) }
    }

    fn drop_gathered(&mut self, term: R::Term, range: Range) -> Walk<Next<R::Term>> {
        self.lost(self.gathered.members.len() - range.members + self.gathered.text.len() - range.text)?;
        self.gathered.cut(range);
        self.hole(term, false)?;
        Ok(Next::Done)
    }

    fn open_gathered(&mut self, range: Range, map: R::Map) -> Walk<Next<R::Term>> {
        if self.options.sort_keys {
            self.gathered.sort(range)?;
        }
        if self.options.strict_maps {
            self.check_duplicates(range)?;
        }
        if self.gathered.members.len() == range.members {
            self.reader.leave(&map);
            self.out.empty(*b"{}");
            return Ok(Next::Done);
        }
        limits::room(&mut self.gathered.open, 1)?;
        self.gathered.open.push(range);
        self.rare_open(b'{', Frame::Gathered(map));
        self.next_gathered(true)
    }

    fn check_duplicates(&mut self, range: Range) -> Walk<()> {
        let (kernel, escape) = (self.kernel, self.options.escape);
        let Some(key) = self.gathered.duplicate(range, self.options.sort_keys)? else { return Ok(()) };
        self.payload = twice(kernel, escape, key);
        Err(EncodeErrorKind::DuplicateKey)
    }

    /// The error of a key that is written twice.
    pub fn duplicate(&mut self, key: &[u8]) -> Walk<()> {
        self.payload = twice(self.kernel, self.options.escape, key);
        Err(EncodeErrorKind::DuplicateKey)
    }

    pub fn next_gathered(&mut self, first: bool) -> Walk<Next<R::Term>> {
        let (Some(Frame::Gathered(map)), Some(range)) = (self.stack.last_mut(), self.gathered.open.last_mut()) else {
            return Ok(Next::Done);
        };
        let next = range.next;
        range.next += 1;
        let Some(&Member { start, end, value, scope }) = self.gathered.members.get(next) else {
            self.reader.leave(map);
            let range = *range;
            self.gathered.open.pop();
            self.gathered.cut(range);
            return self.rare_close(b'}');
        };
        if !first {
            self.rare_comma();
        }
        let mut text = core::mem::replace(&mut self.gathered.text, Output::new(Vec::new()));
        let written = self.rare_string_key(&text.written()[start..end]);
        self.gathered.text = text;
        written?;
        self.scope = scope;
        match value {
            Some(value) => Ok(Next::Value(value)),
            None => self.redacted(),
        }
    }
}

fn twice<K: CopyKernel>(kernel: K, escape: Escape, key: &[u8]) -> Vec<u8> {
    duplicate_key(key, |text, key| rare_string(kernel, text, escape, key).is_ok())
}
