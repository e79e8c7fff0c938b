//! Keeps heap fragments from being tiny.
//!
//! A NIF's terms go to the process heap while it has room, then to heap fragments. Lists, tuples, floats and sub-binaries
//! open a fragment with 200 words to spare, but binaries and maps open one of exactly their own size, so that a document
//! of strings and objects made an allocation for every term. So the words left are counted, and before a binary or map
//! that would not fit, a short tuple that nobody keeps makes the VM open a fragment with room. 5,000 short strings: 79 ns
//! each without this, 25 with it (`binary_to_term`: 15); 5,000 objects of one member: 158 and 92 (OTP 25).
//!
//! The count knows the VM's term sizes. Where one differs, a fragment is small and nothing else happens.

use crate::raw::make::Maker;
use rustler::sys::ErlNifTerm;

/// Words that the VM adds to a fragment it opens for a list, tuple, float or sub-binary.
const SPARE: usize = 200;
/// Terms larger than this get a fragment of their own.
const LARGE: usize = 160;
/// A filler is this much longer than what seems to be left.
const SLACK: usize = 8;
const FLOAT: usize = 2;
const SUB_BINARY: usize = 5;

/// The words that are left in the fragment at hand.
pub struct Heap {
    left: usize,
    filler: ErlNifTerm,
}

impl Heap {
    /// What is left of the process heap is not known; most small documents fit. `filler` fills the short tuples.
    pub fn new(filler: ErlNifTerm) -> Self {
        Self { left: SPARE, filler }
    }

    /// A float is about to be made.
    #[inline(always)]
    pub fn float(&mut self) {
        self.spend(FLOAT);
    }

    /// A sub-binary is about to be made.
    #[inline(always)]
    pub fn sub_binary(&mut self) {
        self.spend(SUB_BINARY);
    }

    /// A list is about to be made.
    #[inline(always)]
    pub fn list(&mut self, len: usize) {
        self.spend(2 * len);
    }

    /// A binary is about to be made.
    #[inline(always)]
    pub fn binary(&mut self, make: Maker<'_>, len: usize) {
        self.need(make, 2 + len.div_ceil(8));
    }

    /// A map is about to be made.
    #[inline(always)]
    pub fn map(&mut self, make: Maker<'_>, len: usize) {
        self.need(make, 4 + 2 * len);
    }

    /// The VM itself opens a roomy fragment when this does not fit.
    #[inline(always)]
    fn spend(&mut self, words: usize) {
        self.left = if words <= self.left { self.left - words } else { SPARE };
    }

    #[inline(always)]
    fn need(&mut self, make: Maker<'_>, words: usize) {
        if words > self.left {
            self.open(make, words);
        }
        self.left = self.left.saturating_sub(words);
    }

    #[cold]
    fn open(&mut self, make: Maker<'_>, words: usize) {
        if words <= LARGE {
            let fillers = [self.filler; SPARE + SLACK];
            let _ = make.tuple(&fillers[..self.left + SLACK]);
            self.left = SPARE;
        }
    }
}
