//! Numbers of a type: builders that pass a number on in another form.

use super::answer::Answer;
use super::checked::Rules;
use crate::builder::{Dropped, Key, TermBuilder, Text};
use crate::error::ErrorKind;

/// The methods of a builder that gets nothing but a number.
macro_rules! numbers_only {
    () => {
        fn null(&mut self) -> Result<(), ErrorKind> {
            Ok(())
        }
        fn boolean(&mut self, _: bool) -> Result<(), ErrorKind> {
            Ok(())
        }
        fn string(&mut self, _: Text<'_>) -> Result<(), ErrorKind> {
            Ok(())
        }
        fn key(&mut self, _: Key<'_>) -> Result<(), ErrorKind> {
            Ok(())
        }
        fn begin_array(&mut self) {}
        fn end_array(&mut self, _: usize) -> Result<(), ErrorKind> {
            Ok(())
        }
        fn begin_object(&mut self) {}
        fn end_object(&mut self, _: usize, _: Dropped<'_>) -> Result<(), ErrorKind> {
            Ok(())
        }
    };
}

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

/// Makes decimals as the answer has them, within these rules.
pub(super) struct AsDecimal<'b, A>(pub &'b mut A, pub Option<&'b Rules<'b>>);

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
        if let Some(rules) = self.1 {
            rules.decimal(negative, coefficient, exponent)?;
        }
        self.0.decimal(negative, coefficient, exponent)
    }
    numbers_only!();
}

/// Refuses numbers that these rules do not allow.
pub(super) struct Bounded<'b, B>(pub &'b mut B, pub &'b Rules<'b>);

impl<B: TermBuilder> TermBuilder for Bounded<'_, B> {
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        self.1.integer(value.into())?;
        self.0.integer(value)
    }
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        self.1.integer(saturated(negative, magnitude))?;
        self.0.big_integer(negative, magnitude)
    }
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        self.1.float(value)?;
        self.0.float(value)
    }
    fn decimal(&mut self, _: bool, _: &[u8], _: i64) -> Result<(), ErrorKind> {
        Err(ErrorKind::TypeNumber)
    }
    numbers_only!();
}

/// The integer with this little-endian magnitude. One that is larger than all limits becomes the largest or the smallest.
fn saturated(negative: bool, magnitude: &[u8]) -> i128 {
    let mut bytes = [0; 16];
    let value = match bytes.get_mut(..magnitude.len()) {
        Some(low) => {
            low.copy_from_slice(magnitude);
            i128::try_from(u128::from_le_bytes(bytes)).unwrap_or(i128::MAX)
        }
        None => i128::MAX,
    };
    if negative { -value } else { value }
}
