//! Numbers in pieces (RFC 8259 section 6): the grammar, and as much of the value as shows whether it exceeds a limit.

use super::{Failure, MINUS_INFINITY, Scan, Token};
use crate::decode::number::EXPONENT_CAP;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;
use core::cmp::Ordering;

/// From half a step above the largest float on, numbers round to infinity: 2^1024 - 2^970, all its digits.
static TOO_LARGE: &[u8; 309] =
    b"1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070\
    9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447\
    5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904\
    174497792";

/// Where in a number the scanner is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    #[default]
    Start,
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Phase {
    pub(super) const ALL: [Self; 9] = [
        Self::Start,
        Self::Minus,
        Self::Zero,
        Self::Integer,
        Self::Point,
        Self::Fraction,
        Self::Exponent,
        Self::ExponentSign,
        Self::ExponentDigits,
    ];
}

/// A number that is being scanned. It is `0.DDD * 10^(point + exponent)` with the significant digits D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub phase: Phase,
    pub negative: bool,
    pub float: bool,
    /// Digits before the exponent, leading zeros included.
    pub digits: u64,
    /// Digits from the first that is not zero on.
    pub significant: u64,
    pub point: i64,
    pub exponent: i64,
    pub exponent_negative: bool,
    /// The significant digits beside those of [`TOO_LARGE`].
    pub order: Ordering,
}

impl Default for Number {
    fn default() -> Self {
        Self {
            phase: Phase::Start,
            negative: false,
            float: false,
            digits: 0,
            significant: 0,
            point: 0,
            exponent: 0,
            exponent_negative: false,
            order: Ordering::Equal,
        }
    }
}

impl Number {
    #[inline(always)]
    fn digit(&mut self, byte: u8, fraction: bool) {
        self.digits += 1;
        if self.significant > 0 || byte != b'0' {
            if self.order == Ordering::Equal {
                let decisive = TOO_LARGE.get(self.significant as usize).copied().unwrap_or(b'0');
                self.order = byte.cmp(&decisive);
            }
            self.significant += 1;
            self.point += i64::from(!fraction);
        } else {
            self.point -= i64::from(fraction);
        }
    }

    fn exponent_digit(&mut self, byte: u8) {
        self.exponent = (self.exponent * 10 + i64::from(byte - b'0')).min(EXPONENT_CAP);
    }

    /// What a complete number may violate.
    fn check(&self, options: &DecodeOptions) -> Result<(), ErrorKind> {
        let limited = !self.float || options.decimals;
        if limited && options.digit_limit != 0 && self.digits > u64::from(options.digit_limit) {
            return Err(ErrorKind::IntegerDigits);
        }
        let large = match options.decimals {
            true => self.exponent >= EXPONENT_CAP,
            false => self.is_infinite(),
        };
        if self.float && large { Err(ErrorKind::NumberOutOfRange) } else { Ok(()) }
    }

    fn is_infinite(&self) -> bool {
        let exponent = if self.exponent_negative { -self.exponent } else { self.exponent };
        match (self.point + exponent).cmp(&(TOO_LARGE.len() as i64)) {
            _ if self.significant == 0 => false,
            Ordering::Less => false,
            Ordering::Greater => true,
            // Digits that are missing are zeros, and so fewer are less, unless all the others are zeros too: they are not.
            Ordering::Equal if self.order == Ordering::Equal => self.significant >= TOO_LARGE.len() as u64,
            Ordering::Equal => self.order == Ordering::Greater,
        }
    }
}

impl<K: Kernel> Scan<'_, K> {
    /// Goes on inside a number; the offset of the byte behind it, or `None` when the piece ends first.
    #[inline(always)]
    pub(super) fn number(&mut self, mut number: Number, mut pos: usize) -> Result<Option<usize>, Failure> {
        while let Some(&byte) = self.bytes.get(pos) {
            let next = match (number.phase, byte) {
                (Phase::Integer, b'0'..=b'9') | (Phase::Minus | Phase::Start, b'1'..=b'9') => {
                    number.digit(byte, false);
                    Phase::Integer
                }
                (Phase::Fraction | Phase::Point, b'0'..=b'9') => {
                    number.digit(byte, true);
                    Phase::Fraction
                }
                (Phase::Exponent | Phase::ExponentSign | Phase::ExponentDigits, b'0'..=b'9') => {
                    number.exponent_digit(byte);
                    Phase::ExponentDigits
                }
                (Phase::Minus | Phase::Start, b'0') => {
                    number.digit(byte, false);
                    Phase::Zero
                }
                (Phase::Zero, b'0'..=b'9') => {
                    return Err(self.at_anchor(ErrorKind::LeadingZero, usize::from(number.negative)));
                }
                (Phase::Zero | Phase::Integer, b'.') => {
                    number.float = true;
                    Phase::Point
                }
                (Phase::Zero | Phase::Integer | Phase::Fraction, b'e' | b'E') => {
                    number.float = true;
                    Phase::Exponent
                }
                (Phase::Exponent, b'+' | b'-') => {
                    number.exponent_negative = byte == b'-';
                    Phase::ExponentSign
                }
                (Phase::Start, b'-') => {
                    number.negative = true;
                    Phase::Minus
                }
                (Phase::Minus, b'I') => {
                    self.scanner.token = Token::Word(MINUS_INFINITY, 1);
                    return self.word(MINUS_INFINITY, 1, pos);
                }
                _ => return self.end_number(&number, pos).map(|()| Some(pos)),
            };
            number.phase = next;
            pos += 1;
        }
        self.scanner.token = Token::Number(number);
        Ok(None)
    }

    /// The number ends before `pos`, whatever stands there.
    pub(super) fn end_number(&self, number: &Number, pos: usize) -> Result<(), Failure> {
        match number.phase {
            Phase::Zero | Phase::Integer | Phase::Fraction | Phase::ExponentDigits => {
                number.check(self.options).map_err(|kind| self.at_anchor(kind, 0))
            }
            _ if pos == self.bytes.len() => Err(Error::new(ErrorKind::UnexpectedEnd, pos).into()),
            _ => Err(Error::new(ErrorKind::InvalidNumber, pos).into()),
        }
    }
}
