//! The atoms that the core knows by name, as words of this VM.

use crate::atoms;
use crate::raw::read::Raw;
use rustler::{Atom, Env};
use rustyjson_core::encode::Known;
use std::sync::OnceLock;

/// Words of a filter: 512 bytes, of which a look reads eight.
const PLACES: usize = 64;

/// Them, by their numbers.
pub struct Names {
    terms: Vec<Raw<'static>>,
    /// Which words may be among them: most modules are not, and comparing all of them takes 15 ns. With 256 bits each sixth module
    /// was compared.
    filter: [u64; PLACES],
}

/// The names in this VM.
pub fn names(env: Env<'_>) -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| {
        let term = |known: &Known| Raw::atom(Atom::from_str(env, known.text()).unwrap_or(atoms::nil()));
        let terms: Vec<_> = Known::ALL.iter().map(term).collect();
        let mut filter = [0; PLACES];
        for (place, bit) in terms.iter().map(|known| place(known.word())) {
            filter[place] |= bit;
        }
        Names { terms, filter }
    })
}

impl Names {
    /// The atom.
    #[inline(always)]
    pub fn term(&self, known: Known) -> Raw<'static> {
        self.terms[known as usize]
    }

    /// Whether an atom may be one of them.
    #[inline(always)]
    pub fn may_have(&self, atom: Raw<'_>) -> bool {
        let (place, bit) = place(atom.word());
        self.filter[place] & bit != 0
    }

    /// Which one an atom is.
    pub fn find(&self, atom: Raw<'_>) -> Option<Known> {
        let number = self.terms.iter().position(|known| known.word() == atom.word())?;
        Known::ALL.get(number).copied()
    }
}

/// The place of an atom in a filter. The lowest bits only say that it is an atom.
#[inline(always)]
const fn place(word: usize) -> (usize, u64) {
    let number = word >> 6;
    (number >> 6 & (PLACES - 1), 1 << (number & 63))
}
