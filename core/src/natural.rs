//! Natural numbers of any size, with the operations that decimal digits need.
//!
//! Turning digits into binary and back takes quadratic time here as in most libraries; decoding bounds the digits
//! (`digit_limit`). A general big-integer library did the same in 46 KB of the WebAssembly module, a third of what it
//! may have; this is 3 KB.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Little-endian limbs, none of them zero at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Natural {
    limbs: Vec<u32>,
}

/// Decimal digits that a limb holds, and ten to their number.
const CHUNK: usize = 9;
const CHUNK_POWER: u32 = 1_000_000_000;
/// The largest power of five in a limb.
const FIVES: u32 = 13;

impl Natural {
    /// The number with these decimal digits, each as its value.
    pub(crate) fn from_digits(digits: &[u8]) -> Self {
        let mut number = Self { limbs: Vec::with_capacity(digits.len() / CHUNK + 1) };
        number.read(digits);
        number
    }

    /// The same for any number of digits. `None` when memory runs out.
    pub(crate) fn try_from_digits(digits: &[u8]) -> Option<Self> {
        let mut number = Self::default();
        number.limbs.try_reserve_exact(digits.len() / CHUNK + 1).ok()?;
        number.read(digits);
        Some(number)
    }

    /// Takes no memory where there is room for them.
    fn read(&mut self, digits: &[u8]) {
        let (first, rest) = digits.split_at(digits.len() % CHUNK);
        self.times_plus(CHUNK_POWER, value(first));
        for chunk in rest.chunks_exact(CHUNK) {
            self.times_plus(CHUNK_POWER, value(chunk));
        }
    }

    /// The number with these bytes, the lowest first.
    pub(crate) fn from_le_bytes(bytes: &[u8]) -> Self {
        let limb = |chunk: &[u8]| chunk.iter().rev().fold(0, |limb, &byte| limb << 8 | u32::from(byte));
        let mut number = Self { limbs: bytes.chunks(4).map(limb).collect() };
        number.trim();
        number
    }

    /// The bytes, the lowest first, none of them zero at the top. `None` when there is no memory.
    pub(crate) fn to_le_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(4 * self.limbs.len()).ok()?;
        bytes.extend(self.limbs.iter().flat_map(|limb| limb.to_le_bytes()));
        let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(len);
        Some(bytes)
    }

    /// The decimal digits as ASCII.
    pub(crate) fn into_decimal(mut self) -> Vec<u8> {
        let mut chunks = Vec::with_capacity(self.limbs.len() * 32 / 29 + 1);
        while !self.limbs.is_empty() {
            chunks.push(self.divide(CHUNK_POWER));
        }
        let mut digits = Vec::with_capacity(chunks.len() * CHUNK + 1);
        for chunk in chunks.iter().rev() {
            let mut power = CHUNK_POWER / 10;
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
        digits
    }

    /// Multiplies by 5^power.
    pub(crate) fn times_five_to(&mut self, power: u32) {
        for _ in 0..power / FIVES {
            self.times_plus(5u32.pow(FIVES), 0);
        }
        self.times_plus(5u32.pow(power % FIVES), 0);
    }

    /// Multiplies by 2^bits.
    pub(crate) fn shift_left(&mut self, bits: u32) {
        self.times_plus(1 << (bits % 32), 0);
        if !self.limbs.is_empty() {
            self.limbs.splice(0..0, core::iter::repeat_n(0, bits as usize / 32));
        }
    }

    fn times_plus(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.limbs {
            let wide = u64::from(*limb) * u64::from(factor) + carry;
            *limb = wide as u32;
            carry = wide >> 32;
        }
        if carry != 0 {
            self.limbs.push(carry as u32);
        }
    }

    /// Divides, and gives the rest.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for limb in self.limbs.iter_mut().rev() {
            let wide = rest << 32 | u64::from(*limb);
            *limb = (wide / u64::from(divisor)) as u32;
            rest = wide % u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    fn trim(&mut self) {
        let len = self.limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
        self.limbs.truncate(len);
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
            let number = Natural::try_from_digits(&values).unwrap();
            prop_assert_eq!(&Natural::from_digits(&values), &number);
            prop_assert_eq!(&Natural::from_le_bytes(&expected.to_bytes_le()), &number);
            prop_assert_eq!(String::from_utf8(number.clone().into_decimal()).unwrap(), expected.to_string());
            let mut product = number.clone();
            product.shift_left(shift);
            product.times_five_to(five);
            let expected_product = (expected.clone() << shift) * BigUint::from(5u8).pow(five);
            prop_assert_eq!(String::from_utf8(product.clone().into_decimal()).unwrap(), expected_product.to_string());
            prop_assert_eq!(product.cmp(&number), expected_product.cmp(&expected));
        }

        #[test]
        fn bytes_survive(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut expected = bytes.clone();
            while expected.last() == Some(&0) {
                expected.pop();
            }
            prop_assert_eq!(Natural::from_le_bytes(&bytes).to_le_bytes(), Some(expected));
        }
    }
}
