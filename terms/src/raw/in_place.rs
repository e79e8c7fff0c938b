//! Terms of a call written in place: [`Space`] over the heap of the process that calls.

use super::read::{term_of, word_of, words_of};
use super::space::{Blocks, Keys, LARGEST, Space};
use super::words::{Words, boxed, tuple_header};
use crate::atoms;
use rustler::Env;
use rustler::sys::{self, ErlNifTerm};
use std::sync::OnceLock;

/// Makes terms, all of the same call. `None`: this one is left to the VM.
pub struct InPlace<'a>(Space<'static, Heap<'a>>);

impl<'a> InPlace<'a> {
    /// For this call, of which about so many words will be needed.
    #[inline(always)]
    pub(super) fn new(words: &'static Words, env: Env<'a>, first: usize) -> Self {
        Self(Space::new(words, Heap(env), first))
    }

    /// An integer that is a word itself.
    #[inline(always)]
    pub fn integer(&self, value: i64) -> Option<ErlNifTerm> {
        // The highest five bits are the same: the layout was tried out with the smallest and the largest such.
        (value << 4 >> 4 == value).then(|| term_of(crate::tags::of_small(value)))
    }

    /// A float, which must be finite.
    #[inline(always)]
    pub fn float(&mut self, value: f64) -> Option<ErlNifTerm> {
        self.0.float(value).map(term_of)
    }

    /// A short binary.
    #[inline(always)]
    pub fn binary(&mut self, bytes: &[u8]) -> Option<ErlNifTerm> {
        self.0.binary(bytes).map(term_of)
    }

    /// A list of these terms, at least one, and the empty list.
    #[inline(always)]
    pub fn list(&mut self, items: &[ErlNifTerm], end: ErlNifTerm) -> Option<ErlNifTerm> {
        self.0.list(words_of(items), word_of(end)).map(term_of)
    }

    /// A map of these keys; their values are those of the list, in the order of the places.
    #[inline(always)]
    pub fn map(&mut self, keys: Keys, values: &[ErlNifTerm], places: &[u8]) -> Option<ErlNifTerm> {
        self.0.map(keys, words_of(values), places).map(term_of)
    }

    /// A map with these keys, at least one and at most 32, all different. The places name the member for each place of the VM's order.
    #[inline(always)]
    pub fn new_map(&mut self, keys: &[ErlNifTerm], values: &[ErlNifTerm], places: &[u8]) -> Option<(Keys, ErlNifTerm)> {
        let (keys, map) = self.0.new_map(words_of(keys), words_of(values), places)?;
        Some((keys, term_of(map)))
    }

    /// A tuple of two.
    #[inline(always)]
    pub fn pair(&mut self, first: ErlNifTerm, second: ErlNifTerm) -> Option<ErlNifTerm> {
        self.0.tuple(&[word_of(first), word_of(second)]).map(term_of)
    }
}

/// The heap of the process that calls.
pub(super) struct Heap<'a>(pub Env<'a>);

// SAFETY: a tuple that was just made is memory of this call alone, and all its elements are the same atom.
unsafe impl Blocks for Heap<'_> {
    /// A tuple, of which nobody else will know.
    fn block(&mut self, words: usize) -> Option<*mut usize> {
        static FILLER: OnceLock<Vec<ErlNifTerm>> = OnceLock::new();
        let filler = FILLER.get_or_init(|| vec![atoms::nil().as_c_arg(); LARGEST]).get(..words.checked_sub(1)?)?;
        // SAFETY: pointer and length belong to a list of atoms, which are valid in every call.
        let tuple = unsafe { sys::enif_make_tuple_from_array(self.0.as_c_arg(), filler.as_ptr(), filler.len() as u32) };
        // SAFETY: a tuple of at least one element is a boxed term: it points to its header.
        let block = unsafe { boxed(word_of(tuple)) };
        // SAFETY: the same.
        (unsafe { *block } == tuple_header(filler.len())).then_some(block.cast_mut())
    }
}
