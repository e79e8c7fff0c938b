//! Terms onto a [tape](rustyjson_core::tape), read where they stand in the memory of the VM.
//!
//! The tape is written in parts of a fixed size, each handed on as soon as it is full: no large binary of the caller's is made, and a
//! term that has far more parts than cells is stopped by whoever takes the parts.

mod structs;
mod tokens;

use crate::atom_cache::AtomCache;
use crate::atoms;
use crate::known::{Names, names};
use crate::raw::layout::Layout;
use crate::raw::read::{Look, Raw, SmallMap, WalkMemory, Walks};
use crate::raw::trial::layout;
use crate::tags::{Kind as Tag, kind, small};
use rustler::types::atom;
use rustler::{Encoder, Env, Term};
use rustyjson_core::builder::SMALL_MAP;
use rustyjson_core::encode::{Known, may_play};
use rustyjson_core::options::{Null, Records};
use rustyjson_core::tape::{Kind, MOST};
use rustyjson_core::{EncodeOptions, Output};
use std::mem::take;
use std::sync::OnceLock;
use structs::{Struct, Structs};

/// Takes what is written.
pub trait Sink {
    /// Why it takes no more.
    type Stop;
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Self::Stop>;
}

/// Why there is no tape.
pub enum Untaped<E> {
    /// The term has something that no tape has, or the terms of this VM cannot be read.
    Other,
    /// The sink has stopped it.
    Stopped(E),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taped {
    /// The bytes of the tape.
    pub len: u64,
    /// The bytes that keys would have taken where the number of a shape stands for them.
    pub more: u64,
}

/// Bytes that are handed on at once: they stay in the nearest caches.
const PART: usize = 16 << 10;
/// Bytes that any token may take, but for long texts.
const ROOM: usize = 80;
/// Sets of keys that are known at a time.
const SHAPES: usize = 256;

/// What a thread keeps between calls.
pub struct Memory {
    part: Box<[u8; PART]>,
    shapes: Box<[Shape; SHAPES]>,
    atoms: AtomCache,
    walks: WalkMemory,
    text: Output<Vec<u8>>,
    /// The number of the call: what an earlier one left in the table does not count.
    call: u64,
}

impl Default for Memory {
    fn default() -> Self {
        let (atoms, walks) = (AtomCache::new(), WalkMemory::new());
        let shapes = Box::new([Shape::default(); SHAPES]);
        Self { part: Box::new([0; PART]), shapes, atoms, walks, text: Output::default(), call: 0 }
    }
}

/// The keys of small maps by the address of their tuple, which no other term has as long as the call lasts.
#[derive(Clone, Copy, Default)]
struct Shape {
    keys: usize,
    call: u64,
    seen: Seen,
}

/// What is known of keys.
#[derive(Clone, Copy, Default)]
enum Seen {
    /// They were seen once.
    #[default]
    Once,
    /// They are a shape: its number on the tape, and the bytes that they would take.
    Shape(u32, u32),
    /// They are those of structs of this kind.
    Struct(u32),
}

/// An open container.
enum Frame<'a> {
    List(Raw<'a>),
    /// The values of a map with a shape.
    Values(&'a [Raw<'a>]),
    /// Keys and values.
    Members(SmallMap<'a>),
    /// The innermost walk, and what its first key is.
    Large(Option<Tag>),
    /// The rest of a list of records.
    Records(Raw<'a>),
    Struct(Struct<'a>),
}

/// Words of terms that are told by them.
struct Words {
    nil: usize,
    yes: usize,
    no: usize,
    empty: usize,
    module: usize,
    names: &'static Names,
}

fn words(env: Env<'_>) -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let of = |term: Term<'_>| Raw::of(term).word();
        let names = names(env);
        Words {
            nil: of(atom::nil().encode(env)),
            yes: of(true.encode(env)),
            no: of(false.encode(env)),
            empty: of(Term::list_new_empty(env)),
            module: names.term(Known::Struct).word(),
            names,
        }
    })
}

/// Whether terms are written for calls with these options.
pub const fn may_write(options: &EncodeOptions<'_>) -> bool {
    may_play(options) && !options.sort_keys && options.shape.is_empty()
}

/// Writes a term for a call with these options, with plans for structs. Gives the modules whose plans it used, too.
pub fn write<'a, S: Sink>(
    env: Env<'a>,
    [term, plans]: [Raw<'a>; 2],
    options: &EncodeOptions<'_>,
    memory: &mut Memory,
    sink: &mut S,
) -> Result<(Taped, Vec<Raw<'a>>), Untaped<S::Stop>> {
    let Some(layout) = layout(env).filter(|_| may_write(options)) else { return Err(Untaped::Other) };
    memory.call += 1;
    let walks = Walks::new(env, take(&mut memory.walks));
    let Memory { part, shapes, atoms, text, call, .. } = memory;
    let (look, words, call) = (Look::new(env), words(env), *call);
    let null = match options.null {
        Null::Nil => words.nil,
        Null::Null => Raw::atom(atoms::null()).word(),
        Null::Undefined => Raw::atom(atoms::undefined()).word(),
    };
    let mut writer = Writer {
        look,
        layout,
        words,
        part,
        at: 0,
        shapes,
        known: 0,
        call,
        atoms,
        walks,
        text,
        names: words.names,
        plans: (plans.word() != words.nil).then_some(plans),
        structs: Vec::new(),
        used: Vec::new(),
        null,
        // The option says how External Term Format has to be read, which has large maps in the opposite order.
        reverse: !options.reverse_large_maps,
        strict: options.strict_maps,
        plain_structs: options.plain_structs,
        lean: options.lean,
        taped: Taped::default(),
        sink,
    };
    let mut open = Vec::new();
    let result = writer.run(term, options.records != Records::None, &mut open).and_then(|()| writer.end());
    let walks = writer.walks.take_memory();
    let used = take(&mut writer.used);
    memory.walks = walks;
    result.map(|taped| (taped, used))
}

struct Writer<'a, 'm, S> {
    look: Look<'a>,
    layout: &'static Layout,
    words: &'static Words,
    part: &'m mut [u8; PART],
    at: usize,
    shapes: &'m mut [Shape; SHAPES],
    /// Shapes on the tape.
    known: u32,
    call: u64,
    atoms: &'m mut AtomCache,
    walks: Walks<'a>,
    /// Of a struct.
    text: &'m mut Output<Vec<u8>>,
    names: &'static Names,
    plans: Option<Raw<'a>>,
    /// Kinds of structs in the term.
    structs: Vec<Structs<'a>>,
    /// Modules whose plans are used.
    used: Vec<Raw<'a>>,
    /// The atom that is null.
    null: usize,
    /// Maps above 32 keys are written from their last entry.
    reverse: bool,
    /// Keys of a map may not become the same text: an atom and a string could.
    strict: bool,
    plain_structs: bool,
    lean: bool,
    taped: Taped,
    sink: &'m mut S,
}

type Written<T, S> = Result<T, Untaped<<S as Sink>::Stop>>;

impl<'a, S: Sink> Writer<'a, '_, S> {
    fn run(&mut self, term: Raw<'a>, records: bool, open: &mut Vec<Frame<'a>>) -> Written<(), S> {
        let first = match kind(term.word()) {
            Tag::List if records => Some(Frame::Records(term)),
            _ if records => return Err(Untaped::Other),
            _ => self.value(term)?,
        };
        let Some(mut here) = first else { return Ok(()) };
        loop {
            let inner = match &mut here {
                Frame::List(list) => self.items(list)?,
                Frame::Values(values) => self.values(values)?,
                Frame::Members(members) => self.members(members)?,
                Frame::Large(first) => self.entries(first)?,
                Frame::Records(list) => self.records(list)?,
                Frame::Struct(open) => self.fields(open)?,
            };
            match inner {
                Some(frame) => open.push(std::mem::replace(&mut here, frame)),
                None => match open.pop() {
                    Some(frame) => here = frame,
                    None => return Ok(()),
                },
            }
        }
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
    fn entries(&mut self, first: &mut Option<Tag>) -> Written<Option<Frame<'a>>, S> {
        while let Some((key, value)) = self.walks.next_entry() {
            let tag = kind(key.word());
            if self.strict && *first.get_or_insert(tag) != tag {
                return Err(Untaped::Other);
            }
            self.key(key)?;
            if let Some(frame) = self.value(value)? {
                return Ok(Some(frame));
            }
        }
        self.walks.exit();
        self.token(Kind::EndMap, 0)?;
        Ok(None)
    }

    /// Writes a value without parts, or the start of one that has some.
    #[inline(always)]
    fn value(&mut self, term: Raw<'a>) -> Written<Option<Frame<'a>>, S> {
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
        let size = self.look.map_size(term).ok_or(Untaped::Other)?;
        self.token(Kind::Map, 0)?;
        self.walks.enter(term, size, self.reverse && size > SMALL_MAP);
        Ok(Some(Frame::Large(None)))
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
                Seen::Struct(number) => return self.structure(members, number),
            }
        }
        if let Some(place) = members.keys.iter().position(|key| key.word() == self.words.module) {
            return self.new_struct(members, place);
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

    /// Where the keys at this address are kept.
    #[inline(always)]
    fn slot(&mut self, keys: usize) -> &mut Shape {
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
