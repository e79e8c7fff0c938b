//! A JSON parser written for clarity: it recurses, copies, and reads RFC 8259 from top to bottom. It is the judge of the
//! core's decoder, for values and for errors, in the tests and in the fuzz targets.
#![allow(dead_code, missing_docs)]

pub mod etf;
pub mod feed;
pub mod options;
pub mod partial;
pub mod parts;
pub mod scan;
pub mod tape;
pub mod tree;

use rustyjson_core::options::Duplicates;
use rustyjson_core::{DecodeOptions, Error, ErrorKind};
use tree::{Number, Tree};

type Result<T> = std::result::Result<T, Error>;

/// Exponents of decimals from here on are refused.
const EXPONENT_CAP: i128 = 1 << 48;

/// What the text means, or its first error.
pub fn parse(json: &[u8], options: &DecodeOptions) -> Result<Tree> {
    read(json, options, false)
}

/// The same, with all numbers as decimals without limits, integers too.
pub fn parse_exact(json: &[u8], options: &DecodeOptions) -> Result<Tree> {
    let limits = DecodeOptions { max_decimal_digits: u32::MAX, max_decimal_exponent: u32::MAX, ..*options };
    read(json, &DecodeOptions { decimals: true, ..limits }, true)
}

/// The same within the default limits of decimals.
pub fn parse_decimal(json: &[u8]) -> Result<Tree> {
    read(json, &DecodeOptions { decimals: true, ..DecodeOptions::DEFAULT }, true)
}

fn read(json: &[u8], options: &DecodeOptions, exact: bool) -> Result<Tree> {
    if [&b"\xEF\xBB\xBF"[..], b"\xFE\xFF", b"\xFF\xFE"].iter().any(|mark| json.starts_with(mark)) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    let mut parser = Parser { json, pos: 0, depth: 0, nodes: 0, options, exact };
    parser.space();
    let value = parser.value(false)?;
    parser.space();
    if parser.pos < json.len() {
        return parser.fail(ErrorKind::TrailingData);
    }
    Ok(value)
}

struct Parser<'a> {
    json: &'a [u8],
    pos: usize,
    depth: usize,
    nodes: u64,
    options: &'a DecodeOptions,
    exact: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.json.get(self.pos).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.json[self.pos..]
    }

    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(kind, self.pos))
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    fn node(&mut self) -> Result<()> {
        self.nodes += 1;
        if self.options.max_nodes != 0 && self.nodes > self.options.max_nodes {
            return self.fail(ErrorKind::MaxNodes);
        }
        Ok(())
    }

    fn value(&mut self, after_comma: bool) -> Result<Tree> {
        match self.peek() {
            None => return self.fail(ErrorKind::UnexpectedEnd),
            Some(b']' | b'}') if after_comma => return self.fail(ErrorKind::TrailingComma),
            Some(b'\'') => return self.fail(ErrorKind::SingleQuotes),
            _ if self.rest().starts_with(b"NaN") => return self.fail(ErrorKind::Nan),
            _ if self.rest().starts_with(b"Infinity") => return self.fail(ErrorKind::Infinity),
            Some(b'"' | b'{' | b'[' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {}
            Some(_) => return self.fail(ErrorKind::ExpectedValue),
        }
        self.node()?;
        match self.peek() {
            Some(b'"') => Ok(Tree::String(self.string()?)),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b't') => self.literal("true", Tree::Boolean(true)),
            Some(b'f') => self.literal("false", Tree::Boolean(false)),
            Some(b'n') => self.literal("null", Tree::Null),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &str, value: Tree) -> Result<Tree> {
        if self.rest().starts_with(word.as_bytes()) {
            self.pos += word.len();
            return Ok(value);
        }
        if word.as_bytes().starts_with(self.rest()) {
            self.pos = self.json.len();
            return self.fail(ErrorKind::UnexpectedEnd);
        }
        self.fail(ErrorKind::ExpectedValue)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Tree>) -> Result<Tree> {
        if self.depth as u64 >= u64::from(self.options.max_depth) {
            return self.fail(ErrorKind::MaxDepth);
        }
        self.depth += 1;
        self.pos += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Tree> {
        let mut elements = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.pos += 1;
            return Ok(Tree::Array(elements));
        }
        loop {
            elements.push(self.value(!elements.is_empty())?);
            self.space();
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b']') => break,
                None => return self.fail(ErrorKind::UnexpectedEnd),
                Some(_) => return self.fail(ErrorKind::ExpectedCommaOrArrayEnd),
            }
            self.space();
        }
        self.pos += 1;
        Ok(Tree::Array(elements))
    }

    fn object(&mut self) -> Result<Tree> {
        let mut members = Vec::new();
        let mut quotes = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.pos += 1;
            return Ok(Tree::Object(members));
        }
        loop {
            self.check_key(!members.is_empty())?;
            self.node()?;
            quotes.push(self.pos);
            let key = self.string()?;
            self.colon()?;
            members.push((key, self.value(false)?));
            self.space();
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b'}') => break,
                None => return self.fail(ErrorKind::UnexpectedEnd),
                Some(_) => return self.fail(ErrorKind::ExpectedCommaOrObjectEnd),
            }
            self.space();
        }
        self.pos += 1;
        self.resolve(members, &quotes).map(Tree::Object)
    }

    fn check_key(&self, after_comma: bool) -> Result<()> {
        match self.peek() {
            Some(b'"') => Ok(()),
            None => self.fail(ErrorKind::UnexpectedEnd),
            Some(b'}') if after_comma => self.fail(ErrorKind::TrailingComma),
            Some(b'\'') => self.fail(ErrorKind::SingleQuotes),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' => {
                self.fail(ErrorKind::UnquotedKey)
            }
            Some(_) => self.fail(ErrorKind::ExpectedKey),
        }
    }

    fn colon(&mut self) -> Result<()> {
        self.space();
        match self.peek() {
            Some(b':') => self.pos += 1,
            None => return self.fail(ErrorKind::UnexpectedEnd),
            Some(_) => return self.fail(ErrorKind::ExpectedColon),
        }
        self.space();
        Ok(())
    }

    /// Repeated keys, when the object has ended.
    fn resolve(&self, members: Vec<(Vec<u8>, Tree)>, quotes: &[usize]) -> Result<Vec<(Vec<u8>, Tree)>> {
        let earlier = |i: usize| members[..i].iter().any(|(key, _)| *key == members[i].0);
        let later = |i: usize| members[i + 1..].iter().any(|(key, _)| *key == members[i].0);
        let all = 0..members.len();
        if self.options.duplicates == Duplicates::Error
            && let Some(second) = all.clone().find(|&i| earlier(i))
        {
            return Err(Error::new(ErrorKind::DuplicateKey, quotes[second]));
        }
        let kept: Vec<usize> = match self.options.duplicates {
            _ if self.options.ordered_objects => all.collect(),
            Duplicates::First => all.filter(|&i| !earlier(i)).collect(),
            _ => all.filter(|&i| !later(i)).collect(),
        };
        Ok(kept.into_iter().map(|i| members[i].clone()).collect())
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.pos += 1;
        loop {
            match self.peek() {
                None => return self.fail(ErrorKind::UnexpectedEnd),
                Some(b'"') => break,
                Some(b'\\') => text.extend_from_slice(self.escape()?.encode_utf8(&mut [0; 4]).as_bytes()),
                Some(0..0x20) => return self.fail(ErrorKind::ControlCharacter),
                Some(_) => {
                    let len = self.character()?;
                    text.extend_from_slice(&self.rest()[..len]);
                    self.pos += len;
                }
            }
        }
        self.pos += 1;
        Ok(text)
    }

    /// Length of the current character.
    fn character(&self) -> Result<usize> {
        if !self.options.validate_strings {
            return Ok(1);
        }
        let rest = self.rest();
        (1..=rest.len().min(4))
            .find(|&len| std::str::from_utf8(&rest[..len]).is_ok())
            .map_or_else(|| self.fail(ErrorKind::InvalidUtf8), Ok)
    }

    fn escape(&mut self) -> Result<char> {
        let character = match self.json.get(self.pos + 1) {
            None => {
                self.pos += 1;
                return self.fail(ErrorKind::UnexpectedEnd);
            }
            Some(&letter @ (b'"' | b'\\' | b'/')) => char::from(letter),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            Some(_) => return self.fail(ErrorKind::InvalidEscape),
        };
        self.pos += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char> {
        let high = self.unit(self.pos)?;
        if !(0xD800..0xDC00).contains(&high) {
            let Some(character) = char::from_u32(high) else { return self.fail(ErrorKind::LoneSurrogate) };
            self.pos += 6;
            return Ok(character);
        }
        match self.json[self.pos + 6..] {
            [] | [b'\\'] => {
                self.pos = self.json.len();
                self.fail(ErrorKind::UnexpectedEnd)
            }
            [b'\\', b'u', ..] => {
                let low = self.unit(self.pos + 6)?;
                let pair = [high as u16, low as u16];
                match char::decode_utf16(pair).next() {
                    Some(Ok(character)) => {
                        self.pos += 12;
                        Ok(character)
                    }
                    _ => self.fail(ErrorKind::LoneSurrogate),
                }
            }
            _ => self.fail(ErrorKind::LoneSurrogate),
        }
    }

    /// The number that the escape at this backslash spells.
    fn unit(&self, backslash: usize) -> Result<u32> {
        let mut unit = 0;
        for i in 2..6 {
            let Some(&byte) = self.json.get(backslash + i) else {
                return Err(Error::new(ErrorKind::UnexpectedEnd, self.json.len()));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(Error::new(ErrorKind::InvalidUnicodeEscape, backslash));
            };
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }

    fn digits(&mut self) -> String {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.peek() {
            self.pos += 1;
        }
        String::from_utf8_lossy(&self.json[start..self.pos]).into_owned()
    }

    fn digits_required(&mut self) -> Result<String> {
        let digits = self.digits();
        match (digits.is_empty(), self.peek()) {
            (false, _) => Ok(digits),
            (true, None) => self.fail(ErrorKind::UnexpectedEnd),
            (true, Some(_)) => self.fail(ErrorKind::InvalidNumber),
        }
    }

    fn number(&mut self) -> Result<Tree> {
        let start = self.pos;
        let negative = self.peek() == Some(b'-');
        self.pos += usize::from(negative);
        if self.rest().starts_with(b"Infinity") {
            return Err(Error::new(ErrorKind::Infinity, start));
        }
        let integer_start = self.pos;
        let integer = self.digits_required()?;
        if integer.len() > 1 && integer.starts_with('0') {
            return Err(Error::new(ErrorKind::LeadingZero, integer_start));
        }
        let (mut fraction, mut exponent) = (None, None);
        if self.peek() == Some(b'.') {
            self.pos += 1;
            fraction = Some(self.digits_required()?);
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.pos += 1;
            let below = self.peek() == Some(b'-');
            self.pos += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            let digits = self.digits_required()?;
            let size = digits.parse::<i128>().unwrap_or(EXPONENT_CAP).min(EXPONENT_CAP);
            exponent = Some(if below { -size } else { size });
        }
        let text = std::str::from_utf8(&self.json[start..self.pos]).unwrap_or_default();
        let number = Number { negative, integer, fraction, exponent, text };
        number.tree(self.options, self.exact).map_err(|kind| Error::new(kind, start))
    }
}

/// Which limit of decimals these digits and this exponent exceed.
pub fn beyond_limits(significant: usize, exponent: i128, options: &DecodeOptions) -> Option<ErrorKind> {
    let exceeds = |value: u128, limit: u32| limit != u32::MAX && value > u128::from(limit);
    if exceeds(significant as u128, options.max_decimal_digits) {
        return Some(ErrorKind::DecimalDigits);
    }
    exceeds(exponent.unsigned_abs(), options.max_decimal_exponent).then_some(ErrorKind::DecimalExponent)
}

impl Number<'_> {
    fn tree(self, options: &DecodeOptions, exact: bool) -> std::result::Result<Tree, ErrorKind> {
        let fraction = self.fraction.as_deref().unwrap_or_default();
        let float = self.fraction.is_some() || self.exponent.is_some();
        let digits = self.integer.len() + fraction.len();
        if (!float || options.decimals) && options.digit_limit != 0 && digits > options.digit_limit as usize {
            return Err(ErrorKind::IntegerDigits);
        }
        if !float && !exact {
            return Ok(Tree::integer(self.negative, &self.integer));
        }
        if options.decimals {
            let exponent = self.exponent.unwrap_or(0);
            let significant = format!("{}{fraction}", self.integer).trim_start_matches('0').len();
            if let Some(kind) = beyond_limits(significant, exponent - fraction.len() as i128, options) {
                return Err(kind);
            }
            if exponent.abs() >= EXPONENT_CAP {
                return Err(ErrorKind::NumberOutOfRange);
            }
            let coefficient = tree::plain(&format!("{}{fraction}", self.integer));
            return Ok(Tree::Decimal(self.negative, coefficient, exponent as i64 - fraction.len() as i64));
        }
        match self.text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Tree::Float(float.to_bits())),
            _ => Err(ErrorKind::NumberOutOfRange),
        }
    }
}
