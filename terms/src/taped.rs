//! Terms onto a [tape](rustyjson_core::tape), read where they stand in the memory of the VM.
//!
//! The tape is written in parts of a fixed size, each handed on as soon as it is full: no large binary of the caller's is made, and a
//! term that has far more parts than cells is stopped by whoever takes the parts.

mod kinds;
mod objects;
mod tokens;
mod walk;

use crate::atom_cache::AtomCache;
use crate::atoms;
use crate::known::{Names, names};
use crate::raw::layout::Layout;
use crate::raw::read::{Look, Raw, SmallMap, WalkMemory, Walks};
use crate::raw::trial::layout;
use crate::tags::Kind as Tag;
use kinds::Alike;
use objects::Open;
use rustler::types::atom;
use rustler::{Atom, Encoder, Env, Term};
use rustyjson_core::encode::{Known, may_play};
use rustyjson_core::options::Records;
use rustyjson_core::options::shape::{Shape as CallShape, Shapes};
use rustyjson_core::{EncodeOptions, Output};
use std::mem::take;
use std::sync::OnceLock;

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

impl Taped {
    /// The bytes that the tape would have without shapes.
    pub const fn whole(self) -> u64 {
        self.len.saturating_add(self.more)
    }
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
    /// What the last calls that did something to members did.
    call_shapes: Shapes,
    /// The number of the call: what an earlier one left in the table does not count.
    call: u64,
}

impl Default for Memory {
    fn default() -> Self {
        let (atoms, walks) = (AtomCache::new(), WalkMemory::new());
        let shapes = Box::new([Shape::default(); SHAPES]);
        Self {
            part: Box::new([0; PART]),
            shapes,
            atoms,
            walks,
            text: Output::default(),
            call_shapes: Shapes::new(),
            call: 0,
        }
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
    /// They are those of maps of this kind.
    Kind(u32),
}

/// An open container.
enum Frame<'a> {
    List(Raw<'a>),
    /// The values of a map with a shape.
    Values(&'a [Raw<'a>]),
    /// Keys and values.
    Members(SmallMap<'a>),
    /// The innermost walk.
    Large,
    /// The rest of a list of records.
    Records(Raw<'a>),
    /// The innermost object of a kind.
    Object,
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

/// The values that a call leaves out: `nil`, and modules of structs. `None`: it has more to say than is known here.
fn omitted<'a>(env: Env<'a>, shape: &CallShape) -> Option<Vec<Raw<'a>>> {
    let mut omitted = Vec::new();
    if !shape.pointers.is_empty() {
        return None;
    }
    if shape.omit_nil {
        omitted.push(Raw::atom(atoms::nil()));
    }
    for name in &shape.omitted {
        // No struct is of a module that is no atom yet.
        if !name.is_ascii() {
            return None;
        }
        omitted.extend(Atom::existing_from_bytes(env, name).ok().map(Raw::atom));
    }
    Some(omitted)
}

/// Writes a term for a call with these options, with plans for structs. Gives the modules whose plans it used, too.
pub fn write<'a, S: Sink>(
    env: Env<'a>,
    [term, plans]: [Raw<'a>; 2],
    options: &EncodeOptions<'_>,
    memory: &mut Memory,
    sink: &mut S,
) -> Result<(Taped, Vec<Raw<'a>>), Untaped<S::Stop>> {
    let Some(layout) = layout(env).filter(|_| may_play(options)) else { return Err(Untaped::Other) };
    memory.call += 1;
    let Memory { part, shapes, atoms, walks, text, call_shapes, call } = memory;
    let shape = call_shapes.find(options.shape, options.kept);
    let Some(omitted) = shape.map_or(Some(Vec::new()), |shape| omitted(env, shape)) else {
        call_shapes.trim(options.shape.len());
        return Err(Untaped::Other);
    };
    let walks = Walks::new(env, take(walks));
    let (look, words, call) = (Look::new(env), words(env), *call);
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
        kinds: Vec::new(),
        objects: Vec::new(),
        first_keys: Vec::new(),
        used: Vec::new(),
        null: Raw::atom(atoms::of_null(options.null)).word(),
        // The option says how External Term Format has to be read, which has large maps in the opposite order.
        reverse: !options.reverse_large_maps,
        strict: options.strict_maps,
        sorts: options.sort_keys,
        shape,
        omitted,
        arranges: options.sort_keys || shape.is_some(),
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
    memory.call_shapes.trim(options.shape.len());
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
    /// Kinds of maps in the term, but for those that are written as they stand.
    kinds: Vec<Alike<'a>>,
    /// Open objects of a kind.
    objects: Vec<Open<'a>>,
    /// What the first key of each open map above 32 keys is.
    first_keys: Vec<Option<Tag>>,
    /// Modules whose plans are used.
    used: Vec<Raw<'a>>,
    /// The atom that is null.
    null: usize,
    /// Maps above 32 keys are written from their last entry.
    reverse: bool,
    /// Keys of a map may not become the same text: an atom and a string could.
    strict: bool,
    sorts: bool,
    /// What the call does to members.
    shape: Option<&'m CallShape>,
    /// `nil`, and modules of structs: the call leaves out such values.
    omitted: Vec<Raw<'a>>,
    /// It sorts members, or does something to them.
    arranges: bool,
    plain_structs: bool,
    lean: bool,
    taped: Taped,
    sink: &'m mut S,
}

type Written<T, S> = Result<T, Untaped<<S as Sink>::Stop>>;
