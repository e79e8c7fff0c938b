//! List cells, floats, short binaries and small maps, read where they stand.
//!
//! Asked through the VM's functions, a map of 8 members takes 20 calls, and each is about as much as what it tells. What
//! is assumed about the layout (`erl_map.h` and `erl_binary.h` in `erts/emulator/beam`) is tried out on terms of each
//! kind when the library is first used; where anything differs, the functions are asked.

use super::read::{Look, Raw, SmallMap};
use crate::tags::{self, Kind, kind};
use rustler::{Binary, Encoder, Env, Term};
use std::sync::OnceLock;

/// What is behind a term's pointer. Its existence means that the layout is the known one.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    float: usize,
    small_map: usize,
    /// The kind of a binary on the heap, without its length.
    binary: usize,
    /// Whether its length is counted in bits, as from OTP 27 on.
    bits: bool,
}

/// The bits of a header that tell the kind of term.
const KIND: usize = 0b11_1111;
/// The longest binary that the VM keeps on the heap.
const SHORT: usize = 64;

/// A boxed term's words: its header and what follows.
#[inline(always)]
fn boxed(word: usize) -> *const usize {
    std::ptr::with_exposed_provenance(word - 0b10)
}

impl Layout {
    /// The layout, if it is the known one.
    #[inline(always)]
    pub fn get(env: Env<'_>) -> Option<Self> {
        static LAYOUT: OnceLock<Option<Layout>> = OnceLock::new();
        *LAYOUT.get_or_init(|| try_out(env))
    }

    /// Head and tail of a term whose tag is that of a list.
    #[inline(always)]
    pub fn cell<'a>(self, list: Raw<'a>) -> (Raw<'a>, Raw<'a>) {
        debug_assert!(kind(list.word()) == Kind::List);
        // SAFETY: such a term points to a cell, two words that are terms of the same environment; it does not move during
        // the call. That the tag and the cell are so was tried out before a `Layout` was made.
        let [head, tail] = unsafe { *std::ptr::with_exposed_provenance::<[Raw<'a>; 2]>(list.word() - 0b01) };
        (head, tail)
    }

    /// The value of a term whose tag is that of a boxed one, if it is a float.
    #[inline(always)]
    pub fn float(self, term: Raw<'_>) -> Option<f64> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        let words = boxed(term.word());
        // SAFETY: such a term points to its header; behind that of a float stands the number. Both were tried out.
        unsafe { (*words == self.float).then(|| f64::from_bits(*words.add(1) as u64)) }
    }

    /// The same, if it is a binary on the heap.
    #[inline(always)]
    pub fn binary<'a>(self, term: Raw<'a>) -> Option<&'a [u8]> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        let words = boxed(term.word());
        // SAFETY: such a term points to its header; behind that of a binary on the heap stand its length and its bytes,
        // which are never changed. Both were tried out.
        unsafe {
            if *words & KIND != self.binary {
                return None;
            }
            let len = *words.add(1);
            let len = if !self.bits {
                len
            } else if len.is_multiple_of(8) {
                len / 8
            } else {
                return None;
            };
            Some(std::slice::from_raw_parts(words.add(2).cast(), len))
        }
    }

    /// The same, if it is a small map.
    #[inline(always)]
    pub fn small_map<'a>(self, term: Raw<'a>) -> Option<SmallMap<'a>> {
        debug_assert!(kind(term.word()) == Kind::Boxed);
        let words = boxed(term.word());
        // SAFETY: such a term points to its header; behind that of a small map stand the number of its members, the tuple
        // of its keys, and the values. `Raw` is such a word and nothing else. All of it was tried out.
        unsafe {
            if *words != self.small_map {
                return None;
            }
            let len = *words.add(1);
            let keys = boxed(*words.add(2)).add(1).cast();
            let values = words.add(3).cast();
            Some(SmallMap {
                keys: std::slice::from_raw_parts(keys, len),
                values: std::slice::from_raw_parts(values, len),
            })
        }
    }
}

/// Reads terms of each kind in both ways.
fn try_out(env: Env<'_>) -> Option<Layout> {
    if !tags::hold(env) {
        return None;
    }
    let raw = |term: Term<'_>| Raw::of(term).word();
    // SAFETY: the words are boxed terms, so that they point to at least a header.
    let header = |term: Term<'_>| unsafe { *boxed(raw(term)) };
    let map = |len: i64| {
        let keys: Vec<_> = (0..len).rev().collect();
        let values: Vec<_> = keys.iter().map(|key| key * 3).collect();
        Term::map_from_arrays(env, &keys, &values).ok()
    };
    let binary = "a".encode(env);
    // SAFETY: a binary's header is followed by at least one word.
    let len = unsafe { *boxed(raw(binary)).add(1) };
    let layout = Layout {
        float: header(1.5_f64.encode(env)),
        small_map: header(map(2)?),
        binary: header(binary) & KIND,
        bits: len == 8,
    };
    // Of binaries that are elsewhere, only the header is looked at.
    let long = "a".repeat(SHORT + 1).encode(env);
    let part = look_for_part(env)?;
    let others =
        [binary, long, part, (1, 2).encode(env), i64::MAX.encode(env), u64::MAX.encode(env), map(33)?, map(100)?];
    let floats = [0.0, -2.25, f64::MAX, f64::MIN_POSITIVE];
    let no_binaries = [long, part, 1.5_f64.encode(env), map(2)?];
    let holds = layout.float != layout.small_map
        && others[3..].iter().chain(&no_binaries).all(|term| header(*term) & KIND != layout.binary)
        && others.iter().all(|term| header(*term) != layout.float && header(*term) != layout.small_map)
        && floats.iter().all(|value| layout.float(Raw::of(value.encode(env))) == Some(*value))
        && [0, 1, 2, 8, 31, 32].into_iter().all(|len| map(len).is_some_and(|map| is_read_right(layout, map, len)))
        && [0, 1, 7, 8, 9, 15, 16, 63, 64].into_iter().all(|len| are_bytes_right(layout, env, len))
        && are_cells_right(layout, env);
    holds.then_some(layout)
}

/// A part of a long binary that is too long to be copied.
fn look_for_part(env: Env<'_>) -> Option<Term<'_>> {
    let long = Binary::from_term("a".repeat(8 * SHORT).encode(env)).ok()?;
    Some(long.make_subbinary(8, 4 * SHORT).ok()?.to_term(env))
}

fn are_bytes_right(layout: Layout, env: Env<'_>, len: usize) -> bool {
    let text: String = ('0'..='z').cycle().take(len).collect();
    let term = Raw::of(text.encode(env));
    // SAFETY: a binary's header is followed by at least one word. The length is looked at before it is believed.
    let said = unsafe { *boxed(term.word()).add(1) };
    said == if layout.bits { 8 * len } else { len } && layout.binary(term) == Some(text.as_bytes())
}

fn is_read_right(layout: Layout, map: Term<'_>, len: i64) -> bool {
    let small = Raw::of(map);
    // SAFETY: a map of no member at all still has its header, its size and its keys.
    let (size, keys) = unsafe {
        let words = boxed(small.word());
        (*words.add(1), *words.add(2))
    };
    // Looked at before they are believed.
    if size as i64 != len || kind(keys) != Kind::Boxed {
        return false;
    }
    if len == 0 {
        return layout.small_map(small).is_some_and(|map| map.keys.is_empty() && map.values.is_empty());
    }
    let Some(SmallMap { keys, values }) = layout.small_map(small) else { return false };
    (0..len).zip(keys.iter().zip(values)).all(|(n, (key, value))| {
        kind(key.word()) == Kind::Small
            && kind(value.word()) == Kind::Small
            && tags::small(key.word()) == n
            && tags::small(value.word()) == 3 * n
    })
}

fn are_cells_right(layout: Layout, env: Env<'_>) -> bool {
    let list = Raw::of(vec![1, 2].encode(env));
    let look = Look::new(env);
    let Some((head, tail)) = look.cell(list) else { return false };
    let (second, end) = layout.cell(tail);
    layout.cell(list) == (head, tail)
        && tags::small(head.word()) == 1
        && tags::small(second.word()) == 2
        && look.is_empty_list(end)
}
