//! The state as bytes, little endian. The bytes that are read are untrusted: only what can have been written is accepted.

use super::scanner::Scanner;
use super::token::{Number, Phase, Place, Text, Token, WORDS};
use crate::decode::number::EXPONENT_CAP;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Takes bytes apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of bytes, which a sum of two never carries out of its type.
    pub fn count(&mut self) -> Option<u64> {
        self.u64().filter(|&count| count < 1 << 62)
    }

    /// The same with a sign.
    fn signed(&mut self) -> Option<i64> {
        self.u64().map(u64::cast_signed).filter(|number| number.unsigned_abs() < 1 << 62)
    }

    /// All that is left: a bit for each open bracket, and their number.
    pub fn brackets(self) -> Option<(&'a [u8], u32)> {
        let (bits, depth) = self.0.split_last_chunk()?;
        let depth = u32::from_le_bytes(*depth);
        (bits.len() == (depth as usize).div_ceil(8)).then_some((bits, depth))
    }

    /// Bytes behind their length.
    pub fn slice(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    /// Numbers (`u32` each) behind their count; [`number`] reads one of them.
    #[inline(always)]
    pub fn numbers(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()? as usize;
        self.take(count.checked_mul(4)?)
    }
}

/// The number at this place of a list of numbers; `usize::MAX` behind its end.
#[inline(always)]
pub(crate) fn number(numbers: &[u8], place: usize) -> usize {
    let bytes = numbers.get(4 * place..).and_then(|rest| rest.first_chunk());
    bytes.map_or(usize::MAX, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// Searches a sorted list of `count` items: `look` says how an item compares with what is wanted, and what to return for it.
#[inline(always)]
pub(crate) fn search<T>(count: usize, look: impl Fn(usize) -> Option<(Ordering, T)>) -> Option<T> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        match look(middle)? {
            (Ordering::Equal, found) => return Some(found),
            (Ordering::Less, _) => low = middle + 1,
            (Ordering::Greater, _) => high = middle,
        }
    }
    None
}

/// Puts bytes together.
#[derive(Debug)]
pub(crate) struct Writer<'a>(pub &'a mut Vec<u8>);

impl Writer<'_> {
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A length, which is that of something in memory.
    pub fn u32(&mut self, number: usize) {
        self.bytes(&(number as u32).to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub fn brackets(&mut self, bits: &[u8], depth: u32) {
        self.bytes(bits);
        self.bytes(&depth.to_le_bytes());
    }

    pub fn slice(&mut self, bytes: &[u8]) {
        self.bytes(&(bytes.len() as u32).to_le_bytes());
        self.bytes(bytes);
    }
}

impl Scanner {
    /// Appends the state. The brackets come last: `lib/rustyjson/feed/state.ex` takes outer ones off.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut out = Writer(out);
        out.bytes(&[self.place as u8, u8::from(self.fresh)]);
        out.u64(self.back);
        match self.token {
            Token::None => out.bytes(&[0]),
            Token::Word(which, seen) => out.bytes(&[1, which, seen]),
            Token::Text(text) => text.write(&mut out),
            Token::Number(number) => number.write(&mut out),
        }
        out.brackets(&self.objects[..(self.depth as usize).div_ceil(8)], self.depth);
    }

    /// Reads what [`Scanner::write`] wrote.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let place = *Place::ALL.get(reader.byte()? as usize)?;
        let (fresh, back, token) = (reader.flag()?, reader.count()?, token(&mut reader)?);
        let (objects, depth) = reader.brackets()?;
        let scanner = Self { place, token, back, fresh, depth, objects: objects.to_vec() };
        scanner.is_possible().then_some(scanner)
    }

    /// Whether the parts fit together, so that none of them has to be doubted later.
    fn is_possible(&self) -> bool {
        let place = match self.place {
            Place::Start => self.depth == 0,
            Place::First | Place::Element => self.depth > 0 && !self.in_object(),
            Place::FirstKey | Place::Key | Place::Colon | Place::Member => self.depth > 0 && self.in_object(),
            Place::After => true,
        };
        let token = match (self.place, self.token) {
            (_, Token::None) => true,
            (Place::Colon | Place::After, _) => false,
            (Place::FirstKey | Place::Key, token) => matches!(token, Token::Text(_)),
            _ => true,
        };
        place && token
    }
}

fn token(reader: &mut Reader<'_>) -> Option<Token> {
    match reader.byte()? {
        0 => Some(Token::None),
        1 => {
            let (which, seen) = (reader.byte()?, reader.byte()?);
            let word = WORDS.get(which as usize)?;
            ((seen as usize) < word.text.len()).then_some(Token::Word(which, seen))
        }
        2 => Number::read(reader).map(Token::Number),
        tag => Text::read(tag, reader).map(Token::Text),
    }
}

impl Text {
    fn write(self, out: &mut Writer<'_>) {
        match self {
            Self::Open => out.bytes(&[3]),
            Self::Plain => out.bytes(&[4]),
            Self::Backslash => out.bytes(&[5]),
            Self::High => out.bytes(&[6]),
            Self::HighBackslash => out.bytes(&[7]),
            Self::Unit { digits, unit } => out.bytes(&[8, digits, unit as u8, (unit >> 8) as u8]),
            Self::Low { digits, unit } => out.bytes(&[9, digits, unit as u8, (unit >> 8) as u8]),
            Self::Sequence { left, from, to } => out.bytes(&[10, left, from, to]),
        }
    }

    fn read(tag: u8, reader: &mut Reader<'_>) -> Option<Self> {
        match tag {
            3 => Some(Self::Open),
            4 => Some(Self::Plain),
            5 => Some(Self::Backslash),
            6 => Some(Self::High),
            7 => Some(Self::HighBackslash),
            8 | 9 => {
                let (digits, unit) = (reader.byte().filter(|&digits| digits < 4)?, reader.u16()?);
                Some(if tag == 8 { Self::Unit { digits, unit } } else { Self::Low { digits, unit } })
            }
            10 => {
                let [left, from, to] = reader.array()?;
                (1..=3).contains(&left).then_some(Self::Sequence { left, from, to })
            }
            _ => None,
        }
    }
}

impl Number {
    fn write(&self, out: &mut Writer<'_>) {
        let flags = [self.negative, self.float, self.exponent_negative].map(u8::from);
        out.bytes(&[2, self.phase as u8, flags[0], flags[1], flags[2], self.order.cast()]);
        for number in [self.digits, self.significant, self.point.cast_unsigned(), self.exponent.cast_unsigned()] {
            out.u64(number);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            phase: *Phase::ALL.get(reader.byte()? as usize)?,
            negative: reader.flag()?,
            float: reader.flag()?,
            exponent_negative: reader.flag()?,
            order: match reader.byte()? {
                0 => Ordering::Equal,
                1 => Ordering::Greater,
                2 => Ordering::Less,
                _ => return None,
            },
            digits: reader.count()?,
            significant: reader.count()?,
            point: reader.signed()?,
            exponent: reader.signed().filter(|exponent| (0..=EXPONENT_CAP).contains(exponent))?,
        })
    }
}

trait Cast {
    fn cast(self) -> u8;
}

impl Cast for Ordering {
    fn cast(self) -> u8 {
        match self {
            Self::Equal => 0,
            Self::Greater => 1,
            Self::Less => 2,
        }
    }
}
