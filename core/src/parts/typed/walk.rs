//! The walk over the containers of a type.

use super::super::answer::Answer;
use super::super::shape::{Shape, Struct};
use super::found::Errors;
use super::order::{Known, LONG, Orders};
use super::tagged::Tags;
use crate::builder::{SMALL_MAP, TermBuilder, Text};
use crate::decode::Scratch;
use crate::decode::cursor::{Cursor, Follows};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::room::room;
use crate::simd::Kernel;
use alloc::vec::Vec;

/// An open container.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    container: Container,
    /// Elements, members or fields that were built.
    len: usize,
    /// Where the bits of a struct's fields start in the list of seen ones.
    base: usize,
    /// The field of a struct that comes next if members are in order.
    next: usize,
    /// The member of a struct that comes next in the order that is remembered.
    turn: usize,
    /// It is the struct of a tagged one.
    variant: bool,
}

/// What is open, with a place of the shape: that of the type of elements or members, or that of the struct.
#[derive(Clone, Copy)]
pub(super) enum Container {
    Document,
    List(usize),
    Map(usize),
    Struct(usize),
    /// A list or a map of a limited length: the place of the type with the limits.
    Limited(usize),
}

pub(super) struct Walk<'a, 'b, K, A> {
    pub cursor: Cursor<'a, K>,
    /// The options for values that are walked over before their types are known.
    pub any_number: &'a DecodeOptions,
    pub shape: &'a Shape<'a>,
    pub scratch: &'b mut Scratch,
    pub answer: &'b mut A,
    /// The document and the open containers, the current one last. (It stays there: a copy of it for every record cost 5 %.)
    frames: Vec<Frame>,
    /// The current struct, or the one before it, which most often is of the same type.
    record: Struct<'a>,
    orders: Orders,
    /// A bit for each field of the open structs: whether it was there.
    pub seen: Vec<u64>,
    /// Errors of the schema.
    pub errors: Errors,
    pub tags: Tags,
    /// The values that Elixir has to judge, by kind and offset, if they are asked for.
    pub left: &'b mut Vec<(u32, usize)>,
    /// The number of the next one, and how many of those before it Elixir refused.
    pub next_left: u32,
    pub refusals: usize,
    /// Values and keys that may still be built.
    budget: u64,
}

/// What stands at an offset.
pub(super) enum Next {
    /// A value of the type at this place of the shape.
    Value(usize, usize),
    /// A value has ended before this.
    Ended(usize),
    /// The current container ends with this bracket.
    Closes(usize),
}

/// What a call gives is taken apart where it is called (`Ok(self.other(...)?)`): otherwise all steps go through memory.
pub(super) type Step<T> = Result<T, Error>;

/// A shape with invalid bytes.
pub(super) const fn broken(pos: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, pos)
}

// In the WebAssembly module what is needed in several places is a call, as in `Cursor`.
impl<'a, 'b, K: Kernel, A: Answer> Walk<'a, 'b, K, A> {
    #[inline(always)]
    pub(super) fn new(
        cursor: Cursor<'a, K>,
        any_number: &'a DecodeOptions,
        shape: &'a Shape<'a>,
        scratch: &'b mut Scratch,
        answer: &'b mut A,
        left: &'b mut Vec<(u32, usize)>,
        budget: u64,
    ) -> Self {
        Self {
            cursor,
            any_number,
            shape,
            scratch,
            answer,
            frames: Vec::new(),
            record: Struct::default(),
            orders: Orders::default(),
            seen: Vec::new(),
            errors: Errors::new(shape.most_errors),
            tags: Tags::default(),
            left,
            next_left: 0,
            refusals: 0,
            budget,
        }
    }

    #[inline(always)]
    pub(super) fn run(&mut self) -> Step<()> {
        self.push(Container::Document, 0, false, 0)?;
        let mut next = Next::Value(Shape::root(), self.cursor.space(0));
        loop {
            let end = match next {
                Next::Ended(end) => end,
                Next::Closes(pos) => self.close(pos)?,
                Next::Value(place, pos) => match self.value(place, pos)? {
                    Next::Ended(end) => end,
                    first => {
                        next = first;
                        continue;
                    }
                },
            };
            next = match self.frame().container {
                Container::Document => return self.cursor.end_of_document(end),
                Container::List(element) => match self.cursor.behind(end, false)? {
                    Follows::Item(pos) => Next::Value(element, pos),
                    Follows::Close(pos) => Next::Closes(pos),
                },
                Container::Map(_) | Container::Struct(_) => match self.cursor.behind(end, true)? {
                    Follows::Item(pos) => self.member(pos)?,
                    Follows::Close(pos) => Next::Closes(pos),
                },
                Container::Limited(place) => {
                    let len = self.frame().len;
                    self.limited(place, len, end)?
                }
            };
        }
    }

    /// Containers around the current value.
    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    #[inline(always)]
    fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    #[inline(always)]
    pub(super) fn push(&mut self, container: Container, base: usize, variant: bool, pos: usize) -> Step<()> {
        room(&mut self.frames, 1).map_err(|kind| Error::new(kind, pos))?;
        self.frames.push(Frame { container, len: 0, base, next: 0, turn: 0, variant });
        Ok(())
    }

    /// Takes from what may still be built.
    #[inline(always)]
    pub(super) fn spend(&mut self, nodes: u64, pos: usize) -> Step<()> {
        let (left, over) = self.budget.overflowing_sub(nodes);
        self.budget = left;
        if over { Err(Error::new(ErrorKind::MaxNodes, pos)) } else { Ok(()) }
    }

    /// The current container has one value more.
    #[inline(always)]
    pub(super) fn built(&mut self, end: usize) -> Next {
        self.count();
        Next::Ended(end)
    }

    #[inline(always)]
    fn count(&mut self) {
        let frame = self.frame();
        frame.len += 1;
        if let Frame { container: Container::Struct(_), next, .. } = *frame {
            self.answer.end_field(next - 1);
        }
    }

    /// Opens a list, a map or a struct. `words` is the size of the bit set that records which fields of the struct were seen.
    #[inline(always)]
    pub(super) fn open(&mut self, container: Container, pos: usize, words: usize, variant: bool) -> Step<Next> {
        let at = |kind| Error::new(kind, pos);
        self.cursor.check_depth(pos, self.depth())?;
        match container {
            Container::Map(_) => self.answer.begin_map(),
            Container::Struct(_) => self.answer.begin_struct(self.record.template).map_err(at)?,
            _ => self.answer.terms().begin_array(),
        }
        let base = self.seen.len();
        room(&mut self.seen, words).map_err(at)?;
        self.seen.resize(base + words, 0);
        self.push(container, base, variant, pos)?;
        match (self.cursor.inside(pos), container) {
            (Follows::Close(bracket), _) => Ok(Next::Closes(bracket)),
            (Follows::Item(first), Container::List(element)) => Ok(Next::Value(element, first)),
            (Follows::Item(first), _) => self.member(first),
        }
    }

    /// The struct of this type that starts here.
    #[inline(always)]
    pub(super) fn open_struct(&mut self, place: usize, pos: usize, variant: bool) -> Step<Next> {
        self.shape.bring(place, &mut self.record).ok_or_else(|| broken(pos))?;
        let count = self.record.count;
        // Each has all its fields, however short its text is; the VM hashes those of large ones.
        let work = if count > SMALL_MAP { count } else { count / 8 };
        self.spend(work as u64, pos)?;
        self.open(Container::Struct(place), pos, count.div_ceil(64), variant)
    }

    /// Reads the key at `pos` and its colon. Skips the value if no field has that name.
    #[inline(always)]
    fn member(&mut self, pos: usize) -> Step<Next> {
        match self.frame().container {
            Container::Map(value) => self.map_member(value, pos),
            _ => self.field(pos),
        }
    }

    #[inline(always)]
    pub(super) fn map_member(&mut self, value: usize, pos: usize) -> Step<Next> {
        let (text, end) = self.cursor.key(pos)?;
        self.answer.map_key(text).map_err(|kind| Error::new(kind, pos))?;
        Ok(Next::Value(value, self.cursor.colon(end)?))
    }

    /// The next field of the current struct, or its end. Other members are passed over.
    #[inline(always)]
    fn field(&mut self, mut pos: usize) -> Step<Next> {
        let Frame { base, next, mut turn, .. } = *self.frame();
        loop {
            let (known, start) = match self.orders.next(&self.record, &mut turn, self.cursor.json, pos) {
                Some((known, end)) => (known, self.cursor.space(end)),
                None => self.look_up(pos, next, &mut turn)?,
            };
            match known {
                Known::Field(number, node) => {
                    let (word, bit) = (&mut self.seen[base + number / 64], 1 << (number % 64));
                    if *word & bit == 0 || self.cursor.options.duplicates != Duplicates::First {
                        *word |= bit;
                        let frame = self.frame();
                        (frame.next, frame.turn) = (number + 1, turn);
                        self.answer.begin_field(number).map_err(|kind| Error::new(kind, pos))?;
                        return Ok(Next::Value(node, start));
                    }
                }
                Known::Foreign if self.record.strict => self.errors.add(ErrorKind::UnknownKey, pos, None)?,
                _ => {}
            }
            let end = self.cursor.member_value(start, self.depth())?;
            pos = match self.cursor.behind(end, true)? {
                Follows::Item(pos) => pos,
                Follows::Close(pos) => return Ok(Next::Closes(pos)),
            };
        }
    }

    /// What the member at `pos` is, and where its value stands.
    #[inline(always)]
    fn look_up(&mut self, pos: usize, next: usize, turn: &mut usize) -> Step<(Known, usize)> {
        // Members mostly come in the order of the fields.
        let (shape, json) = (self.shape, self.cursor.json);
        if let Some(field) = Shape::field(&self.record, next)
            && let Some(end) = shape.starts(&field, json, pos)
        {
            let known = Known::of(Some((next, field)));
            if json.len() >= LONG {
                self.orders.learn(&self.record, turn, json, (pos, end), known);
            }
            return Ok((known, self.cursor.space(end)));
        }
        let (known, start) = self.find(pos, turn)?;
        Ok((known, start))
    }

    #[inline(never)]
    fn find(&mut self, pos: usize, turn: &mut usize) -> Step<(Known, usize)> {
        let (text, end) = self.cursor.key(pos)?;
        let (found, plain) = (self.shape.find(&self.record, text.bytes()), matches!(text, Text::Input(..)));
        let (known, json) = (Known::of(found), self.cursor.json);
        if plain && json.len() >= LONG && json.get(end) == Some(&b':') {
            self.orders.learn(&self.record, turn, json, (pos, end + 1), known);
        }
        Ok((known, self.cursor.colon(end)?))
    }

    /// The current container ends with the bracket at `pos`.
    #[inline(always)]
    fn close(&mut self, pos: usize) -> Step<usize> {
        let Frame { container, len, base, variant, .. } = *self.frame();
        match container {
            Container::Struct(_) => {
                // A repeated field is built again.
                let there: u32 = self.seen[base..].iter().map(|word| word.count_ones()).sum();
                if (there as usize) < self.record.count {
                    self.required(base, pos)?;
                }
                self.seen.truncate(base);
                self.answer.end_struct(len)
            }
            Container::Map(_) => self.answer.end_map(len),
            Container::Limited(place) => {
                self.close_limited(place, len, pos)?;
                Ok(())
            }
            _ => self.answer.terms().end_array(len),
        }
        .map_err(|kind| Error::new(kind, pos))?;
        if variant {
            self.answer.end_variant().map_err(|kind| Error::new(kind, pos))?;
        }
        self.frames.pop();
        if let Container::Struct(place) = self.frame().container {
            self.shape.bring(place, &mut self.record).ok_or_else(|| broken(pos))?;
        }
        self.count();
        Ok(pos + 1)
    }

    /// Looks for required fields that were not there.
    #[inline(never)]
    fn required(&mut self, base: usize, pos: usize) -> Step<()> {
        if self.record.required == 0 {
            return Ok(());
        }
        for number in 0..self.record.count {
            let field = Shape::field(&self.record, number).ok_or_else(|| broken(pos))?;
            if field.required() && self.seen[base + number / 64] >> (number % 64) & 1 == 0 {
                self.errors.add(ErrorKind::Missing, pos, self.shape.key(&field))?;
            }
        }
        Ok(())
    }
}
