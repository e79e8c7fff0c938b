//! Numbers of a type: builders that pass a number on in another form.

use super::answer::Answer;
use super::checked::Rules;
use crate::builder::{TermBuilder, numbers_only};
use crate::error::ErrorKind;

/// Refuses what is not an integer.
pub(super) struct Integers<'b, B>(pub &'b mut B);

impl<B: TermBuilder> TermBuilder for Integers<'_, B> {
    #[inline(always)]
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        self.0.integer(value)
    }
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        self.0.big_integer(negative, magnitude)
    }
    fn float(&mut self, _: f64) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeInteger)
    }
    fn decimal(&mut self, _: bool, _: &[u8], _: i64) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeInteger)
    }
    numbers_only!();
}

/// Makes decimals as the answer has them.
pub(super) struct AsDecimal<'b, A>(pub &'b mut A);

impl<A: Answer> TermBuilder for AsDecimal<'_, A> {
    fn integer(&mut self, _: i64) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeDecimal)
    }
    fn big_integer(&mut self, _: bool, _: &[u8]) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeDecimal)
    }
    fn float(&mut self, _: f64) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeDecimal)
    }
    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        self.0.decimal(negative, coefficient, exponent)
    }
    numbers_only!();
}

/// Looks at numbers by rules. It builds nothing, so that there is one copy of the code that reads numbers for it.
pub(super) struct Judged<'b> {
    pub rules: &'b Rules<'b>,
    /// What their type makes of them.
    pub kind: Kind,
}

/// Types of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Float,
    Any,
}

impl TermBuilder for Judged<'_> {
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        if self.kind == Kind::Float { self.rules.float(value as f64) } else { self.rules.integer(value.into()) }
    }
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        if self.kind == Kind::Float {
            let float = nearest(magnitude);
            self.rules.float(if negative { -float } else { float })
        } else {
            match integer(negative, magnitude) {
                Some(value) => self.rules.integer(value),
                None => self.rules.beyond(negative),
            }
        }
    }
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        // That it is no integer is another error.
        if self.kind == Kind::Integer { Ok(()) } else { self.rules.float(value) }
    }
    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        self.rules.decimal(negative, coefficient, exponent)
    }
    numbers_only!();
}

/// The integer with this little-endian magnitude. `None`: its magnitude is larger than that of any limit.
fn integer(negative: bool, magnitude: &[u8]) -> Option<i128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..magnitude.len())?.copy_from_slice(magnitude);
    let value = i128::try_from(u128::from_le_bytes(bytes)).ok()?;
    Some(if negative { -value } else { value })
}

/// The float that is nearest to a little-endian magnitude of eight bytes or more; infinity where there is none.
fn nearest(magnitude: &[u8]) -> f64 {
    let Some((low, high)) = magnitude.split_last_chunk() else { return f64::INFINITY };
    // A word has more bits than a float, so the lowest can stand for all below it.
    let word = u64::from_le_bytes(*high) | u64::from(low.iter().any(|&byte| byte != 0));
    match 8 * low.len() as u64 {
        power @ 0..1024 => word as f64 * f64::from_bits((1023 + power) << 52),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn large_integers_as_floats(low in any::<u128>(), high in any::<u64>(), shift in 0_u32..64) {
            let high = (u128::from(high) >> shift) | 1 << 63;
            let mut bytes = low.to_le_bytes().to_vec();
            prop_assert_eq!(nearest(&high.to_le_bytes()[..8]), high as f64);
            bytes.extend(&high.to_le_bytes()[..8]);
            let text = num_bigint::BigUint::from_bytes_le(&bytes).to_string();
            prop_assert_eq!(nearest(&bytes), text.parse::<f64>().unwrap());
        }
    }

    #[test]
    fn integers_beyond_all_limits() {
        assert_eq!(integer(false, &i128::MAX.to_le_bytes()), Some(i128::MAX));
        assert_eq!(integer(false, &i128::MIN.to_le_bytes()), None);
        assert_eq!(integer(true, &[1; 17]), None);
        assert_eq!(integer(true, &[0, 1]), Some(-256));
        assert_eq!(nearest(&[255; 128]), f64::INFINITY);
        assert_eq!(nearest(&[255; 200]), f64::INFINITY);
    }
}
