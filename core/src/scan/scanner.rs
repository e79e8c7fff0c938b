//! The scanner between two pieces, and the current piece.

use super::token::{Place, Text, Token, WORDS};
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::room::room;
use crate::with_kernel;
use alloc::vec::Vec;

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
    pub(super) place: Place,
    pub(super) token: Token,
    /// Bytes of the token before the current piece, from the place that an error of the token names.
    pub(super) back: u64,
    /// A byte order mark may stand here: nothing was read before.
    pub(super) fresh: bool,
    pub(super) depth: u32,
    /// One bit per open bracket, the outermost first: 1 for an object.
    pub(super) objects: Vec<u8>,
}

impl Scanner {
    /// A scanner before a value; `fresh` at the start of a text, where a byte order mark is an error of its own.
    pub const fn new(fresh: bool) -> Self {
        Self { place: Place::Start, token: Token::None, back: 0, fresh, depth: 0, objects: Vec::new() }
    }

    /// Continues with the next piece.
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

    /// Why the value, which is one token and goes on, cannot become one that is valid.
    pub(super) fn lost(&self, options: &DecodeOptions) -> Option<ErrorKind> {
        match self.token {
            Token::Number(number) if self.depth == 0 => number.lost(options),
            Token::Word(which, _) if self.depth == 0 => WORDS[which as usize].whole,
            _ => None,
        }
    }

    /// The innermost bracket that is open.
    pub(super) fn innermost(&self) -> Option<u8> {
        (self.depth > 0).then(|| if self.in_object() { b'{' } else { b'[' })
    }

    pub(super) fn in_object(&self) -> bool {
        let at = self.depth as usize - 1;
        self.objects[at / 8] >> (at % 8) & 1 == 1
    }

    pub(super) fn open(&mut self, object: bool) -> Result<(), ErrorKind> {
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

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        // No byte without a bit: the state is what was written of it.
        if self.depth.is_multiple_of(8) {
            self.objects.truncate(self.depth as usize / 8);
        }
    }
}

/// One piece.
pub(super) struct Scan<'a, K> {
    pub kernel: K,
    pub bytes: &'a [u8],
    pub options: &'a DecodeOptions,
    /// Where the current token starts in this piece, for its errors; 0 when it started before.
    pub start: usize,
    pub scanner: &'a mut Scanner,
}

impl<K> Scan<'_, K> {
    #[cold]
    pub fn not_the_word(&self, which: u8) -> Failure {
        let (kind, behind) = WORDS[which as usize].start;
        self.at_anchor(kind, behind)
    }

    /// An error at the place where the current token starts, or a little behind it.
    #[cold]
    pub fn at_anchor(&self, kind: ErrorKind, behind: usize) -> Failure {
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
