//! Making terms.

use super::copy::copy;
use super::read::{term_of, word_of};
use rustler::sys::{self, ErlNifTerm};
use rustler::{Env, Term};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Longer binaries are not made with the call that ends the VM when memory runs out.
const LARGE: usize = 1 << 16;

/// Lists of more terms are not made with one call, for the VM counts the words of such a list in 32 bits.
const LONGEST_ARRAY: usize = (u32::MAX / 2) as usize;

/// Makes terms in one environment. The terms are raw: eight bytes instead of rustler's sixteen, so that they can be
/// handed to the VM by the array.
#[derive(Clone, Copy)]
pub struct Maker<'a> {
    env: Env<'a>,
}

impl<'a> Maker<'a> {
    /// A maker for this call.
    pub fn new(env: Env<'a>) -> Self {
        Self { env }
    }

    /// The environment terms are made in.
    pub fn env(self) -> Env<'a> {
        self.env
    }

    /// A raw term as rustler's.
    pub fn term(self, raw: ErlNifTerm) -> Term<'a> {
        // SAFETY: callers pass terms that this maker made in the same call.
        unsafe { Term::new(self.env, raw) }
    }

    /// An integer.
    #[inline(always)]
    pub fn integer(self, value: i64) -> ErlNifTerm {
        // SAFETY: the environment is valid.
        unsafe { sys::enif_make_int64(self.env.as_c_arg(), value) }
    }

    /// A float, which must be finite.
    #[inline(always)]
    pub fn float(self, value: f64) -> ErlNifTerm {
        // SAFETY: the environment is valid. (For NaN or infinity the VM would make an exception, not undefined behaviour.)
        unsafe { sys::enif_make_double(self.env.as_c_arg(), value) }
    }

    /// A binary with these bytes. `None`: a large one that there is no memory for.
    #[inline(always)]
    pub fn binary(self, bytes: &[u8]) -> Option<ErlNifTerm> {
        if bytes.len() > LARGE {
            return self.large_binary(bytes);
        }
        let mut term = MaybeUninit::uninit();
        // SAFETY: `enif_make_new_binary` sets the term and returns writable memory of the length asked for, which
        // cannot overlap `bytes`.
        unsafe {
            let memory = sys::enif_make_new_binary(self.env.as_c_arg(), bytes.len(), term.as_mut_ptr());
            copy(bytes, memory);
            Some(term.assume_init())
        }
    }

    /// The same, in the VM's way of asking that can be refused.
    #[cold]
    fn large_binary(self, bytes: &[u8]) -> Option<ErlNifTerm> {
        let mut binary = rustler::OwnedBinary::new(0);
        if !binary.realloc(bytes.len()) {
            return None;
        }
        binary.as_mut_slice().copy_from_slice(bytes);
        Some(binary.release(self.env).to_term(self.env).as_c_arg())
    }

    /// The part of a binary that `range` names.
    #[inline(always)]
    pub fn sub_binary(self, binary: &rustler::Binary<'a>, start: usize, len: usize) -> ErlNifTerm {
        assert!(start.checked_add(len).is_some_and(|end| end <= binary.len()));
        // SAFETY: the term is a binary and the range lies inside it.
        unsafe { sys::enif_make_sub_binary(self.env.as_c_arg(), binary.to_term(self.env).as_c_arg(), start, len) }
    }

    /// A proper list of these terms.
    #[inline(always)]
    pub fn list(self, terms: &[ErlNifTerm]) -> ErlNifTerm {
        if terms.len() > LONGEST_ARRAY {
            return self.long_list(terms);
        }
        // SAFETY: pointer and length belong to a slice of terms of this call; twice the length fits the 32 bits that the VM counts with.
        unsafe { sys::enif_make_list_from_array(self.env.as_c_arg(), terms.as_ptr(), terms.len() as u32) }
    }

    /// The same, a cell at a time.
    #[cold]
    fn long_list(self, terms: &[ErlNifTerm]) -> ErlNifTerm {
        terms.iter().rev().fold(self.empty_list(), |tail, &head| {
            // SAFETY: both are terms of this call.
            unsafe { sys::enif_make_list_cell(self.env.as_c_arg(), head, tail) }
        })
    }

    /// The empty list: one word as long as the VM runs.
    #[inline(always)]
    pub fn empty_list(self) -> ErlNifTerm {
        static WORD: OnceLock<usize> = OnceLock::new();
        term_of(*WORD.get_or_init(|| word_of(self.list(&[]))))
    }

    /// A tuple of these terms.
    #[inline(always)]
    pub fn tuple(self, terms: &[ErlNifTerm]) -> ErlNifTerm {
        // SAFETY: pointer and length belong to a slice of terms of this call; callers keep it short.
        unsafe { sys::enif_make_tuple_from_array(self.env.as_c_arg(), terms.as_ptr(), terms.len() as u32) }
    }

    /// A map of these keys, all different, and values. `None` when keys repeat (in a map of at most 32 keys; beyond, the
    /// VM may not notice: erlang/otp#10975).
    #[inline(always)]
    pub fn map(self, keys: &[ErlNifTerm], values: &[ErlNifTerm]) -> Option<ErlNifTerm> {
        assert_eq!(keys.len(), values.len());
        let mut map = MaybeUninit::uninit();
        // SAFETY: both arrays have the length given; the map is read only when the call says that it was set.
        unsafe {
            let env = self.env.as_c_arg();
            let made =
                sys::enif_make_map_from_arrays(env, keys.as_ptr(), values.as_ptr(), keys.len(), map.as_mut_ptr());
            (made != 0).then(|| map.assume_init())
        }
    }

    /// The map with this value under this key. A large map and the new one share their other members. `None` if it is not a map.
    pub fn put(self, map: ErlNifTerm, key: ErlNifTerm, value: ErlNifTerm) -> Option<ErlNifTerm> {
        let mut changed = MaybeUninit::uninit();
        // SAFETY: all are terms of this call; the new map is read only when the call says that it was set.
        unsafe {
            let made = sys::enif_make_map_put(self.env.as_c_arg(), map, key, value, changed.as_mut_ptr());
            (made != 0).then(|| changed.assume_init())
        }
    }

    /// The atom with this ASCII name of at most 255 bytes, if there is one.
    #[inline(always)]
    pub fn existing_ascii_atom(self, name: &[u8]) -> Option<ErlNifTerm> {
        assert!(name.len() <= 255 && name.is_ascii());
        let mut atom = MaybeUninit::uninit();
        let latin1 = sys::ErlNifCharEncoding::ERL_NIF_LATIN1;
        // SAFETY: pointer and length belong to a slice; ASCII is Latin-1, and the length is within an atom's. The atom is read
        // only when the call says that it was set.
        unsafe {
            let (name, len) = (name.as_ptr().cast(), name.len());
            let found = sys::enif_make_existing_atom_len(self.env.as_c_arg(), name, len, atom.as_mut_ptr(), latin1);
            (found != 0).then(|| atom.assume_init())
        }
    }
}
