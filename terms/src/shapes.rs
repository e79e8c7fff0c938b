//! Objects with the same keys in the same order: where their members belong, and the tuple of their keys.
//!
//! The VM keeps the keys of a small map in a tuple, in an order of its own. Where the first bytes of the keys do not tell that order, the first
//! object of a shape is made by the VM, which finds it and refuses keys that repeat. Those that follow take the tuple and the order from it. Keys are
//! the same when their terms are the same word: the cache of keys gives one term for a key that was seen before.

use crate::raw::{Keys, word_of};
use rustler::sys::ErlNifTerm;
use rustyjson_core::builder::SMALL_MAP;

/// No call has this number.
const NEVER: u32 = 0;
/// Shapes remembered. Length, first key and last key choose the slot of a shape.
const SLOTS: usize = 32;

/// Keys as they come, and the number of the member that belongs in each place.
#[derive(Clone, Copy)]
struct Shape {
    /// The call whose terms these are.
    call: u32,
    keys: Keys,
    terms: [ErlNifTerm; SMALL_MAP],
    places: [u8; SMALL_MAP],
}

/// The table, kept between calls as memory only: what an earlier call left is never used.
#[derive(Default)]
pub struct Shapes {
    slots: Vec<Shape>,
    call: u32,
}

impl Shapes {
    /// Starts a new call.
    #[inline(always)]
    pub fn start(&mut self) {
        self.call = self.call.wrapping_add(1);
        if self.call == NEVER {
            *self = Self { call: 1, ..Self::default() };
        }
    }

    /// The keys of an object whose keys come like this, and the member for each place. At least one key, at most [`SMALL_MAP`].
    #[inline(always)]
    pub fn find(&self, keys: &[ErlNifTerm]) -> Option<(Keys, &[u8])> {
        let shape = self.slots.get(slot(keys))?;
        let found = shape.call == self.call && shape.keys.count() == keys.len() && same(keys, &shape.terms);
        found.then(|| (shape.keys, &shape.places[..keys.len()]))
    }

    /// Remembers a shape: keys as they came, and as the VM put them into the tuple.
    #[inline(never)]
    pub fn learn(&mut self, keys: &[ErlNifTerm], tuple: Keys, ordered: &[ErlNifTerm]) {
        let mut places = [0; SMALL_MAP];
        for (place, key) in places.iter_mut().zip(ordered) {
            let Some(number) = keys.iter().position(|other| other == key) else { return };
            *place = number as u8;
        }
        self.learn_places(keys, tuple, places.get(..ordered.len()).unwrap_or_default());
    }

    /// The same: keys as they came, and the member for each place of the tuple.
    #[inline(never)]
    pub fn learn_places(&mut self, keys: &[ErlNifTerm], tuple: Keys, places: &[u8]) {
        if keys.len() != tuple.count() || keys.len() != places.len() || keys.len() > SMALL_MAP {
            return;
        }
        if self.slots.is_empty() {
            let terms = [ErlNifTerm::default(); SMALL_MAP];
            self.slots.resize(SLOTS, Shape { call: NEVER, keys: tuple, terms, places: [0; SMALL_MAP] });
        }
        let shape = &mut self.slots[slot(keys)];
        shape.places[..keys.len()].copy_from_slice(places);
        shape.terms[..keys.len()].copy_from_slice(keys);
        (shape.keys, shape.call) = (tuple, self.call);
    }
}

/// Whether the list starts with these terms; without a branch for each.
#[inline(always)]
fn same(keys: &[ErlNifTerm], list: &[ErlNifTerm; SMALL_MAP]) -> bool {
    keys.iter().zip(list).fold(0, |different, (a, b)| different | (word_of(*a) ^ word_of(*b))) == 0
}

#[inline(always)]
fn slot(keys: &[ErlNifTerm]) -> usize {
    let word = |key: Option<&ErlNifTerm>| key.map_or(0, |key| word_of(*key) as u64);
    let mixed = word(keys.first()) ^ word(keys.last()).rotate_left(29);
    (mixed.wrapping_add(keys.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize
}
