//! Writes values in canonical form, in the order of the text; the members of objects are noted, to be sorted.

use super::order::utf16;
use crate::builder::{Dropped, Key, TermBuilder, Text};
use crate::encode::canonical as write;
use crate::error::ErrorKind;
use crate::output::Output;
use crate::room::room;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// What was written: a text, and the objects in it that are not in order.
#[derive(Debug)]
pub(super) struct Written {
    pub text: Output<Vec<u8>>,
    /// In the order in which they start.
    pub objects: Vec<Object>,
    pub members: Vec<Member>,
}

/// An object whose members have to change places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Its text, from the opening brace to behind the closing one.
    pub start: usize,
    pub end: usize,
    /// Its members, sorted. None for an object that was in order.
    pub members: (usize, usize),
}

/// A member, in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub start: usize,
    pub end: usize,
}

impl Written {
    pub const fn len(&self) -> usize {
        self.text.len()
    }
}

pub(super) struct Builder<K> {
    kernel: K,
    written: Written,
    /// Members of the open objects: where the member starts, its key in `keys`, and where that ends.
    open: Vec<(usize, usize, usize)>,
    /// Unescaped keys of the open objects.
    keys: Vec<u8>,
    /// For each open container the number of its object; `None` for an array.
    containers: Vec<Option<usize>>,
    sorted: Vec<usize>,
}

impl<K: CopyKernel> Builder<K> {
    pub fn new(kernel: K) -> Self {
        let written = Written { text: Output::new(Vec::new()), objects: Vec::new(), members: Vec::new() };
        Self { kernel, written, open: Vec::new(), keys: Vec::new(), containers: Vec::new(), sorted: Vec::new() }
    }

    pub fn finish(mut self) -> Result<Written, ErrorKind> {
        // Behind each value stands a comma.
        let len = self.written.text.len().saturating_sub(1);
        self.written.text.truncate(len);
        if self.written.text.failed() { Err(ErrorKind::OutOfMemory) } else { Ok(self.written) }
    }

    fn text(&mut self) -> &mut Output<Vec<u8>> {
        &mut self.written.text
    }

    /// Every value is written with a comma behind it, which its container takes away behind the last one.
    fn comma(&mut self) -> Result<(), ErrorKind> {
        self.text().text(b",");
        if self.written.text.failed() { Err(ErrorKind::OutOfMemory) } else { Ok(()) }
    }

    fn close(&mut self, bracket: u8, empty: bool) -> Result<(), ErrorKind> {
        if !empty {
            let len = self.written.text.len().saturating_sub(1);
            self.written.text.truncate(len);
        }
        self.text().text(&[bracket]);
        self.comma()
    }

    fn begin(&mut self, bracket: u8, object: Option<usize>) {
        self.text().text(&[bracket]);
        self.containers.push(object);
    }

    /// Notes the order of the last members, if it is another than that of the text.
    fn sort(&mut self, count: usize, object: usize) -> Result<(), ErrorKind> {
        let base = self.open.len() - count;
        let (open, keys) = (&self.open[base..], &self.keys);
        let key = |member: &(usize, usize, usize)| &keys[member.1..member.2];
        if open.is_sorted_by(|a, b| utf16(key(a), key(b)).is_le()) {
            return Ok(());
        }
        let end = self.written.text.len().saturating_sub(1);
        room(&mut self.sorted, count)?;
        room(&mut self.written.members, count)?;
        self.sorted.clear();
        self.sorted.extend(0..count);
        self.sorted.sort_unstable_by(|&a, &b| utf16(key(&open[a]), key(&open[b])));
        let first = self.written.members.len();
        let ends = |number: usize| open.get(number + 1).map_or(end, |next| next.0.saturating_sub(1));
        let members = self.sorted.iter().map(|&number| Member { start: open[number].0, end: ends(number) });
        self.written.members.extend(members);
        self.written.objects[object].members = (first, first + count);
        Ok(())
    }
}

impl<K: CopyKernel> TermBuilder for Builder<K> {
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.text().text(b"null");
        self.comma()
    }

    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        self.text().text(if value { b"true" } else { b"false" });
        self.comma()
    }

    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        if !write::integer(self.text(), value) {
            return Err(ErrorKind::InexactInteger);
        }
        self.comma()
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        if !write::big_integer(self.text(), negative, magnitude) {
            return Err(ErrorKind::InexactInteger);
        }
        self.comma()
    }

    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        write::float(self.text(), value);
        self.comma()
    }

    /// Not asked for: floats stay floats.
    fn decimal(&mut self, _: bool, _: &[u8], _: i64) -> Result<(), ErrorKind> {
        Err(ErrorKind::InvalidNumber)
    }

    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        write::string(self.kernel, self.text(), text.bytes());
        self.comma()
    }

    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        let (bytes, start) = (key.text.bytes(), self.keys.len());
        room(&mut self.keys, bytes.len())?;
        room(&mut self.open, 1)?;
        self.keys.extend_from_slice(bytes);
        self.open.push((self.written.text.len(), start, self.keys.len()));
        write::string(self.kernel, self.text(), bytes);
        self.text().text(b":");
        Ok(())
    }

    fn begin_array(&mut self) {
        self.begin(b'[', None);
    }

    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.containers.pop();
        self.close(b']', len == 0)
    }

    fn begin_object(&mut self) {
        let (start, number) = (self.written.text.len(), self.written.objects.len());
        self.written.objects.push(Object { start, end: start, members: (0, 0) });
        self.begin(b'{', Some(number));
    }

    fn end_object(&mut self, len: usize, _: Dropped<'_>) -> Result<(), ErrorKind> {
        let object = self.containers.pop().flatten().unwrap_or_default();
        if len > 0 {
            self.sort(len, object)?;
        }
        let base = self.open.len() - len;
        if let Some(&(_, start, _)) = self.open.get(base) {
            self.keys.truncate(start);
        }
        self.open.truncate(base);
        self.close(b'}', len == 0)?;
        self.written.objects[object].end = self.written.text.len().saturating_sub(1);
        Ok(())
    }
}
