//! A document that is looked at before it is complete: a piece becomes events, which the shell applies to what it has so far.
//!
//! A value that is whole in its piece is decoded at once, whatever it contains. Only the containers and the string that the piece
//! leaves open become events of their own. One pass over the brackets finds them first, so no byte is decoded twice. A number, a
//! key or a literal that may go on stays outside and comes again with the next piece. One longer than [`LONGEST`] is scanned
//! instead until it ends. So pieces of one byte take linear time.
//!
//! Events are items of the answer's list, each behind its number: plain values, so that hosts judge them like any others.

mod cut;
mod events;
mod number;

use self::cut::Cut;
use self::events::{ARRAY, BEYOND, CLOSE, END_OF_TEXT, MEMBER, OBJECT, PART, STRING, TEXT, VALUE};
use super::fed::{End, Fed, Piece, Trouble};
use super::grammar::{no_key, no_value};
use super::plan::Plan;
use super::scanner::{Progress, Scanner};
use super::state::State;
use super::token::{Place, Text as ScannedText, Token};
use super::walk::starts_value;
use crate::builder::{Nothing, Rewind, Text};
use crate::decode::{self, Chunk, Scratch, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of a key or number that come again with each piece; and as much of a number is shown while it goes on.
pub(super) const LONGEST: usize = 1024;

/// A path that ends at the value which has just ended.
const BEHIND: &str = ".";

/// Why the walk over a piece stops: where, and what to say.
type Stop = (usize, End);

/// One piece.
pub(super) struct Document<'a, K, B> {
    kernel: K,
    piece: Piece<'a>,
    state: &'a mut State,
    plan: &'a Plan,
    options: &'a DecodeOptions,
    scratch: &'a mut Scratch,
    builder: &'a mut B,
    /// The containers that are open, what may come next, and the current token.
    open: Scanner,
    items: usize,
    cut: Cut,
    /// Where the key stands that no event has told of, and its text.
    key: Option<usize>,
    name: Vec<u8>,
    /// A place in the piece with its line and column.
    place: (usize, u64, u64),
}

impl<'a, K: Kernel, B: Rewind> Document<'a, K, B> {
    #[inline(always)]
    pub fn new(
        kernel: K,
        piece: Piece<'a>,
        state: &'a mut State,
        plan: &'a Plan,
        options: &'a DecodeOptions,
        scratch: &'a mut Scratch,
        builder: &'a mut B,
    ) -> Self {
        let open = state.scanner.take().unwrap_or(Scanner::new(false));
        let place = (0, state.line, state.column);
        let (cut, name) = (Cut::default(), Vec::new());
        Self { kernel, piece, state, plan, options, scratch, builder, open, items: 0, cut, key: None, name, place }
    }

    #[inline(always)]
    pub fn run(mut self) -> Fed {
        let (kept, end) = match self.resume().and_then(|pos| self.walk(pos)) {
            Ok(never) => match never {},
            Err(stop) => stop,
        };
        self.state.scanner = Some(self.open);
        Fed { items: self.items, kept, end }
    }

    /// Goes on with the token that the last piece ended in.
    fn resume(&mut self) -> Result<usize, Stop> {
        if self.state.keep {
            return Err(self.held());
        }
        let pos = if self.open.token == Token::None { 0 } else { self.text(0, false)? };
        self.cut = Cut::find(self.kernel, self.piece.bytes, pos).map_err(|kind| self.wrong(kind, pos))?;
        Ok(pos)
    }

    /// A long token, whose bytes wait outside, is only looked through for its end.
    fn held(&mut self) -> Stop {
        let mut token = Scanner { token: self.open.token, back: self.open.back, ..Scanner::new(false) };
        let (before, options) = (self.lost(&token), self.inner());
        let more = token.scan(self.piece.bytes, &options) == Ok(Progress::More);
        let goes_on = more && !self.piece.last && token.lost(&options).is_none();
        if goes_on
            && self.plan.places
            && self.lost(&token) != before
            && let Err(kind) = self.tell_lost(&token)
        {
            return self.wrong(kind, 0);
        }
        self.state.keep = goes_on;
        (self.open.token, self.open.back) = if goes_on { (token.token, token.back) } else { (Token::None, 0) };
        (0, if goes_on { End::More } else { End::Join })
    }

    #[inline(always)]
    fn walk(&mut self, mut pos: usize) -> Result<core::convert::Infallible, Stop> {
        loop {
            pos = self.kernel.space_end(self.piece.bytes, pos);
            let Some(&byte) = self.piece.bytes.get(pos) else { return Err(self.end()) };
            pos = match self.open.place {
                Place::First if byte == b']' => self.close(pos)?,
                Place::Start | Place::First | Place::Element | Place::Member => self.value(byte, pos)?,
                Place::FirstKey if byte == b'}' => self.close(pos)?,
                Place::FirstKey | Place::Key => self.member(byte, pos)?,
                Place::Colon if byte == b':' => self.go(Place::Member, pos),
                Place::Colon => return Err(self.wrong(ErrorKind::ExpectedColon, pos)),
                Place::After => self.after(byte, pos)?,
            };
        }
    }

    /// The piece is used up between tokens.
    fn end(&mut self) -> Stop {
        let len = self.piece.bytes.len();
        if let Err(stop) = self.tell_key() {
            return stop;
        }
        let complete = self.open.place == Place::After && self.open.depth == 0;
        if self.piece.last && !complete { self.wrong(ErrorKind::UnexpectedEnd, len) } else { (len, End::More) }
    }

    const fn go(&mut self, place: Place, pos: usize) -> usize {
        self.open.place = place;
        pos + 1
    }

    fn close(&mut self, pos: usize) -> Result<usize, Stop> {
        self.bracket(CLOSE, pos + 1).map_err(|kind| self.wrong(kind, pos))?;
        self.open.close();
        Ok(self.go(Place::After, pos))
    }

    fn after(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if self.open.depth == 0 {
            return Err(self.wrong(ErrorKind::TrailingData, pos));
        }
        let missing = match (self.open.in_object(), byte) {
            (true, b',') => return Ok(self.go(Place::Key, pos)),
            (false, b',') => return Ok(self.go(Place::Element, pos)),
            (true, b'}') | (false, b']') => return self.close(pos),
            (true, _) => ErrorKind::ExpectedCommaOrObjectEnd,
            (false, _) => ErrorKind::ExpectedCommaOrArrayEnd,
        };
        Err(self.wrong(missing, pos))
    }

    /// A key. Its event waits for its value, which makes one event of both if it is whole.
    fn member(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if byte != b'"' {
            return Err(self.wrong(no_key(byte, self.open.place == Place::Key), pos));
        }
        if self.left() == 0 {
            return Err(self.wrong(ErrorKind::MaxNodes, pos));
        }
        let validate = self.options.validate_keys();
        match decode::text(self.kernel, self.piece.bytes, pos, validate, &mut self.name) {
            Ok(end) => {
                self.state.nodes += 1;
                self.key = Some(pos);
                self.open.place = Place::Colon;
                Ok(end)
            }
            Err(error) => Err(match self.goes_on(error, pos) {
                Ok(scanner) => self.wait(scanner, pos),
                Err(error) => self.wrong(error.kind, error.offset),
            }),
        }
    }

    #[inline(always)]
    fn value(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        if self.open.place == Place::Element && matches!(byte, b']' | b'}') {
            return Err(self.wrong(no_value(byte, true), pos));
        }
        if self.is_fresh(pos) && starts_with_mark(self.piece.bytes) {
            return Err(self.wrong(ErrorKind::ByteOrderMark, 0));
        }
        if self.left() == 0 && starts_value(byte) {
            return Err(self.wrong(ErrorKind::MaxNodes, pos));
        }
        if self.cut.containers.get(self.cut.reached) == Some(&pos) {
            self.cut.reached += 1;
            return self.container(byte, pos);
        }
        if self.cut.string == Some(pos) { self.string(pos) } else { self.whole(byte, pos) }
    }

    /// A byte order mark may stand here, which is an error of its own.
    const fn is_fresh(&self, pos: usize) -> bool {
        pos == 0 && self.state.fresh && matches!(self.open.place, Place::Start)
    }

    fn container(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        self.tell_key()?;
        if self.open.depth >= self.options.max_depth {
            return Err(self.wrong(ErrorKind::MaxDepth, pos));
        }
        let object = byte == b'{';
        let event = if object { OBJECT } else { ARRAY };
        let opened = self.bracket(event, pos).and_then(|()| self.open.open(object));
        opened.map_err(|kind| self.wrong(kind, pos))?;
        self.state.nodes += 1;
        Ok(self.go(if object { Place::FirstKey } else { Place::First }, pos))
    }

    fn string(&mut self, pos: usize) -> Result<usize, Stop> {
        self.tell_key()?;
        self.state.nodes += 1;
        if self.plan.places {
            self.bracket(STRING, pos).map_err(|kind| self.wrong(kind, pos))?;
        }
        self.text(pos + 1, true)
    }

    /// Goes on inside a string, which may end here; `begins` with this piece.
    fn text(&mut self, from: usize, begins: bool) -> Result<usize, Stop> {
        let (bytes, last) = (self.piece.bytes, self.piece.last);
        let mut text = Vec::new();
        let chunk = decode::chunk(self.kernel, bytes, from, self.options.validate_strings, &mut text)
            .map_err(|error| self.wrong(error.kind, error.offset))?;
        let (event, at) = match chunk {
            Chunk::Ended(end) => (END_OF_TEXT, end),
            Chunk::Cut(at) if last => {
                let escape = bytes.get(at).is_none_or(|&byte| byte == b'\\') || !self.options.validate_strings;
                let (kind, at) =
                    if escape { (ErrorKind::UnexpectedEnd, bytes.len()) } else { (ErrorKind::InvalidUtf8, at) };
                return Err(self.wrong(kind, at));
            }
            Chunk::Cut(at) => (TEXT, at),
        };
        if event == END_OF_TEXT || begins || !text.is_empty() {
            let told = self.event(event).and_then(|()| self.item(Text::Unescaped(&text)));
            told.map_err(|kind| self.wrong(kind, from))?;
        }
        if event == END_OF_TEXT {
            self.offset(at).map_err(|kind| self.wrong(kind, at))?;
            (self.open.token, self.open.place) = (Token::None, Place::After);
            return Ok(at);
        }
        self.open.token = Token::Text(ScannedText::Plain);
        Err((at, End::More))
    }

    /// A value that ends in this piece, or that is a number or literal.
    #[inline(always)]
    fn whole(&mut self, byte: u8, pos: usize) -> Result<usize, Stop> {
        let (mark, items, options) = (self.builder.mark(), self.items, self.inner());
        let number = matches!(byte, b'-' | b'0'..=b'9');
        let result = match self.build(pos, &options) {
            // More digits may follow; inside a container something has to.
            Ok(end) if number && end == self.piece.bytes.len() && !(self.piece.last && self.open.depth == 0) => {
                Err(Error::new(ErrorKind::UnexpectedEnd, end))
            }
            result => result,
        };
        match result {
            Ok(end) => {
                self.state.nodes += options.max_nodes - self.scratch.left();
                self.key = None;
                self.open.place = Place::After;
                Ok(end)
            }
            Err(error) => {
                self.builder.rewind(mark);
                self.items = items;
                self.incomplete(error, byte, pos)
            }
        }
    }

    fn build(&mut self, pos: usize, options: &DecodeOptions) -> Result<usize, Error> {
        if self.plan.places {
            return self.place(pos, options);
        }
        let member = self.key.is_some();
        match self.key {
            Some(quote) => self.begin_member(MEMBER).map_err(|kind| Error::new(kind, quote))?,
            None => self.event(VALUE).map_err(|kind| Error::new(kind, pos))?,
        }
        let end = self.decoded(self.piece.bytes, pos, options)?;
        if member {
            self.end_member().map_err(|kind| Error::new(kind, end))?;
        }
        self.items += 1;
        Ok(end)
    }

    /// A value of a typed document, which is checked, but built only if that is short.
    #[inline(never)]
    fn place(&mut self, pos: usize, options: &DecodeOptions) -> Result<usize, Error> {
        let (bytes, at) = (self.piece.bytes, |kind| Error::new(kind, pos));
        if self.key.is_some() {
            self.typed_key().map_err(at)?;
        }
        let end = match bytes[pos] {
            b'"' | b't' | b'f' | b'n' => {
                self.event(VALUE).map_err(at)?;
                let end = self.decoded(bytes, pos, options)?;
                self.items += 1;
                end
            }
            _ => {
                let (end, beyond) = self.measured(pos, options)?;
                let told = match short_integer(&bytes[pos..end]) {
                    _ if beyond => self.event(BEYOND),
                    Some(number) => self.event(VALUE).and_then(|()| self.event(number)),
                    None => self.event(PART),
                };
                told.map_err(at)?;
                end
            }
        };
        let told = self.offset(pos).and_then(|()| self.offset(end - pos));
        told.map_err(at).map(|()| end)
    }

    /// Where a value of a typed document ends, and whether a number in it exceeds a limit of the options.
    fn measured(&mut self, pos: usize, options: &DecodeOptions) -> Result<(usize, bool), Error> {
        let DecodeOptions { max_depth, max_nodes, .. } = *options;
        let judged = DecodeOptions { max_depth, max_nodes, ..*self.options };
        match decode::part(self.piece.bytes, pos, &judged, self.scratch, &mut Nothing) {
            Err(error) if error.kind.is_limit_of_numbers() => {
                decode::part(self.piece.bytes, pos, options, self.scratch, &mut Nothing).map(|end| (end, true))
            }
            result => result.map(|end| (end, false)),
        }
    }

    /// (A call, because each copy would take 10 KB.)
    #[inline(never)]
    fn decoded(&mut self, bytes: &[u8], pos: usize, options: &DecodeOptions) -> Result<usize, Error> {
        let Self { kernel, scratch, builder, .. } = self;
        kernel.vectorize(
            #[inline(always)]
            || decode::value(*kernel, bytes, pos, options, scratch, *builder),
        )
    }

    /// A value that is wrong, unless more of it comes.
    #[cold]
    fn incomplete(&mut self, error: Error, byte: u8, pos: usize) -> Result<usize, Stop> {
        self.tell_key()?;
        let scanner = match self.goes_on(error, pos) {
            Ok(scanner) => scanner,
            Err(error) => return Err(self.wrong_in(error, pos, error.offset >= pos)),
        };
        match byte {
            b'[' | b'{' => self.container(byte, pos),
            b'"' => self.string(pos),
            _ => {
                if matches!(byte, b'-' | b'0'..=b'9') {
                    let told = match (self.plan.places, self.plan.drop) {
                        (true, _) => self.tell_lost(&scanner),
                        (_, true) => Ok(()),
                        _ => self.number(pos),
                    };
                    told.map_err(|kind| self.wrong(kind, pos))?;
                }
                Err(self.wait(scanner, pos))
            }
        }
    }

    /// The scanner in the token that starts here, if the piece may end in it and what follows can make it valid.
    fn goes_on(&self, error: Error, pos: usize) -> Result<Scanner, Error> {
        let mut scanner = Scanner::new(self.is_fresh(pos));
        let progress = scanner.scan(&self.piece.bytes[pos..], &self.inner());
        if self.piece.last || progress != Ok(Progress::More) {
            return Err(error);
        }
        match scanner.lost(&self.inner()) {
            None => Ok(scanner),
            // A number that ends behind a point or an `e` has only this error.
            Some(kind) if error.kind == ErrorKind::UnexpectedEnd => Err(Error::new(kind, pos)),
            Some(_) => Err(error),
        }
    }

    /// The token waits outside for the next piece.
    fn wait(&mut self, scanner: Scanner, pos: usize) -> Stop {
        if self.piece.bytes.len() - pos > LONGEST {
            self.state.keep = true;
            (self.open.token, self.open.back) = (scanner.token, scanner.back);
        }
        (pos, End::More)
    }

    /// Values and keys that may still come.
    const fn left(&self) -> u64 {
        self.plan.max_bytes.saturating_sub(self.state.nodes)
    }

    /// Options inside of the containers that are open.
    const fn inner(&self) -> DecodeOptions {
        let max_depth = match self.options.max_depth {
            u32::MAX => u32::MAX,
            most => most.saturating_sub(self.open.depth),
        };
        let (left, most) = (self.left(), self.options.max_nodes);
        let max_nodes = if most == 0 || left < most { left } else { most };
        let options = DecodeOptions { max_depth, max_nodes, ..*self.options };
        if self.plan.types { options.of_any_number() } else { options }
    }

    #[cold]
    fn wrong(&mut self, kind: ErrorKind, pos: usize) -> Stop {
        self.wrong_in(Error::new(kind, pos), pos, false)
    }

    /// The path goes on behind that of the open containers, which the shell knows.
    #[cold]
    fn wrong_in(&mut self, error: Error, start: usize, inside: bool) -> Stop {
        if let Err(stop) = self.tell_key() {
            return stop;
        }
        let bytes = self.piece.bytes;
        let Trouble { path, .. } = self.state.trouble(bytes, error, (start, bytes.len()), inside);
        let path = if self.open.place == Place::After { String::from(BEHIND) } else { path };
        let (line, column) = self.state.behind(&bytes[..error.offset]);
        let Error { kind, offset } = error;
        (start, End::Wrong(Trouble { kind, offset: offset as i64, line, column, path, value: (start, bytes.len()) }))
    }
}

/// An integer that surely has 64 bits.
fn short_integer(text: &[u8]) -> Option<i64> {
    if text.len() > 18 {
        return None;
    }
    core::str::from_utf8(text).ok()?.parse().ok()
}
