//! Values, brackets and words in pieces.

use super::scanner::{Failure, Progress, Scan};
use super::token::{FIRST_MARK, INFINITY, NAN, Number, Place, Text, Token, WORDS};
use crate::error::{Error, ErrorKind};
use crate::simd::Kernel;

impl<K: Kernel> Scan<'_, K> {
    #[inline(always)]
    pub fn run(&mut self) -> Result<Progress, Failure> {
        let mut pos = 0;
        if self.scanner.token != Token::None {
            match self.token(0)? {
                Some(end) => pos = end,
                None => return Ok(self.cut()),
            }
        }
        loop {
            if self.scanner.place == Place::After && self.scanner.depth == 0 {
                return Ok(Progress::Ended(pos));
            }
            pos = self.kernel.space_end(self.bytes, pos);
            self.scanner.fresh &= pos == 0;
            let Some(&byte) = self.bytes.get(pos) else { return Ok(Progress::More) };
            (self.start, self.scanner.back) = (pos, 0);
            pos = match self.structure(byte, pos)? {
                Some(next) => next,
                None => match self.token(pos)? {
                    Some(end) => end,
                    None => return Ok(self.cut()),
                },
            };
            self.scanner.fresh = false;
        }
    }

    /// The piece ends inside a token.
    fn cut(&mut self) -> Progress {
        self.scanner.back += (self.bytes.len() - self.start) as u64;
        Progress::More
    }

    /// A byte between tokens; the offset behind it, or `None` when a token starts here.
    #[inline(always)]
    fn structure(&mut self, byte: u8, pos: usize) -> Result<Option<usize>, Failure> {
        match self.scanner.place {
            Place::First if byte == b']' => self.close(pos),
            Place::Start | Place::First | Place::Element | Place::Member => self.value(byte, pos),
            Place::FirstKey if byte == b'}' => self.close(pos),
            Place::FirstKey | Place::Key => self.key(byte, pos),
            Place::Colon if byte == b':' => self.go(Place::Member, pos),
            Place::Colon => Err(Error::new(ErrorKind::ExpectedColon, pos).into()),
            Place::After => self.after(byte, pos),
        }
    }

    #[inline(always)]
    fn go(&mut self, place: Place, pos: usize) -> Result<Option<usize>, Failure> {
        self.scanner.place = place;
        Ok(Some(pos + 1))
    }

    fn close(&mut self, pos: usize) -> Result<Option<usize>, Failure> {
        self.scanner.close();
        self.go(Place::After, pos)
    }

    #[inline(always)]
    fn after(&mut self, byte: u8, pos: usize) -> Result<Option<usize>, Failure> {
        let missing = match (self.scanner.in_object(), byte) {
            (true, b',') => return self.go(Place::Key, pos),
            (false, b',') => return self.go(Place::Element, pos),
            (true, b'}') | (false, b']') => return self.close(pos),
            (true, _) => ErrorKind::ExpectedCommaOrObjectEnd,
            (false, _) => ErrorKind::ExpectedCommaOrArrayEnd,
        };
        Err(Error::new(missing, pos).into())
    }

    #[inline(always)]
    fn value(&mut self, byte: u8, pos: usize) -> Result<Option<usize>, Failure> {
        let token = match byte {
            b'"' => Token::Text(Text::Open),
            b'-' | b'0'..=b'9' => Token::Number(Number::default()),
            b'{' | b'[' => return self.open(byte, pos),
            b't' => Token::Word(0, 0),
            b'f' => Token::Word(1, 0),
            b'n' => Token::Word(2, 0),
            _ => self.no_value(byte, pos)?,
        };
        self.scanner.token = token;
        Ok(None)
    }

    fn open(&mut self, byte: u8, pos: usize) -> Result<Option<usize>, Failure> {
        if self.scanner.depth >= self.options.max_depth {
            return Err(Error::new(ErrorKind::MaxDepth, pos).into());
        }
        let object = byte == b'{';
        self.scanner.open(object).map_err(|kind| Error::new(kind, pos))?;
        self.go(if object { Place::FirstKey } else { Place::First }, pos)
    }

    /// What cannot start a value: a word that may become an error of its own, or an error.
    #[cold]
    fn no_value(&self, byte: u8, pos: usize) -> Result<Token, Failure> {
        let kind = match byte {
            b'N' => return Ok(Token::Word(NAN, 0)),
            b'I' => return Ok(Token::Word(INFINITY, 0)),
            0xEF if self.scanner.fresh => return Ok(Token::Word(FIRST_MARK, 0)),
            0xFE if self.scanner.fresh => return Ok(Token::Word(FIRST_MARK + 1, 0)),
            0xFF if self.scanner.fresh => return Ok(Token::Word(FIRST_MARK + 2, 0)),
            _ => no_value(byte, self.scanner.place == Place::Element),
        };
        Err(Error::new(kind, pos).into())
    }

    fn key(&mut self, byte: u8, pos: usize) -> Result<Option<usize>, Failure> {
        if byte != b'"' {
            return Err(Error::new(no_key(byte, self.scanner.place == Place::Key), pos).into());
        }
        self.scanner.token = Token::Text(Text::Open);
        Ok(None)
    }

    /// Continues the current token from `pos`. Returns the offset after it, or `None` if the piece ends first.
    #[inline(always)]
    fn token(&mut self, pos: usize) -> Result<Option<usize>, Failure> {
        let end = match self.scanner.token {
            Token::Text(text) => self.text(text, pos)?,
            Token::Number(number) => self.number(number, pos)?,
            Token::Word(which, seen) => self.word(which, seen, pos)?,
            Token::None => Some(pos),
        };
        if end.is_some() {
            let key = matches!(self.scanner.place, Place::FirstKey | Place::Key);
            self.scanner.place = if key { Place::Colon } else { Place::After };
            self.scanner.token = Token::None;
        }
        Ok(end)
    }

    pub fn word(&mut self, which: u8, seen: u8, pos: usize) -> Result<Option<usize>, Failure> {
        let word = &WORDS[which as usize];
        let rest = &word.text[seen as usize..];
        let here = &self.bytes[pos..];
        let here = &here[..here.len().min(rest.len())];
        if !rest.starts_with(here) {
            return Err(self.not_the_word(which));
        }
        if here.len() < rest.len() {
            self.scanner.token = Token::Word(which, seen + here.len() as u8);
            return Ok(None);
        }
        match word.whole {
            Some(kind) => Err(self.at_anchor(kind, 0)),
            None => Ok(Some(pos + rest.len())),
        }
    }
}

/// Why this byte cannot start a value.
pub const fn no_value(byte: u8, after_comma: bool) -> ErrorKind {
    match byte {
        b']' | b'}' if after_comma => ErrorKind::TrailingComma,
        b'\'' => ErrorKind::SingleQuotes,
        _ => ErrorKind::ExpectedValue,
    }
}

/// Why this byte cannot start a key.
pub const fn no_key(byte: u8, after_comma: bool) -> ErrorKind {
    match byte {
        b'}' if after_comma => ErrorKind::TrailingComma,
        b'\'' => ErrorKind::SingleQuotes,
        b'_' | b'$' => ErrorKind::UnquotedKey,
        byte if byte.is_ascii_alphanumeric() => ErrorKind::UnquotedKey,
        _ => ErrorKind::ExpectedKey,
    }
}
