//! Numbers in pieces (RFC 8259 section 6): the grammar, and as much of the value as shows whether it exceeds a limit.

use super::scanner::{Failure, Scan};
use super::token::{MINUS_INFINITY, Number, Phase, Token};
use crate::error::{Error, ErrorKind};
use crate::simd::Kernel;

impl<K: Kernel> Scan<'_, K> {
    /// Continues inside a number. Returns the offset after it, or `None` if the piece ends first.
    #[inline(always)]
    pub fn number(&mut self, mut number: Number, mut pos: usize) -> Result<Option<usize>, Failure> {
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
        if number.is_hopeless(self.options) {
            return self.end_number(&number, pos).map(|()| None);
        }
        self.scanner.token = Token::Number(number);
        Ok(None)
    }

    /// The number ends before `pos`, whatever stands there.
    pub fn end_number(&self, number: &Number, pos: usize) -> Result<(), Failure> {
        if number.is_whole() {
            return number.check(self.options).map_err(|kind| self.at_anchor(kind, 0));
        }
        let kind = if pos == self.bytes.len() { ErrorKind::UnexpectedEnd } else { ErrorKind::InvalidNumber };
        Err(Error::new(kind, pos).into())
    }
}
