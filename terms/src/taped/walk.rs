//! The walk over a term, one container at a time.

use super::{Frame, SHAPES, Seen, Shape, Sink, Untaped, Writer, Written};
use crate::raw::read::{Raw, SmallMap};
use crate::tags::{Kind as Tag, kind, small};
use rustyjson_core::builder::SMALL_MAP;
use rustyjson_core::tape::{Kind, MOST};

impl<'a, S: Sink> Writer<'a, '_, S> {
    pub(super) fn run(&mut self, term: Raw<'a>, records: bool, open: &mut Vec<Frame<'a>>) -> Written<(), S> {
        let first = match kind(term.word()) {
            Tag::List if records => Some(Frame::Records(term)),
            _ if records => return Err(Untaped::Other),
            _ => self.value(term)?,
        };
        open.extend(first);
        // In its place: a frame that is moved is loaded in other pieces than it was just stored in, and the processor waits.
        while let Some(here) = open.last_mut() {
            let inner = match here {
                Frame::List(list) => self.items(list)?,
                Frame::Values(values) => self.values(values)?,
                Frame::Members(members) => self.members(members)?,
                Frame::Large => self.entries()?,
                Frame::Records(list) => self.records(list)?,
                Frame::Object => self.object_members()?,
            };
            match inner {
                Some(frame) => open.push(frame),
                None => drop(open.pop()),
            }
        }
        Ok(())
    }

    /// The items of a list up to one with parts.
    #[inline(always)]
    fn items(&mut self, list: &mut Raw<'a>) -> Written<Option<Frame<'a>>, S> {
        while kind(list.word()) == Tag::List {
            let (item, rest) = self.layout.cell(*list);
            *list = rest;
            if let Some(frame) = self.value(item)? {
                return Ok(Some(frame));
            }
        }
        if list.word() != self.words.empty {
            return Err(Untaped::Other);
        }
        self.token(Kind::EndList, 0)?;
        Ok(None)
    }

    /// The records of a list up to one with parts.
    #[inline(never)]
    fn records(&mut self, list: &mut Raw<'a>) -> Written<Option<Frame<'a>>, S> {
        while kind(list.word()) == Tag::List {
            let (record, rest) = self.layout.cell(*list);
            *list = rest;
            self.token(Kind::Record, 0)?;
            if let Some(frame) = self.value(record)? {
                return Ok(Some(frame));
            }
        }
        if list.word() == self.words.empty { Ok(None) } else { Err(Untaped::Other) }
    }

    #[inline(always)]
    fn values(&mut self, values: &mut &'a [Raw<'a>]) -> Written<Option<Frame<'a>>, S> {
        while let Some((value, rest)) = values.split_first() {
            *values = rest;
            if let Some(frame) = self.value(*value)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    #[inline(always)]
    fn members(&mut self, members: &mut SmallMap<'a>) -> Written<Option<Frame<'a>>, S> {
        while let (Some((key, keys)), Some((value, values))) =
            (members.keys.split_first(), members.values.split_first())
        {
            *members = SmallMap { keys, values };
            self.key(*key)?;
            if let Some(frame) = self.value(*value)? {
                return Ok(Some(frame));
            }
        }
        self.token(Kind::EndMap, 0)?;
        Ok(None)
    }

    #[inline(never)]
    fn entries(&mut self) -> Written<Option<Frame<'a>>, S> {
        while let Some((key, value)) = self.walks.next_entry() {
            let tag = kind(key.word());
            if self.strict && self.first_keys.last_mut().is_none_or(|first| *first.get_or_insert(tag) != tag) {
                return Err(Untaped::Other);
            }
            self.key(key)?;
            if let Some(frame) = self.value(value)? {
                return Ok(Some(frame));
            }
        }
        self.walks.exit();
        self.first_keys.pop();
        self.token(Kind::EndMap, 0)?;
        Ok(None)
    }

    /// Writes a value without parts, or the start of one that has some.
    #[inline(always)]
    pub(super) fn value(&mut self, term: Raw<'a>) -> Written<Option<Frame<'a>>, S> {
        let word = term.word();
        match kind(word) {
            Tag::Boxed => return self.boxed(term),
            Tag::Small => self.integer(small(word))?,
            Tag::List => {
                self.token(Kind::List, 0)?;
                return Ok(Some(Frame::List(term)));
            }
            Tag::Atom => self.atom(term)?,
            Tag::Other if word == self.words.empty => self.token(Kind::EmptyList, 0)?,
            Tag::Other => return Err(Untaped::Other),
        }
        Ok(None)
    }

    #[inline(always)]
    fn boxed(&mut self, term: Raw<'a>) -> Written<Option<Frame<'a>>, S> {
        if let Some(bytes) = self.layout.binary(term) {
            self.string(Kind::String, bytes)?;
            return Ok(None);
        }
        if let Some(value) = self.layout.float(term) {
            self.with_bytes(Kind::Float, value.to_le_bytes())?;
            return Ok(None);
        }
        match self.layout.small_map(term) {
            Some(members) => self.map(members),
            None => self.rarely_boxed(term),
        }
    }

    #[inline(never)]
    fn rarely_boxed(&mut self, term: Raw<'a>) -> Written<Option<Frame<'a>>, S> {
        if let Some(bytes) = self.look.binary(term) {
            self.string(Kind::String, bytes)?;
            return Ok(None);
        }
        if let Some(value) = self.look.integer(term) {
            self.integer(value)?;
            return Ok(None);
        }
        let size = self.look.map_size(term).filter(|_| !self.arranges).ok_or(Untaped::Other)?;
        self.token(Kind::Map, 0)?;
        self.walks.enter(term, size, self.reverse && size > SMALL_MAP);
        self.first_keys.push(None);
        Ok(Some(Frame::Large))
    }

    /// Keys that were seen before are a shape, which is written at their second map: many maps have keys of their own.
    #[inline(always)]
    fn map(&mut self, members: SmallMap<'a>) -> Written<Option<Frame<'a>>, S> {
        let (keys, call) = (members.keys.as_ptr() as usize, self.call);
        let slot = self.slot(keys);
        if slot.keys == keys && slot.call == call {
            match slot.seen {
                Seen::Shape(number, more) => {
                    self.taped.more += u64::from(more);
                    self.token(Kind::Shaped, number as usize)?;
                    return Ok(Some(Frame::Values(members.values)));
                }
                Seen::Once => return self.shape(members),
                Seen::Kind(number) => return self.of_kind(members, number),
            }
        }
        let place = members.keys.iter().position(|key| key.word() == self.words.module);
        if place.is_some() || self.arranges && self.is_arranged(members.keys) {
            return self.new_kind(members, place);
        }
        if self.strict && members.keys.windows(2).any(|keys| kind(keys[0].word()) != kind(keys[1].word())) {
            return Err(Untaped::Other);
        }
        *self.slot(keys) = Shape { keys, call, seen: Seen::Once };
        if members.keys.is_empty() {
            self.token(Kind::EmptyMap, 0)?;
            return Ok(None);
        }
        self.token(Kind::Map, 0)?;
        Ok(Some(Frame::Members(members)))
    }

    /// Whether a map with these keys is not written as it stands. Strings are sorted already.
    fn is_arranged(&self, keys: &[Raw<'a>]) -> bool {
        self.shape.is_some() || keys.iter().any(|key| kind(key.word()) != Tag::Boxed)
    }

    /// Where the keys at this address are kept.
    #[inline(always)]
    pub(super) fn slot(&mut self, keys: usize) -> &mut Shape {
        &mut self.shapes[(keys >> 4 ^ keys >> 12) % SHAPES]
    }

    #[inline(never)]
    fn shape(&mut self, members: SmallMap<'a>) -> Written<Option<Frame<'a>>, S> {
        if members.keys.is_empty() {
            self.token(Kind::EmptyMap, 0)?;
            return Ok(None);
        }
        let (number, before) = (self.known, self.written());
        self.token(Kind::Shape, members.keys.len())?;
        for key in members.keys {
            self.key(*key)?;
        }
        let more = u32::try_from(self.written() - before);
        if let Ok(more) = more
            && (number as usize) < MOST
        {
            self.known += 1;
            let keys = members.keys.as_ptr() as usize;
            *self.slot(keys) = Shape { keys, call: self.call, seen: Seen::Shape(number, more) };
            return Ok(Some(Frame::Values(members.values)));
        }
        Err(Untaped::Other)
    }
}
