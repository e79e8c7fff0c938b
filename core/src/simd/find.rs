//! Searches for a rare text by two of its bytes.

use super::scalar::Scalar;
use super::vector::Vector;
use fearless_simd::{Simd, SimdBase, SimdMask, u8x16};

/// Finds pairs of bytes.
trait PairKernel: Copy {
    /// Whether `first` is followed by `second` at some place where `check` holds.
    fn find_pair(self, bytes: &[u8], first: u8, second: u8, check: impl Fn(usize) -> bool) -> bool;
}

impl PairKernel for Scalar {
    #[inline(always)]
    fn find_pair(self, bytes: &[u8], first: u8, second: u8, check: impl Fn(usize) -> bool) -> bool {
        bytes.windows(2).enumerate().any(|(at, pair)| pair == [first, second] && check(at))
    }
}

const LANES: usize = 16;

impl<S: Simd> PairKernel for Vector<S> {
    #[inline(always)]
    fn find_pair(self, bytes: &[u8], first: u8, second: u8, check: impl Fn(usize) -> bool) -> bool {
        let mut pos = 0;
        // Four blocks a turn, for there are next to no pairs.
        while let Some(blocks) = bytes.get(pos..pos + 4 * LANES + 1) {
            let masks = [
                self.pairs(&blocks[..=LANES], first, second),
                self.pairs(&blocks[LANES..=2 * LANES], first, second),
                self.pairs(&blocks[2 * LANES..=3 * LANES], first, second),
                self.pairs(&blocks[3 * LANES..], first, second),
            ];
            if (masks[0] | masks[1] | masks[2] | masks[3]) != 0 && check_each(masks, |at| check(pos + at)) {
                return true;
            }
            pos += 4 * LANES;
        }
        Scalar.find_pair(&bytes[pos..], first, second, |at| check(pos + at))
    }
}

impl<S: Simd> Vector<S> {
    /// Bits of the places in a block, which is one byte longer, where the pair is.
    #[inline(always)]
    fn pairs(self, block: &[u8], first: u8, second: u8) -> u64 {
        let a = u8x16::from_slice(self.0, &block[..LANES]).simd_eq(first);
        let b = u8x16::from_slice(self.0, &block[1..]).simd_eq(second);
        (a & b).to_bitmask()
    }
}

#[cold]
fn check_each(masks: [u64; 4], check: impl Fn(usize) -> bool) -> bool {
    (0..).zip(masks).any(|(block, mask)| (0..LANES).any(|at| mask >> at & 1 == 1 && check(block * LANES + at)))
}

/// Whether `first` is followed by `second` at some place where `check` holds.
pub fn find_pair(bytes: &[u8], first: u8, second: u8, check: impl Fn(usize) -> bool) -> bool {
    crate::with_kernel!(kernel => kernel.find_pair(bytes, first, second, check))
}
