//! Terms of object keys that were made earlier in the same call. Real documents repeat a few keys in every record; a hit saves
//! making the term again, and all these maps share one copy.
//!
//! Direct-mapped, 256 slots, no probing: the first and last bytes of a key select its slot, and a new key replaces the old one.
//! The cost of a miss is constant, so no document can make the table slow. While nearly all keys are new, as in one large
//! object, the table is left alone.

use rustler::sys::ErlNifTerm;
use rustyjson_core::Key;
use rustyjson_core::builder::SeenKey;

const SLOTS: usize = 256;

#[derive(Clone, Copy)]
struct Slot {
    key: SeenKey,
    /// The call that filled the slot.
    call: u32,
    term: ErlNifTerm,
}

/// The cache, kept between calls as memory only: what an earlier call left is never used.
pub struct KeyCache {
    slots: Box<[Slot; SLOTS]>,
    call: u32,
    /// Keys that were not there, less those that were, which count for more.
    missed: u32,
    /// Keys that are not looked up.
    skipped: u32,
}

/// When there were `MISSES` more misses than hits, the next `SKIPPED` keys are not looked up, and then `TRIED_AGAIN` are.
const MISSES: u32 = 512;
const SKIPPED: u32 = 2048;
const TRIED_AGAIN: u32 = 64;
/// One hit makes up for this many misses.
const HIT: u32 = 8;

impl Default for KeyCache {
    fn default() -> Self {
        let empty = Slot { key: SeenKey::default(), call: 0, term: ErlNifTerm::default() };
        Self { slots: Box::new([empty; SLOTS]), call: 0, missed: 0, skipped: 0 }
    }
}

/// Atoms by their short names. An atom stays as long as the VM runs, so these are good for every later call.
pub struct AtomKeys(KeyCache);

impl Default for AtomKeys {
    fn default() -> Self {
        Self(KeyCache { call: 1, ..KeyCache::default() })
    }
}

impl AtomKeys {
    /// Keys up to this length are told apart without a look at the input they came from.
    pub const LONGEST: usize = Key::EXACT;

    /// The atom of a key that is not longer, found by `find` if it is not there.
    #[inline(always)]
    pub fn get<E>(&mut self, key: &Key<'_>, find: impl FnOnce() -> Result<ErlNifTerm, E>) -> Result<ErlNifTerm, E> {
        self.0.get(&[], 0, key, find)
    }
}

impl KeyCache {
    /// Starts a new call.
    #[inline(always)]
    pub fn start(&mut self) {
        self.call = self.call.wrapping_add(1);
        (self.missed, self.skipped) = (0, 0);
        if self.call == 0 {
            self.restart();
        }
    }

    // A call, for its frame is as large as the table.
    #[cold]
    #[inline(never)]
    fn restart(&mut self) {
        *self = Self { call: 1, ..Self::default() };
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
        if self.skipped > 0 {
            self.skipped -= 1;
            return make();
        }
        let slot = &mut self.slots[index(key)];
        if slot.call == self.call && key.is(&slot.key, input) {
            self.missed = self.missed.saturating_sub(HIT);
            return Ok(slot.term);
        }
        self.missed += 1;
        if self.missed > MISSES {
            (self.missed, self.skipped) = (MISSES - TRIED_AGAIN, SKIPPED);
        }
        *slot = Slot { key: key.seen(start), call: self.call, term: make()? };
        Ok(slot.term)
    }
}

#[inline(always)]
fn index(key: &Key<'_>) -> usize {
    let len = key.text.bytes().len() as u64;
    let mixed = (key.head ^ key.tail.rotate_left(29)).wrapping_add(len).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize
}
