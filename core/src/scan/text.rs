//! Strings in pieces (RFC 8259 section 7).

use super::scanner::{Failure, Scan};
use super::token::{Text, Token, sequence};
use crate::error::{Error, ErrorKind};
use crate::simd::Kernel;

impl<K: Kernel> Scan<'_, K> {
    /// Continues inside a string. Returns the offset after its closing quote, or `None` if the piece ends first.
    #[inline(always)]
    pub fn text(&mut self, mut text: Text, mut pos: usize) -> Result<Option<usize>, Failure> {
        loop {
            if let Text::Plain = text {
                let run = self.kernel.string_run(self.bytes, pos);
                if !run.ascii
                    && self.options.validate_strings
                    && let Some(cut) = self.utf8(pos, run.end)?
                {
                    self.scanner.token = Token::Text(cut);
                    return Ok(None);
                }
                pos = run.end;
                if self.bytes.get(pos) == Some(&b'"') {
                    return Ok(Some(pos + 1));
                }
            }
            let Some(&byte) = self.bytes.get(pos) else {
                self.scanner.token = Token::Text(text);
                return Ok(None);
            };
            text = self.byte(text, byte, pos)?;
            pos += 1;
        }
    }

    /// Checks a run of plain bytes. One that ends with the piece may end inside a character.
    #[inline(never)]
    fn utf8(&mut self, from: usize, to: usize) -> Result<Option<Text>, Failure> {
        let run = &self.bytes[from..to];
        if run.len() >= 64 && simdutf8::basic::from_utf8(run).is_ok() {
            return Ok(None);
        }
        let Err(error) = core::str::from_utf8(run) else { return Ok(None) };
        let at = from + error.valid_up_to();
        if error.error_len().is_some() || to < self.bytes.len() {
            return Err(Error::new(ErrorKind::InvalidUtf8, at).into());
        }
        (self.start, self.scanner.back) = (at, 0);
        let (lead, rest) = (self.bytes[at], &self.bytes[at + 1..]);
        let mut text = sequence(lead).unwrap_or(Text::Plain);
        for &byte in rest {
            text = self.continued(text, byte)?;
        }
        Ok(Some(text))
    }

    /// A byte inside a character.
    fn continued(&self, text: Text, byte: u8) -> Result<Text, Failure> {
        match text {
            Text::Sequence { left, from, to } if from <= byte && byte <= to => match left {
                1 => Ok(Text::Plain),
                _ => Ok(Text::Sequence { left: left - 1, from: 0x80, to: 0xBF }),
            },
            _ => Err(self.at_anchor(ErrorKind::InvalidUtf8, 0)),
        }
    }

    /// A byte that is not plain, or that stands inside an escape or a character.
    fn byte(&mut self, text: Text, byte: u8, pos: usize) -> Result<Text, Failure> {
        match text {
            Text::Open => Ok(Text::Plain),
            Text::Plain if byte == b'\\' => {
                (self.start, self.scanner.back) = (pos, 0);
                Ok(Text::Backslash)
            }
            Text::Plain => Err(Error::new(ErrorKind::ControlCharacter, pos).into()),
            Text::Backslash => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(Text::Plain),
                b'u' => Ok(Text::Unit { digits: 0, unit: 0 }),
                _ => Err(self.at_anchor(ErrorKind::InvalidEscape, 0)),
            },
            Text::Unit { digits, unit } => match (self.hex(byte, unit, 0)?, digits) {
                (0xDC00..=0xDFFF, 3) => Err(self.at_anchor(ErrorKind::LoneSurrogate, 0)),
                (0xD800..=0xDBFF, 3) => Ok(Text::High),
                (_, 3) => Ok(Text::Plain),
                (unit, _) => Ok(Text::Unit { digits: digits + 1, unit }),
            },
            Text::High if byte == b'\\' => Ok(Text::HighBackslash),
            Text::HighBackslash if byte == b'u' => Ok(Text::Low { digits: 0, unit: 0 }),
            Text::High | Text::HighBackslash => Err(self.at_anchor(ErrorKind::LoneSurrogate, 0)),
            Text::Low { digits, unit } => match (self.hex(byte, unit, LOW)?, digits) {
                (0xDC00..=0xDFFF, 3) => Ok(Text::Plain),
                (_, 3) => Err(self.at_anchor(ErrorKind::LoneSurrogate, 0)),
                (unit, _) => Ok(Text::Low { digits: digits + 1, unit }),
            },
            Text::Sequence { .. } => self.continued(text, byte),
        }
    }

    /// A digit of an escape that starts this many bytes after the first one.
    fn hex(&self, byte: u8, unit: u16, behind: usize) -> Result<u16, Failure> {
        match (byte as char).to_digit(16) {
            Some(digit) => Ok(unit << 4 | digit as u16),
            None => Err(self.at_anchor(ErrorKind::InvalidUnicodeEscape, behind)),
        }
    }
}

/// The second escape of a pair starts this far behind the first.
const LOW: usize = 6;
