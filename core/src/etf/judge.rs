//! The walk behind [`check`](super::check()): what passes goes to a builder, one part after the other.

use super::policy::{Fault, Policy};
use super::tags::*;
use crate::builder::{Key, TermBuilder};
use crate::room::room;
use alloc::vec::Vec;

/// An ordered object: this, then the list of its pairs.
const ORDERED_OBJECT: &[u8] = b"\x74\0\0\0\x02\x77\x0a__struct__\x77\x1eElixir.RustyJson.OrderedObject\x77\x06values";
/// A decimal: this, then `sign`, `coef` and `exp`, each with its value.
const DECIMAL: &[u8] = b"\x74\0\0\0\x04\x77\x0a__struct__\x77\x0eElixir.Decimal";

// As large as the numbers beside it in a frame: padding would be copied too, in pieces that the processor has to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Root,
    List,
    Map,
    Ordered,
}

/// Values and keys between two looks at the clock: well under a millisecond.
pub(crate) const LOOK: u64 = 4096;
/// Documents of a list between two looks.
const DOCUMENTS: usize = 64;
/// What the VM takes for a key of a large map, and for an element of a list, in nanoseconds: the container is made in one step.
pub(super) const KEY_NS: u64 = 400;
const ELEMENT_NS: u64 = 10;

/// A container that is open, how many elements or members it has, and how many are still to come.
#[derive(Clone, Copy)]
struct Frame {
    kind: Kind,
    len: u32,
    left: u32,
}

/// Memory for the containers that are open, which the next walk can use again.
#[derive(Default)]
pub struct Open(Vec<Frame>);

impl Open {
    /// Containers kept as memory between walks.
    const KEEP: usize = 256;

    /// Gives large memory back.
    #[inline(always)]
    pub fn shrink(&mut self) {
        if self.0.capacity() > Self::KEEP {
            *self = Self::default();
        }
    }
}

/// The bytes, and how far they have passed.
pub(crate) struct Judge<'a, 'b, B> {
    pub etf: &'a [u8],
    /// Offset of the next byte.
    pub at: usize,
    pub policy: &'b Policy,
    /// Values and keys so far, and keys.
    pub terms: u64,
    pub keys: u64,
    /// The containers around the current one.
    outer: &'b mut Open,
    pub builder: &'b mut B,
}

impl<'a, 'b, B> Judge<'a, 'b, B> {
    #[inline(always)]
    pub const fn new(etf: &'a [u8], policy: &'b Policy, outer: &'b mut Open, builder: &'b mut B) -> Self {
        Self { etf, at: 0, policy, terms: 0, keys: 0, outer, builder }
    }

    /// A part of these bytes, for another builder and by another policy.
    pub fn part<C: TermBuilder>(
        &mut self,
        policy: &Policy,
        builder: impl FnOnce(&mut B) -> &mut C,
    ) -> Result<(), Fault> {
        let Self { etf, at, terms, keys, .. } = *self;
        let mut judge = Judge { etf, at, policy, terms, keys, outer: &mut *self.outer, builder: builder(self.builder) };
        let result = judge.term();
        (self.at, self.terms, self.keys) = (judge.at, judge.terms, judge.keys);
        result
    }
}

impl<B: TermBuilder> Judge<'_, '_, B> {
    /// Ends the walk when there is no time for what takes this long.
    #[cold]
    #[inline(never)]
    pub fn in_time(&self, ns: u64) -> Result<(), Fault> {
        if self.builder.time_left() > ns { Ok(()) } else { Err(Fault::Work) }
    }

    /// The same from time to time, beside the count of values.
    #[inline(always)]
    pub fn look(&self) -> Result<(), Fault> {
        if self.terms.is_multiple_of(LOOK) { self.in_time(0) } else { Ok(()) }
    }

    /// The same before a container of this many elements, each of which takes this long.
    #[inline(always)]
    pub fn fits_time(&self, len: usize, each: u64) -> Result<(), Fault> {
        if len as u64 > LOOK { self.in_time((len as u64).saturating_mul(each)) } else { Ok(()) }
    }

    /// One term.
    pub fn document(&mut self) -> Result<(), Fault> {
        self.version()?;
        self.term()?;
        self.last()
    }

    /// A list with a term for each policy.
    pub fn documents(&mut self, policies: impl Iterator<Item = Policy>) -> Result<(), Fault> {
        self.version()?;
        let tag = self.byte()?;
        self.builder.begin_array();
        let mut left = match tag {
            LIST => match self.length()? {
                0 => return Err(Fault::Tag(LIST)),
                len => len,
            },
            NIL => 0,
            _ => return self.refuse(Fault::Tag(tag)),
        };
        let (len, whole) = (left, self.etf);
        for policy in policies {
            left = left.checked_sub(1).ok_or(Fault::Terms)?;
            // Beyond this, nothing is built for it.
            self.etf = &whole[..whole.len().min(self.at.saturating_add(policy.max_len))];
            (self.terms, self.keys) = (0, 0);
            if left.is_multiple_of(DOCUMENTS) {
                self.in_time(0)?;
            }
            let cut = self.etf.len() < whole.len();
            self.part(&policy, |builder| builder)
                .map_err(|fault| if cut && fault == Fault::Truncated { Fault::Terms } else { fault })?;
        }
        self.etf = whole;
        if left > 0 {
            return Err(Fault::Terms);
        }
        if tag == LIST && self.byte()? != NIL {
            return self.refuse(Fault::Tail);
        }
        self.last()?;
        self.fits_time(len, ELEMENT_NS)?;
        self.builder.end_array(len).map_err(Fault::Builder)
    }

    fn term(&mut self) -> Result<(), Fault> {
        self.outer.0.clear();
        // Nothing is kept for the outermost container, so that a flat document allocates nothing: 15 of 800 ns for 35 bytes.
        let mut depth = 0;
        let mut open = Frame { kind: Kind::Root, len: 1, left: 1 };
        loop {
            if let Some(frame) = self.value(depth)? {
                if depth > 0 {
                    room(&mut self.outer.0, 1).map_err(Fault::Builder)?;
                    self.outer.0.push(open);
                }
                depth += 1;
                open = frame;
                self.member(open.kind)?;
                continue;
            }
            loop {
                open.left -= 1;
                if open.left > 0 {
                    self.member(open.kind)?;
                    break;
                }
                self.end(open)?;
                match self.outer.0.pop() {
                    Some(frame) => open = frame,
                    None => return Ok(()),
                }
                depth -= 1;
            }
        }
    }

    /// Passes a value that stands below `depth` containers. Gives the frame of a container that is not empty.
    #[inline(always)]
    fn value(&mut self, depth: usize) -> Result<Option<Frame>, Fault> {
        self.count()?;
        self.look()?;
        if let Some(text) = self.next_binary() {
            let text = text?;
            self.built(|builder| builder.string(text))?;
            return Ok(None);
        }
        let tag = self.byte()?;
        match tag {
            SMALL_INTEGER => {
                let value = self.byte()?;
                self.built(|builder| builder.integer(value.into()))?;
            }
            // It ends inside the length.
            BINARY => return Err(Fault::Truncated),
            INTEGER => {
                let value = i32::from_be_bytes(*self.take()?);
                self.built(|builder| builder.integer(value.into()))?;
            }
            SMALL_ATOM_UTF8 => match self.constant()? {
                None => self.built(B::null)?,
                Some(value) => self.built(|builder| builder.boolean(value))?,
            },
            NEW_FLOAT if self.policy.floats => {
                let value = self.float()?;
                self.built(|builder| builder.float(value))?;
            }
            SMALL_BIG | LARGE_BIG => {
                let (negative, magnitude) = self.big(tag, self.policy.max_integer)?;
                self.built(|builder| builder.big_integer(negative, magnitude))?;
            }
            NIL => {
                self.deeper(depth)?;
                self.builder.begin_array();
                self.built(|builder| builder.end_array(0))?;
            }
            SMALL_TUPLE if self.policy.raw => self.place()?,
            LIST => return self.list(depth, Kind::List),
            MAP => return self.map(depth),
            _ => return self.refuse(Fault::Tag(tag)),
        }
        Ok(None)
    }

    /// A part of the text, by its place. Where that lies is looked at by whoever takes the part.
    fn place(&mut self) -> Result<(), Fault> {
        if self.byte()? != 2 {
            return self.refuse(Fault::Struct);
        }
        self.number().and_then(|_| self.number()).map(drop)
    }

    fn map(&mut self, depth: usize) -> Result<Option<Frame>, Fault> {
        let start = self.at - 1;
        // With atoms as keys an object may have the key "__struct__"; its value is then never an atom's name.
        if self.policy.decimals && self.etf[start..].starts_with(DECIMAL) {
            self.at = start + DECIMAL.len();
            return self.decimal().map(|()| None);
        }
        self.deeper(depth)?;
        if self.policy.ordered_objects {
            return self.ordered(start, depth);
        }
        let pairs = self.length()?;
        self.fits(pairs, 3)?;
        self.builder.begin_object();
        if pairs == 0 {
            return self.object(0).map(|()| None);
        }
        Ok(Some(Frame { kind: Kind::Map, len: pairs as u32, left: pairs as u32 }))
    }

    fn ordered(&mut self, start: usize, depth: usize) -> Result<Option<Frame>, Fault> {
        self.at = start;
        self.literal(ORDERED_OBJECT)?;
        match self.byte()? {
            NIL => {
                self.builder.begin_object();
                self.object(0).map(|()| None)
            }
            LIST => self.list(depth, Kind::Ordered),
            _ => self.refuse(Fault::Struct),
        }
    }

    fn list(&mut self, depth: usize, kind: Kind) -> Result<Option<Frame>, Fault> {
        self.deeper(depth)?;
        let len = self.length()?;
        self.fits(len, 1)?;
        // The empty list has a tag of its own.
        if len == 0 {
            return self.refuse(Fault::Tag(LIST));
        }
        if kind == Kind::Ordered {
            self.builder.begin_object()
        } else {
            self.builder.begin_array()
        }
        Ok(Some(Frame { kind, len: len as u32, left: len as u32 }))
    }

    fn decimal(&mut self) -> Result<(), Fault> {
        self.literal(b"\x77\x04sign")?;
        let negative = self.literal(b"\x61\x01").is_err();
        if negative {
            self.literal(b"\x62\xff\xff\xff\xff")?;
        }
        self.literal(b"\x77\x04coef")?;
        let coefficient = self.coefficient()?;
        self.literal(b"\x77\x03exp")?;
        let exponent = self.exponent()?;
        self.built(|builder| builder.decimal(negative, coefficient.bytes(), exponent))
    }

    /// What stands between a container's values: nothing in a list, a key in an object.
    #[inline(always)]
    fn member(&mut self, kind: Kind) -> Result<(), Fault> {
        match kind {
            Kind::Root | Kind::List => return Ok(()),
            Kind::Map => {}
            Kind::Ordered => {
                if self.byte()? != SMALL_TUPLE || self.byte()? != 2 {
                    return self.refuse(Fault::Struct);
                }
            }
        }
        self.count()?;
        self.keys += 1;
        if self.keys > self.policy.max_keys {
            return Err(Fault::Terms);
        }
        if !self.policy.atom_keys
            && let Some(key) = self.next_binary()
        {
            let key = Key::new(key?);
            return self.built(|builder| builder.key(key));
        }
        let key = match (self.byte()?, self.policy.atom_keys) {
            (BINARY, false) => return Err(Fault::Truncated),
            (SMALL_ATOM_UTF8, true) => self.byte().and_then(|len| self.name(usize::from(len)))?,
            (ATOM_UTF8, true) => self.short().and_then(|len| self.name(len))?,
            _ => return self.refuse(Fault::Key),
        };
        self.built(|builder| builder.key(Key::new(key)))
    }

    #[inline(always)]
    fn end(&mut self, Frame { kind, len, .. }: Frame) -> Result<(), Fault> {
        if matches!(kind, Kind::List | Kind::Ordered) && self.byte()? != NIL {
            return self.refuse(Fault::Tail);
        }
        match kind {
            Kind::Root => Ok(()),
            Kind::List => {
                self.fits_time(len as usize, ELEMENT_NS)?;
                self.built(|builder| builder.end_array(len as usize))
            }
            Kind::Map | Kind::Ordered => self.object(len as usize),
        }
    }

    #[inline(always)]
    fn object(&mut self, len: usize) -> Result<(), Fault> {
        self.fits_time(len, KEY_NS)?;
        match self.builder.end_unsearched(len) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::Repeated),
            Err(kind) => Err(Fault::Builder(kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etf::check::build;
    use crate::{DecodeOptions, builder::Nothing};

    #[test]
    fn memory_for_a_deep_term_is_given_back() {
        let kept = |levels: usize| {
            let etf = [&[131][..], &[108, 0, 0, 0, 1].repeat(levels), &[97, 1], &[106].repeat(levels)].concat();
            let options = DecodeOptions { max_depth: u32::MAX, ..DecodeOptions::DEFAULT };
            let (mut open, policy) = (Open::default(), Policy::new(&options, etf.len()));
            build(&etf, &policy, &mut open, &mut Nothing).expect("a list");
            open.shrink();
            open.0.capacity()
        };
        // The outermost container takes none.
        assert_eq!(kept(Open::KEEP + 1), Open::KEEP);
        assert_eq!(kept(Open::KEEP + 2), 0);
    }
}
