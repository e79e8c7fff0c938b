//! A builder for texts of which some parts stay text.

use crate::builder::{Dropped, Key, TermBuilder, Text};
use crate::decode::number;
use crate::error::ErrorKind;

/// Which numbers stay text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    All,
    /// All but integers, of which `-0` is none: it would be written as `0`.
    Altered,
}

/// Passes everything on, and makes fragments of the parts.
pub(super) struct Fragments<'a, B> {
    builder: &'a mut B,
    json: &'a [u8],
    /// Start and end of the parts that are still to come.
    parts: &'a [(usize, usize)],
    /// Instead of these, numbers; and how many of them there may still be.
    numbers: Option<(Numbers, u64)>,
}

impl<'a, B> Fragments<'a, B> {
    pub fn new(builder: &'a mut B, json: &'a [u8], parts: &'a [(usize, usize)]) -> Self {
        Self { builder, json, parts, numbers: None }
    }

    /// The parts are numbers of a text that has been checked. With more than this many of them (0: no limit) the error is
    /// [`ErrorKind::MaxNodes`].
    pub fn of_numbers(builder: &'a mut B, json: &'a [u8], numbers: Numbers, most: u64) -> Self {
        let most = if most == 0 { u64::MAX } else { most };
        Self { builder, json, parts: &[], numbers: Some((numbers, most)) }
    }
}

impl<B: TermBuilder> Fragments<'_, B> {
    #[inline(never)]
    fn number(&mut self, pos: usize) -> Result<Option<usize>, ErrorKind> {
        let (Some((numbers, left)), Some(b'-' | b'0'..=b'9')) = (&mut self.numbers, self.json.get(pos)) else {
            return Ok(None);
        };
        let Some(end) = number::end(self.json, pos) else { return Ok(None) };
        let text = &self.json[pos..end];
        if *numbers == Numbers::Altered && is_integer(text) {
            return Ok(None);
        }
        *left = left.checked_sub(1).ok_or(ErrorKind::MaxNodes)?;
        self.builder.fragment(Text::Input(pos, text))?;
        Ok(Some(end))
    }
}

/// Whether the text of a number is that of an integer.
fn is_integer(text: &[u8]) -> bool {
    text != b"-0" && !text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

impl<B: TermBuilder> TermBuilder for Fragments<'_, B> {
    const WORDS: bool = B::WORDS;
    const SKIPS: bool = true;

    #[inline(always)]
    fn skipped(&mut self, pos: usize) -> Result<Option<usize>, ErrorKind> {
        match self.parts {
            &[(start, end), ref rest @ ..] if start == pos => {
                self.parts = rest;
                self.builder.fragment(Text::Input(start, &self.json[start..end]))?;
                Ok(Some(end))
            }
            _ if self.numbers.is_some() => self.number(pos),
            _ => Ok(None),
        }
    }

    fn null(&mut self) -> Result<(), ErrorKind> {
        self.builder.null()
    }
    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        self.builder.boolean(value)
    }
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        self.builder.integer(value)
    }
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        self.builder.big_integer(negative, magnitude)
    }
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        self.builder.float(value)
    }
    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        self.builder.decimal(negative, coefficient, exponent)
    }
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.builder.string(text)
    }
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        self.builder.key(key)
    }
    fn begin_array(&mut self) {
        self.builder.begin_array();
    }
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.builder.end_array(len)
    }
    fn begin_object(&mut self) {
        self.builder.begin_object();
    }
    fn keeps_repeats(&self) -> bool {
        self.builder.keeps_repeats()
    }
    fn end_distinct(&mut self, len: usize) -> Result<bool, ErrorKind> {
        self.builder.end_distinct(len)
    }
    fn end_object(&mut self, len: usize, dropped: Dropped<'_>) -> Result<(), ErrorKind> {
        self.builder.end_object(len, dropped)
    }
}
