//! The meaning of the low bits of a term's word (`erts/emulator/beam/erl_term.h`). They only select the VM function that is tried
//! first, or save a call for atoms and small integers, and they are tested before they are trusted.

use crate::raw::read::Raw;
use rustler::{Atom, Encoder, Env, Term};
use std::sync::OnceLock;

/// What the low bits of a word say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A list that is not empty.
    List,
    /// A term with a header: a map, tuple, binary, float or large integer.
    Boxed,
    /// A small integer.
    Small,
    /// An atom.
    Atom,
    /// Something else, or unknown.
    Other,
}

/// The kind of a term by its word.
#[inline(always)]
pub const fn kind(word: usize) -> Kind {
    match word & 0b11 {
        0b01 => Kind::List,
        0b10 => Kind::Boxed,
        0b11 if word & 0b1111 == 0b1111 => Kind::Small,
        0b11 if word & 0b11_1111 == 0b00_1011 => Kind::Atom,
        _ => Kind::Other,
    }
}

/// The integer of a small integer's word.
#[inline(always)]
pub const fn small(word: usize) -> i64 {
    (word as isize >> 4) as i64
}

/// The word of a small integer.
#[inline(always)]
pub const fn of_small(value: i64) -> usize {
    (value as usize) << 4 | 0b1111
}

/// Tries the tags on terms of each kind.
fn try_out(env: Env<'_>) -> bool {
    let word = |term: Term<'_>| Raw::of(term).word();
    let boxed = [
        1.5_f64.encode(env),
        "a".encode(env),
        (1, 2).encode(env),
        i64::MAX.encode(env),
        u64::MAX.encode(env),
        Term::map_new(env),
    ];
    let smalls = [0, 1, -1, 255, -256, 1 << 27, -(1 << 27), (1 << 59) - 1, -(1 << 59)];
    let atoms = ["nil", "true", "__struct__", "values"].map(|text| Atom::from_str(env, text));
    size_of::<usize>() == 8
        && boxed.iter().all(|term| kind(word(*term)) == Kind::Boxed)
        && smalls.iter().all(|n: &i64| {
            kind(word(n.encode(env))) == Kind::Small
                && small(word(n.encode(env))) == *n
                && of_small(*n) == word(n.encode(env))
        })
        && atoms.iter().flatten().all(|atom| kind(Raw::atom(*atom).word()) == Kind::Atom)
        && kind(word(vec![1].encode(env))) == Kind::List
        && kind(word(Term::list_new_empty(env))) == Kind::Other
        && kind(word(env.pid().encode(env))) == Kind::Other
}

/// Whether the tags are what is written here.
#[inline(always)]
pub fn hold(env: Env<'_>) -> bool {
    static HOLD: OnceLock<bool> = OnceLock::new();
    *HOLD.get_or_init(|| try_out(env))
}
