//! The events of a piece, as items of the answer's list.
//!
//! For a typed document (`Plan::places`) they also say where things stand, as offsets in the piece: a container and a string
//! where they start, and where they end; a whole value where it starts, and its length. The shell decodes such parts into their types.
//! A key is then a string, and [`VALUE`] only a string, a literal or a short integer.

use super::{Document, Stop};
use crate::builder::{Key, Rewind, Text};
use crate::error::ErrorKind;
use crate::options::{DecodeOptions, Duplicates};
use crate::scan::scanner::Scanner;
use crate::scan::state::advance;
use crate::scan::token::Token;
use crate::simd::Kernel;

/// An array opens.
pub(super) const ARRAY: i64 = 0;
/// An object opens.
pub(super) const OBJECT: i64 = 1;
/// The innermost container ends.
pub(super) const CLOSE: i64 = 2;
/// A key, in an object of its own: its value follows in other events.
pub(super) const KEY: i64 = 3;
/// The place of the next key, if repeated keys are an error: offset from the piece, line and column.
pub(super) const AT: i64 = 4;
/// A whole value: an element, the document, or the value of the last key.
pub(super) const VALUE: i64 = 5;
/// A whole member, in an object of its own.
pub(super) const MEMBER: i64 = 6;
/// More of a string that goes on.
pub(super) const TEXT: i64 = 7;
/// The rest of a string.
pub(super) const END_OF_TEXT: i64 = 8;
/// As much as can be told of a number that may go on.
pub(super) const NUMBER: i64 = 9;
/// With places: a value that is more than a string, a literal or a short integer.
pub(super) const PART: i64 = 10;
/// With places: a string that goes on begins.
pub(super) const STRING: i64 = 11;
/// With places: a value like [`PART`], of which a number exceeds a limit of the options. A type may have another one.
pub(super) const BEYOND: i64 = 12;
/// With places: a number that may go on exceeds a limit, whatever follows: [`LOST_FLOAT`] and [`LOST_DECIMAL`], added up.
pub(super) const LOST: i64 = 13;

/// The limit of floats.
const LOST_FLOAT: i64 = 1;
/// A limit of decimals.
const LOST_DECIMAL: i64 = 2;

impl<K: Kernel, B: Rewind> Document<'_, K, B> {
    pub(super) fn event(&mut self, event: i64) -> Result<(), ErrorKind> {
        self.builder.integer(event)?;
        self.items += 1;
        Ok(())
    }

    pub(super) fn item(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.builder.string(text)?;
        self.items += 1;
        Ok(())
    }

    /// The event of a container that begins or ends here.
    pub(super) fn bracket(&mut self, event: i64, pos: usize) -> Result<(), ErrorKind> {
        self.event(event)?;
        self.offset(pos)
    }

    /// An offset in the piece, for a typed document.
    pub(super) fn offset(&mut self, pos: usize) -> Result<(), ErrorKind> {
        if self.plan.places { self.event(pos as i64) } else { Ok(()) }
    }

    /// The event of a key without its value.
    pub(super) fn tell_key(&mut self) -> Result<(), Stop> {
        let Some(quote) = self.key else { return Ok(()) };
        let (mark, items) = (self.builder.mark(), self.items);
        let told = if self.plan.places { self.typed_key() } else { self.untyped_key() };
        self.key = None;
        told.map_err(|kind| {
            self.builder.rewind(mark);
            self.items = items;
            self.wrong(kind, quote)
        })
    }

    fn untyped_key(&mut self) -> Result<(), ErrorKind> {
        self.begin_member(KEY)?;
        self.builder.null()?;
        self.end_member()?;
        self.items += 1;
        Ok(())
    }

    /// The event of a number that cannot become one within the limits.
    pub(super) fn tell_lost(&mut self, number: &Scanner) -> Result<(), ErrorKind> {
        match self.lost(number) {
            0 => Ok(()),
            lost => self.event(LOST).and_then(|()| self.event(lost)),
        }
    }

    /// Which limits the number that was scanned exceeds. One that cannot end here may exceed others with its next digit.
    pub(super) fn lost(&self, number: &Scanner) -> i64 {
        let Token::Number(number) = number.token else { return 0 };
        let exceeds = |decimals| number.lost(&DecodeOptions { decimals, ..*self.options }).is_some();
        match number.is_whole() {
            true => LOST_FLOAT * i64::from(exceeds(false)) + LOST_DECIMAL * i64::from(exceeds(true)),
            false => 0,
        }
    }

    pub(super) fn typed_key(&mut self) -> Result<(), ErrorKind> {
        if self.options.duplicates == Duplicates::Error {
            self.tell_place()?;
        }
        self.event(KEY)?;
        self.builder.string(Text::Unescaped(&self.name))?;
        self.items += 1;
        Ok(())
    }

    /// An object up to its only key, which is the current one.
    pub(super) fn begin_member(&mut self, event: i64) -> Result<(), ErrorKind> {
        if self.options.duplicates == Duplicates::Error {
            self.tell_place()?;
        }
        self.event(event)?;
        self.builder.begin_object();
        self.builder.key(Key::new(Text::Unescaped(&self.name)))
    }

    pub(super) fn end_member(&mut self) -> Result<(), ErrorKind> {
        if self.builder.end_distinct(1)? { Ok(()) } else { self.builder.end_object(1, &[]) }
    }

    pub(super) fn tell_place(&mut self) -> Result<(), ErrorKind> {
        let (before, line, column) = self.place;
        let quote = self.key.unwrap_or(before);
        let (line, column) = advance(line, column, &self.piece.bytes[before..quote]);
        self.place = (quote, line, column);
        self.event(AT)?;
        for number in [quote as u64, line, column] {
            self.builder.integer(number.cast_signed())?;
            self.items += 1;
        }
        Ok(())
    }
}
