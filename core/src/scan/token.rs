//! What the scanner remembers of the token and the place at which a piece ends.

use crate::decode::number::{EXPONENT_CAP, check_decimal};
use crate::error::ErrorKind;
use crate::options::DecodeOptions;
use core::cmp::Ordering;

/// What the scanner is inside of, at the top of the open brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// Before the value itself.
    Start,
    /// Before the first element, or the end of the array.
    First,
    /// Behind a comma of an array.
    Element,
    /// Behind a colon.
    Member,
    /// Before the first key, or the end of the object.
    FirstKey,
    /// Behind a comma of an object.
    Key,
    /// Behind a key.
    Colon,
    /// Behind a value.
    After,
}

impl Place {
    pub const ALL: [Self; 8] =
        [Self::Start, Self::First, Self::Element, Self::Member, Self::FirstKey, Self::Key, Self::Colon, Self::After];
}

/// A token that is not over yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    None,
    Text(Text),
    Number(Number),
    /// One of [`WORDS`], and how many bytes of it were seen.
    Word(u8, u8),
}

/// A word, and the error that it is.
pub struct Word {
    pub text: &'static [u8],
    /// The word itself is an error of this kind; `None` for a literal.
    pub whole: Option<ErrorKind>,
    /// The error of a text that only starts like it, and how far behind its first byte.
    pub start: (ErrorKind, usize),
}

const fn word(text: &'static [u8], whole: Option<ErrorKind>) -> Word {
    Word { text, whole, start: (ErrorKind::ExpectedValue, 0) }
}

pub static WORDS: [Word; 9] = [
    word(b"true", None),
    word(b"false", None),
    word(b"null", None),
    word(b"NaN", Some(ErrorKind::Nan)),
    word(b"Infinity", Some(ErrorKind::Infinity)),
    Word { text: b"-Infinity", whole: Some(ErrorKind::Infinity), start: (ErrorKind::InvalidNumber, 1) },
    word(b"\xEF\xBB\xBF", Some(ErrorKind::ByteOrderMark)),
    word(b"\xFE\xFF", Some(ErrorKind::ByteOrderMark)),
    word(b"\xFF\xFE", Some(ErrorKind::ByteOrderMark)),
];
pub const NAN: u8 = 3;
pub const INFINITY: u8 = 4;
pub const MINUS_INFINITY: u8 = 5;
pub const FIRST_MARK: u8 = 6;

/// Where in a string the scanner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Before the opening quote.
    Open,
    /// Between characters.
    Plain,
    /// Behind a backslash.
    Backslash,
    /// Behind `\u` and this many digits, of this value.
    Unit { digits: u8, unit: u16 },
    /// Behind the high half of a surrogate pair.
    High,
    /// And a backslash.
    HighBackslash,
    /// And `u` and this many digits, of this value.
    Low { digits: u8, unit: u16 },
    /// Inside a character: bytes still to come, and what the next one must lie between.
    Sequence { left: u8, from: u8, to: u8 },
}

/// What must follow the first byte of a character, as a [`Text::Sequence`] (RFC 3629 section 4).
pub const fn sequence(lead: u8) -> Option<Text> {
    let (left, from, to) = match lead {
        0xC2..=0xDF => (1, 0x80, 0xBF),
        0xE0 => (2, 0xA0, 0xBF),
        0xED => (2, 0x80, 0x9F),
        0xE1..=0xEF => (2, 0x80, 0xBF),
        0xF0 => (3, 0x90, 0xBF),
        0xF1..=0xF3 => (3, 0x80, 0xBF),
        0xF4 => (3, 0x80, 0x8F),
        _ => return None,
    };
    Some(Text::Sequence { left, from, to })
}

/// From half a step above the largest float on, numbers round to infinity: 2^1024 - 2^970, all its digits.
static TOO_LARGE: &[u8; 309] =
    b"1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070\
    9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447\
    5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904\
    174497792";

/// Where in a number the scanner is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
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
    pub const ALL: [Self; 9] = [
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
pub struct Number {
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
    pub fn digit(&mut self, byte: u8, fraction: bool) {
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

    pub fn exponent_digit(&mut self, byte: u8) {
        self.exponent = (self.exponent * 10 + i64::from(byte - b'0')).min(EXPONENT_CAP);
    }

    /// What a complete number may violate.
    pub fn check(&self, options: &DecodeOptions) -> Result<(), ErrorKind> {
        if options.any_number || (self.float && options.any_float) {
            return Ok(());
        }
        let limited = !self.float || options.decimals;
        if limited && options.digit_limit != 0 && self.digits > u64::from(options.digit_limit) {
            return Err(ErrorKind::IntegerDigits);
        }
        if self.float && options.decimals {
            check_decimal(self.significant, self.power() - self.significant as i64, options)?;
        }
        let large = match options.decimals {
            true => self.exponent >= EXPONENT_CAP,
            false => self.is_infinite(),
        };
        if self.float && large { Err(ErrorKind::NumberOutOfRange) } else { Ok(()) }
    }

    /// Whether the number may end here.
    pub const fn is_whole(&self) -> bool {
        matches!(self.phase, Phase::Zero | Phase::Integer | Phase::Fraction | Phase::ExponentDigits)
    }

    /// What a number that goes on violates, whatever follows: its digits and its exponent only grow. An integer of too many digits may
    /// still become a float.
    pub fn lost(&self, options: &DecodeOptions) -> Option<ErrorKind> {
        let lost = match options.decimals {
            true => self.has_many_digits(options) || self.is_hopeless(options),
            false => self.phase == Phase::ExponentDigits && !self.exponent_negative,
        };
        if lost { self.check(options).err() } else { None }
    }

    fn has_many_digits(&self, options: &DecodeOptions) -> bool {
        let many = options.digit_limit != 0 && self.digits > u64::from(options.digit_limit);
        many || check_decimal(self.significant, 0, options).is_err()
    }

    /// Whether the number exceeds a limit of decimals that no further digit of its exponent brings it back to.
    pub fn is_hopeless(&self, options: &DecodeOptions) -> bool {
        let power = self.power() - self.significant as i64;
        let grows = self.exponent > 0 && (power < 0) == self.exponent_negative;
        let beyond = || self.exponent >= EXPONENT_CAP || check_decimal(0, power, options).is_err();
        options.decimals && self.phase == Phase::ExponentDigits && grows && beyond()
    }

    /// The exponent of the significant digits behind a point.
    const fn power(&self) -> i64 {
        self.point + if self.exponent_negative { -self.exponent } else { self.exponent }
    }

    fn is_infinite(&self) -> bool {
        match self.power().cmp(&(TOO_LARGE.len() as i64)) {
            _ if self.significant == 0 => false,
            Ordering::Less => false,
            Ordering::Greater => true,
            // Digits that are missing are zeros, and so fewer are less, unless all the others are zeros too: they are not.
            Ordering::Equal if self.order == Ordering::Equal => self.significant >= TOO_LARGE.len() as u64,
            Ordering::Equal => self.order == Ordering::Greater,
        }
    }
}
