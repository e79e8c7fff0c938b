//! Terms where they stand in the memory of the VM: list cells, floats, short binaries and small maps.
//!
//! Asked through the VM's functions, a map of 8 members takes 20 calls, and each is about as much as what it tells. What
//! is assumed about the layout stands in [`words`](super::words). It is tried out on terms of each kind when the library is
//! first used; where anything differs, and where the environment variable `RUSTYJSON_IN_PLACE` is `false`, the functions are
//! asked.

use super::in_place::InPlace;
use super::read::{Raw, SmallMap};
use super::space::Keys;
use super::words::{self, Members, Words};
use crate::tags::{Kind, kind};
use rustler::Env;

/// What is behind a term's pointer. Its existence means that the layout is the known one.
#[derive(Debug)]
pub struct Layout(pub(super) Words);

impl Layout {
    /// Head and tail of a term whose tag is that of a list.
    #[inline(always)]
    pub fn cell<'a>(&self, list: Raw<'a>) -> (Raw<'a>, Raw<'a>) {
        debug_assert!(kind(list.word()) == Kind::List);
        // SAFETY: such a term points to a cell, two terms of the same environment; it does not move during the call. That
        // the tag and the cell are so was tried out before a `Layout` was made.
        unsafe {
            let [head, tail] = words::cell(list.word());
            (Raw::from_word(head), Raw::from_word(tail))
        }
    }

    /// The value of a term whose tag is that of a boxed one, if it is a float.
    #[inline(always)]
    pub fn float(&self, term: Raw<'_>) -> Option<f64> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        // SAFETY: such a term points to its header. All of this was tried out.
        unsafe { self.0.float(term.word()) }
    }

    /// The same, if it is a binary on the heap.
    #[inline(always)]
    pub fn binary<'a>(&self, term: Raw<'a>) -> Option<&'a [u8]> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        // SAFETY: such a term points to its header, and a binary's bytes never change. All of this was tried out.
        unsafe { self.0.binary(term.word()) }
    }

    /// The same, if it is a small map.
    #[inline(always)]
    pub fn small_map<'a>(&self, term: Raw<'a>) -> Option<SmallMap<'a>> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        // SAFETY: such a term points to its header; a map has so many keys and values, each a word that is a term, as `Raw`
        // is. All of this was tried out.
        unsafe {
            let Members { len, keys, values, .. } = self.0.small_map(term.word())?;
            let (keys, values) = (keys.cast(), values.cast());
            Some(SmallMap {
                keys: std::slice::from_raw_parts(keys, len),
                values: std::slice::from_raw_parts(values, len),
            })
        }
    }

    /// A small map, and its keys to make others of.
    pub fn keys<'a>(&self, map: Raw<'a>) -> Option<(Keys, SmallMap<'a>)> {
        let members = self.small_map(map)?;
        // SAFETY: as in `small_map`; the tuple has as many elements as the map has keys.
        unsafe { Some((Keys::new(self.0.small_map(map.word())?.tuple, members.keys.len()), members)) }
    }

    /// Room for terms of this call, of which about so many words will be needed.
    #[inline(always)]
    pub fn space<'a>(&'static self, env: Env<'a>, first: usize) -> InPlace<'a> {
        InPlace::new(&self.0, env, first)
    }
}
