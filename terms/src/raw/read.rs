//! Reading terms.

use crate::tags::{Kind, hold, kind, small};
use rustler::sys::{self, ErlNifBinary, ErlNifMapIterator, ErlNifMapIteratorEntry, ErlNifTerm};
use rustler::{Env, Term};
use rustyjson_core::room::room;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A term of the running NIF call. It comes out of a rustler term or out of another one of these, so that it is always
/// valid; eight bytes, without the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Raw<'a>(ErlNifTerm, PhantomData<&'a ()>);

impl<'a> Raw<'a> {
    /// A rustler term.
    pub fn of(term: Term<'a>) -> Self {
        Self(term.as_c_arg(), PhantomData)
    }

    /// An atom of the VM: atoms are words that are valid in every call.
    pub fn atom(atom: rustler::Atom) -> Self {
        Self(atom.as_c_arg(), PhantomData)
    }

    /// As the C API has it.
    #[inline(always)]
    pub fn raw(self) -> ErlNifTerm {
        self.0
    }

    /// The word that the VM keeps for it. Equal words are equal terms; atoms have one word each as long as the VM runs.
    #[inline(always)]
    pub fn word(self) -> usize {
        word_of(self.0)
    }

    /// The term that is this word.
    ///
    /// # Safety
    /// It is one of the running call.
    #[inline(always)]
    pub(super) unsafe fn from_word(word: usize) -> Self {
        Self(term_of(word), PhantomData)
    }

    /// As rustler's.
    pub fn term(self, env: Env<'a>) -> Term<'a> {
        // SAFETY: it is a term of this environment: the lifetimes say so.
        unsafe { Term::new(env, self.0) }
    }
}

/// A map of at most 32 members: keys and values, in the order of the keys.
#[derive(Clone, Copy)]
pub struct SmallMap<'a> {
    /// Its keys.
    pub keys: &'a [Raw<'a>],
    /// Their values.
    pub values: &'a [Raw<'a>],
}

/// The word of a term.
#[inline(always)]
pub fn word_of(term: ErlNifTerm) -> usize {
    // SAFETY: rustler's type is a transparent wrapper of the C API's `ERL_NIF_TERM`, which is an integer of this size.
    unsafe { std::mem::transmute(term) }
}

/// The term that is this word.
#[inline(always)]
pub(super) fn term_of(word: usize) -> ErlNifTerm {
    // SAFETY: as in `word_of`.
    unsafe { std::mem::transmute(word) }
}

/// The words of terms.
#[inline(always)]
pub(super) fn words_of(terms: &[ErlNifTerm]) -> &[usize] {
    // SAFETY: as in `word_of`.
    unsafe { std::slice::from_raw_parts(terms.as_ptr().cast(), terms.len()) }
}

/// Terms as the C API has them.
#[inline(always)]
pub fn terms_of<'s>(terms: &'s [Raw<'_>]) -> &'s [ErlNifTerm] {
    // SAFETY: `Raw` is such a term and nothing else, which `transparent` says.
    unsafe { std::slice::from_raw_parts(terms.as_ptr().cast(), terms.len()) }
}

/// Reads terms of one environment.
#[derive(Clone, Copy)]
pub struct Look<'a>(Env<'a>);

impl<'a> Look<'a> {
    /// Reads terms of this call.
    pub fn new(env: Env<'a>) -> Self {
        Self(env)
    }

    /// The environment.
    pub fn env(self) -> Env<'a> {
        self.0
    }

    /// An integer of 64 bits. Most are words themselves, for which the VM is not asked.
    #[inline(always)]
    pub fn integer(self, term: Raw<'a>) -> Option<i64> {
        if kind(term.word()) == Kind::Small && hold(self.0) {
            return Some(small(term.word()));
        }
        let mut value = 0;
        // SAFETY: environment and term are valid; the call only writes the integer.
        let found = unsafe { sys::enif_get_int64(self.0.as_c_arg(), term.0, &mut value) };
        (found != 0).then_some(value)
    }

    /// A float.
    #[inline(always)]
    pub fn float(self, term: Raw<'a>) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: environment and term are valid; the call only writes the float.
        let found = unsafe { sys::enif_get_double(self.0.as_c_arg(), term.0, &mut value) };
        (found != 0).then_some(value)
    }

    /// Whether it is a number.
    pub fn is_number(self, term: Raw<'a>) -> bool {
        // SAFETY: environment and term are valid.
        unsafe { sys::enif_is_number(self.0.as_c_arg(), term.0) != 0 }
    }

    /// Whether the process of the call lives. One that was killed while a dirty scheduler runs its call is not told.
    pub fn is_alive(self) -> bool {
        // SAFETY: the environment is that of a call that a process has made.
        unsafe { sys::enif_is_current_process_alive(self.0.as_c_arg()) != 0 }
    }

    /// Whether it is an atom.
    pub fn is_atom(self, term: Raw<'a>) -> bool {
        // SAFETY: environment and term are valid.
        unsafe { sys::enif_is_atom(self.0.as_c_arg(), term.0) != 0 }
    }

    /// Whether it is a list.
    pub fn is_list(self, term: Raw<'a>) -> bool {
        // SAFETY: environment and term are valid.
        unsafe { sys::enif_is_list(self.0.as_c_arg(), term.0) != 0 }
    }

    /// Whether it is the empty list.
    #[inline(always)]
    pub fn is_empty_list(self, term: Raw<'a>) -> bool {
        // SAFETY: environment and term are valid.
        unsafe { sys::enif_is_empty_list(self.0.as_c_arg(), term.0) != 0 }
    }

    /// The bytes of a binary.
    #[inline(always)]
    pub fn binary(self, term: Raw<'a>) -> Option<&'a [u8]> {
        let mut binary = MaybeUninit::<ErlNifBinary>::uninit();
        // SAFETY: environment and term are valid. The bytes are immutable and stay where they are until the NIF returns:
        // no collection runs before, and an unaligned one is copied to memory that the VM frees after the call.
        unsafe {
            if sys::enif_inspect_binary(self.0.as_c_arg(), term.0, binary.as_mut_ptr()) == 0 {
                return None;
            }
            let binary = binary.assume_init();
            if binary.size == 0 {
                return Some(&[]);
            }
            Some(std::slice::from_raw_parts(binary.data, binary.size))
        }
    }

    /// Head and tail of a list cell.
    #[inline(always)]
    pub fn cell(self, list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        let (mut head, mut tail) = Default::default();
        // SAFETY: environment and term are valid; both words are set when the call says so.
        let found = unsafe { sys::enif_get_list_cell(self.0.as_c_arg(), list.0, &mut head, &mut tail) };
        (found != 0).then_some((Raw(head, PhantomData), Raw(tail, PhantomData)))
    }

    /// The elements of a tuple.
    #[inline(always)]
    pub fn tuple(self, term: Raw<'a>) -> Option<&'a [Raw<'a>]> {
        let mut arity = 0;
        let mut elements = std::ptr::null();
        // SAFETY: environment and term are valid. The elements are words in the immutable tuple, which stays where it is
        // until the NIF returns; `Raw` is such a word and nothing else.
        unsafe {
            if sys::enif_get_tuple(self.0.as_c_arg(), term.0, &mut arity, &mut elements) == 0 {
                return None;
            }
            if arity == 0 {
                return Some(&[]);
            }
            Some(std::slice::from_raw_parts(elements.cast(), arity as usize))
        }
    }

    /// The number of entries of a map.
    #[inline(always)]
    pub fn map_size(self, term: Raw<'a>) -> Option<usize> {
        let mut size = 0;
        // SAFETY: environment and term are valid; the call only writes the size.
        let found = unsafe { sys::enif_get_map_size(self.0.as_c_arg(), term.0, &mut size) };
        (found != 0).then_some(size)
    }

    /// The value of a key.
    #[inline(always)]
    pub fn map_get(self, map: Raw<'a>, key: Raw<'_>) -> Option<Raw<'a>> {
        let mut value = ErlNifTerm::default();
        // SAFETY: environment and terms are valid; the value is set when the call says so.
        let found = unsafe { sys::enif_get_map_value(self.0.as_c_arg(), map.0, key.0, &mut value) };
        (found != 0).then_some(Raw(value, PhantomData))
    }

    /// The text of an atom in Latin-1, when it can be written so.
    pub fn latin_atom<'b>(self, atom: Raw<'a>, buffer: &'b mut [u8; 256]) -> Option<&'b [u8]> {
        // SAFETY: environment and term are valid; the call writes at most the buffer's length and tells how much, the
        // closing zero counted.
        let len = unsafe {
            let latin = sys::ErlNifCharEncoding::ERL_NIF_LATIN1;
            sys::enif_get_atom(self.0.as_c_arg(), atom.0, buffer.as_mut_ptr().cast(), 256, latin)
        };
        usize::try_from(len).ok()?.checked_sub(1).and_then(|len| buffer.get(..len))
    }
}

/// Walks over maps, each inside the one before.
pub struct Walks<'a> {
    env: Env<'a>,
    open: Vec<Walk<'a>>,
    /// Of the walks whose map is large.
    iterations: Vec<Iteration>,
}

/// Whole words without padding, so that it is written field by field: with the iterator in it, a map of three members took 10 ns more.
struct Walk<'a> {
    /// The members of a small map; a large one has an iteration.
    members: Option<SmallMap<'a>>,
    map: Raw<'a>,
    given: usize,
}

struct Iteration {
    /// Never read here: the VM sets what it needs, and leaves the rest as it was.
    iterator: MaybeUninit<ErlNifMapIterator>,
    size: usize,
    backward: bool,
}

/// Memory of ended walks, for the next ones.
#[derive(Default)]
pub struct WalkMemory(Vec<Walk<'static>>);

impl WalkMemory {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<'a> Walks<'a> {
    /// No walk yet.
    pub fn new(env: Env<'a>, WalkMemory(memory): WalkMemory) -> Self {
        Self { env, open: recycled(memory), iterations: Vec::new() }
    }

    /// Ends all walks and gives the memory back.
    pub fn take_memory(&mut self) -> WalkMemory {
        self.exit_all();
        let mut memory = recycled(std::mem::take(&mut self.open));
        memory.shrink_to(KEEP);
        WalkMemory(memory)
    }

    /// Starts a walk over a map of this size, from its last entry if `backward`. Returns `false` if it is not a map, or if there is no
    /// memory for the walk.
    #[inline(always)]
    pub fn enter(&mut self, map: Raw<'a>, size: usize, backward: bool) -> bool {
        let start = if backward {
            ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_TAIL
        } else {
            ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD
        };
        if room(&mut self.iterations, 1).is_err() || room(&mut self.open, 1).is_err() {
            return false;
        }
        let mut iterator = MaybeUninit::uninit();
        // SAFETY: environment and term are valid; the iterator is set when the call says so, and forgotten when not. It can be moved: what it
        // points to is not in itself.
        let made =
            unsafe { sys::enif_map_iterator_create(self.env.as_c_arg(), map.0, iterator.as_mut_ptr(), start) != 0 };
        if !made {
            return false;
        }
        self.iterations.push(Iteration { iterator, size, backward });
        self.open.push(Walk { members: None, map, given: 0 });
        true
    }

    /// Starts a walk over a small map. Returns `false` if memory has run out.
    #[inline(always)]
    pub fn enter_small(&mut self, map: Raw<'a>, members: SmallMap<'a>) -> bool {
        let enough = room(&mut self.open, 1).is_ok();
        if enough {
            self.open.push(Walk { members: Some(members), map, given: 0 });
        }
        enough
    }

    /// The next entry of the innermost walk. The size spares the VM the question behind the last one.
    #[inline(always)]
    pub fn next_entry(&mut self) -> Option<(Raw<'a>, Raw<'a>)> {
        let Walk { members, given, .. } = self.open.last_mut()?;
        if let Some(SmallMap { keys, values }) = members {
            let entry = keys.get(*given).copied().zip(values.get(*given).copied());
            *given += 1;
            return entry;
        }
        let Iteration { iterator, size, backward } = self.iterations.last_mut()?;
        if given == size {
            return None;
        }
        let (mut key, mut value) = Default::default();
        let env = self.env.as_c_arg();
        *given += 1;
        // SAFETY: every iterator was made by `enif_map_iterator_create` and is not destroyed; asking for a pair at either end is allowed
        // and gives none.
        unsafe {
            let iterator = iterator.as_mut_ptr();
            if sys::enif_map_iterator_get_pair(env, iterator, &mut key, &mut value) == 0 {
                return None;
            }
            match (given == size, *backward) {
                (true, _) => 0,
                (_, true) => sys::enif_map_iterator_prev(env, iterator),
                (_, false) => sys::enif_map_iterator_next(env, iterator),
            };
        }
        Some((Raw(key, PhantomData), Raw(value, PhantomData)))
    }

    /// The map of the walk with this number, counted from the outermost, and how many entries it has given.
    pub fn place(&self, walk: usize) -> Option<(Raw<'a>, usize)> {
        self.open.get(walk).map(|walk| (walk.map, walk.given))
    }

    /// Ends the innermost walk.
    #[inline(always)]
    pub fn exit(&mut self) {
        if let Some(Walk { members: None, .. }) = self.open.pop()
            && let Some(mut iteration) = self.iterations.pop()
        {
            // SAFETY: made by `enif_map_iterator_create`, destroyed once: it has left the list.
            unsafe { sys::enif_map_iterator_destroy(self.env.as_c_arg(), iteration.iterator.as_mut_ptr()) }
        }
    }

    fn exit_all(&mut self) {
        while !self.open.is_empty() {
            self.exit();
        }
    }
}

impl Drop for Walks<'_> {
    fn drop(&mut self) {
        self.exit_all();
    }
}

/// Walks kept as memory between calls.
const KEEP: usize = 256;

/// The memory of a list for one of the same layout, empty: the standard library collects in place.
fn recycled<A, B>(mut memory: Vec<A>) -> Vec<B> {
    memory.clear();
    memory.into_iter().map(|_| unreachable!("the list is empty")).collect()
}
