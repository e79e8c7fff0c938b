//! Numbers of a type: builders that pass a number on in another form.

use super::answer::Answer;
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
