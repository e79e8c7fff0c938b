//! Types with constraints: what is asked of numbers, of the lengths of texts and containers, and of the characters of texts.
//!
//! Such a type is a node of its own around the type, so values of other types cost nothing for it.

use super::pattern::Pattern;
use crate::encode::big_digits;
use crate::error::ErrorKind;
use crate::scan::wire::Reader;
use core::cmp::Ordering;

/// A type with constraints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked<'a> {
    /// The place of the type.
    pub inner: usize,
    /// The rules as Elixir wrote them.
    pub rules: &'a [u8],
}

/// The rules of a type: which of them there are (`u8`), the kind of the format (`u8`), the least and the largest length (`u32` each), then
/// those of the smallest number, the largest one and the pattern that there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// What a string has to be: a kind of date as `Moment` has them, or 0.
    pub format: u8,
    pub shortest: u32,
    pub longest: u32,
    least: Option<Limit<'a>>,
    most: Option<Limit<'a>>,
    pattern: Option<Pattern<'a>>,
}

const LEAST: u8 = 1;
const MOST: u8 = 2;
const PATTERN: u8 = 4;

impl<'a> Rules<'a> {
    /// Reads the rules. `None`: these bytes are none.
    pub fn read(checked: &Checked<'a>) -> Option<Self> {
        let mut reader = Reader(checked.rules);
        let (flags, format) = (reader.byte()?, reader.byte()?);
        let (shortest, longest) = (reader.u32()?, reader.u32()?);
        let least = if flags & LEAST == 0 { None } else { Some(Limit::read(&mut reader)?) };
        let most = if flags & MOST == 0 { None } else { Some(Limit::read(&mut reader)?) };
        let pattern = if flags & PATTERN == 0 { None } else { Some(Pattern::read(reader.slice()?)?) };
        Some(Self { format, shortest, longest, least, most, pattern })
    }

    /// Whether a text has an allowed length, in code points, and matches the pattern.
    pub fn text(&self, text: &[u8]) -> Result<(), ErrorKind> {
        if self.shortest > 0 || self.longest < u32::MAX {
            let length = text.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count();
            if length < self.shortest as usize {
                return Err(ErrorKind::MinLength);
            }
            if length > self.longest as usize {
                return Err(ErrorKind::MaxLength);
            }
        }
        match &self.pattern {
            Some(pattern) if !pattern.matches(text) => Err(ErrorKind::Pattern),
            _ => Ok(()),
        }
    }

    /// Whether a container may have this many elements or members.
    pub const fn allows(&self, len: usize) -> bool {
        self.shortest as usize <= len && len <= self.longest as usize
    }

    pub fn integer(&self, value: i128) -> Result<(), ErrorKind> {
        self.number(|limit| Some(value.cmp(&limit.integer)))
    }

    /// An integer with a larger magnitude than any limit has.
    pub fn beyond(&self, negative: bool) -> Result<(), ErrorKind> {
        self.number(|_| Some(if negative { Ordering::Less } else { Ordering::Greater }))
    }

    pub fn float(&self, value: f64) -> Result<(), ErrorKind> {
        self.number(|limit| value.partial_cmp(&limit.float))
    }

    pub fn decimal(&self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        let digits = big_digits(coefficient).ok_or(ErrorKind::OutOfMemory)?;
        let value = Digits { negative, digits: &digits, exponent };
        self.number(|limit| Some(value.compare(&limit.decimal)))
    }

    fn number(&self, compare: impl Fn(&Limit<'_>) -> Option<Ordering>) -> Result<(), ErrorKind> {
        if self.least.is_some_and(|least| compare(&least) == Some(Ordering::Less)) {
            return Err(ErrorKind::Min);
        }
        if self.most.is_some_and(|most| compare(&most) == Some(Ordering::Greater)) {
            return Err(ErrorKind::Max);
        }
        Ok(())
    }
}

/// A limit of numbers, as the integer, the float and the decimal to compare those with: of a minimum the smallest ones that are allowed,
/// of a maximum the largest.
#[derive(Clone, Copy, Debug)]
struct Limit<'a> {
    integer: i128,
    float: f64,
    decimal: Digits<'a>,
}

impl<'a> Limit<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let integer = i128::from_le_bytes(reader.array()?);
        let float = f64::from_le_bytes(reader.array()?);
        let (negative, exponent) = (reader.flag()?, i64::from_le_bytes(reader.array()?));
        let digits = reader.slice()?;
        Some(Self { integer, float, decimal: Digits { negative, digits, exponent } })
    }
}

/// A decimal number: digits without leading zeros, but `0`, and the exponent of the last one.
#[derive(Clone, Copy, Debug)]
struct Digits<'a> {
    negative: bool,
    digits: &'a [u8],
    exponent: i64,
}

impl Digits<'_> {
    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.digits, self.negative) {
            (b"0", _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    /// Compares without writing out as many zeros as an exponent says.
    fn compare(&self, other: &Self) -> Ordering {
        let sign = self.sign();
        if sign != other.sign() || sign == 0 {
            return sign.cmp(&other.sign());
        }
        let size = |number: &Self| number.exponent.saturating_add(number.digits.len() as i64);
        let order = size(self).cmp(&size(other)).then_with(|| significant(self.digits).cmp(significant(other.digits)));
        if sign < 0 { order.reverse() } else { order }
    }
}

/// Digits without trailing zeros.
fn significant(digits: &[u8]) -> &[u8] {
    let len = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    &digits[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Digits<'_> {
        let (text, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        Digits { negative, digits: digits.as_bytes(), exponent: exponent.parse().unwrap() }
    }

    #[test]
    fn decimals_are_compared_exactly() {
        let ascending = [
            "-1e400",
            "-12",
            "-1",
            "-5e-400",
            "0",
            "1e-400",
            "12e-1",
            "125e-2",
            "2",
            "20000001e-7",
            "1e3",
            "1001",
            "7e6000",
        ];
        for (at, first) in ascending.iter().enumerate() {
            for (behind, second) in ascending.iter().enumerate() {
                assert_eq!(number(first).compare(&number(second)), at.cmp(&behind), "{first} and {second}");
            }
        }
        for (first, second) in [("10", "1e1"), ("100e-2", "1"), ("0", "0e9"), ("-0", "0")] {
            assert_eq!(number(first).compare(&number(second)), Ordering::Equal, "{first} and {second}");
        }
    }
}
