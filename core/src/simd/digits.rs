//! The kernel of decimal digits.

use super::kernel::Kernels;
use super::scalar::Scalar;
use super::vector::Vector;
use fearless_simd::{Bytes, Simd, SimdBase, u16x8, u32x4, u64x2};

/// Takes integers apart into digits.
pub trait DigitKernel: Kernels {
    /// The digits of an integer below 10^16 as bytes 0–9, with zeros in front. The first is the lowest byte.
    fn sixteen_digits(self, value: u64) -> u128;
}

impl DigitKernel for Scalar {
    #[inline(always)]
    fn sixteen_digits(self, value: u64) -> u128 {
        (0..16).fold((0, value), |(digits, value), _| (digits << 8 | u128::from(value % 10), value / 10)).0
    }
}

/// Fours become twos, and twos become digits, all side by side; each division is a multiplication that is exact in its range.
/// `x - 100 * h`, moved beside `h`, is one product more: of `h` and what moves it and takes it away.
impl<S: Simd> DigitKernel for Vector<S> {
    #[inline(always)]
    fn sixteen_digits(self, value: u64) -> u128 {
        // Not one after the other: each quotient takes as long as the first.
        let (a, b, c) = (value / 1_000_000_000_000, value / 100_000_000, value / 10_000);
        let fours = [a | ((b - a * 10_000) << 32), (c - b * 10_000) | ((value - c * 10_000) << 32)];
        let fours: u32x4<S> = u64x2::from_slice(self.0, &fours).bitcast();
        let hundreds = (fours * 5243) >> 19;
        let twos: u16x8<S> = ((fours << 16) + hundreds * (1_u32.wrapping_sub(100 << 16))).bitcast();
        let tens = (twos * 103) >> 10;
        let digits = (twos << 8) + tens * (1_u16.wrapping_sub(10 << 8));
        u128::from_le_bytes(digits.to_bytes().into())
    }
}
