//! Terms of object keys that were made earlier in the same call. Real documents repeat a few keys in every record; a
//! hit saves making the term again, and all those maps share one copy of it.
//!
//! Direct-mapped, 256 slots, no probing: a key finds its slot by its first and last bytes, and a newcomer takes the
//! slot. So the cost of a miss is constant and nobody can make the table slow.

use rustler::sys::ErlNifTerm;
use rustyjson_core::Key;

const SLOTS: usize = 256;
/// Head, tail and length tell keys of up to this many bytes apart.
const EXACT: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    head: u64,
    tail: u64,
    /// Offset in the input.
    start: usize,
    len: u32,
    /// The call that filled the slot.
    call: u32,
    term: ErlNifTerm,
}

/// The cache, kept between calls as memory only: what an earlier call left is never used.
pub struct KeyCache {
    slots: Box<[Slot; SLOTS]>,
    call: u32,
}

impl Default for KeyCache {
    fn default() -> Self {
        let empty = Slot { head: 0, tail: 0, start: 0, len: 0, call: 0, term: ErlNifTerm::default() };
        Self { slots: Box::new([empty; SLOTS]), call: 0 }
    }
}

impl KeyCache {
    /// Starts a new call.
    pub fn start(&mut self) {
        self.call = self.call.wrapping_add(1);
        if self.call == 0 {
            *self = Self { call: 1, ..Self::default() };
        }
    }

    /// The term of the key that stands at `start` of the input, made by `make` if it is not there.
    #[inline(always)]
    pub fn get<E>(
        &mut self,
        input: &[u8],
        start: usize,
        key: &Key<'_>,
        make: impl FnOnce() -> Result<ErlNifTerm, E>,
    ) -> Result<ErlNifTerm, E> {
        let text = key.text.bytes();
        let len = text.len() as u32;
        let slot = &mut self.slots[index(key, len)];
        let same = slot.call == self.call
            && slot.len == len
            && slot.head == key.head
            && slot.tail == key.tail
            && (text.len() <= EXACT || input.get(slot.start..slot.start + text.len()) == Some(text));
        if !same {
            *slot = Slot { head: key.head, tail: key.tail, start, len, call: self.call, term: make()? };
        }
        Ok(slot.term)
    }
}

#[inline(always)]
fn index(key: &Key<'_>, len: u32) -> usize {
    let mixed = (key.head ^ key.tail.rotate_left(29)).wrapping_add(u64::from(len)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize
}
