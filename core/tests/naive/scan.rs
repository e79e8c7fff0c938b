//! The scanner's twin, written for clarity: it has the whole text so far, recurses, and reads it from the start each time.

use super::tree::decoded;
use rustyjson_core::scan::{Failure, Progress, Scanner};
use rustyjson_core::{DecodeOptions, Error, ErrorKind};

/// Scans the pieces between these offsets, the state going through bytes each time. `last`: nothing follows.
pub fn in_pieces(text: &[u8], cuts: &[usize], options: &DecodeOptions, last: bool) -> Result<Progress, Error> {
    let mut scanner = Scanner::new(true);
    let mut start = 0;
    for &end in cuts.iter().chain([&text.len()]) {
        let progress = scanner.scan(&text[start..end], options).map_err(|failure| absolute(failure, start))?;
        if let Progress::Ended(at) = progress {
            return Ok(Progress::Ended(start + at));
        }
        scanner = through_bytes(&scanner);
        start = end;
    }
    if !last {
        return Ok(Progress::More);
    }
    scanner.finish(options).map_err(|failure| absolute(failure, start)).map(|()| Progress::Ended(text.len()))
}

fn absolute(failure: Failure, start: usize) -> Error {
    assert!(failure.back == 0 || failure.offset == 0);
    assert!(failure.back_characters <= failure.back);
    Error::new(failure.kind, start + failure.offset - failure.back as usize)
}

fn through_bytes(scanner: &Scanner) -> Scanner {
    let mut bytes = Vec::new();
    scanner.write(&mut bytes);
    let read = Scanner::read(&bytes).expect("what was written is read");
    assert_eq!(&read, scanner);
    read
}

/// Every text, whole and in pieces, and with and without an end, as the twin has it; and the decoder agrees.
pub fn assert_same(text: &[u8], cuts: &[usize], options: &DecodeOptions) {
    let shown = String::from_utf8_lossy(text);
    for last in [false, true] {
        let expected = scan(text, options, last);
        let found = in_pieces(text, cuts, options, last);
        assert_eq!(found, expected, "{shown:?} cut at {cuts:?}, last: {last}");
    }
    let whole = decoded(text, options).map(|_| ());
    match scan(text, options, true) {
        Err(error) => assert_eq!(whole, Err(error), "{shown:?} decoded"),
        Ok(Progress::Ended(end)) => match text[end..].iter().position(|byte| !b" \t\r\n".contains(byte)) {
            None => assert_eq!(whole, Ok(()), "{shown:?} decoded"),
            Some(more) => assert_eq!(whole, Err(Error::new(ErrorKind::TrailingData, end + more)), "{shown:?} decoded"),
        },
        Ok(Progress::More) => panic!("{shown:?} has no end"),
    }
}

/// Why reading stopped before the value did.
enum Stop {
    /// The text ends first: what comes next decides.
    More,
    Wrong(Error),
}

type Read<T> = Result<T, Stop>;

/// Where the first value of the text ends, whether it needs more, or its first error. `last`: nothing follows the text.
pub fn scan(text: &[u8], options: &DecodeOptions, last: bool) -> Result<Progress, Error> {
    let mut reader = Reader { text, pos: 0, depth: 0, options, last };
    match reader.document() {
        Ok(()) => Ok(Progress::Ended(reader.pos)),
        Err(Stop::More) => Ok(Progress::More),
        Err(Stop::Wrong(error)) => Err(error),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    pos: usize,
    depth: u32,
    options: &'a DecodeOptions,
    last: bool,
}

impl Reader<'_> {
    /// The next byte. When the text has ended for good, that is the error.
    fn peek(&self) -> Read<u8> {
        match self.text.get(self.pos) {
            Some(&byte) => Ok(byte),
            None if self.last => self.wrong(ErrorKind::UnexpectedEnd),
            None => Err(Stop::More),
        }
    }

    fn wrong<T>(&self, kind: ErrorKind) -> Read<T> {
        self.wrong_at(kind, self.pos)
    }

    fn wrong_at<T>(&self, kind: ErrorKind, pos: usize) -> Read<T> {
        Err(Stop::Wrong(Error::new(kind, pos)))
    }

    /// Whether the text goes on with this word. More is needed as long as it may.
    fn starts(&self, word: &[u8]) -> Read<bool> {
        let rest = &self.text[self.pos..];
        if rest.len() < word.len() && word.starts_with(rest) && !self.last {
            Err(Stop::More)
        } else {
            Ok(rest.starts_with(word))
        }
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.pos), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.pos += 1;
        }
    }

    fn document(&mut self) -> Read<()> {
        if !self.text.is_empty() {
            for mark in [&b"\xEF\xBB\xBF"[..], b"\xFE\xFF", b"\xFF\xFE"] {
                if self.starts(mark)? {
                    return self.wrong(ErrorKind::ByteOrderMark);
                }
            }
        }
        self.space();
        self.value(false)
    }

    fn value(&mut self, after_comma: bool) -> Read<()> {
        match self.peek()? {
            b'"' => self.string(),
            b'[' => self.nested(Self::array),
            b'{' => self.nested(Self::object),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            b']' | b'}' if after_comma => self.wrong(ErrorKind::TrailingComma),
            b'\'' => self.wrong(ErrorKind::SingleQuotes),
            b'N' if self.starts(b"NaN")? => self.wrong(ErrorKind::Nan),
            b'I' if self.starts(b"Infinity")? => self.wrong(ErrorKind::Infinity),
            _ => self.wrong(ErrorKind::ExpectedValue),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Read<()> {
        if self.starts(word)? {
            self.pos += word.len();
            return Ok(());
        }
        if word.starts_with(&self.text[self.pos..]) {
            return self.wrong_at(ErrorKind::UnexpectedEnd, self.text.len());
        }
        self.wrong(ErrorKind::ExpectedValue)
    }

    fn nested(&mut self, inside: fn(&mut Self) -> Read<()>) -> Read<()> {
        if self.depth >= self.options.max_depth {
            return self.wrong(ErrorKind::MaxDepth);
        }
        self.pos += 1;
        self.depth += 1;
        self.space();
        inside(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn array(&mut self) -> Read<()> {
        let mut after_comma = false;
        while after_comma || self.peek()? != b']' {
            self.value(after_comma)?;
            self.space();
            match self.peek()? {
                b',' => after_comma = true,
                b']' => break,
                _ => return self.wrong(ErrorKind::ExpectedCommaOrArrayEnd),
            }
            self.pos += 1;
            self.space();
        }
        self.pos += 1;
        Ok(())
    }

    fn object(&mut self) -> Read<()> {
        let mut after_comma = false;
        while after_comma || self.peek()? != b'}' {
            match self.peek()? {
                b'"' => self.string()?,
                b'}' => return self.wrong(ErrorKind::TrailingComma),
                b'\'' => return self.wrong(ErrorKind::SingleQuotes),
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => return self.wrong(ErrorKind::UnquotedKey),
                _ => return self.wrong(ErrorKind::ExpectedKey),
            }
            self.space();
            if self.peek()? != b':' {
                return self.wrong(ErrorKind::ExpectedColon);
            }
            self.pos += 1;
            self.space();
            self.value(false)?;
            self.space();
            match self.peek()? {
                b',' => after_comma = true,
                b'}' => break,
                _ => return self.wrong(ErrorKind::ExpectedCommaOrObjectEnd),
            }
            self.pos += 1;
            self.space();
        }
        self.pos += 1;
        Ok(())
    }

    /// A string, character by character.
    fn string(&mut self) -> Read<()> {
        self.pos += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.escape()?,
                0..=0x1F => return self.wrong(ErrorKind::ControlCharacter),
                byte if byte.is_ascii() => self.pos += 1,
                _ if !self.options.validate_strings => self.pos += 1,
                _ => self.character()?,
            }
        }
        self.pos += 1;
        Ok(())
    }

    /// The shortest text from here that is a character.
    fn character(&mut self) -> Read<()> {
        for len in 1..=4 {
            let Some(bytes) = self.text.get(self.pos..self.pos + len) else {
                return if self.last { self.wrong(ErrorKind::InvalidUtf8) } else { Err(Stop::More) };
            };
            match std::str::from_utf8(bytes) {
                Ok(_) => {
                    self.pos += len;
                    return Ok(());
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => break,
            }
        }
        self.wrong(ErrorKind::InvalidUtf8)
    }

    fn escape(&mut self) -> Read<()> {
        let start = self.pos;
        self.pos += 1;
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.pos += 1,
            b'u' => {
                self.pos += 1;
                match self.unit(start)? {
                    0xD800..=0xDBFF => self.low_half(start)?,
                    0xDC00..=0xDFFF => return self.wrong_at(ErrorKind::LoneSurrogate, start),
                    _ => {}
                }
            }
            _ => return self.wrong_at(ErrorKind::InvalidEscape, start),
        }
        Ok(())
    }

    fn low_half(&mut self, first: usize) -> Read<()> {
        let second = self.pos;
        for expected in [b'\\', b'u'] {
            if self.peek()? != expected {
                return self.wrong_at(ErrorKind::LoneSurrogate, first);
            }
            self.pos += 1;
        }
        if (0xDC00..=0xDFFF).contains(&self.unit(second)?) {
            Ok(())
        } else {
            self.wrong_at(ErrorKind::LoneSurrogate, first)
        }
    }

    fn unit(&mut self, escape: usize) -> Read<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = (self.peek()? as char).to_digit(16) else {
                return self.wrong_at(ErrorKind::InvalidUnicodeEscape, escape);
            };
            unit = unit * 16 + digit;
            self.pos += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Read<()> {
        let start = self.pos;
        if self.peek()? == b'-' {
            self.pos += 1;
            if self.peek()? == b'I' && self.starts(b"Infinity")? {
                return self.wrong_at(ErrorKind::Infinity, start);
            }
        }
        let integer = self.pos;
        let mut digits = self.digits()?;
        if digits > 1 && self.text[integer] == b'0' {
            return self.wrong_at(ErrorKind::LeadingZero, integer);
        }
        let mut float = false;
        if self.text.get(self.pos) == Some(&b'.') {
            float = true;
            self.pos += 1;
            digits += self.digits()?;
        }
        if matches!(self.text.get(self.pos), Some(b'e' | b'E')) {
            float = true;
            self.pos += 1;
            if matches!(self.peek()?, b'+' | b'-') {
                self.pos += 1;
            }
            self.digits()?;
        }
        if self.pos == self.text.len() && !self.last {
            let text = std::str::from_utf8(&self.text[start..self.pos]).unwrap();
            if !self.options.decimals || !is_hopeless(text, self.options) {
                return Err(Stop::More);
            }
        }
        let limit = self.options.digit_limit as usize;
        if (!float || self.options.decimals) && limit != 0 && digits > limit {
            return self.wrong_at(ErrorKind::IntegerDigits, start);
        }
        let text = std::str::from_utf8(&self.text[start..self.pos]).unwrap();
        if float
            && self.options.decimals
            && let Some(kind) = beyond_limits_of(text, self.options)
        {
            return self.wrong_at(kind, start);
        }
        let too_large = match self.options.decimals {
            true => has_endless_exponent(text),
            false => text.parse::<f64>().unwrap().is_infinite(),
        };
        if float && too_large {
            return self.wrong_at(ErrorKind::NumberOutOfRange, start);
        }
        Ok(())
    }

    /// One digit at least.
    fn digits(&mut self) -> Read<usize> {
        let start = self.pos;
        if !self.peek()?.is_ascii_digit() {
            return self.wrong(ErrorKind::InvalidNumber);
        }
        while self.text.get(self.pos).is_some_and(u8::is_ascii_digit) {
            self.pos += 1;
        }
        // A second digit behind a zero is wrong at once, whatever follows.
        Ok(self.pos - start)
    }
}

/// Whether more digits of the exponent take a number only farther from the limits.
fn is_hopeless(number: &str, options: &DecodeOptions) -> bool {
    let Some((digits, exponent)) = number.split_once(['e', 'E']) else { return false };
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i128);
    let negative = exponent.starts_with('-');
    let Ok(size) = exponent.trim_start_matches(['+', '-']).parse::<i128>() else { return exponent.len() > 30 };
    let power = if negative { -size } else { size } - fraction;
    size > 0 && (power < 0) == negative && super::beyond_limits(0, power, options).is_some()
}

/// The limit of decimals that this number exceeds.
fn beyond_limits_of(number: &str, options: &DecodeOptions) -> Option<ErrorKind> {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let significant = format!("{integer}{fraction}");
    let significant = significant.trim_start_matches(['-', '0']).len();
    let exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') { -1 << 90 } else { 1_i128 << 90 });
    super::beyond_limits(significant, exponent - fraction.len() as i128, options)
}

/// Whether the exponent of a decimal has 2^48 or more, whatever its sign.
fn has_endless_exponent(number: &str) -> bool {
    let Some((_, exponent)) = number.split_once(['e', 'E']) else { return false };
    exponent.trim_start_matches(['+', '-']).parse::<u64>().map_or(true, |exponent| exponent >= 1 << 48)
}
