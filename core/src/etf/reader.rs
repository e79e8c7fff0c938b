//! Terms out of ETF bytes, without building them.
//!
//! A term is an offset. Containers are read in order: the reader remembers where the last term ended, and the next element
//! starts there. Reading that looks ahead or jumps (structs, large maps backwards, sorted keys) uses an [`Index`]. Invalid
//! bytes give `Value::Broken` or an early end, never a panic.

use super::head::{atom_at, byte, head, short, word};
use super::index::{Index, Record};
use super::tags::*;
use crate::builder::SMALL_MAP;
use crate::encode::{Ahead, AtomText, Known, PlanRules, Step, TermReader, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// A place in the bytes; `byte` for an element of a list of bytes (`STRING_EXT`), which has no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    at: usize,
    byte: bool,
}

impl Term {
    /// Offset from the start of the bytes, the version byte included.
    pub const fn offset(self) -> usize {
        self.at
    }
}

/// Elements of a list that are left.
#[derive(Clone, Copy, Debug)]
pub struct List {
    left: usize,
    bytes: bool,
}

/// A map: offset of its tag and of its first key.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    at: usize,
    body: usize,
    len: usize,
}

impl Map {
    /// Offset from the start of the bytes, the version byte included.
    pub const fn offset(&self) -> usize {
        self.at
    }
}

/// A walk over a map.
#[derive(Clone, Copy, Debug)]
pub enum Entries {
    /// Straight on: entries left.
    Forward(usize),
    /// By the index.
    Indexed {
        /// Number of the map's record.
        record: u32,
        /// Entries left.
        left: u32,
        /// From the last entry to the first.
        backward: bool,
    },
}

/// Where the term at `at` ends. Maps in it are jumped over when there is an index: so skipping at every level of a deep
/// term stays linear.
fn end_of(bytes: &[u8], at: usize, index: &mut Option<Index>) -> Option<usize> {
    let mut pos = at;
    let mut left = 1_usize;
    while left > 0 {
        let head = head(bytes, pos)?;
        let record = if head.is_map { index.as_mut().and_then(|index| index.find(pos)) } else { None };
        let (end, terms) = record.map_or((head.body, head.terms), |record| (record.end, 0));
        pos = end;
        left = (left - 1).checked_add(terms)?;
    }
    Some(pos)
}

/// A struct to be written by a plan, out of the second term that encode takes.
#[derive(Clone, Debug)]
pub struct PlannedStruct<'t> {
    /// The module.
    pub module: &'t [u8],
    /// The fields to write, by their names.
    pub fields: Vec<&'t [u8]>,
    /// The names under which they are written, if the derivation says so.
    pub names: Option<Vec<&'t [u8]>>,
    /// What is left out, if it says so: `nil`, and structs of modules.
    pub omitted: Option<Vec<&'t [u8]>>,
}

/// Reads the terms of one ETF binary.
#[derive(Debug)]
pub struct Reader<'t> {
    bytes: &'t [u8],
    pos: usize,
    plans: &'t [PlannedStruct<'t>],
    /// Whether `__struct__` occurs at all; if not, no map is a struct.
    structs: bool,
    index: Option<Index>,
    latin: String,
}

/// Whether the atom `__struct__` may occur: its length byte and text, whichever tag it has.
fn has_structs(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"\x0A__struct__";
    crate::simd::find_pair(bytes, NAME[0], NAME[1], |at| bytes[at..].starts_with(NAME))
}

impl<'t> Reader<'t> {
    /// A reader of these bytes (with the version byte).
    pub fn new(bytes: &'t [u8], plans: &'t [PlannedStruct<'t>]) -> Self {
        let structs = has_structs(bytes);
        Self { bytes, pos: 1, plans, structs, index: None, latin: String::new() }
    }

    /// The term, when the version is right.
    pub fn root(&self) -> Option<Term> {
        (self.bytes.first() == Some(&VERSION)).then_some(Term { at: 1, byte: false })
    }

    #[inline(always)]
    fn term(&self) -> Term {
        Term { at: self.pos, byte: false }
    }

    fn record(&mut self, at: usize) -> Option<Record> {
        self.index().find(at)
    }

    fn index(&mut self) -> &mut Index {
        let bytes = self.bytes;
        self.index.get_or_insert_with(|| Index::build(bytes, 1).unwrap_or_default())
    }

    /// A step behind a head of this length.
    #[inline(always)]
    fn after<V>(&mut self, term: Term, len: usize, value: V) -> V {
        self.pos = term.at + len;
        value
    }

    fn read_byte(&mut self, term: Term) -> Value<'t, Self> {
        self.pos = term.at + 1;
        byte(self.bytes, term.at).map_or(Value::Broken, |value| Value::Integer(value as i64))
    }

    #[inline(always)]
    fn try_read(&mut self, term: Term) -> Option<Value<'t, Self>> {
        let bytes = self.bytes;
        let body = bytes.get(term.at + 1..)?;
        let value = match *bytes.get(term.at)? {
            SMALL_INTEGER => self.after(term, 2, Value::Integer(i64::from(*body.first()?))),
            INTEGER => self.after(term, 5, Value::Integer(i64::from(i32::from_be_bytes(*body.first_chunk()?)))),
            NEW_FLOAT => {
                let value = f64::from_be_bytes(*body.first_chunk()?);
                self.after(term, 9, if value.is_finite() { Value::Float(value) } else { Value::Broken })
            }
            BINARY => {
                let len = word(bytes, term.at + 1)?;
                let text = body.get(4..4 + len)?;
                self.after(term, 5 + len, Value::Binary(text))
            }
            SMALL_ATOM_UTF8 => return self.read_atom(term),
            NIL => self.after(term, 1, Value::List(List { left: 0, bytes: true })),
            LIST => {
                let left = word(bytes, term.at + 1)?;
                self.after(term, 5, Value::List(List { left, bytes: false }))
            }
            MAP => {
                let len = word(bytes, term.at + 1)?;
                self.after(term, 5, Value::Map(Map { at: term.at, body: term.at + 5, len }))
            }
            SMALL_TUPLE => self.after(term, 2, Value::Tuple(usize::from(*body.first()?))),
            _ => return self.read_rare(term),
        };
        Some(value)
    }

    #[inline(always)]
    fn read_atom(&mut self, term: Term) -> Option<Value<'t, Self>> {
        let text = atom_at(self.bytes, term.at)?;
        self.pos =
            text.len() + term.at + if matches!(self.bytes[term.at], SMALL_ATOM | SMALL_ATOM_UTF8) { 2 } else { 3 };
        Some(match text {
            b"nil" => Value::Nil,
            b"true" => Value::True,
            b"false" => Value::False,
            _ => Value::Atom,
        })
    }

    #[inline(never)]
    fn read_rare(&mut self, term: Term) -> Option<Value<'t, Self>> {
        let bytes = self.bytes;
        let Some(head) = head(bytes, term.at) else { return Some(Value::Broken) };
        let value = match bytes[term.at] {
            ATOM | SMALL_ATOM | ATOM_UTF8 => return self.read_atom(term),
            SMALL_BIG | LARGE_BIG => self.small_big(term),
            STRING => {
                let left = short(bytes, term.at + 1)?;
                self.pos = term.at + 3;
                return Some(Value::List(List { left, bytes: true }));
            }
            LARGE_TUPLE => Value::Tuple(head.terms),
            _ => Value::Other,
        };
        self.pos = head.body;
        Some(value)
    }

    /// Sign and digits of a `SMALL_BIG_EXT` or `LARGE_BIG_EXT`.
    fn big_parts(&self, at: usize) -> Option<(bool, &'t [u8])> {
        let (sign, len) = match self.bytes.get(at)? {
            &SMALL_BIG => (at + 2, byte(self.bytes, at + 1)?),
            _ => (at + 5, word(self.bytes, at + 1)?),
        };
        Some((*self.bytes.get(sign)? != 0, self.bytes.get(sign + 1..sign + 1 + len)?))
    }

    /// Most of those fit 64 bits.
    fn small_big(&self, term: Term) -> Value<'t, Self> {
        let Some((negative, digits)) = self.big_parts(term.at) else { return Value::Broken };
        if digits.len() > 8 {
            return Value::Big;
        }
        let size = digits.iter().rev().fold(0_u64, |n, digit| n << 8 | u64::from(*digit));
        let value = if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
        value.map_or(Value::Big, Value::Integer)
    }

    fn field_at(&mut self, map: &Map, name: &[u8]) -> Option<Term> {
        let record = self.record(map.at)?;
        let index = self.index.as_ref()?;
        let entries = (record.first..record.first + record.len).filter_map(|number| index.entry(number));
        let mut found = entries.filter(|(key, _)| atom_at(self.bytes, *key) == Some(name));
        found.next().map(|(_, at)| Term { at, byte: false })
    }
}

impl<'t> TermReader<'t> for Reader<'t> {
    type Term = Term;
    type List = List;
    type Tuple = usize;
    type Map = Map;
    type Entries = Entries;
    type Values = Entries;
    type Plan = (&'t PlannedStruct<'t>, usize);
    type Field = (&'t [u8], &'t [u8]);

    #[inline(always)]
    fn read(&mut self, term: Term) -> Value<'t, Self> {
        if term.byte {
            return self.read_byte(term);
        }
        self.try_read(term).unwrap_or(Value::Broken)
    }

    fn atom_text(&mut self, atom: Term) -> AtomText<'_> {
        let bytes = atom_at(self.bytes, atom.at).unwrap_or_default();
        if matches!(self.bytes.get(atom.at), Some(&(ATOM | SMALL_ATOM))) && !bytes.is_ascii() {
            self.latin = bytes.iter().map(|b| char::from(*b)).collect();
            return AtomText { bytes: self.latin.as_bytes(), plain: None };
        }
        AtomText { bytes, plain: None }
    }

    fn big_integer(&mut self, term: Term) -> (bool, &[u8]) {
        self.big_parts(term.at).unwrap_or_default()
    }

    #[inline(always)]
    fn next_item(&mut self, list: &mut List) -> Step<Term> {
        let term = Term { at: self.pos, byte: list.bytes };
        if list.left > 0 {
            list.left -= 1;
            return Step::Item(term);
        }
        if list.bytes {
            return Step::End;
        }
        match self.bytes.get(self.pos) {
            Some(&NIL) => {
                self.pos += 1;
                // A list that is asked again still ends.
                list.bytes = true;
                Step::End
            }
            _ => Step::Tail(term),
        }
    }

    /// The tail stands behind all elements, and to pass them at each level would not be linear.
    fn look_along(&mut self, list: Term, rest: &mut List, _elements: usize) -> Ahead {
        let improper = !rest.bytes && self.index().is_improper(list.at);
        if improper { Ahead::Improper } else { Ahead::Proper }
    }

    #[inline(always)]
    fn next_element(&mut self, tuple: &mut usize) -> Option<Term> {
        *tuple = tuple.checked_sub(1)?;
        Some(self.term())
    }

    fn map_size(&mut self, map: &Map) -> usize {
        map.len
    }

    #[inline(always)]
    fn entries(&mut self, map: &Map, reverse: bool, scattered: bool) -> Option<Entries> {
        let backward = reverse && map.len > SMALL_MAP;
        if backward || scattered {
            return Some(self.indexed(map, backward));
        }
        self.pos = map.body;
        Some(Entries::Forward(map.len))
    }

    #[inline(always)]
    fn next_entry(&mut self, entries: &mut Entries) -> Option<(Term, Term)> {
        let Entries::Forward(left) = entries else { return self.next_indexed(entries) };
        *left = left.checked_sub(1)?;
        let key = self.term();
        // Most keys are binaries, whose end is in their head.
        let end = match self.bytes.get(key.at) {
            Some(&BINARY) => word(self.bytes, key.at + 1).and_then(|len| len.checked_add(key.at + 5)),
            _ => end_of(self.bytes, key.at, &mut self.index),
        };
        self.pos = end.unwrap_or(self.bytes.len());
        Some((key, self.term()))
    }

    #[inline(always)]
    fn end_entries(&mut self) {}

    fn values(&mut self, map: &Map) -> Entries {
        self.pos = map.body;
        Entries::Forward(map.len)
    }

    fn next_value(&mut self, values: &mut Entries) -> Option<Term> {
        self.next_entry(values).map(|(_, value)| value)
    }

    #[inline(always)]
    fn module(&mut self, map: &Map) -> Option<Term> {
        if !self.structs {
            return None;
        }
        let record = self.record(map.at)?;
        let (_, at) = self.index.as_ref()?.entry(record.first + record.module?)?;
        atom_at(self.bytes, at).map(|_| Term { at, byte: false })
    }

    fn field(&mut self, map: &Map, name: Known) -> Option<Term> {
        self.field_at(map, name.text().as_bytes())
    }

    fn known(&mut self, atom: Term) -> Option<Known> {
        Known::find(atom_at(self.bytes, atom.at)?)
    }

    fn leave(&mut self, map: &Map) {
        self.pos = self.record(map.at).map_or(self.bytes.len(), |record| record.end);
    }

    fn pass(&mut self, term: Term) {
        let end = if term.byte { Some(term.at + 1) } else { end_of(self.bytes, term.at, &mut self.index) };
        self.pos = end.unwrap_or(self.bytes.len());
    }

    fn plan(&mut self, module: Term) -> Option<Self::Plan> {
        let module = atom_at(self.bytes, module.at)?;
        let plans: &'t [PlannedStruct<'t>] = self.plans;
        plans.iter().find(|plan| plan.module == module).map(|plan| (plan, 0))
    }

    fn next_planned(&mut self, (plan, next): &mut Self::Plan, map: &Map) -> Option<(Self::Field, Option<Term>)> {
        let field = *plan.fields.get(*next)?;
        let name = plan.names.as_ref().and_then(|names| names.get(*next)).copied().unwrap_or(field);
        *next += 1;
        Some(((field, name), self.field_at(map, field)))
    }

    #[inline(always)]
    fn field_text(&mut self, (_, name): Self::Field) -> AtomText<'_> {
        AtomText { bytes: name, plain: None }
    }

    fn own_field_text(&mut self, (field, _): Self::Field) -> AtomText<'_> {
        AtomText { bytes: field, plain: None }
    }

    fn plan_rules(&self, (plan, _): &Self::Plan) -> PlanRules {
        let omits = |wanted: fn(&[u8]) -> bool| plan.omitted.iter().flatten().any(|name| wanted(name));
        PlanRules {
            renames: plan.names.is_some(),
            omits: plan.omitted.is_some(),
            omits_nil: omits(|name| name == b"nil"),
            omits_structs: omits(|name| name != b"nil"),
        }
    }

    fn plan_omits(&mut self, (plan, _): &Self::Plan, module: Term) -> bool {
        let module = atom_at(self.bytes, module.at).unwrap_or_default();
        plan.omitted.iter().flatten().any(|omitted| *omitted == module)
    }
}

impl Reader<'_> {
    #[cold]
    fn indexed(&mut self, map: &Map, backward: bool) -> Entries {
        // Without a record the bytes are broken, and so is what comes.
        let Some(record) = self.record(map.at) else { return Entries::Forward(0) };
        let number = self.index.as_ref().map_or(0, Index::found);
        Entries::Indexed { record: number as u32, left: record.len as u32, backward }
    }

    fn next_indexed(&mut self, entries: &mut Entries) -> Option<(Term, Term)> {
        let Entries::Indexed { record, left, backward } = entries else { return None };
        let index = self.index.as_ref()?;
        let record = index.record(*record as usize)?;
        let Some(rest) = left.checked_sub(1) else {
            self.pos = record.end;
            return None;
        };
        let number = if *backward { rest as usize } else { record.len - *left as usize };
        *left = rest;
        let (key, value) = index.entry(record.first + number)?;
        self.pos = value;
        Some((Term { at: key, byte: false }, Term { at: value, byte: false }))
    }
}
