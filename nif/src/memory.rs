//! Where a document is written before it becomes a binary.
//!
//! Fresh memory costs a page fault for every 4 KB, about as much as writing them. So each scheduler thread keeps one
//! buffer whose pages stay resident, and a text that fits is copied once, into a binary of its own size. A larger text
//! goes on in memory that becomes the binary itself: as much of it as the thread's last large text had, which the VM
//! mostly still has free, or twice as much each time.

use rustler::sys::ErlNifTerm;
use rustler::{Env, OwnedBinary, Term};
use rustyjson_core::{Buffer, ample};
use rustyjson_terms::raw::make::Maker;

/// Bytes that a thread keeps at most. Nothing a larger text left is kept.
const KEEP: usize = 1 << 20;
/// The least to ask for.
const LEAST: usize = 1 << 12;

/// Memory of binaries. It is not cleared, which would touch every page of it; the core writes before it reads.
pub struct Memory {
    bytes: OwnedBinary,
    /// The thread's own, when the text has outgrown it.
    outgrown: Option<OwnedBinary>,
    /// Length of the thread's last text that did not fit.
    large: usize,
}

impl Memory {
    /// None yet.
    pub fn new() -> Self {
        Self { bytes: OwnedBinary::new(0), outgrown: None, large: 0 }
    }

    /// The first `len` bytes as a term; the thread has its own memory back.
    pub fn binary<'a>(&mut self, env: Env<'a>, len: usize) -> Term<'a> {
        let raw = self.raw_binary(env, len);
        Maker::new(env).term(raw)
    }

    /// The same, raw.
    #[inline(always)]
    pub fn raw_binary(&mut self, env: Env<'_>, len: usize) -> ErlNifTerm {
        if self.outgrown.is_some() {
            self.large = len;
            return self.give_away(env, len);
        }
        let binary = Maker::new(env).binary(self.bytes.as_slice().get(..len).unwrap_or_default());
        // Without memory for a copy it is given away itself.
        binary.unwrap_or_else(|| self.give_away(env, len))
    }

    #[cold]
    #[inline(never)]
    fn give_away(&mut self, env: Env<'_>, len: usize) -> ErlNifTerm {
        let own = self.outgrown.take().unwrap_or_else(|| OwnedBinary::new(0));
        let mut bytes = std::mem::replace(&mut self.bytes, own);
        bytes.realloc_or_copy(len);
        bytes.release(env).to_term(env).as_c_arg()
    }

    /// The thread has its own memory back, whatever became of a larger text.
    #[inline(always)]
    pub fn restart(&mut self) {
        if let Some(own) = self.outgrown.take() {
            self.bytes = own;
        }
    }
}

impl Buffer for Memory {
    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        self.bytes.as_mut_slice()
    }

    #[cold]
    fn grow(&mut self, len: usize) -> bool {
        let double = self.bytes.as_slice().len().saturating_mul(2).max(LEAST);
        if len <= KEEP {
            return ample(len, double.min(KEEP), |target| self.bytes.realloc(target));
        }
        if self.outgrown.is_some() {
            return ample(len, double, |target| self.bytes.realloc(target));
        }
        // Asked for in the size that it ends with, the VM finds the memory of the text before among what it keeps.
        let wanted = if self.large >= len { self.large } else { double };
        let mut larger = OwnedBinary::new(0);
        if !ample(len, wanted, |target| larger.realloc(target)) {
            return false;
        }
        larger.as_mut_slice()[..self.bytes.as_slice().len()].copy_from_slice(self.bytes.as_slice());
        self.outgrown = Some(std::mem::replace(&mut self.bytes, larger));
        true
    }
}
