//! Checks External Term Format from an untrusted guest before the runtime makes terms of it.
//!
//! `binary_to_term` with `safe` does not protect: it builds pids, references and external functions, and inflates compressed
//! terms. So the bytes are walked first, once, without recursion, and only a JSON-shaped term passes: the tags
//! [`writer`](super::writer) emits, in the places where it emits them. A walk costs about a tenth of building the terms.
//!
//! What passes can still be wrong, such as strings with invalid UTF-8, because a guest under attack can return anything. But it
//! is plain data, at most as deep, with at most as many values and not much larger than an honest result for the same input.
//! The runtime refuses repeated map keys.

use super::tags::*;
use crate::options::{DecodeOptions, Keys, Null};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most characters of an atom.
const ATOM_CHARACTERS: usize = 255;
/// An ordered object: this, then the list of its pairs.
const ORDERED_OBJECT: &[u8] = b"\x74\0\0\0\x02\x77\x0a__struct__\x77\x1eElixir.RustyJson.OrderedObject\x77\x06values";
/// A decimal: this, then `sign`, `coef` and `exp`, each with its value.
const DECIMAL: &[u8] = b"\x74\0\0\0\x04\x77\x0a__struct__\x77\x0eElixir.Decimal";

/// What an honest answer to one call can look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Object keys are atoms, else binaries.
    pub atom_keys: bool,
    /// Objects are `RustyJson.OrderedObject` structs, else maps.
    pub ordered_objects: bool,
    /// Numbers with a fraction or exponent are `Decimal` structs, else floats.
    pub decimals: bool,
    /// They may be floats: always without `decimals`, and for a type that asks for floats.
    pub floats: bool,
    /// The atom that is null.
    pub null: Null,
    /// Values may be parts of the text: tuples of offset and length.
    pub raw: bool,
    /// Deepest nesting of arrays and objects; `u32::MAX` for none.
    pub max_depth: u32,
    /// Most bytes of an integer.
    pub max_integer: usize,
    /// Most values and keys.
    pub max_terms: u64,
    /// Most keys.
    pub max_keys: u64,
    /// Most bytes.
    pub max_len: usize,
}

impl Policy {
    /// The policy for a document of `json_len` bytes decoded with these options. No value or key takes less than one byte
    /// of JSON, so the input bounds the terms.
    pub fn new(options: &DecodeOptions, json_len: usize) -> Self {
        Self {
            atom_keys: matches!(options.keys, Keys::ExistingAtoms),
            ordered_objects: options.ordered_objects,
            decimals: options.decimals,
            floats: !options.decimals,
            null: options.null,
            raw: false,
            max_depth: options.max_depth,
            max_integer: match options.digit_limit {
                0 => json_len.max(8),
                // A decimal digit is less than 3.33 bits; 64-bit integers always fit.
                digits => (digits as usize * 333 / 800 + 1).max(8),
            },
            max_terms: match options.max_nodes {
                0 => json_len as u64,
                nodes => nodes.min(json_len as u64),
            },
            // A member takes five bytes (`"":0,`), or its value is an object, whose braces are two of the five. This bounds the
            // atoms that a guest can ask for with `keys: :atoms`.
            max_keys: json_len as u64 / 5,
            // The longest for their text are `1.5,` (9 bytes), and as structs `{},` (53) and `1.5,` (57).
            max_len: match options.ordered_objects || options.decimals {
                false => json_len.saturating_mul(4).saturating_add(16),
                true => json_len.saturating_mul(24).saturating_add(64),
            },
        }
    }
}

/// Why bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They end inside a term, or a length or count reaches beyond them.
    Truncated,
    /// They do not start with the version byte.
    Version,
    /// A tag that the writer never emits here.
    Tag(u8),
    /// A list does not end with the empty list.
    Tail,
    /// An atom that the policy does not name.
    Atom,
    /// An object key of the wrong type.
    Key,
    /// A float that is NaN or infinite.
    Float,
    /// An integer with a bad sign or superfluous or too many bytes.
    Integer,
    /// A struct that is not shaped as the writer shapes it.
    Struct,
    /// Nested deeper than the limit.
    Depth,
    /// More values and keys, or more bytes, than the input can have.
    Terms,
    /// Bytes after the term.
    Trailing,
}

/// A refusal and the byte it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub fault: Fault,
    /// Where, as an offset into the bytes.
    pub offset: usize,
}

impl Refused {
    /// The same for people.
    pub fn text(&self) -> String {
        format!("{:?} at byte {} of the term", self.fault, self.offset)
    }
}

/// Passes bytes that are exactly one JSON-shaped term within the policy.
pub fn check(etf: &[u8], policy: &Policy) -> Result<(), Refused> {
    if etf.len() > policy.max_len {
        return Err(Refused { fault: Fault::Terms, offset: policy.max_len });
    }
    let mut walk = Walk::new(etf, *policy);
    walk.document().map_err(|fault| Refused { fault, offset: walk.at })
}

/// Passes bytes that are exactly one list of JSON-shaped terms: as many as there are policies, each within its own.
pub fn check_list(etf: &[u8], policies: impl IntoIterator<Item = Policy>) -> Result<(), Refused> {
    // This one is never asked.
    let mut walk = Walk::new(etf, Policy::new(&DecodeOptions::DEFAULT, 0));
    walk.documents(policies.into_iter()).map_err(|fault| Refused { fault, offset: walk.at })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Root,
    List,
    Map,
    Ordered,
}

/// A container that is open, and how many elements or members are still to come.
#[derive(Clone, Copy)]
struct Frame {
    kind: Kind,
    left: u32,
}

struct Walk<'a> {
    etf: &'a [u8],
    at: usize,
    policy: Policy,
    terms: u64,
    keys: u64,
    /// The containers around the one at hand.
    outer: Vec<Frame>,
}

impl<'a> Walk<'a> {
    const fn new(etf: &'a [u8], policy: Policy) -> Self {
        Self { etf, at: 0, policy, terms: 0, keys: 0, outer: Vec::new() }
    }

    fn document(&mut self) -> Result<(), Fault> {
        self.version()?;
        self.term()?;
        self.last()
    }

    fn documents(&mut self, policies: impl Iterator<Item = Policy>) -> Result<(), Fault> {
        self.version()?;
        let tag = self.byte()?;
        let mut left = match tag {
            LIST => self.length()?,
            NIL => 0,
            _ => return self.refuse(Fault::Tag(tag)),
        };
        for policy in policies {
            left = left.checked_sub(1).ok_or(Fault::Terms)?;
            let start = self.at;
            (self.policy, self.terms, self.keys) = (policy, 0, 0);
            self.term()?;
            if self.at - start > self.policy.max_len {
                return Err(Fault::Terms);
            }
        }
        if left > 0 {
            return Err(Fault::Terms);
        }
        if tag == LIST && self.byte()? != NIL {
            return self.refuse(Fault::Tail);
        }
        self.last()
    }

    fn version(&mut self) -> Result<(), Fault> {
        if self.byte()? == VERSION {
            return Ok(());
        }
        self.at = 0;
        Err(Fault::Version)
    }

    /// Nothing follows.
    const fn last(&self) -> Result<(), Fault> {
        if self.at == self.etf.len() { Ok(()) } else { Err(Fault::Trailing) }
    }

    fn term(&mut self) -> Result<(), Fault> {
        self.outer.clear();
        let mut open = Frame { kind: Kind::Root, left: 1 };
        loop {
            if let Some(frame) = self.value(self.outer.len())? {
                self.outer.push(open);
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
                self.end(open.kind)?;
                match self.outer.pop() {
                    Some(frame) => open = frame,
                    None => return Ok(()),
                }
            }
        }
    }

    /// Passes a value that stands below `depth` containers. Gives the frame of a container that is not empty.
    #[inline(always)]
    fn value(&mut self, depth: usize) -> Result<Option<Frame>, Fault> {
        self.count()?;
        let tag = self.byte()?;
        match tag {
            SMALL_INTEGER => self.skip(1)?,
            BINARY => self.binary()?,
            INTEGER => self.skip(4)?,
            SMALL_ATOM_UTF8 => self.constant()?,
            NEW_FLOAT if self.policy.floats => self.float()?,
            SMALL_BIG | LARGE_BIG => self.big(tag, self.policy.max_integer)?,
            NIL => self.deeper(depth)?,
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
        self.integer(8)?;
        self.integer(8)
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
        Ok((pairs > 0).then_some(Frame { kind: Kind::Map, left: pairs as u32 }))
    }

    fn ordered(&mut self, start: usize, depth: usize) -> Result<Option<Frame>, Fault> {
        self.at = start;
        self.literal(ORDERED_OBJECT)?;
        match self.byte()? {
            NIL => Ok(None),
            LIST => self.list(depth, Kind::Ordered),
            _ => self.refuse(Fault::Struct),
        }
    }

    fn list(&mut self, depth: usize, kind: Kind) -> Result<Option<Frame>, Fault> {
        self.deeper(depth)?;
        let len = self.length()?;
        self.fits(len, 1)?;
        // The empty list has a tag of its own.
        if len == 0 { self.refuse(Fault::Tag(LIST)) } else { Ok(Some(Frame { kind, left: len as u32 })) }
    }

    fn decimal(&mut self) -> Result<(), Fault> {
        self.literal(b"\x77\x04sign")?;
        self.literal(b"\x61\x01").or_else(|_| self.literal(b"\x62\xff\xff\xff\xff"))?;
        self.literal(b"\x77\x04coef")?;
        self.integer(self.policy.max_integer)?;
        self.literal(b"\x77\x03exp")?;
        self.integer(8)
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
        match (self.byte()?, self.policy.atom_keys) {
            (BINARY, false) => self.binary(),
            (SMALL_ATOM_UTF8, true) => self.byte().and_then(|len| self.name(usize::from(len))),
            (ATOM_UTF8, true) => self.short().and_then(|len| self.name(len)),
            _ => self.refuse(Fault::Key),
        }
    }

    fn end(&mut self, kind: Kind) -> Result<(), Fault> {
        match kind {
            Kind::Map | Kind::Root => Ok(()),
            Kind::List | Kind::Ordered if self.byte()? == NIL => Ok(()),
            Kind::List | Kind::Ordered => self.refuse(Fault::Tail),
        }
    }

    #[inline(always)]
    fn count(&mut self) -> Result<(), Fault> {
        self.terms += 1;
        if self.terms > self.policy.max_terms { Err(Fault::Terms) } else { Ok(()) }
    }

    #[inline(always)]
    fn deeper(&self, depth: usize) -> Result<(), Fault> {
        if depth >= self.policy.max_depth as usize { Err(Fault::Depth) } else { Ok(()) }
    }

    #[inline(always)]
    fn binary(&mut self) -> Result<(), Fault> {
        let len = self.length()?;
        self.skip(len)
    }

    fn constant(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let len = usize::from(self.byte()?);
        self.skip(len)?;
        let name = &self.etf[start + 1..self.at];
        if name == self.policy.null.text() || matches!(name, b"true" | b"false") {
            return Ok(());
        }
        self.at = start;
        Err(Fault::Atom)
    }

    /// The name of an atom: any text that the runtime takes.
    fn name(&mut self, len: usize) -> Result<(), Fault> {
        let start = self.at;
        self.skip(len)?;
        match core::str::from_utf8(&self.etf[start..self.at]) {
            Ok(name) if len <= ATOM_CHARACTERS || name.chars().count() <= ATOM_CHARACTERS => Ok(()),
            _ => Err(Fault::Atom),
        }
    }

    fn float(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.skip(8)?;
        // All exponent bits set: NaN or infinity.
        if self.etf[start] & 0x7F == 0x7F && self.etf[start + 1] & 0xF0 == 0xF0 { Err(Fault::Float) } else { Ok(()) }
    }

    fn integer(&mut self, max: usize) -> Result<(), Fault> {
        match self.byte()? {
            SMALL_INTEGER => self.skip(1),
            INTEGER => self.skip(4),
            tag @ (SMALL_BIG | LARGE_BIG) => self.big(tag, max),
            _ => self.refuse(Fault::Integer),
        }
    }

    fn big(&mut self, tag: u8, max: usize) -> Result<(), Fault> {
        let len = if tag == SMALL_BIG { usize::from(self.byte()?) } else { self.length()? };
        let sign = self.byte()?;
        self.skip(len)?;
        if len == 0 || len > max || sign > 1 || self.etf[self.at - 1] == 0 { Err(Fault::Integer) } else { Ok(()) }
    }

    fn literal(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if !self.rest().starts_with(bytes) {
            return Err(Fault::Struct);
        }
        self.at += bytes.len();
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        &self.etf[self.at..]
    }

    /// Every element takes at least `size` bytes, so a count the bytes cannot hold is a lie.
    fn fits(&self, count: usize, size: usize) -> Result<(), Fault> {
        if count > self.rest().len() / size { Err(Fault::Truncated) } else { Ok(()) }
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.etf.get(self.at).ok_or(Fault::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn short(&mut self) -> Result<usize, Fault> {
        Ok(usize::from(self.byte()?) << 8 | usize::from(self.byte()?))
    }

    #[inline(always)]
    fn length(&mut self) -> Result<usize, Fault> {
        let bytes = self.rest().first_chunk::<4>().ok_or(Fault::Truncated)?;
        let length = u32::from_be_bytes(*bytes) as usize;
        self.at += 4;
        Ok(length)
    }

    #[inline(always)]
    fn skip(&mut self, len: usize) -> Result<(), Fault> {
        if len > self.rest().len() {
            return Err(Fault::Truncated);
        }
        self.at += len;
        Ok(())
    }

    /// A refusal about the byte just read.
    #[cold]
    fn refuse<T>(&mut self, fault: Fault) -> Result<T, Fault> {
        self.at -= 1;
        Err(fault)
    }
}
