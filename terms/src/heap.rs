//! Terms on the heap: in place, where the layout of terms is known and the document is worth it, otherwise by the VM's
//! functions, for which this file keeps heap fragments from being tiny.
//!
//! A NIF's terms go to the process heap while it has room, then to heap fragments. Lists, tuples, floats and sub-binaries
//! open a fragment with 200 words to spare, but binaries and maps open one of exactly their own size, so that a document
//! of strings and objects made an allocation for every term. So the words left are counted, and before a binary or map
//! that would not fit, a short tuple that nobody keeps makes the VM open a fragment with room. 5,000 short strings: 79 ns
//! each without this, 25 with it (`binary_to_term`: 15); 5,000 objects of one member: 158 and 92 (OTP 25).
//!
//! The count knows the VM's term sizes. Where one differs, a fragment is small and nothing else happens.

use crate::raw::layout::Layout;
use crate::raw::make::Maker;
use crate::raw::read::{Raw, SmallMap};
use crate::raw::trial::layout;
use crate::raw::{InPlace, Keys, terms_of};
use crate::tags::{Kind, kind};
use rustler::Binary;
use rustler::sys::ErlNifTerm;

/// Words that the VM adds to a fragment it opens for a list, tuple, float or sub-binary.
const SPARE: usize = 200;
/// Terms larger than this get a fragment of their own.
const LARGE: usize = 160;
/// A filler is this much longer than what seems to be left.
const SLACK: usize = 8;
const FLOAT: usize = 2;
const SUB_BINARY: usize = 5;

/// Below this many bytes of input, what is saved on terms does not pay for the first block.
const WORTH: usize = 24;
/// Below this many bytes, the caches of keys and of objects' shapes do not pay.
const LONG: usize = 96;
/// Texts of at least this many bytes use them from the start, shorter ones once two objects start with the same key. (In a record of a log of 1
/// KB nothing comes twice: 2.7 to 2.2 µs.)
const VERY_LONG: usize = 2048;
/// First keys of objects that are remembered until then.
const FIRST_KEYS: usize = 8;
/// So many bytes of input for a word of terms in the first block, and a few words more: fewer than most documents need. Blocks double, and the
/// first has a limit, because long strings need none: with one of 1,000 words an answer of a language model of 4 KB took 2.2 µs, not 1.8.
const BYTES_PER_WORD: usize = 4;
const MORE_WORDS: usize = 28;
const FIRST_BLOCK: usize = 64;

/// The first bytes of the first keys of objects.
pub type FirstKeys = [u64; FIRST_KEYS];

/// The keys of a small map as a tuple, and keys and values as they are.
pub type Members<'a> = (Keys, &'a [ErlNifTerm], &'a [ErlNifTerm]);

/// Makes the terms of one call.
pub struct Heap<'a> {
    make: Maker<'a>,
    in_place: Option<(&'static Layout, InPlace<'a>)>,
    /// Whether keys, and shapes of objects, are worth remembering.
    repeats: bool,
    /// Whether they may become so.
    watched: bool,
    /// The words that are left in the current fragment.
    left: usize,
    filler: ErlNifTerm,
    empty_list: ErlNifTerm,
}

impl<'a> Heap<'a> {
    /// For a document of so many bytes. What is left of the process heap is not known; most small documents fit. `filler`
    /// fills the short tuples.
    #[inline(always)]
    pub fn new(make: Maker<'a>, len: usize, filler: ErlNifTerm) -> Self {
        let layout = if len < WORTH { None } else { layout(make.env()) };
        let words = (MORE_WORDS + len / BYTES_PER_WORD).min(FIRST_BLOCK);
        let in_place = layout.map(|layout| (layout, layout.space(make.env(), words)));
        Self {
            make,
            in_place,
            repeats: len >= VERY_LONG,
            watched: (LONG..VERY_LONG).contains(&len),
            left: SPARE,
            filler,
            empty_list: make.empty_list(),
        }
    }

    /// An integer.
    #[inline(always)]
    pub fn integer(&self, value: i64) -> ErlNifTerm {
        let written = self.in_place.as_ref().and_then(|(_, space)| space.integer(value));
        written.unwrap_or_else(|| self.make.integer(value))
    }

    /// A finite float.
    #[inline(always)]
    pub fn float(&mut self, value: f64) -> ErlNifTerm {
        if let Some((_, space)) = &mut self.in_place
            && let Some(float) = space.float(value)
        {
            return float;
        }
        self.spend(FLOAT);
        self.make.float(value)
    }

    /// The part of a binary that starts at this offset.
    #[inline(always)]
    pub fn sub_binary(&mut self, binary: &Binary<'a>, start: usize, len: usize) -> ErlNifTerm {
        self.spend(SUB_BINARY);
        self.make.sub_binary(binary, start, len)
    }

    /// A list of these.
    #[inline(always)]
    pub fn list(&mut self, items: &[ErlNifTerm]) -> ErlNifTerm {
        if items.is_empty() {
            return self.empty_list;
        }
        if let Some((_, space)) = &mut self.in_place
            && let Some(list) = space.list(items, self.empty_list)
        {
            return list;
        }
        self.spend(2 * items.len());
        self.make.list(items)
    }

    /// A binary. `None`: a large one that there is no memory for.
    #[inline(always)]
    pub fn binary(&mut self, bytes: &[u8]) -> Option<ErlNifTerm> {
        if let Some((_, space)) = &mut self.in_place
            && let Some(binary) = space.binary(bytes)
        {
            return Some(binary);
        }
        self.need(2 + bytes.len().div_ceil(8));
        self.make.binary(bytes)
    }

    /// A map of these keys, all different, and values. `None` when keys repeat.
    #[inline(always)]
    pub fn map(&mut self, keys: &[ErlNifTerm], values: &[ErlNifTerm]) -> Option<ErlNifTerm> {
        self.need(4 + keys.len() + values.len());
        self.make.map(keys, values)
    }

    /// A map of these keys, at least one and at most [`SMALL_MAP`](rustyjson_core::builder::SMALL_MAP), and values, and its keys for
    /// [`Heap::like`]. The places name the member for each place of the VM's order.
    #[inline(always)]
    pub fn new_map(&mut self, keys: &[ErlNifTerm], values: &[ErlNifTerm], places: &[u8]) -> Option<(Keys, ErlNifTerm)> {
        self.in_place.as_mut()?.1.new_map(keys, values, places)
    }

    /// A tuple of two.
    #[inline(always)]
    pub fn pair(&mut self, first: ErlNifTerm, second: ErlNifTerm) -> ErlNifTerm {
        let written = self.in_place.as_mut().and_then(|(_, space)| space.pair(first, second));
        written.unwrap_or_else(|| self.make.tuple(&[first, second]))
    }

    /// Whether [`Heap::like`] may make a map.
    #[inline(always)]
    pub fn has_shapes(&self) -> bool {
        self.repeats && self.in_place.is_some()
    }

    /// Whether keys may come again.
    #[inline(always)]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether the first keys of objects say whether keys may come again.
    #[inline(always)]
    pub fn watches(&self) -> bool {
        self.watched
    }

    /// An object has a first key that starts with these bytes, if it is watched.
    #[inline(always)]
    pub fn note_first_key(&mut self, first_keys: &mut FirstKeys, head: u64) {
        if self.watched {
            let known = &mut first_keys[(head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize];
            self.repeats |= *known == head;
            *known = head;
        }
    }

    /// A map with the same keys as another, in whose order the places name the values.
    #[inline(always)]
    pub fn like(&mut self, keys: Keys, values: &[ErlNifTerm], places: &[u8]) -> Option<ErlNifTerm> {
        self.in_place.as_mut()?.1.map(keys, values, places)
    }

    /// Keys and values of a small map of this call, in the VM's order.
    #[inline(always)]
    pub fn members(&self, map: Raw<'a>) -> Option<Members<'a>> {
        let (layout, _) = self.in_place.as_ref()?;
        if kind(map.word()) != Kind::Boxed {
            return None;
        }
        let (tuple, SmallMap { keys, values }) = layout.keys(map)?;
        Some((tuple, terms_of(keys), terms_of(values)))
    }

    /// A map of these keys and values; in place, if there is a tuple of the keys, and the place of the value of each.
    #[inline(always)]
    pub fn filled(
        &mut self,
        ordered: Option<&(Keys, Vec<u8>)>,
        keys: &[ErlNifTerm],
        values: &[ErlNifTerm],
    ) -> Option<ErlNifTerm> {
        let written = ordered.and_then(|(tuple, places)| self.like(*tuple, values, places));
        written.or_else(|| self.map(keys, values))
    }

    /// The VM itself opens a roomy fragment when this does not fit.
    #[inline(always)]
    fn spend(&mut self, words: usize) {
        self.left = if words <= self.left { self.left - words } else { SPARE };
    }

    #[inline(always)]
    fn need(&mut self, words: usize) {
        if words > self.left {
            self.open(words);
        }
        self.left = self.left.saturating_sub(words);
    }

    #[cold]
    fn open(&mut self, words: usize) {
        if words <= LARGE {
            let fillers = [self.filler; SPARE + SLACK];
            let _ = self.make.tuple(&fillers[..self.left + SLACK]);
            self.left = SPARE;
        }
    }
}
