//! Values that follow one another, and the values at a path of one document.

use super::fed::{End, Fed, Piece, Trouble};
use super::grammar::{no_key, no_value};
use super::places::{parts, place};
use super::plan::{Format, Plan};
use super::scanner::{Failure, Progress, Scanner};
use super::state::{Level, MAX_POINTER_KEY, State, token};
use super::token::Place;
use crate::builder::{Rewind, Text};
use crate::decode::{self, Scratch, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::{Kernel, is_space};
use alloc::vec::Vec;

/// Bytes of pointers in one answer, beyond as many as the piece has: short elements can have long pointers.
pub(super) const MOST_POINTERS: usize = 1 << 16;

/// Why the walk over a piece stops: where, and what to say.
type Stop = (usize, End);

/// One piece.
pub(super) struct Walk<'a, K, B> {
    pub kernel: K,
    pub piece: Piece<'a>,
    pub state: &'a mut State,
    pub plan: &'a Plan,
    pub options: &'a DecodeOptions,
    pub scratch: &'a mut Scratch,
    pub builder: &'a mut B,
    pub items: usize,
    /// Bytes of pointers that may still be written.
    pub pointers: usize,
    /// List cells of rows that may still be made.
    pub room: usize,
    pub key: Vec<u8>,
}

impl<K: Kernel, B: Rewind> Walk<'_, K, B> {
    #[inline(always)]
    pub fn run(mut self) -> Fed {
        let (kept, end) = match self.resume() {
            Ok(pos) => match self.walk(pos) {
                Ok(never) => match never {},
                Err(stop) => stop,
            },
            Err(stop) => stop,
        };
        Fed { items: self.items, kept, end }
    }

    /// Continues inside the value in which the last piece ended.
    fn resume(&mut self) -> Result<usize, Stop> {
        let Some(mut scanner) = self.state.scanner.take() else { return Ok(0) };
        if self.state.keep {
            let seen = self.within(self.piece.held, self.piece.bytes);
            let progress = scanner.scan(seen, &self.wanted());
            return Err(self.kept(scanner, progress, seen.len()));
        }
        match scanner.scan(self.piece.bytes, &self.inner()) {
            Ok(Progress::Ended(end)) => self.ended(end),
            Ok(Progress::More) => self.skipped(scanner),
            Err(failure) => Err(self.skipped_wrong(failure, 0)),
        }
    }

    /// Those of the next bytes of a value that are looked at, if it has `before` bytes already: as many as it may have, and one more. What
    /// stands behind them must not decide between two errors, for it may come in another piece.
    fn within<'b>(&self, before: u64, bytes: &'b [u8]) -> &'b [u8] {
        let most = self.plan.max_bytes.saturating_sub(before).saturating_add(1);
        &bytes[..bytes.len().min(usize::try_from(most).unwrap_or(usize::MAX))]
    }

    /// The value is wanted, so its bytes wait outside. `seen` bytes of the piece were looked at.
    fn kept(&mut self, scanner: Scanner, progress: Result<Progress, Failure>, seen: usize) -> Stop {
        match progress {
            Ok(Progress::More) if self.piece.held + seen as u64 > self.plan.max_bytes => {
                let (line, column, path) = (self.state.line, self.state.column, self.state.pointer());
                let offset = -(self.piece.held as i64);
                (0, End::Wrong(Trouble { kind: ErrorKind::MaxBytes, offset, line, column, path, value: (0, 0) }))
            }
            Ok(Progress::More) if !self.piece.last => {
                self.state.scanner = Some(scanner);
                (0, End::More)
            }
            _ => {
                self.state.keep = false;
                (0, End::Join)
            }
        }
    }

    /// The rest of the piece belongs to a value that was not asked for.
    fn skipped(&mut self, mut scanner: Scanner) -> Result<usize, Stop> {
        let len = self.piece.bytes.len();
        if !self.piece.last {
            self.state.scanner = Some(scanner);
            return Err((len, End::More));
        }
        match scanner.finish(&self.inner()) {
            Ok(()) => self.ended(len),
            Err(failure) => {
                let kind = failure.kind.within(scanner.innermost());
                Err(self.skipped_wrong(Failure { kind, ..failure }, len))
            }
        }
    }

    /// An error in a value that was not asked for, counted from this offset.
    #[cold]
    fn skipped_wrong(&mut self, failure: Failure, from: usize) -> Stop {
        let Failure { kind, offset, back, back_characters } = failure;
        let at = from + offset;
        let mut trouble =
            self.state.trouble(self.piece.bytes, Error::new(kind, at), (0, self.piece.bytes.len()), false);
        if back > at as u64 {
            trouble.offset -= back as i64;
            trouble.column = trouble.column.saturating_sub(back_characters).max(1);
        } else if back > 0 {
            let error = Error::new(kind, at - back as usize);
            trouble = self.state.trouble(self.piece.bytes, error, (0, self.piece.bytes.len()), false);
        }
        (0, End::Wrong(trouble))
    }

    #[inline(always)]
    fn walk(&mut self, mut pos: usize) -> Result<core::convert::Infallible, Stop> {
        loop {
            if self.pointers == 0 || self.room == 0 {
                return Err((pos, End::Again));
            }
            if self.state.tight && self.piece.bytes.get(pos).is_some_and(|&byte| !self.separates(byte)) {
                return Err(self.wrong(ErrorKind::TrailingData, pos));
            }
            let start = pos;
            pos = self.kernel.space_end(self.piece.bytes, pos);
            self.state.tight &= pos == start;
            let Some(&byte) = self.piece.bytes.get(pos) else { return Err(self.end()) };
            pos = match self.state.place {
                Place::First if byte == b']' => self.close(pos)?,
                Place::Start | Place::First | Place::Element | Place::Member => self.value(byte, pos)?,
                Place::FirstKey if byte == b'}' => self.close(pos)?,
                Place::FirstKey | Place::Key => self.key(byte, pos)?,
                Place::Colon if byte == b':' => self.go(Place::Member, pos),
                Place::Colon => return Err(self.wrong(ErrorKind::ExpectedColon, pos)),
                Place::After => self.after(byte, pos)?,
            };
        }
    }

    /// The piece is used up between tokens.
    fn end(&mut self) -> Stop {
        let len = self.piece.bytes.len();
        let complete = match self.state.place {
            Place::Start => self.plan.format == Format::Values,
            Place::After => self.state.levels.is_empty(),
            _ => false,
        };
        if self.piece.last && !complete { self.wrong(ErrorKind::UnexpectedEnd, len) } else { (len, End::More) }
    }

    /// Whether this byte tells a number or literal from what follows.
    const fn separates(&self, byte: u8) -> bool {
        is_space(byte) || matches!(byte, b'"' | b'[' | b'{')
    }

    #[cold]
    fn wrong(&self, kind: ErrorKind, pos: usize) -> Stop {
        self.wrong_in(Error::new(kind, pos), pos, false)
    }

    #[cold]
    fn wrong_in(&self, error: Error, start: usize, inside: bool) -> Stop {
        let bytes = self.piece.bytes;
        (start, End::Wrong(self.state.trouble(bytes, error, (start, bytes.len()), inside)))
    }

    const fn go(&mut self, place: Place, pos: usize) -> usize {
        self.state.place = place;
        pos + 1
    }

    /// Options inside of the containers that are open.
    const fn inner(&self) -> DecodeOptions {
        let max_depth = match self.options.max_depth {
            u32::MAX => u32::MAX,
            most => most.saturating_sub(self.state.levels.len() as u32),
        };
        DecodeOptions { max_depth, ..*self.options }
    }

    /// Options for a value that is wanted.
    const fn wanted(&self) -> DecodeOptions {
        let options = self.inner();
        if self.plan.types { options.of_any_number() } else { options }
    }

    fn close(&mut self, pos: usize) -> Result<usize, Stop> {
        self.state.levels.pop();
        self.ended(pos + 1)
    }

    /// A value on the path has ended before this.
    #[inline(always)]
    fn ended(&mut self, end: usize) -> Result<usize, Stop> {
        self.state.place = if self.plan.format == Format::Values { Place::Start } else { Place::After };
        Ok(end)
    }

    fn after(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        let Some(level) = self.state.levels.last_mut() else { return Err(self.wrong(ErrorKind::TrailingData, pos)) };
        let missing = match (level.object, byte) {
            (_, b',') => {
                level.index += 1;
                level.key = None;
                let place = if level.object { Place::Key } else { Place::Element };
                return Ok(self.go(place, pos));
            }
            (true, b'}') | (false, b']') => return self.close(pos),
            (true, _) => ErrorKind::ExpectedCommaOrObjectEnd,
            (false, _) => ErrorKind::ExpectedCommaOrArrayEnd,
        };
        Err(self.wrong(missing, pos))
    }

    fn key(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if byte != b'"' {
            return Err(self.wrong(no_key(byte, self.state.place == Place::Key), pos));
        }
        let validate = self.options.validate_strings;
        let end = match decode::text(self.kernel, self.piece.bytes, pos, validate, &mut self.key) {
            Ok(end) if (end - pos) as u64 <= self.plan.max_bytes => end,
            Ok(_) => return Err(self.wrong(ErrorKind::MaxBytes, pos)),
            Err(error) => return Err(self.incomplete(error, pos, false)),
        };
        let at = self.state.levels.len() - 1;
        let wanted = self.plan.wants(at, 0, Some(&self.key));
        if wanted && self.plan.pointers && self.key.len() > MAX_POINTER_KEY {
            return Err(self.wrong(ErrorKind::KeyTooLong, pos));
        }
        let level = &mut self.state.levels[at];
        (level.wanted, level.key) = (wanted, Some(token(&self.key, !self.plan.pointers)));
        self.state.place = Place::Colon;
        Ok(end)
    }

    #[inline(always)]
    fn value(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        let depth = self.state.levels.len();
        if let Some(level) = self.state.levels.last_mut()
            && !level.object
        {
            level.wanted = self.plan.wants(depth - 1, level.index, None);
        }
        let wanted = self.state.levels.last().is_none_or(|level| level.wanted);
        if depth == 0 && pos == 0 && self.state.fresh && starts_with_mark(self.piece.bytes) {
            return Err(self.wrong(ErrorKind::ByteOrderMark, 0));
        }
        if wanted && depth == self.plan.segments.len() {
            return self.target(byte, pos);
        }
        let container = matches!(byte, b'[' | b'{');
        if depth == 0 && self.plan.array && byte != b'[' && starts_value(byte) {
            return Err(self.wrong(ErrorKind::ExpectedArray, pos));
        }
        if wanted && container { self.descend(byte, pos) } else { self.skip(byte, pos) }
    }

    fn descend(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if self.state.levels.len() >= self.options.max_depth as usize {
            return Err(self.wrong(ErrorKind::MaxDepth, pos));
        }
        let object = byte == b'{';
        self.state.levels.push(Level { object, index: 0, key: None, wanted: false });
        Ok(self.go(if object { Place::FirstKey } else { Place::First }, pos))
    }

    /// A value that was not asked for is validated all the same.
    fn skip(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if self.state.place == Place::Element && matches!(byte, b']' | b'}') {
            return Err(self.wrong(no_value(byte, true), pos));
        }
        let mut scanner = Scanner::new(self.is_fresh(pos));
        match scanner.scan(&self.piece.bytes[pos..], &self.inner()) {
            Ok(Progress::Ended(end)) => self.ended(pos + end),
            Ok(Progress::More) => self.skipped(scanner),
            Err(failure) => Err(self.skipped_wrong(failure, pos)),
        }
    }

    /// A byte order mark may stand here, which is an error of its own.
    const fn is_fresh(&self, pos: usize) -> bool {
        pos == 0 && self.state.fresh && matches!(self.state.place, Place::Start)
    }

    #[inline(always)]
    fn target(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if self.state.place == Place::Element && matches!(byte, b']' | b'}') {
            return Err(self.wrong(no_value(byte, true), pos));
        }
        let mark = self.builder.mark();
        if self.plan.pointers
            && let Err(kind) = self.pointer()
        {
            self.builder.rewind(mark);
            return Err(self.wrong(kind, pos));
        }
        let (options, bytes) = (self.wanted(), self.piece.bytes);
        let number = matches!(byte, b'-' | b'0'..=b'9');
        let decoded = if self.plan.places {
            let path = self.state.pointer();
            self.pointers = self.pointers.saturating_sub(path.len());
            place((bytes, pos), &path, &options, self.scratch, self.builder)
        } else if let Some(plan) = self.plan.selected() {
            parts((bytes, pos), &plan, &options, self.scratch, self.builder)
        } else {
            decode::value(self.kernel, bytes, pos, &options, self.scratch, self.builder)
        };
        let result = match decoded {
            // More digits may follow; inside a container something has to.
            Ok(end) if end == bytes.len() && number && !(self.piece.last && self.state.levels.is_empty()) => {
                Err(Error::new(ErrorKind::UnexpectedEnd, end))
            }
            Ok(end) if (end - pos) as u64 > self.plan.max_bytes => {
                self.builder.rewind(mark);
                return Err(self.wrong(ErrorKind::MaxBytes, pos));
            }
            result => result,
        };
        match result {
            Ok(end) => {
                self.items += 1 + usize::from(self.plan.pointers);
                self.room = self.plan.without(self.room);
                self.state.tight = self.plan.format == Format::Values && !matches!(byte, b'"' | b'[' | b'{');
                self.ended(end)
            }
            Err(error) => {
                self.builder.rewind(mark);
                Err(self.incomplete(error, pos, true))
            }
        }
    }

    fn pointer(&mut self) -> Result<(), ErrorKind> {
        let pointer = self.state.pointer();
        self.pointers = self.pointers.saturating_sub(pointer.len().max(1));
        self.builder.string(Text::Unescaped(pointer.as_bytes()))
    }

    /// A value or key that is wrong, unless more of it comes.
    #[cold]
    fn incomplete(&mut self, error: Error, pos: usize, inside: bool) -> Stop {
        let seen = self.within(0, &self.piece.bytes[pos..]);
        let mut scanner = Scanner::new(self.is_fresh(pos));
        let more = scanner.scan(seen, &self.wanted()) == Ok(Progress::More);
        if more && seen.len() as u64 > self.plan.max_bytes {
            return self.wrong(ErrorKind::MaxBytes, pos);
        }
        if self.piece.last || !more {
            return self.wrong_in(error, pos, inside);
        }
        (self.state.scanner, self.state.keep) = (Some(scanner), true);
        (pos, End::More)
    }
}

pub(super) const fn starts_value(byte: u8) -> bool {
    matches!(byte, b'"' | b'-' | b'0'..=b'9' | b'{' | b'[' | b't' | b'f' | b'n')
}
