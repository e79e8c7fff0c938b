//! The kernel of string output: copy and check in one pass.

use super::digits::DigitKernel;
use super::kernel::{Run, ends_run};
use super::marks::MarkKernel;
use super::scalar::Scalar;
use super::vector::Vector;
use fearless_simd::{Simd, SimdBase, SimdMask, u8x16};

/// Bytes that the target must have beyond the length of the source, so that whole blocks can be stored.
pub const SLACK: usize = 16;
const LANES: usize = 16;

/// Copies strings into the output.
pub trait CopyKernel: DigitKernel + MarkKernel {
    /// Copies `source` to the start of `target` up to the first `"`, `\` or control character, and tells where that is
    /// and whether all before it is ASCII. `target` is at least [`SLACK`] longer; the bytes after the run are undefined.
    fn copy_run(self, source: &[u8], target: &mut [u8]) -> Run;

    /// The same for the first `len` bytes of a source that has at least [`SLACK`] more.
    fn copy_padded(self, source: &[u8], len: usize, target: &mut [u8]) -> Run;
}

impl CopyKernel for Scalar {
    #[inline(always)]
    fn copy_run(self, source: &[u8], target: &mut [u8]) -> Run {
        let mut ascii = true;
        for (i, (&byte, to)) in source.iter().zip(target).enumerate() {
            if ends_run(byte) {
                return Run { end: i, ascii };
            }
            *to = byte;
            ascii &= byte < 0x80;
        }
        Run { end: source.len(), ascii }
    }

    #[inline(always)]
    fn copy_padded(self, source: &[u8], len: usize, target: &mut [u8]) -> Run {
        self.copy_run(&source[..len], target)
    }
}

/// Strings and keys are short (half of them under 16 bytes): those go as two overlapping words, checked by word
/// arithmetic. Longer ones go 16 bytes at a time, the last block overlapping the one before it.
impl<S: Simd> CopyKernel for Vector<S> {
    #[inline(always)]
    fn copy_run(self, source: &[u8], target: &mut [u8]) -> Run {
        if source.len() < LANES {
            return copy_short(source, target);
        }
        // The first block is no turn of the loop: the WebAssembly module looks at its deadline in each.
        let (ends, wide) = self.copy_block(&source[..LANES], &mut target[..LANES]);
        if ends != 0 {
            return end_of_run(0, ends, wide, 0);
        }
        let mut pos = LANES;
        let mut high = wide;
        while let Some(block) = source.get(pos..pos + LANES) {
            let (ends, wide) = self.copy_block(block, &mut target[pos..pos + LANES]);
            if ends != 0 {
                return end_of_run(pos, ends, wide, high);
            }
            high |= wide;
            pos += LANES;
        }
        if pos == source.len() {
            return Run { end: pos, ascii: high == 0 };
        }
        // Bytes before `pos` are seen again; none of them ends the run.
        let last = source.len() - LANES;
        let (ends, wide) = self.copy_block(&source[last..], &mut target[last..last + LANES]);
        if ends != 0 {
            return end_of_run(last, ends, wide, high);
        }
        Run { end: source.len(), ascii: high | wide == 0 }
    }

    #[inline(always)]
    fn copy_padded(self, source: &[u8], len: usize, target: &mut [u8]) -> Run {
        let (ends, wide) = self.copy_block(&source[..LANES], &mut target[..LANES]);
        if len <= LANES {
            return last_of_run(0, len, ends, wide, 0);
        }
        if ends != 0 {
            return end_of_run(0, ends, wide, 0);
        }
        let (mut pos, mut high) = (LANES, wide);
        loop {
            let (ends, wide) = self.copy_block(&source[pos..pos + LANES], &mut target[pos..pos + LANES]);
            if len - pos <= LANES {
                return last_of_run(pos, len, ends, wide, high);
            }
            if ends != 0 {
                return end_of_run(pos, ends, wide, high);
            }
            high |= wide;
            pos += LANES;
        }
    }
}

impl<S: Simd> Vector<S> {
    /// Copies a block; bits of the bytes that end a run, and of those that are not ASCII.
    #[inline(always)]
    fn copy_block(self, block: &[u8], target: &mut [u8]) -> (u32, u32) {
        let v = u8x16::from_slice(self.0, block);
        v.store_slice(target);
        let ends = v.simd_eq(b'"') | v.simd_eq(b'\\') | v.simd_lt(0x20);
        (ends.to_bitmask() as u32, v.simd_ge(0x80).to_bitmask() as u32)
    }
}

#[inline(always)]
fn end_of_run(pos: usize, ends: u32, wide: u32, high: u32) -> Run {
    let at = ends.trailing_zeros();
    Run { end: pos + at as usize, ascii: high | (wide & !(!0 << at)) == 0 }
}

/// The run ends in the block at `pos`, of which only the bytes up to `len` count.
#[inline(always)]
fn last_of_run(pos: usize, len: usize, ends: u32, wide: u32, high: u32) -> Run {
    let counted = !(!0 << (len - pos));
    let (ends, wide) = (ends & counted, wide & counted);
    if ends != 0 { end_of_run(pos, ends, wide, high) } else { Run { end: len, ascii: high | wide == 0 } }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Non-zero when a byte of the word ends a run (the classic zero-in-word and less-than-n tests, exact for "any").
#[inline(always)]
const fn word_ends(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (control | (quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash)) & HIGHS
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[inline(always)]
fn half(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// Copies fewer than 16 bytes.
#[inline(always)]
fn copy_short(source: &[u8], target: &mut [u8]) -> Run {
    let len = source.len();
    let (low, high) = if len >= 8 {
        let (low, high) = (word(source, 0), word(source, len - 8));
        target[..8].copy_from_slice(&low.to_le_bytes());
        target[len - 8..len].copy_from_slice(&high.to_le_bytes());
        (low, high)
    } else if len >= 4 {
        let (low, high) = (half(source, 0), half(source, len - 4));
        target[..4].copy_from_slice(&low.to_le_bytes());
        target[len - 4..len].copy_from_slice(&high.to_le_bytes());
        // Both halves in one word: no byte of it can be mistaken.
        let both = u64::from(low) | u64::from(high) << 32;
        (both, both)
    } else {
        return Scalar.copy_run(source, target);
    };
    if word_ends(low) | word_ends(high) != 0 {
        return Scalar.copy_run(source, target);
    }
    Run { end: len, ascii: (low | high) & HIGHS == 0 }
}
