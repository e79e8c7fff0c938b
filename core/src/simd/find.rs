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
        while let Some(block) = bytes.get(pos..pos + LANES + 1) {
            let a = u8x16::from_slice(self.0, &block[..LANES]).simd_eq(first);
            let b = u8x16::from_slice(self.0, &block[1..]).simd_eq(second);
            let mut hits = (a & b).to_bitmask();
            while hits != 0 {
                if check(pos + hits.trailing_zeros() as usize) {
                    return true;
                }
                hits &= hits - 1;
            }
            pos += LANES;
        }
        Scalar.find_pair(&bytes[pos..], first, second, |at| check(pos + at))
    }
}

/// Whether `first` is followed by `second` at some place where `check` holds.
pub fn find_pair(bytes: &[u8], first: u8, second: u8, check: impl Fn(usize) -> bool) -> bool {
    crate::with_kernel!(kernel => kernel.find_pair(bytes, first, second, check))
}
