//! Judges what an untrusted guest answers for a type: the plain answer of [`Answer`], each value beside the type that the caller asked
//! for. What has passed goes to another answer, which builds it.
//!
//! So only what the type allows is built. A struct has only its own fields, each with a value of its type, and all required ones. An
//! enum has one of its names. Raw parts lie inside the text, and together are no longer than the text. The answer has no more values
//! than an honest one could have.

use super::answer::{Answer, Plain};
use super::checked::{Checked, Rules};
use super::moment::Moment;
use super::numbers::{Judged, Kind as Number};
use super::shape::{Node, Shape, Struct, kinds};
use crate::builder::{Nothing, SMALL_MAP, TermBuilder};
use crate::error::ErrorKind;
use crate::etf::check::{Fault, Open, Policy, Refused};
use crate::etf::judge::{Judge, LOOK};
use crate::etf::tags::*;
use crate::room::room;
use alloc::vec::Vec;

/// Passes an answer about this text, and gives each of its values to `answer`. More than `most` values, keys and fields are
/// [`Fault::Work`].
///
/// # Errors
/// The first byte that is not what was asked for.
pub fn judge<A: Answer>(
    etf: &[u8],
    shape: &Shape<'_>,
    policy: &Policy,
    json: &[u8],
    most: u64,
    answer: &mut A,
) -> Result<(), Refused> {
    if etf.len() > policy.max_len {
        return Err(Refused { fault: Fault::Terms, offset: policy.max_len });
    }
    let mut open = Open::default();
    let bytes = Judge::new(etf, policy, &mut open, answer);
    let frame = Frame { kind: Kind::Document, len: 1, left: 0, base: 0, field: 0, required: 0, seen: 0 };
    let (frames, seen, record) = (Vec::new(), Vec::new(), Struct::default());
    let mut typed = Typed { bytes, shape, json, raw_left: json.len(), work: most, frame, frames, record, seen };
    typed.document().map_err(|fault| Refused { fault, offset: typed.bytes.at })
}

/// The same for an answer of which nothing is built.
///
/// # Errors
/// As [`judge`].
pub fn judge_only(etf: &[u8], shape: &Shape<'_>, policy: &Policy, json: &[u8]) -> Result<(), Refused> {
    judge(etf, shape, policy, json, u64::MAX, &mut Plain(&mut Nothing))
}

/// What is open: with the place of the type of elements or members, or that of the struct.
#[derive(Clone, Copy)]
enum Kind {
    Document,
    List(usize),
    Map(usize),
    /// Whether it is that of a tagged one.
    Struct(usize, bool),
}

/// An open container.
#[derive(Clone, Copy)]
struct Frame {
    kind: Kind,
    /// Elements, members or fields, and how many are still to come.
    len: u32,
    left: u32,
    /// A bit for each of the first 64 fields of a struct: whether it was there. Those of all others are in the list of seen ones, from
    /// here on.
    seen: u64,
    base: usize,
    /// The field whose value is read.
    field: usize,
    /// Different fields that were there and have to be.
    required: usize,
}

struct Typed<'a, 'b, 's, A> {
    bytes: Judge<'a, 'b, A>,
    shape: &'s Shape<'s>,
    json: &'s [u8],
    /// Bytes that parts of the text may still have: no two of an honest answer overlap, and each may be copied.
    raw_left: usize,
    /// Values, keys and fields that there is still time for.
    work: u64,
    /// The current container. It is not on the stack: what is done for every value touches no memory but this.
    frame: Frame,
    /// The containers around it.
    frames: Vec<Frame>,
    /// The current struct, or the one before it.
    record: Struct<'s>,
    /// A bit for each field of the open structs from the 65th on: whether it was there.
    seen: Vec<u64>,
}

impl<A: Answer> Typed<'_, '_, '_, A> {
    fn document(&mut self) -> Result<(), Fault> {
        self.bytes.version()?;
        let mut place = Shape::root();
        loop {
            if self.value(place)? {
                self.ended();
            }
            while self.frame.left == 0 {
                if matches!(self.frame.kind, Kind::Document) {
                    return self.bytes.last();
                }
                self.close()?;
            }
            self.frame.left -= 1;
            place = self.next()?;
        }
    }

    /// A value of the type at this place: whether it has ended. If not, a container was opened.
    #[inline(always)]
    fn value(&mut self, place: usize) -> Result<bool, Fault> {
        self.count()?;
        let (mut place, tag) = (place, self.bytes.byte()?);
        let mut kind = self.shape.kind(place);
        if kind == Some(kinds::NULLABLE) {
            if tag == SMALL_ATOM_UTF8 && self.is_null()? {
                return self.bytes.built(A::null).map(|()| true);
            }
            place = self.shape.inner(place).ok_or(BROKEN)?;
            kind = self.shape.kind(place);
        }
        match (kind, tag) {
            (Some(kinds::STRING), BINARY) => {
                let text = self.bytes.binary()?;
                self.bytes.built(|answer| answer.terms().string(text))?;
            }
            (Some(kinds::INTEGER), SMALL_INTEGER) => {
                let value = self.bytes.byte()?;
                self.bytes.built(|answer| answer.terms().integer(value.into()))?;
            }
            (Some(kinds::INTEGER), INTEGER) => {
                let value = i32::from_be_bytes(*self.bytes.take()?);
                self.bytes.built(|answer| answer.terms().integer(value.into()))?;
            }
            (Some(kinds::FLOAT), NEW_FLOAT) => {
                let value = self.bytes.float()?;
                self.bytes.built(|answer| answer.terms().float(value))?;
            }
            (Some(kinds::BOOLEAN), SMALL_ATOM_UTF8) => match self.bytes.constant()? {
                Some(value) => self.bytes.built(|answer| answer.terms().boolean(value))?,
                None => return Err(Fault::Type),
            },
            (Some(kinds::STRUCT), LIST | NIL) => return self.open_struct(place, tag, false).map(|()| false),
            _ => return self.other(place, tag),
        }
        Ok(true)
    }

    /// A value of any other type, or one that does not fit. Its tag has been read.
    #[inline(never)]
    fn other(&mut self, place: usize, tag: u8) -> Result<bool, Fault> {
        let node = self.shape.node(place).ok_or(BROKEN)?;
        match (node, tag) {
            (Node::Any, _) => self.any(self.bytes.policy.decimals)?,
            (Node::Number, SMALL_INTEGER | INTEGER | NEW_FLOAT | SMALL_BIG | LARGE_BIG)
            | (Node::Integer, SMALL_BIG | LARGE_BIG) => self.any(false)?,
            (Node::Decimal, LIST) => self.decimal(None)?,
            (Node::Checked(checked), _) => return self.checked(&checked, tag),
            (Node::Date(kind), BINARY) => {
                let text = self.bytes.binary()?;
                let usual = Moment::read(kind, text.bytes());
                self.bytes.built(|answer| answer.date(kind, text, usual))?;
            }
            (Node::Raw, LIST) => self.raw()?,
            (Node::Loaded(_), _) => {
                self.any(self.bytes.policy.decimals)?;
                self.bytes.built(A::loaded)?;
            }
            (Node::Enum(names), SMALL_INTEGER | INTEGER) => {
                let number = self.index(tag, names.count())?;
                self.bytes.built(|answer| answer.name(names.template, number))?;
            }
            // It may stand for null, which is not a level.
            (Node::Many(_), NIL) => {
                self.bytes.builder.terms().begin_array();
                self.bytes.built(|answer| answer.terms().end_array(0))?;
            }
            (Node::List(element) | Node::Many(element), LIST | NIL) => {
                return self.open(Kind::List(element), tag, 1).map(|()| false);
            }
            (Node::Map(value), LIST | NIL) => return self.open(Kind::Map(value), tag, 2).map(|()| false),
            (Node::Tagged(tagged), LIST) => {
                self.exactly(2)?;
                let tag = self.bytes.byte()?;
                let number = self.index(tag, tagged.count())?;
                self.bytes.built(|answer| answer.begin_variant(number))?;
                let tag = self.bytes.byte()?;
                return self.open_struct(self.shape.variant(&tagged, number), tag, true).map(|()| false);
            }
            _ => return self.bytes.refuse(Fault::Type),
        }
        Ok(true)
    }

    /// Whether the atom here is null. It is read if it is.
    #[inline(always)]
    fn is_null(&mut self) -> Result<bool, Fault> {
        let start = self.bytes.at;
        let null = self.bytes.constant()?.is_none();
        if !null {
            self.bytes.at = start;
        }
        Ok(null)
    }

    /// A value that is judged as those of `decode/2` are. Its tag has been read.
    fn any(&mut self, decimals: bool) -> Result<(), Fault> {
        let policy = *self.bytes.policy;
        let max_depth = match policy.max_depth {
            u32::MAX => u32::MAX,
            most => most.saturating_sub(self.frames.len() as u32),
        };
        let before = self.bytes.terms;
        // The values that fit into the time left.
        let in_time = before.saturating_add(self.work);
        let max_terms = policy.max_terms.min(in_time);
        // They are counted again.
        (self.bytes.at, self.bytes.terms) = (self.bytes.at - 1, before - 1);
        match self.bytes.part(&Policy { max_depth, max_terms, decimals, floats: !decimals, ..policy }, A::terms) {
            Err(Fault::Terms) if in_time < policy.max_terms && self.bytes.terms > in_time => Err(Fault::Work),
            Err(fault) => Err(fault),
            Ok(()) => self.spend(self.bytes.terms - before),
        }
    }

    /// A value of a type with constraints, which hold for answers, too. Its tag has been read.
    fn checked(&mut self, checked: &Checked<'_>, tag: u8) -> Result<bool, Fault> {
        let rules = Rules::read(checked).ok_or(BROKEN)?;
        match (self.shape.node(checked.inner).ok_or(BROKEN)?, tag) {
            (Node::String, BINARY) => self.checked_text(&rules)?,
            (Node::Decimal, LIST) => self.decimal(Some(&rules))?,
            (Node::Float | Node::Number, NEW_FLOAT)
            | (Node::Integer | Node::Number, SMALL_INTEGER | INTEGER | SMALL_BIG | LARGE_BIG) => {
                self.within(&rules, tag)?;
                self.any(false)?;
            }
            (Node::List(element), LIST | NIL) => return self.open_limited(Kind::List(element), tag, 1, &rules),
            (Node::Map(value), LIST | NIL) => return self.open_limited(Kind::Map(value), tag, 2, &rules),
            _ => return self.bytes.refuse(Fault::Type),
        }
        Ok(true)
    }

    fn checked_text(&mut self, rules: &Rules<'_>) -> Result<(), Fault> {
        let text = self.bytes.binary()?;
        rules.text(text.bytes()).map_err(|_| Fault::Type)?;
        match rules.format {
            // Elixir looks at it.
            kind @ 1.. if Moment::read(kind, text.bytes()).is_none() => {
                self.bytes.built(|answer| answer.date(kind, text, None))
            }
            _ => self.bytes.built(|answer| answer.terms().string(text)),
        }
    }

    /// Looks ahead at a number whose tag has been read.
    fn within(&mut self, rules: &Rules<'_>, tag: u8) -> Result<(), Fault> {
        let start = self.bytes.at;
        let mut judged = Judged { rules, kind: Number::Any };
        match tag {
            NEW_FLOAT => judged.float(self.bytes.float()?),
            SMALL_INTEGER => judged.integer(self.bytes.byte()?.into()),
            INTEGER => judged.integer(i32::from_be_bytes(*self.bytes.take()?).into()),
            _ => {
                let (negative, magnitude) = self.bytes.big(tag, self.bytes.policy.max_integer)?;
                judged.big_integer(negative, magnitude)
            }
        }
        .map_err(|_| Fault::Type)?;
        self.bytes.at = start;
        Ok(())
    }

    fn open_limited(&mut self, kind: Kind, tag: u8, terms: usize, rules: &Rules<'_>) -> Result<bool, Fault> {
        self.open(kind, tag, terms)?;
        if rules.allows(self.frame.len as usize) { Ok(false) } else { Err(Fault::Type) }
    }

    fn decimal(&mut self, rules: Option<&Rules<'_>>) -> Result<(), Fault> {
        self.exactly(3)?;
        let sign = self.bytes.number()?;
        if sign != 1 && sign != -1 {
            return Err(Fault::Type);
        }
        let (coefficient, exponent) = (self.bytes.coefficient()?, self.bytes.exponent()?);
        self.tail()?;
        if rules.is_some_and(|rules| rules.decimal(sign < 0, coefficient.bytes(), exponent).is_err()) {
            return Err(Fault::Type);
        }
        self.bytes.built(|answer| answer.decimal(sign < 0, coefficient.bytes(), exponent))
    }

    /// A part of the text.
    fn raw(&mut self) -> Result<(), Fault> {
        self.exactly(2)?;
        let place = (usize::try_from(self.bytes.number()?), usize::try_from(self.bytes.number()?));
        self.tail()?;
        let (Ok(start), Ok(len @ 1..)) = place else { return Err(Fault::Type) };
        let text = self.json.get(start..).and_then(|rest| rest.get(..len)).ok_or(Fault::Type)?;
        self.raw_left = self.raw_left.checked_sub(len).ok_or(Fault::Type)?;
        self.bytes.built(|answer| answer.raw(start, text))
    }

    /// A number below `count`, whose tag has been read.
    #[inline(always)]
    fn index(&mut self, tag: u8, count: usize) -> Result<usize, Fault> {
        let number = match tag {
            SMALL_INTEGER => usize::from(self.bytes.byte()?),
            INTEGER => u32::from_be_bytes(*self.bytes.take()?) as usize,
            _ => return self.bytes.refuse(Fault::Type),
        };
        if number < count { Ok(number) } else { Err(Fault::Type) }
    }

    /// The list whose tag has been read has this many elements.
    fn exactly(&mut self, len: usize) -> Result<(), Fault> {
        if self.bytes.length()? == len { Ok(()) } else { Err(Fault::Type) }
    }

    /// Nothing follows in the list.
    #[inline(always)]
    fn tail(&mut self) -> Result<(), Fault> {
        if self.bytes.byte()? == NIL { Ok(()) } else { self.bytes.refuse(Fault::Tail) }
    }

    /// One value or key more.
    #[inline(always)]
    fn count(&mut self) -> Result<(), Fault> {
        self.bytes.count()?;
        if self.bytes.terms.is_multiple_of(LOOK) && self.bytes.builder.terms().time_left() == 0 {
            return Err(Fault::Work);
        }
        self.spend(1)
    }

    #[inline(always)]
    fn spend(&mut self, work: u64) -> Result<(), Fault> {
        self.work = self.work.checked_sub(work).ok_or(Fault::Work)?;
        Ok(())
    }

    /// Opens a list, a map or a struct whose tag has been read. `terms`: of each element, member or field.
    #[inline(always)]
    fn open(&mut self, kind: Kind, tag: u8, terms: usize) -> Result<(), Fault> {
        self.bytes.deeper(self.frames.len())?;
        let len = match tag {
            NIL => 0,
            // The empty list has a tag of its own.
            _ => match self.bytes.length()? {
                0 => return Err(Fault::Tag(LIST)),
                len => len,
            },
        };
        self.bytes.fits(len, 1)?;
        if !len.is_multiple_of(terms) {
            return Err(Fault::Type);
        }
        match kind {
            Kind::List(_) => self.bytes.builder.terms().begin_array(),
            Kind::Map(_) => self.bytes.builder.begin_map(),
            Kind::Struct(..) => self.bytes.builder.begin_struct(self.record.template).map_err(Fault::Builder)?,
            Kind::Document => return Err(BROKEN),
        }
        let len = (len / terms) as u32;
        room(&mut self.frames, 1).map_err(Fault::Builder)?;
        self.frames.push(self.frame);
        self.frame = Frame { kind, len, left: len, base: self.seen.len(), field: 0, required: 0, seen: 0 };
        Ok(())
    }

    /// The struct of this type that starts here.
    #[inline(always)]
    fn open_struct(&mut self, place: usize, tag: u8, variant: bool) -> Result<(), Fault> {
        if !matches!(tag, LIST | NIL) {
            return self.bytes.refuse(Fault::Type);
        }
        self.shape.bring(place, &mut self.record).ok_or(BROKEN)?;
        let count = self.record.count;
        // As much as in the walk over the text.
        self.spend(if count > SMALL_MAP { count } else { count / 8 } as u64)?;
        self.open(Kind::Struct(place, variant), tag, 2)?;
        if count > 64 {
            let words = count.div_ceil(64) - 1;
            room(&mut self.seen, words).map_err(Fault::Builder)?;
            self.seen.resize(self.seen.len() + words, 0);
        }
        Ok(())
    }

    /// What stands before the next value of the current container: a key, or the number of a field. Gives the place of its type.
    #[inline(always)]
    fn next(&mut self) -> Result<usize, Fault> {
        match self.frame.kind {
            Kind::Struct(..) => self.field(),
            Kind::List(element) => Ok(element),
            Kind::Map(value) => {
                self.count()?;
                if self.bytes.byte()? != BINARY {
                    return self.bytes.refuse(Fault::Key);
                }
                let key = self.bytes.binary()?;
                self.bytes.built(|answer| answer.map_key(key))?;
                Ok(value)
            }
            Kind::Document => Err(BROKEN),
        }
    }

    #[inline(always)]
    fn field(&mut self) -> Result<usize, Fault> {
        let tag = self.bytes.byte()?;
        let number = self.index(tag, self.record.count)?;
        let field = Shape::field(&self.record, number).ok_or(BROKEN)?;
        // The tag of a tagged struct has no value.
        if field.ignored() {
            return Err(Fault::Type);
        }
        let frame = &mut self.frame;
        let word = match number / 64 {
            0 => &mut frame.seen,
            more => self.seen.get_mut(frame.base + more - 1).ok_or(BROKEN)?,
        };
        frame.required += usize::from(field.required() && *word >> (number % 64) & 1 == 0);
        *word |= 1 << (number % 64);
        frame.field = number;
        self.bytes.built(|answer| answer.begin_field(number))?;
        Ok(field.node)
    }

    /// The current value has ended.
    #[inline(always)]
    fn ended(&mut self) {
        if let Frame { kind: Kind::Struct(..), field, .. } = self.frame {
            self.bytes.builder.end_field(field);
        }
    }

    /// The current container ends.
    #[inline(always)]
    fn close(&mut self) -> Result<(), Fault> {
        let Frame { kind, len, base, required, .. } = self.frame;
        self.frame = self.frames.pop().ok_or(BROKEN)?;
        if len > 0 {
            self.tail()?;
        }
        let len = len as usize;
        match kind {
            Kind::Document => return Err(BROKEN),
            Kind::List(_) => self.bytes.built(|answer| answer.terms().end_array(len))?,
            Kind::Map(_) => self.bytes.built(|answer| answer.end_map(len))?,
            Kind::Struct(_, variant) => {
                if required < self.record.required {
                    return Err(Fault::Type);
                }
                self.seen.truncate(base);
                self.bytes.built(|answer| answer.end_struct(len))?;
                if variant {
                    self.tail()?;
                    self.bytes.built(A::end_variant)?;
                }
            }
        }
        if let Kind::Struct(place, _) = self.frame.kind {
            self.shape.bring(place, &mut self.record).ok_or(BROKEN)?;
        }
        self.ended();
        Ok(())
    }
}

/// A shape with invalid bytes.
const BROKEN: Fault = Fault::Builder(ErrorKind::OutOfMemory);
