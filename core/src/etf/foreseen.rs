//! The time and the memory that the VM takes for a term which it makes in one step.

use super::judge::KEY_NS;
use crate::ErrorKind;
use crate::builder::{Dropped, Key, TermBuilder, Text};

/// What the VM takes for a byte, in nanoseconds.
const BYTE_NS: u64 = 10;
/// Words of the VM that an element of a list has at most beside what is counted for it: its cell, and a float or the place of a part.
const ELEMENT: usize = 5;
/// The same for a member of an object, which may be a pair in a list, or a leaf of a large map with its part of the nodes.
const MEMBER: usize = 8;
/// The same for an object.
const OBJECT: usize = 8;
/// The same for a string: a header, and the reference to it if it is long.
const STRING: usize = 8;
/// The same for a decimal: a map of four members, with its keys.
const DECIMAL: usize = 12;
/// Bytes of a word.
const WORD: usize = 8;
/// The VM makes larger maps key by key.
const FLAT_MAP: usize = 32;

/// A builder that makes nothing and counts down the nanoseconds that are left, so that the walk ends where the VM would be late.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    left: u64,
    words: usize,
}

impl Foreseen {
    /// For a term of this many bytes.
    pub const fn new(left: u64, bytes: usize) -> Self {
        Self { left: left.saturating_sub((bytes as u64).saturating_mul(BYTE_NS)), words: 0 }
    }

    /// Whether the VM would be late.
    pub const fn is_late(&self) -> bool {
        self.left == 0
    }

    /// The most bytes of memory that the VM needs for the term.
    pub const fn bytes(&self) -> usize {
        self.words.saturating_mul(WORD)
    }

    fn takes(&mut self, words: usize, bytes: usize) -> Result<(), ErrorKind> {
        self.words = self.words.saturating_add(words).saturating_add(bytes.div_ceil(WORD));
        Ok(())
    }
}

impl TermBuilder for Foreseen {
    const DROPS: bool = true;
    const WORDS: bool = false;
    fn time_left(&self) -> u64 {
        self.left
    }
    fn null(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
    fn boolean(&mut self, _: bool) -> Result<(), ErrorKind> {
        Ok(())
    }
    fn integer(&mut self, _: i64) -> Result<(), ErrorKind> {
        Ok(())
    }
    fn big_integer(&mut self, _: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        self.takes(1, magnitude.len())
    }
    fn float(&mut self, _: f64) -> Result<(), ErrorKind> {
        Ok(())
    }
    fn decimal(&mut self, _: bool, coefficient: &[u8], _: i64) -> Result<(), ErrorKind> {
        self.takes(DECIMAL, coefficient.len())
    }
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.takes(STRING, text.bytes().len())
    }
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        self.string(key.text)
    }
    fn begin_array(&mut self) {}
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        self.takes(len.saturating_mul(ELEMENT), 0)
    }
    fn begin_object(&mut self) {}
    fn end_object(&mut self, len: usize, _: Dropped<'_>) -> Result<(), ErrorKind> {
        self.takes(len.saturating_mul(MEMBER).saturating_add(OBJECT), 0)
    }
    fn end_unsearched(&mut self, len: usize) -> Result<bool, ErrorKind> {
        self.end_object(len, &[])?;
        if len > FLAT_MAP {
            self.left = self.left.saturating_sub((len as u64).saturating_mul(KEY_NS));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecodeOptions;
    use crate::etf::check::{Fault, Open, Policy, build_list};

    #[test]
    fn the_clock_is_looked_at_between_short_documents() {
        let documents = [[131, 108, 0, 0, 0, 100].as_slice(), &[97, 1].repeat(100), &[106]].concat();
        let run = |left| {
            let policies = core::iter::repeat_n(Policy::new(&DecodeOptions::DEFAULT, 1), 100);
            build_list(&documents, policies, &mut Open::default(), &mut Foreseen::new(left, 0))
        };
        assert_eq!(run(0).map_err(|refused| refused.fault), Err(Fault::Work));
        assert_eq!(run(1), Ok(()));
    }

    #[test]
    fn keys_of_large_maps_take_time() {
        let mut foreseen = Foreseen::new(100_000, 1_000);
        assert_eq!(foreseen.time_left(), 90_000);
        assert_eq!(foreseen.end_unsearched(FLAT_MAP), Ok(true));
        assert_eq!(foreseen.time_left(), 90_000);
        assert_eq!(foreseen.end_unsearched(100), Ok(true));
        assert_eq!(foreseen.time_left(), 50_000);
        assert_eq!(foreseen.end_unsearched(200), Ok(true));
        assert!(foreseen.is_late());
    }
}
