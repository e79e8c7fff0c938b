//! Writes values in canonical form, in the order of the text; the members of objects are noted, to be sorted.

use super::order::Sorted;
use crate::builder::{Dropped, Key, TermBuilder, Text};
use crate::encode::canonical as write;
use crate::error::ErrorKind;
use crate::output::{Buffer, Output};
use crate::room::room;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// The objects of a text that are not in order, in the order in which they start, and their members.
#[derive(Debug, Default)]
pub(super) struct Moved {
    pub objects: Vec<Object>,
    pub members: Vec<Member>,
}

/// An object whose members have to change places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Its text, from the opening brace to behind the closing one.
    pub start: usize,
    pub end: usize,
    /// The number of the first object behind it.
    pub behind: usize,
    /// Its members, sorted. None for an object that was in order.
    pub members: (usize, usize),
}

/// A member, in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub start: usize,
    pub end: usize,
}

pub(super) struct Builder<'o, K, B> {
    kernel: K,
    out: &'o mut Output<B>,
    moved: Moved,
    /// Members of the open objects.
    open: Vec<super::order::Member>,
    /// Keys of the open objects that were unescaped.
    keys: Vec<u8>,
    /// For each open container the number of its object; `None` for an array.
    containers: Vec<Option<usize>>,
    sorted: Sorted,
}

impl<'o, K: CopyKernel, B: Buffer> Builder<'o, K, B> {
    pub fn new(kernel: K, out: &'o mut Output<B>) -> Self {
        let (moved, sorted) = (Moved::default(), Sorted::default());
        Self { kernel, out, moved, open: Vec::new(), keys: Vec::new(), containers: Vec::new(), sorted }
    }

    pub fn finish(self) -> Result<Moved, ErrorKind> {
        // Behind each value stands a comma.
        self.out.truncate(self.out.len().saturating_sub(1));
        if self.out.failed() { Err(ErrorKind::OutOfMemory) } else { Ok(self.moved) }
    }

    /// Every value is written with a comma behind it, which its container takes away behind the last one.
    #[inline(always)]
    fn comma(&mut self) -> Result<(), ErrorKind> {
        self.out.array(*b",");
        self.written()
    }

    #[inline(always)]
    fn written(&self) -> Result<(), ErrorKind> {
        if self.out.failed() { Err(ErrorKind::OutOfMemory) } else { Ok(()) }
    }

    #[inline(always)]
    fn close(&mut self, bracket: u8, empty: bool) -> Result<(), ErrorKind> {
        if !empty {
            self.out.truncate(self.out.len().saturating_sub(1));
        }
        self.out.array([bracket, b',']);
        self.written()
    }

    /// Closes an object. One that is in order, as all in it are, need not be known.
    #[inline(always)]
    fn end(&mut self, object: usize, empty: bool) -> Result<(), ErrorKind> {
        self.close(b'}', empty)?;
        let Moved { objects, .. } = &mut self.moved;
        let behind = objects.len();
        if behind == object + 1 && objects[object].members.1 == 0 {
            objects.pop();
        } else {
            (objects[object].end, objects[object].behind) = (self.out.len().saturating_sub(1), behind);
        }
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, bracket: u8, object: Option<usize>) {
        self.out.array([bracket]);
        if room(&mut self.containers, 1).is_err() {
            return self.out.fail();
        }
        self.containers.push(object);
    }

    /// A string and what stands behind it. One without escapes is right as it stands.
    #[inline(always)]
    fn quoted(&mut self, text: Text<'_>, behind: u8) {
        match text {
            Text::Input(_, bytes) => {
                if let Some(room) = self.out.room(bytes.len() + 3) {
                    room[0] = b'"';
                    room[1..=bytes.len()].copy_from_slice(bytes);
                    room[bytes.len() + 1..bytes.len() + 3].copy_from_slice(&[b'"', behind]);
                    self.out.advance(bytes.len() + 3);
                }
            }
            Text::Unescaped(bytes) => {
                write::string(self.kernel, self.out, bytes);
                self.out.array([behind]);
            }
        }
    }

    /// Notes the order of the last members, if it is another than that of the text. `false`: a key repeats.
    #[inline(always)]
    fn sort(&mut self, count: usize, object: usize) -> Result<bool, ErrorKind> {
        let open = &self.open[self.open.len() - count..];
        let end = self.out.len().saturating_sub(1);
        let source = (&*self.out.written(), &*self.keys);
        if self.sorted.is_right(open, source) {
            return Ok(true);
        }
        let Some(order) = self.sorted.order(open, source)? else { return Ok(false) };
        room(&mut self.moved.members, count)?;
        let first = self.moved.members.len();
        let ends = |number: usize| open.get(number + 1).map_or(end, |next| next.start.saturating_sub(1));
        let members = order.iter().map(|&number| Member { start: open[number].start, end: ends(number) });
        self.moved.members.extend(members);
        self.moved.objects[object].members = (first, first + count);
        Ok(true)
    }
}

impl<K: CopyKernel, B: Buffer> TermBuilder for Builder<'_, K, B> {
    #[inline(always)]
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.out.array(*b"null,");
        self.written()
    }

    #[inline(always)]
    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        if value {
            self.out.array(*b"true,");
        } else {
            self.out.array(*b"false,");
        }
        self.written()
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        if !write::integer(self.out, value) {
            return Err(ErrorKind::InexactInteger);
        }
        self.comma()
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        if !write::big_integer(self.out, negative, magnitude) {
            return Err(ErrorKind::InexactInteger);
        }
        self.comma()
    }

    #[inline(always)]
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        write::float(self.out, value);
        self.comma()
    }

    /// Not asked for: floats stay floats.
    fn decimal(&mut self, _: bool, _: &[u8], _: i64) -> Result<(), ErrorKind> {
        Err(ErrorKind::InvalidNumber)
    }

    #[inline(always)]
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.quoted(text, b',');
        self.written()
    }

    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        room(&mut self.open, 1)?;
        let member = match key.text {
            Text::Input(_, bytes) => super::order::Member::plain(&key, self.out.len(), bytes.len()),
            Text::Unescaped(bytes) => {
                room(&mut self.keys, bytes.len())?;
                self.keys.extend_from_slice(bytes);
                super::order::Member::unescaped(&key, self.out.len(), self.keys.len())
            }
        };
        self.open.push(member);
        self.quoted(key.text, b':');
        Ok(())
    }

    #[inline(always)]
    fn begin_array(&mut self) {
        self.begin(b'[', None);
    }

    #[inline(always)]
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.containers.pop();
        self.close(b']', len == 0)
    }

    #[inline(always)]
    fn begin_object(&mut self) {
        let (start, number) = (self.out.len(), self.moved.objects.len());
        if room(&mut self.moved.objects, 1).is_err() {
            return self.out.fail();
        }
        self.moved.objects.push(Object { start, end: start, behind: 0, members: (0, 0) });
        self.begin(b'{', Some(number));
    }

    /// Repeated keys stand side by side once members are sorted.
    #[inline(always)]
    fn end_distinct(&mut self, len: usize) -> Result<bool, ErrorKind> {
        let object = self.containers.last().copied().flatten().unwrap_or_default();
        if !self.sort(len, object)? {
            return Ok(false);
        }
        self.containers.pop();
        let base = self.open.len() - len;
        if let Some(first) = self.open[base..].iter().find(|member| !member.is_plain()) {
            self.keys.truncate(first.key_start());
        }
        self.open.truncate(base);
        self.end(object, false)?;
        Ok(true)
    }

    /// An empty one: all others end before, and a repeated key is an error.
    fn end_object(&mut self, len: usize, _: Dropped<'_>) -> Result<(), ErrorKind> {
        let object = self.containers.pop().flatten().unwrap_or_default();
        self.end(object, len == 0)
    }
}
