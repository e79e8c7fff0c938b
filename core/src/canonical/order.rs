//! The order of keys.

use crate::builder::Key;
use crate::error::ErrorKind;
use crate::room::room;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A member of an open object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Where it starts in the text.
    pub start: usize,
    /// Its key's first eight bytes, as a number that sorts as they do.
    head: u64,
    len: usize,
    /// Where its key ends among those that were unescaped; 0 for one that stands in the text as it is.
    unescaped: usize,
}

impl Member {
    /// One whose key is written as it is.
    #[inline(always)]
    pub const fn plain(key: &Key<'_>, start: usize, len: usize) -> Self {
        Self { start, head: key.head.swap_bytes(), len, unescaped: 0 }
    }

    /// One whose key is also kept elsewhere, up to this offset.
    pub const fn unescaped(key: &Key<'_>, start: usize, end: usize) -> Self {
        Self { start, head: key.head.swap_bytes(), len: key.text.bytes().len(), unescaped: end }
    }

    #[inline(always)]
    pub const fn is_plain(&self) -> bool {
        self.unescaped == 0
    }

    /// Where its key starts among those that were unescaped.
    pub const fn key_start(&self) -> usize {
        self.unescaped - self.len
    }

    fn key<'a>(&self, (text, keys): Source<'a>) -> &'a [u8] {
        // Behind the quote.
        let (bytes, start) = if self.is_plain() { (text, self.start + 1) } else { (keys, self.key_start()) };
        bytes.get(start..start + self.len).unwrap_or_default()
    }

    #[inline(always)]
    fn order(&self, other: &Self, source: Source<'_>) -> Ordering {
        const ASCII: u64 = 0x8080_8080_8080_8080;
        if self.head != other.head && (self.head | other.head) & ASCII == 0 {
            return self.head.cmp(&other.head);
        }
        utf16(self.key(source), other.key(source))
    }
}

/// The text that is written, and the keys that were unescaped.
type Source<'a> = (&'a [u8], &'a [u8]);

/// Sorts members.
#[derive(Debug, Default)]
pub(super) struct Sorted(Vec<usize>);

impl Sorted {
    /// Whether these are in order, and no key repeats.
    #[inline(always)]
    pub fn is_right(&self, members: &[Member], source: Source<'_>) -> bool {
        members.is_sorted_by(|a, b| a.order(b, source).is_lt())
    }

    /// Their order. `None`: a key repeats.
    #[inline(never)]
    pub fn order(&mut self, members: &[Member], source: Source<'_>) -> Result<Option<&[usize]>, ErrorKind> {
        let Self(order) = self;
        let ascends = |a: usize, b: usize| members[a].order(&members[b], source);
        // Objects are mostly like the one before.
        if order.len() != members.len() || !order.is_sorted_by(|&a, &b| ascends(a, b).is_lt()) {
            order.clear();
            room(order, members.len())?;
            order.extend(0..members.len());
            order.sort_unstable_by(|&a, &b| ascends(a, b));
            if order.array_windows().any(|&[a, b]| ascends(a, b).is_eq()) {
                return Ok(None);
            }
        }
        Ok(Some(order))
    }
}

/// Compares texts by their UTF-16 units. In UTF-8 that is the order of bytes, but for characters beyond the basic plane: their
/// surrogates, `D800` to `DFFF`, come before the units from `E000` on, which start with the bytes `EE` and `EF`.
fn utf16(a: &[u8], b: &[u8]) -> Ordering {
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((&a, &b)) => weight(a).cmp(&weight(b)),
        None => a.len().cmp(&b.len()),
    }
}

const fn weight(byte: u8) -> u8 {
    if byte == 0xEE || byte == 0xEF { byte + 0x10 } else { byte }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_that_of_utf16_units(a in "[a\u{e9}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}", b in ".{0,4}", c in 0..3) {
            let b = if c == 0 { b } else { a.chars().rev().collect() };
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            prop_assert_eq!(utf16(a.as_bytes(), b.as_bytes()), units(&a).cmp(&units(&b)));
        }
    }
}
