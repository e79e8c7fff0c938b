//! What the values of a schema become.

use super::moment::Moment;
use crate::builder::{Rewind, TermBuilder, Text};
use crate::error::ErrorKind;

/// Takes the values of a type. Those of its own that JSON has (texts, numbers, lists) go to [`Answer::terms`]; for all others there
/// is a method. As they stand, the answer is plain, and the shell makes structs of it by the same schema:
///
/// - a struct is a list of the numbers of its fields, each with its value, in the order of the text
/// - an object of values of one type is a list of its keys, each with its value
/// - a tagged struct is a list of the number of the variant and its struct
/// - one of several texts is its number; a decimal is a list of sign, coefficient and exponent; a part that stays text is a list of
///   its offset and length; dates and times are strings
///
/// So what a guest says can be held to the schema. A shell that knows the structs builds them at once.
pub trait Answer {
    /// Where terms are built.
    type Terms: Rewind;

    /// What builds the terms.
    fn terms(&mut self) -> &mut Self::Terms;

    /// Null, where the type allows it.
    #[inline(always)]
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.terms().null()
    }

    /// The name of this number.
    #[inline(always)]
    fn name(&mut self, _template: usize, number: usize) -> Result<(), ErrorKind> {
        self.terms().integer(number as i64)
    }

    /// A decimal, as [`TermBuilder::decimal`] has it.
    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        let terms = self.terms();
        terms.begin_array();
        terms.integer(if negative { -1 } else { 1 })?;
        if coefficient.len() < 8 || coefficient.len() == 8 && coefficient[7] < 128 {
            terms.integer(coefficient.iter().rev().fold(0, |value, &byte| value << 8 | i64::from(byte)))?;
        } else {
            terms.big_integer(false, coefficient)?;
        }
        terms.integer(exponent)?;
        terms.end_array(3)
    }

    /// A text that should be a date of this kind, and the date if it has its usual form.
    #[inline(always)]
    fn date(&mut self, _kind: u8, text: Text<'_>, _usual: Option<Moment>) -> Result<(), ErrorKind> {
        self.terms().string(text)
    }

    /// The last value is one that Elixir loads.
    #[inline(always)]
    fn loaded(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }

    /// A part of the input that stays text.
    fn raw(&mut self, start: usize, text: &[u8]) -> Result<(), ErrorKind> {
        let terms = self.terms();
        terms.begin_array();
        terms.integer(start as i64)?;
        terms.integer(text.len() as i64)?;
        terms.end_array(2)
    }

    /// An object of values of one type starts.
    #[inline(always)]
    fn begin_map(&mut self) {
        self.terms().begin_array();
    }

    /// The key of the next value.
    #[inline(always)]
    fn map_key(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.terms().string(text)
    }

    /// The object ends. It has this many members, and keys may repeat among them.
    #[inline(always)]
    fn end_map(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.terms().end_array(2 * len)
    }

    /// The struct of a variant follows.
    #[inline(always)]
    fn begin_variant(&mut self, number: usize) -> Result<(), ErrorKind> {
        self.terms().begin_array();
        self.terms().integer(number as i64)
    }

    /// The struct has ended.
    #[inline(always)]
    fn end_variant(&mut self) -> Result<(), ErrorKind> {
        self.terms().end_array(2)
    }

    /// A struct starts.
    #[inline(always)]
    fn begin_struct(&mut self, _template: usize) -> Result<(), ErrorKind> {
        self.terms().begin_array();
        Ok(())
    }

    /// The value of this field follows.
    #[inline(always)]
    fn begin_field(&mut self, number: usize) -> Result<(), ErrorKind> {
        self.terms().integer(number as i64)
    }

    /// The last value is that of this field. A repeated field has the value that comes last.
    #[inline(always)]
    fn end_field(&mut self, _number: usize) {}

    /// The struct ends. It has this many fields.
    #[inline(always)]
    fn end_struct(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.terms().end_array(2 * len)
    }
}

/// The plain answer.
#[derive(Debug)]
pub struct Plain<'b, B>(pub &'b mut B);

impl<B: Rewind> Answer for Plain<'_, B> {
    type Terms = B;

    #[inline(always)]
    fn terms(&mut self) -> &mut B {
        self.0
    }
}
