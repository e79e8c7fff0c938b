//! The walk over the containers of a type.

use super::super::answer::Answer;
use super::super::shape::{Node, Shape, Struct};
use crate::builder::{SMALL_MAP, TermBuilder};
use crate::decode::Scratch;
use crate::decode::skip::{Skip, missing};
use crate::error::{Error, ErrorKind};
use crate::options::Duplicates;
use crate::room::room;
use crate::simd::Kernel;
use alloc::vec::Vec;

/// An open container.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    container: Container<'a>,
    /// Elements, members or fields that were built.
    len: usize,
    /// Where the fields of a struct start in the list of seen ones.
    base: usize,
    /// The field of a struct that comes next if members are in order.
    next: usize,
    /// It is the struct of a tagged one.
    variant: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Container<'a> {
    Document,
    /// The place of the elements' type.
    List(usize),
    Map(usize),
    Struct(Struct<'a>),
}

pub(super) struct Walk<'a, 'b, K, A> {
    pub skip: Skip<'a, K>,
    pub shape: &'a Shape<'a>,
    pub scratch: &'b mut Scratch,
    pub answer: &'b mut A,
    /// The container at hand, and those around it.
    frame: Frame<'a>,
    frames: Vec<Frame<'a>>,
    /// For each field of the open structs, whether it was there.
    seen: Vec<bool>,
    /// Errors of the schema to pass over.
    pub pass: u32,
    pub dates: &'b mut Vec<(u32, usize)>,
    /// The number of the next date.
    pub date: u32,
    /// Values and keys that may still be built.
    budget: u64,
    /// The key of the member that is missing, once one is.
    pub missing: Option<&'a [u8]>,
}

/// What stands at an offset.
pub(super) enum Next {
    /// A value of the type at this place of the shape.
    Value(usize, usize),
    /// A value has ended before this.
    Ended(usize),
}

pub(super) type Step<T> = Result<T, Error>;

/// A shape that nobody wrote.
pub(super) const fn broken(pos: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, pos)
}

// In the WebAssembly module what is needed in several places is a call, as in `Skip`.
impl<'a, 'b, K: Kernel, A: Answer> Walk<'a, 'b, K, A> {
    #[inline(always)]
    pub(super) fn new(
        skip: Skip<'a, K>,
        shape: &'a Shape<'a>,
        scratch: &'b mut Scratch,
        answer: &'b mut A,
        dates: &'b mut Vec<(u32, usize)>,
        budget: u64,
    ) -> Self {
        let frame = Frame { container: Container::Document, len: 0, base: 0, next: 0, variant: false };
        let (frames, seen, missing) = (Vec::new(), Vec::new(), None);
        Self { skip, shape, scratch, answer, frame, frames, seen, pass: shape.pass, dates, date: 0, budget, missing }
    }

    #[inline(always)]
    pub(super) fn run(&mut self) -> Step<()> {
        let mut next = Next::Value(Shape::root(), self.skip.space(0));
        loop {
            let end = match next {
                Next::Ended(end) => end,
                Next::Value(place, pos) => match self.value(place, pos)? {
                    Next::Ended(end) => end,
                    first => {
                        next = first;
                        continue;
                    }
                },
            };
            next = match self.frame.container {
                Container::Document => return self.skip.end_of_document(end),
                Container::List(element) => match self.after(end, b']')? {
                    (pos, true) => Next::Value(element, pos),
                    (pos, false) => self.close(pos)?,
                },
                Container::Map(_) | Container::Struct(_) => match self.after(end, b'}')? {
                    (pos, true) => self.member(pos)?,
                    (pos, false) => self.close(pos)?,
                },
            };
        }
    }

    /// Where the next element or member starts, or the bracket that ends the container at hand, and which of the two it is.
    #[inline(always)]
    fn after(&self, mut pos: usize, bracket: u8) -> Step<(usize, bool)> {
        loop {
            match self.skip.json.get(pos) {
                Some(b',') => return Ok((self.skip.space(pos + 1), true)),
                Some(byte) if *byte == bracket => return Ok((pos, false)),
                _ => pos = self.skip.space_before(pos, missing(bracket == b'}'))?,
            }
        }
    }

    /// Containers around the value at hand.
    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Takes from what may still be built.
    #[inline(always)]
    pub(super) fn spend(&mut self, nodes: u64, pos: usize) -> Step<()> {
        let (left, over) = self.budget.overflowing_sub(nodes);
        self.budget = left;
        if over { Err(Error::new(ErrorKind::MaxNodes, pos)) } else { Ok(()) }
    }

    /// The container at hand has one value more.
    #[inline(always)]
    pub(super) fn built(&mut self, end: usize) -> Next {
        self.frame.len += 1;
        if let Container::Struct(_) = self.frame.container {
            self.answer.end_field(self.frame.next - 1);
        }
        Next::Ended(end)
    }

    /// The list, map or struct of this type that starts here.
    #[inline(always)]
    pub(super) fn open(&mut self, node: &Node<'a>, pos: usize, variant: bool) -> Step<Next> {
        if self.depth() >= self.skip.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos));
        }
        let at = |kind| Error::new(kind, pos);
        let base = self.seen.len();
        let container = match *node {
            Node::Map(value) => {
                self.answer.begin_map();
                Container::Map(value)
            }
            Node::Struct(record) => {
                // Each has all its fields, however short its text is; the VM hashes those of large ones.
                let work = if record.count > SMALL_MAP { record.count } else { record.count / 8 };
                self.spend(work as u64, pos)?;
                room(&mut self.seen, record.count).map_err(at)?;
                self.seen.resize(base + record.count, false);
                self.answer.begin_struct(record.template).map_err(at)?;
                Container::Struct(record)
            }
            Node::List(element) | Node::Many(element) => {
                self.answer.terms().begin_array();
                Container::List(element)
            }
            _ => return Err(broken(pos)),
        };
        room(&mut self.frames, 1).map_err(at)?;
        self.frames.push(self.frame);
        self.frame = Frame { container, len: 0, base, next: 0, variant };
        let inside = self.skip.space(pos + 1);
        let closing = self.skip.json[pos] + 2;
        match container {
            _ if self.skip.json.get(inside) == Some(&closing) => self.close(inside),
            Container::List(element) => Ok(Next::Value(element, inside)),
            _ => self.member(inside),
        }
    }

    /// Reads the key at `pos` and its colon. Skips the value if no field has that name.
    #[inline(always)]
    fn member(&mut self, pos: usize) -> Step<Next> {
        match self.frame.container {
            Container::Map(value) => {
                let (text, end) = self.skip.key(pos)?;
                self.answer.map_key(text).map_err(|kind| Error::new(kind, pos))?;
                Ok(Next::Value(value, self.skip.colon(end)?))
            }
            _ => self.field(pos),
        }
    }

    #[inline(always)]
    fn field(&mut self, pos: usize) -> Step<Next> {
        let Frame { container: Container::Struct(record), base, next, .. } = &self.frame else {
            return Err(broken(pos));
        };
        let (shape, base, next, strict) = (self.shape, *base, *next, record.strict);
        // Members mostly come in the order of the fields.
        let expected = Shape::field(record, next);
        let known = expected.and_then(|field| Some((field, shape.starts(&field, self.skip.json, pos)?)));
        let (found, start) = match known {
            Some((field, end)) => (Some((next, field)), self.skip.space(end)),
            None => {
                let (text, end) = self.skip.key(pos)?;
                (shape.find(record, text.bytes()), self.skip.colon(end)?)
            }
        };
        match found {
            Some((number, field)) => {
                let seen = &mut self.seen[base + number];
                if field.ignored() || *seen && self.skip.options.duplicates == Duplicates::First {
                    return self.pass_over(start);
                }
                *seen = true;
                self.frame.next = number + 1;
                self.answer.begin_field(number).map_err(|kind| Error::new(kind, pos))?;
                Ok(Next::Value(field.node, start))
            }
            None if strict => self.unknown_key(pos, start),
            None => self.pass_over(start),
        }
    }

    #[inline(always)]
    fn pass_over(&mut self, start: usize) -> Step<Next> {
        Ok(Next::Ended(self.skip.value(start, self.frames.len())?))
    }

    #[cold]
    fn unknown_key(&mut self, pos: usize, start: usize) -> Step<Next> {
        if self.pass == 0 {
            return Err(Error::new(ErrorKind::UnknownKey, pos));
        }
        self.pass -= 1;
        self.pass_over(start)
    }

    /// The container at hand ends with the bracket at `pos`.
    #[inline(always)]
    fn close(&mut self, pos: usize) -> Step<Next> {
        let Frame { container, len, base, variant, .. } = &self.frame;
        let (len, variant) = (*len, *variant);
        match container {
            Container::Struct(record) => {
                // A repeated field is built again.
                let there = self.seen[*base..].iter().filter(|seen| **seen).count();
                if there < record.count {
                    let (record, base) = (*record, *base);
                    self.required(&record, base, pos)?;
                }
                self.seen.truncate(self.frame.base);
                self.answer.end_struct(len)
            }
            Container::Map(_) => self.answer.end_map(len),
            _ => self.answer.terms().end_array(len),
        }
        .map_err(|kind| Error::new(kind, pos))?;
        if variant {
            self.answer.end_variant().map_err(|kind| Error::new(kind, pos))?;
        }
        self.frame = self.frames.pop().ok_or_else(|| broken(pos))?;
        Ok(self.built(pos + 1))
    }

    /// Looks for required fields that were not there.
    #[inline(never)]
    fn required(&mut self, record: &Struct<'a>, base: usize, pos: usize) -> Step<()> {
        if record.required == 0 {
            return Ok(());
        }
        for number in 0..record.count {
            let field = Shape::field(record, number).ok_or_else(|| broken(pos))?;
            if field.required() && !self.seen[base + number] {
                if self.pass == 0 {
                    self.missing = self.shape.key(&field);
                    return Err(Error::new(ErrorKind::Missing, pos));
                }
                self.pass -= 1;
            }
        }
        Ok(())
    }
}
