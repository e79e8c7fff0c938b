//! The bytes of External Term Format that a judge has before it, and the parts that terms are made of.

use super::judge::Judge;
use super::policy::Fault;
use super::tags::*;
use crate::builder::Text;
use crate::error::ErrorKind;

/// Most characters of an atom.
const ATOM_CHARACTERS: usize = 255;

/// A magnitude as little-endian bytes, without zeros at the top.
pub(crate) enum Magnitude<'a> {
    Small([u8; 8], usize),
    Big(&'a [u8]),
}

impl Magnitude<'_> {
    fn small(value: u64) -> Self {
        Self::Small(value.to_le_bytes(), 8 - value.leading_zeros() as usize / 8)
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Small(bytes, len) => &bytes[..*len],
            Self::Big(bytes) => bytes,
        }
    }
}

impl<'a, B> Judge<'a, '_, B> {
    #[inline(always)]
    pub fn built(&mut self, add: impl FnOnce(&mut B) -> Result<(), ErrorKind>) -> Result<(), Fault> {
        add(self.builder).map_err(Fault::Builder)
    }

    pub fn version(&mut self) -> Result<(), Fault> {
        if self.byte()? == VERSION {
            return Ok(());
        }
        self.at = 0;
        Err(Fault::Version)
    }

    /// Nothing follows.
    pub const fn last(&self) -> Result<(), Fault> {
        if self.at == self.etf.len() { Ok(()) } else { Err(Fault::Trailing) }
    }

    #[inline(always)]
    pub fn count(&mut self) -> Result<(), Fault> {
        self.terms += 1;
        if self.terms > self.policy.max_terms { Err(Fault::Terms) } else { Ok(()) }
    }

    #[inline(always)]
    pub fn deeper(&self, depth: usize) -> Result<(), Fault> {
        if depth >= self.policy.max_depth as usize { Err(Fault::Depth) } else { Ok(()) }
    }

    #[inline(always)]
    pub fn binary(&mut self) -> Result<Text<'a>, Fault> {
        let len = self.length()?;
        self.text(len)
    }

    /// So many bytes as a text.
    #[inline(always)]
    pub fn text(&mut self, len: usize) -> Result<Text<'a>, Fault> {
        let start = self.at;
        let text = self.rest().get(..len).ok_or(Fault::Truncated)?;
        self.at += len;
        Ok(Text::Input(start, text))
    }

    /// An atom that is a value: `None` for null.
    #[inline(always)]
    pub fn constant(&mut self) -> Result<Option<bool>, Fault> {
        let start = self.at;
        let len = usize::from(self.byte()?);
        self.skip(len)?;
        match &self.etf[start + 1..self.at] {
            name if name == self.policy.null.text() => Ok(None),
            b"true" => Ok(Some(true)),
            b"false" => Ok(Some(false)),
            _ => {
                self.at = start;
                Err(Fault::Atom)
            }
        }
    }

    #[inline(always)]
    pub fn float(&mut self) -> Result<f64, Fault> {
        let value = f64::from_be_bytes(*self.take()?);
        if value.is_finite() { Ok(value) } else { Err(Fault::Float) }
    }

    /// An integer of 64 bits.
    pub fn number(&mut self) -> Result<i64, Fault> {
        let (negative, magnitude) = self.integer(8)?;
        let mut word = [0; 8];
        word[..magnitude.bytes().len()].copy_from_slice(magnitude.bytes());
        let value = i128::from(u64::from_le_bytes(word));
        i64::try_from(if negative { -value } else { value }).map_err(|_| Fault::Integer)
    }

    /// An integer that is not negative.
    pub fn coefficient(&mut self) -> Result<Magnitude<'a>, Fault> {
        match self.integer(self.policy.max_coefficient)? {
            (false, magnitude) => Ok(magnitude),
            _ => Err(Fault::Integer),
        }
    }

    /// The exponent of a decimal.
    pub fn exponent(&mut self) -> Result<i64, Fault> {
        match self.number()? {
            exponent if exponent.unsigned_abs() <= self.policy.max_exponent => Ok(exponent),
            _ => Err(Fault::Integer),
        }
    }

    fn integer(&mut self, max: usize) -> Result<(bool, Magnitude<'a>), Fault> {
        match self.byte()? {
            SMALL_INTEGER => self.take().map(|[value]| (false, Magnitude::small((*value).into()))),
            INTEGER => {
                let value = i32::from_be_bytes(*self.take()?);
                Ok((value < 0, Magnitude::small(value.unsigned_abs().into())))
            }
            tag @ (SMALL_BIG | LARGE_BIG) => {
                self.big(tag, max).map(|(negative, bytes)| (negative, Magnitude::Big(bytes)))
            }
            _ => self.refuse(Fault::Integer),
        }
    }

    /// The name of an atom: any text that the runtime takes.
    pub fn name(&mut self, len: usize) -> Result<Text<'a>, Fault> {
        let name = self.text(len)?;
        match core::str::from_utf8(name.bytes()) {
            Ok(text) if len <= ATOM_CHARACTERS || text.chars().count() <= ATOM_CHARACTERS => Ok(name),
            _ => Err(Fault::Atom),
        }
    }

    /// Sign and magnitude of a large integer.
    pub fn big(&mut self, tag: u8, max: usize) -> Result<(bool, &'a [u8]), Fault> {
        let len = if tag == SMALL_BIG { usize::from(self.byte()?) } else { self.length()? };
        let sign = self.byte()?;
        let magnitude = self.text(len)?.bytes();
        match magnitude.last() {
            Some(&top) if top > 0 && len <= max && sign <= 1 => Ok((sign == 1, magnitude)),
            _ => Err(Fault::Integer),
        }
    }

    pub fn literal(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if !self.rest().starts_with(bytes) {
            return Err(Fault::Struct);
        }
        self.at += bytes.len();
        Ok(())
    }

    fn rest(&self) -> &'a [u8] {
        &self.etf[self.at..]
    }

    /// Every element takes at least `size` bytes, so a count the bytes cannot hold is a lie.
    pub fn fits(&self, count: usize, size: usize) -> Result<(), Fault> {
        if count > self.rest().len() / size { Err(Fault::Truncated) } else { Ok(()) }
    }

    /// The text of a binary, if one is next: most values and keys are, so the tag and the length are looked at together.
    #[inline(always)]
    pub fn next_binary(&mut self) -> Option<Result<Text<'a>, Fault>> {
        let &[tag, a, b, c, d] = self.rest().first_chunk()?;
        (tag == BINARY).then(|| {
            self.at += 5;
            self.text(u32::from_be_bytes([a, b, c, d]) as usize)
        })
    }

    #[inline(always)]
    pub fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.etf.get(self.at).ok_or(Fault::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    // By reference: the compiler put a number together from the single bytes of a copy.
    pub fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Fault> {
        let bytes = self.rest().first_chunk().ok_or(Fault::Truncated)?;
        self.at += N;
        Ok(bytes)
    }

    pub fn short(&mut self) -> Result<usize, Fault> {
        Ok(usize::from(self.byte()?) << 8 | usize::from(self.byte()?))
    }

    #[inline(always)]
    pub fn length(&mut self) -> Result<usize, Fault> {
        Ok(u32::from_be_bytes(*self.take()?) as usize)
    }

    #[inline(always)]
    pub fn skip(&mut self, len: usize) -> Result<(), Fault> {
        if len > self.rest().len() {
            return Err(Fault::Truncated);
        }
        self.at += len;
        Ok(())
    }

    /// A refusal about the byte just read.
    #[cold]
    pub fn refuse<T>(&mut self, fault: Fault) -> Result<T, Fault> {
        self.at -= 1;
        Err(fault)
    }
}
