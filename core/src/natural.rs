//! Natural numbers of any size, with the operations that decimal digits need.
//!
//! A general big-integer library takes 46 KB of the WebAssembly module, a third of what it may have.

mod radix;

use alloc::vec::Vec;
use core::cmp::Ordering;
use radix::{Binary, Decimal, Radix};

/// Little-endian limbs, none of them zero at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Natural {
    limbs: Vec<u32>,
}

/// Decimal digits that a limb of [`Decimal`] holds.
const CHUNK: usize = 9;
/// The largest power of five in a limb.
const FIVES: u32 = 13;

impl Natural {
    /// The number with these decimal digits, each as its value. `None` when memory runs out.
    pub(crate) fn from_digits(digits: &[u8]) -> Option<Self> {
        let mut chunks = radix::reserved(digits.len() / CHUNK + 1)?;
        chunks.extend(digits.rchunks(CHUNK).map(value));
        let mut number = Self { limbs: radix::convert::<Decimal, Binary>(&chunks)? };
        number.trim();
        Some(number)
    }

    /// The same for the hundreds of digits of a float.
    pub(crate) fn from_few_digits(digits: &[u8]) -> Self {
        let mut number = Self::default();
        let (first, rest) = digits.split_at(digits.len() % CHUNK);
        for chunk in core::iter::once(first).chain(rest.chunks_exact(CHUNK)) {
            radix::times_plus::<Binary>(&mut number.limbs, Decimal::BASE, value(chunk));
        }
        number
    }

    /// The number with these bytes, the lowest first. `None` when memory runs out.
    pub(crate) fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        let limb = |chunk: &[u8]| chunk.iter().rev().fold(0, |limb, &byte| limb << 8 | u32::from(byte));
        let mut limbs = radix::reserved(bytes.len() / 4 + 1)?;
        limbs.extend(bytes.chunks(4).map(limb));
        let mut number = Self { limbs };
        number.trim();
        Some(number)
    }

    /// The bytes, the lowest first, none of them zero at the top. `None` when there is no memory.
    pub(crate) fn to_le_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = radix::reserved(4 * self.limbs.len())?;
        bytes.extend(self.limbs.iter().flat_map(|limb| limb.to_le_bytes()));
        let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(len);
        Some(bytes)
    }

    /// The decimal digits as ASCII. `None` when memory runs out.
    pub(crate) fn to_decimal(&self) -> Option<Vec<u8>> {
        let chunks = radix::convert::<Binary, Decimal>(&self.limbs)?;
        let mut digits = radix::reserved(chunks.len() * CHUNK + 1)?;
        for chunk in chunks.iter().rev() {
            let mut power = Decimal::BASE as u32 / 10;
            while power > 0 {
                digits.push(b'0' + (chunk / power % 10) as u8);
                power /= 10;
            }
        }
        let zeros = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
        digits.drain(..zeros);
        if digits.is_empty() {
            digits.push(b'0');
        }
        Some(digits)
    }

    /// Multiplies by 5^power.
    pub(crate) fn times_five_to(&mut self, power: u32) {
        for _ in 0..power / FIVES {
            self.times(5u32.pow(FIVES));
        }
        self.times(5u32.pow(power % FIVES));
    }

    /// Multiplies by 2^bits.
    pub(crate) fn shift_left(&mut self, bits: u32) {
        self.times(1 << (bits % 32));
        if !self.limbs.is_empty() {
            self.limbs.splice(0..0, core::iter::repeat_n(0, bits as usize / 32));
        }
    }

    fn times(&mut self, factor: u32) {
        radix::times_plus::<Binary>(&mut self.limbs, factor.into(), 0);
    }

    fn trim(&mut self) {
        let len = self.limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
        self.limbs.truncate(len);
    }
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        let mut number = Self { limbs: [value as u32, (value >> 32) as u32].to_vec() };
        number.trim();
        number
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_limbs = || self.limbs.iter().rev().cmp(other.limbs.iter().rev());
        self.limbs.len().cmp(&other.limbs.len()).then_with(by_limbs)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Up to nine digits as a number.
fn value(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, &digit| value * 10 + u32::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_library(digits in "[0-9]{1,400}", shift in 0u32..200, five in 0u32..200) {
            let values: Vec<u8> = digits.bytes().map(|byte| byte - b'0').collect();
            let expected: BigUint = digits.parse().unwrap();
            let number = Natural::from_digits(&values).unwrap();
            prop_assert_eq!(&Natural::from_few_digits(&values), &number);
            prop_assert_eq!(&Natural::from_le_bytes(&expected.to_bytes_le()).unwrap(), &number);
            prop_assert_eq!(String::from_utf8(number.to_decimal().unwrap()).unwrap(), expected.to_string());
            let mut product = number.clone();
            product.shift_left(shift);
            product.times_five_to(five);
            let expected_product = (expected.clone() << shift) * BigUint::from(5u8).pow(five);
            prop_assert_eq!(String::from_utf8(product.to_decimal().unwrap()).unwrap(), expected_product.to_string());
            prop_assert_eq!(product.cmp(&number), expected_product.cmp(&expected));
        }

        /// Around the sizes where the blocks of the conversion and the halves of its products change.
        #[test]
        fn long_numbers_agree_with_a_library(
            len in 1usize..if cfg!(miri) { 700 } else { 6_000 },
            seed in any::<u64>(),
            extreme in 0u8..4,
        ) {
            let mut state = seed | 1;
            let values: Vec<u8> = (0..len).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                match extreme { 0 => 9, 1 => u8::from(state >> 62 == 0), _ => (state >> 60) as u8 % 10 }
            }).collect();
            let text: String = values.iter().map(|digit| char::from(b'0' + digit)).collect();
            let expected: BigUint = text.parse().unwrap();
            let number = Natural::from_digits(&values).unwrap();
            prop_assert_eq!(&Natural::from_le_bytes(&expected.to_bytes_le()).unwrap(), &number);
            prop_assert_eq!(String::from_utf8(number.to_decimal().unwrap()).unwrap(), expected.to_string());
        }

        #[test]
        fn bytes_survive(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut expected = bytes.clone();
            while expected.last() == Some(&0) {
                expected.pop();
            }
            prop_assert_eq!(Natural::from_le_bytes(&bytes).unwrap().to_le_bytes(), Some(expected));
        }
    }
}
