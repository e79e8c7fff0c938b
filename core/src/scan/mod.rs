//! The resumable scanner: validates one JSON value that arrives in pieces, without building terms, and says where it ends.
//!
//! A piece may end anywhere: inside a number, an escape or a character. What the scanner remembers between pieces is a few
//! words and one bit for each open bracket, and [`Scanner::write`] turns that into bytes that can wait outside. Every byte is
//! looked at once, so pieces of one byte take linear time. Errors are those of [`decode`](crate::decode()), of the same kind
//! at the same byte. Repeated keys and the number of values are left to `decode`, which sees the value whole.

mod call;
mod feed;
mod number;
mod plan;
mod records;
mod state;
mod text;
mod walk;
mod wire;

use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::room::room;
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;
pub use call::{Answer, Question, write_answer};
pub use feed::{End, Fed, Piece, Trouble, feed};
use number::Number;
pub use plan::Plan;
pub use state::State;
use text::Text;

/// What the scanner is inside of, at the top of the open brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Place {
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
    const ALL: [Self; 8] =
        [Self::Start, Self::First, Self::Element, Self::Member, Self::FirstKey, Self::Key, Self::Colon, Self::After];
}

/// A token that is not over yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    None,
    Text(Text),
    Number(Number),
    /// One of [`WORDS`], and how many bytes of it were seen.
    Word(u8, u8),
}

/// A word, and the error that it is.
struct Word {
    text: &'static [u8],
    /// The word itself is an error of this kind; `None` for a literal.
    whole: Option<ErrorKind>,
    /// The error of a text that only starts like it, and how far behind its first byte.
    start: (ErrorKind, usize),
}

const fn word(text: &'static [u8], whole: Option<ErrorKind>) -> Word {
    Word { text, whole, start: (ErrorKind::ExpectedValue, 0) }
}

static WORDS: [Word; 9] = [
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
const NAN: u8 = 3;
const INFINITY: u8 = 4;
const MINUS_INFINITY: u8 = 5;
const FIRST_MARK: u8 = 6;

/// How far the value reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Beyond the bytes so far.
    More,
    /// Up to this offset of the last piece.
    Ended(usize),
}

/// An error, which may lie before the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Byte offset into the last piece, or its start.
    pub offset: usize,
    /// Bytes before the piece at which the error lies, when it lies there.
    pub back: u64,
    /// The same in characters.
    pub back_characters: u64,
}

impl From<Error> for Failure {
    fn from(Error { kind, offset }: Error) -> Self {
        Self { kind, offset, back: 0, back_characters: 0 }
    }
}

/// A value that is being scanned.
///
/// ```
/// use rustyjson_core::{DecodeOptions, scan::{Progress, Scanner}};
///
/// let (options, mut scanner) = (DecodeOptions::default(), Scanner::new(false));
/// assert_eq!(scanner.scan(b"[1, \"a\\u00", &options), Ok(Progress::More));
/// assert_eq!(scanner.scan(b"e9\"] [2]", &options), Ok(Progress::Ended(4)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanner {
    place: Place,
    token: Token,
    /// Bytes of the token before the piece at hand, from the place that an error of the token names.
    back: u64,
    /// A byte order mark may stand here: nothing was read before.
    fresh: bool,
    depth: u32,
    /// A bit for each open bracket, the outermost first: 1 for an object.
    objects: Vec<u8>,
}

impl Scanner {
    /// A scanner before a value; `fresh` at the start of a text, where a byte order mark is an error of its own.
    pub const fn new(fresh: bool) -> Self {
        Self { place: Place::Start, token: Token::None, back: 0, fresh, depth: 0, objects: Vec::new() }
    }

    /// Goes on with the next piece.
    ///
    /// # Errors
    /// The first error of the value. The scanner is then of no more use.
    pub fn scan(&mut self, bytes: &[u8], options: &DecodeOptions) -> Result<Progress, Failure> {
        with_kernel!(kernel => Scan { kernel, bytes, options, start: 0, scanner: self }.run())
    }

    /// The text ends here: whether the value does too.
    ///
    /// # Errors
    /// The value is not complete, or is a number that leaves a limit.
    pub fn finish(&mut self, options: &DecodeOptions) -> Result<(), Failure> {
        let scan = Scan { kernel: crate::simd::Scalar, bytes: b"", options, start: 0, scanner: self };
        match scan.scanner.token {
            Token::Number(number) => match scan.end_number(&number, 0) {
                Ok(()) if scan.scanner.depth == 0 => Ok(()),
                Ok(()) => Err(Error::new(ErrorKind::UnexpectedEnd, 0).into()),
                Err(failure) => Err(failure),
            },
            Token::Word(which, _) if WORDS[which as usize].whole.is_some() => Err(scan.not_the_word(which)),
            Token::Text(Text::Sequence { .. }) => Err(scan.at_anchor(ErrorKind::InvalidUtf8, 0)),
            _ => Err(Error::new(ErrorKind::UnexpectedEnd, 0).into()),
        }
    }

    fn in_object(&self) -> bool {
        let at = self.depth as usize - 1;
        self.objects[at / 8] >> (at % 8) & 1 == 1
    }

    fn open(&mut self, object: bool) -> Result<(), ErrorKind> {
        let at = self.depth as usize;
        if at / 8 == self.objects.len() {
            room(&mut self.objects, 1)?;
            self.objects.push(0);
        }
        let byte = &mut self.objects[at / 8];
        *byte = *byte & !(1 << (at % 8)) | u8::from(object) << (at % 8);
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        // No byte without a bit: the state is what was written of it.
        if self.depth.is_multiple_of(8) {
            self.objects.truncate(self.depth as usize / 8);
        }
    }
}

/// One piece.
struct Scan<'a, K> {
    kernel: K,
    bytes: &'a [u8],
    options: &'a DecodeOptions,
    /// Where the token at hand starts in this piece, for its errors; 0 when it started before.
    start: usize,
    scanner: &'a mut Scanner,
}

impl<K: Kernel> Scan<'_, K> {
    #[inline(always)]
    fn run(&mut self) -> Result<Progress, Failure> {
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

    /// Goes on with the token at hand from `pos`; the offset behind it, or `None` when the piece ends first.
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

    fn word(&mut self, which: u8, seen: u8, pos: usize) -> Result<Option<usize>, Failure> {
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

    #[cold]
    fn not_the_word(&self, which: u8) -> Failure {
        let (kind, behind) = WORDS[which as usize].start;
        self.at_anchor(kind, behind)
    }

    /// An error at the place where the token at hand starts, or a little behind it.
    #[cold]
    fn at_anchor(&self, kind: ErrorKind, behind: usize) -> Failure {
        let back = self.scanner.back;
        let ahead = behind as u64;
        if ahead >= back {
            return Failure { kind, offset: self.start + (ahead - back) as usize, back: 0, back_characters: 0 };
        }
        let back = back - ahead;
        // Only the bytes of a character that is cut through are not characters of their own.
        let back_characters = if kind == ErrorKind::InvalidUtf8 { 1 } else { back };
        Failure { kind, offset: 0, back, back_characters }
    }
}

/// Why this byte cannot start a value.
const fn no_value(byte: u8, after_comma: bool) -> ErrorKind {
    match byte {
        b']' | b'}' if after_comma => ErrorKind::TrailingComma,
        b'\'' => ErrorKind::SingleQuotes,
        _ => ErrorKind::ExpectedValue,
    }
}

/// Why this byte cannot start a key.
const fn no_key(byte: u8, after_comma: bool) -> ErrorKind {
    match byte {
        b'}' if after_comma => ErrorKind::TrailingComma,
        b'\'' => ErrorKind::SingleQuotes,
        b'_' | b'$' => ErrorKind::UnquotedKey,
        byte if byte.is_ascii_alphanumeric() => ErrorKind::UnquotedKey,
        _ => ErrorKind::ExpectedKey,
    }
}
