//! A [tape](crate::tape) to JSON text, as [`encode`](super::encode()) writes the term.
//!
//! What is written the tape says, how it looks are the functions of the encoder itself. Nothing is counted or looked up, and every value is
//! written with a comma, which the end of a container replaces: so one turn of the loop writes a value with its key. There are two such
//! loops of one text: options that change how values look, limits and errors have one that takes care of them at each token. The other
//! one stops with [`Stop::Again`] at whatever is rare, and the text is made again.

use super::driver::NOTABLE_STRING;
use super::error::{self, EncodeError, EncodeErrorKind};
use super::limits::{self, DESCENT};
use super::string;
use super::writer::{Role, Writer, float_text};
use crate::options::{EncodeOptions, Escape};
use crate::output::{Buffer, Output};
use crate::simd::copy::{CopyKernel, SLACK};
use crate::tape::{self, BEHIND_COMMA, IN_RECORDS, Kind, TOKEN};
use alloc::vec::Vec;

/// Why a loop ends before the tape does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The careful loop has to say why.
    Again,
    /// An error.
    Error(EncodeErrorKind),
}

impl From<EncodeErrorKind> for Stop {
    fn from(kind: EncodeErrorKind) -> Self {
        Self::Error(kind)
    }
}

type Played<T> = Result<T, Stop>;

/// Bytes that are no tape.
const BROKEN: Stop = Stop::Error(EncodeErrorKind::Unsupported);

/// Whether values look as they do by default. Every option is named here, so that a new one is not forgotten: what it changes in a text is
/// for the careful loop, and for [`Writer`]; what it changes in a term the walk has seen to that wrote the tape.
const fn is_usual(options: &EncodeOptions<'_>) -> bool {
    let EncodeOptions {
        escape,
        pretty,
        safe_integers,
        replace_invalid,
        // Both loops look at these, or the shell.
        records: _,
        base_depth: _,
        max_bytes: _,
        compress: _,
        // The walk has.
        strict_maps: _,
        sort_keys: _,
        plain_structs: _,
        lean: _,
        null: _,
        scheduler: _,
        reverse_large_maps: _,
        leave_unsupported: _,
        leave_extras: _,
        shape: _,
        max_depth: _,
        budget: _,
        patient: _,
        kept: _,
    } = options;
    matches!(escape, Escape::Json) && pretty.is_none() && !*safe_integers && !*replace_invalid
}

/// Where a container that waits for the end of another one goes on.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Its next key.
    key: usize,
    /// Keys that are left.
    left: usize,
}

/// The number of keys left, outside maps with a shape.
const NO_SHAPE: usize = usize::MAX;

/// Bytes of a key that are copied without a look at its length.
const BLOCK: usize = 2 * SLACK;

/// What a tape is played with, for the next one to use again.
#[derive(Debug, Default)]
pub struct Player {
    open: Vec<Frame>,
    /// The keys of shapes, each in quotes and with its colon. The buffer has [`BLOCK`] bytes more.
    text: Output<Vec<u8>>,
    /// Where each stands.
    keys: Vec<(u32, u32)>,
    /// The first key of each shape, and how many there are.
    shapes: Vec<(u32, u32)>,
    /// Where the holes are in the output.
    holes: Vec<usize>,
    /// Where open containers start, and the holes in front of them; only the careful loop knows.
    starts: Vec<(usize, usize)>,
}

impl Player {
    fn clear(&mut self) {
        self.open.clear();
        self.text.restart();
        self.keys.clear();
        self.shapes.clear();
        self.holes.clear();
        self.starts.clear();
    }

    /// Gives back what only a large tape needs.
    pub fn shrink(&mut self) {
        const KEEP: usize = 4096;
        self.clear();
        self.open.shrink_to(KEEP);
        self.text = Output::default();
        self.keys.shrink_to(KEEP);
        self.shapes.shrink_to(KEEP);
        self.holes.shrink_to(KEEP);
        self.starts.shrink_to(KEEP);
    }

    /// Where the holes are in the output, in their order.
    pub fn holes(&self) -> &[usize] {
        &self.holes
    }
}

/// Appends the JSON text of the term on a tape to the output.
pub fn play<B: Buffer>(
    tape: &[u8],
    options: &EncodeOptions<'_>,
    player: &mut Player,
    out: &mut Output<B>,
) -> Result<(), EncodeError> {
    let start = out.len();
    if is_usual(options) {
        let played = crate::with_kernel!(kernel => play_with::<_, _, true>(kernel, tape, options, player, out));
        match played {
            Ok(()) => return Ok(()),
            Err(_) if out.failed() => return Err(EncodeError::out_of_memory()),
            Err(_) => out.truncate(start),
        }
    }
    crate::with_kernel!(kernel => play_with::<_, _, false>(kernel, tape, options, player, out))
}

#[inline(always)]
fn play_with<K: CopyKernel, B: Buffer, const USUAL: bool>(
    kernel: K,
    tape: &[u8],
    options: &EncodeOptions<'_>,
    player: &mut Player,
    out: &mut Output<B>,
) -> Result<(), EncodeError> {
    player.clear();
    let start = out.len();
    let limit = limits::limit(options, start, usize::MAX, 1);
    let mut play = Play::<_, _, USUAL> {
        kernel,
        tape,
        at: 0,
        player,
        out,
        options,
        limit,
        start,
        named: false,
        records: 0,
        in_records: false,
        payload: &[],
        text: Vec::new(),
    };
    match play.run() {
        Ok(()) => Ok(()),
        Err(stop) => Err(play.error(stop)),
    }
}

/// A tape that is played. `USUAL`: values look as they do by default, and there are no errors.
struct Play<'a, K, B, const USUAL: bool> {
    kernel: K,
    tape: &'a [u8],
    at: usize,
    player: &'a mut Player,
    out: &'a mut Output<B>,
    options: &'a EncodeOptions<'a>,
    limit: usize,
    /// Where the text starts.
    start: usize,
    /// A key stands in front of the value to come. Nobody asks by default.
    named: bool,
    /// Records that are written, if there are any.
    records: usize,
    in_records: bool,
    /// Of an error on the tape.
    payload: &'a [u8],
    /// The start of a text that is not UTF-8.
    text: Vec<u8>,
}

impl<'a, K: CopyKernel, B: Buffer, const USUAL: bool> Play<'a, K, B, USUAL> {
    #[inline(always)]
    fn run(&mut self) -> Played<()> {
        let mut here = Frame { key: 0, left: NO_SHAPE };
        loop {
            if here.left != NO_SHAPE {
                if here.left == 0 {
                    here = self.close(*b"},")?;
                    if !USUAL {
                        self.check_value()?;
                    }
                    continue;
                }
                self.key(here.key)?;
                here = Frame { key: here.key + 1, left: here.left - 1 };
            }
            let (kind, word) = tape::read(self.tape, self.at).ok_or(BROKEN)?;
            self.at += TOKEN;
            if !USUAL {
                self.lay_out(kind);
            }
            match kind {
                Kind::String => self.string(tape::number(word), *b"\",")?,
                Kind::Key => {
                    self.string(tape::number(word), *b"\":")?;
                    continue;
                }
                Kind::Small => self.integer(tape::integer(word)),
                Kind::Shaped => {
                    here = self.shaped(here, tape::number(word))?;
                    continue;
                }
                Kind::Nil => self.out.array(*b"null,"),
                Kind::True => self.out.array(*b"true,"),
                Kind::False => self.out.array(*b"false,"),
                Kind::Integer => {
                    let value = i64::from_le_bytes(self.eight()?);
                    self.integer(value);
                }
                Kind::Float => {
                    let value = f64::from_le_bytes(self.eight()?);
                    float_text(self.kernel, self.out, if value.is_finite() { value } else { 0.0 });
                    self.out.array([b',']);
                }
                Kind::List => {
                    here = self.open(here, b'[')?;
                    continue;
                }
                Kind::EndList => here = self.close(*b"],")?,
                Kind::EmptyList => self.empty(*b"[],")?,
                Kind::EmptyMap => self.empty(*b"{},")?,
                Kind::Map => {
                    here = self.open(here, b'{')?;
                    continue;
                }
                Kind::EndMap => here = self.close(*b"},")?,
                Kind::Shape => {
                    here = self.shape(here, tape::number(word))?;
                    continue;
                }
                Kind::End => return self.end(),
                Kind::Back => here = self.back()?,
                _ => {
                    if !self.rare(kind, tape::number(word))? {
                        continue;
                    }
                }
            }
            if !USUAL {
                self.check_value()?;
            }
        }
    }

    /// The tokens that few tapes have. Whether a value is complete.
    #[inline(never)]
    fn rare(&mut self, kind: Kind, number: usize) -> Played<bool> {
        match kind {
            Kind::Record | Kind::MarkedRecord if self.player.open.is_empty() => {
                self.in_records = true;
                self.out.record(kind == Kind::MarkedRecord);
                Ok(false)
            }
            Kind::EndRecord if self.player.open.is_empty() && self.in_records => self.end_record(),
            Kind::LongString | Kind::LongKey => {
                let len = self.sized()?;
                let key = kind == Kind::LongKey;
                self.string(len, if key { *b"\":" } else { *b"\"," })?;
                Ok(!key)
            }
            Kind::Big | Kind::BigKey => {
                let role = if kind == Kind::Big { Role::Value } else { Role::Key };
                self.big(role, number == 1)?;
                self.end_of(role);
                Ok(kind == Kind::Big)
            }
            Kind::Raw | Kind::Bytes | Kind::EndRaw => self.fragment(kind, number),
            Kind::Hole | Kind::HoleKey => {
                self.player.holes.push(self.out.len());
                let role = if kind == Kind::Hole { Role::Value } else { Role::Key };
                self.end_of(role);
                Ok(role == Role::Value)
            }
            Kind::Failed => self.failed(number),
            _ => Err(BROKEN),
        }
    }

    /// The walk ended here.
    #[cold]
    fn failed(&mut self, number: usize) -> Played<bool> {
        let len = self.sized()?;
        self.payload = self.take(len)?;
        self.in_records = number & IN_RECORDS != 0;
        if number & BEHIND_COMMA == 0 && self.out.len() > self.start && self.out.written().last() == Some(&b',') {
            self.out.truncate(self.out.len() - 1);
        } else {
            self.line();
        }
        Err(EncodeErrorKind::from_code(number as u8).map_or(BROKEN, Stop::Error))
    }

    /// Replaces the comma behind the value. A text without a value is not whole, but for a list of no records.
    fn end(&mut self) -> Played<()> {
        let (end, open) = (self.out.len(), self.player.open.len());
        let none = end == self.start && self.options.records != crate::options::Records::None;
        match self.out.written().last() {
            _ if open > 0 => return Err(BROKEN),
            _ if self.in_records || none => {}
            Some(b',') if end > self.start => self.out.truncate(end - 1),
            _ => return Err(BROKEN),
        }
        if self.out.failed() {
            return Err(Stop::Error(EncodeErrorKind::OutOfMemory));
        }
        if self.out.len() > self.limit { Err(Stop::Error(EncodeErrorKind::MaxBytes)) } else { Ok(()) }
    }

    fn end_record(&mut self) -> Played<bool> {
        let end = self.out.len();
        if end <= self.start || self.out.written().last() != Some(&b',') {
            return Err(BROKEN);
        }
        self.out.truncate(end - 1);
        self.out.end_record();
        self.records += 1;
        if self.out.len() > self.limit { Err(Stop::Error(EncodeErrorKind::MaxBytes)) } else { Ok(false) }
    }

    /// The error at the place reached.
    #[cold]
    fn error(&mut self, stop: Stop) -> EncodeError {
        let kind = match stop {
            _ if self.out.failed() => return EncodeError::out_of_memory(),
            Stop::Again => EncodeErrorKind::Unsupported,
            Stop::Error(kind) => kind,
        };
        let (first, reached) = limits::first_error(kind, (self.out.len() - self.start) as u64, self.options);
        let payload = match first {
            _ if first != kind => Vec::new(),
            _ if self.payload.is_empty() => core::mem::take(&mut self.text),
            _ => self.payload.to_vec(),
        };
        let record = self.in_records.then_some(self.records);
        Writer::error(self.out, self.start, reached, first, payload, record)
    }

    /// A value is written, and its comma. The encoder looks at the limit where it goes on in a container.
    #[inline(never)]
    fn check_value(&mut self) -> Played<()> {
        let end = self.out.len().saturating_sub(1);
        if end > self.limit && !self.player.open.is_empty() {
            self.out.truncate(end);
            return Err(Stop::Error(EncodeErrorKind::MaxBytes));
        }
        if self.out.failed() { Err(Stop::Error(EncodeErrorKind::OutOfMemory)) } else { Ok(()) }
    }

    /// What stands in front of a token: a new line for each value or key in a container.
    #[inline(never)]
    fn lay_out(&mut self, kind: Kind) {
        if matches!(kind, Kind::EndList | Kind::EndMap | Kind::End | Kind::Back | Kind::Failed) {
            self.named &= kind == Kind::Failed;
            return;
        }
        self.line();
    }

    fn line(&mut self) {
        let Some(pretty) = self.options.pretty else { return };
        let named = core::mem::take(&mut self.named);
        if !named && !self.player.open.is_empty() {
            pretty.line(self.out, self.depth());
        }
    }

    /// The line of the end of a container.
    #[inline(never)]
    fn last_line(&mut self) {
        if let Some(pretty) = self.options.pretty {
            pretty.line(self.out, self.depth());
        }
    }

    /// The number of containers around the place reached.
    fn depth(&self) -> usize {
        (self.options.base_depth as usize).saturating_add(self.player.open.len())
    }

    /// What stands behind a value, or behind a key.
    fn end_of(&mut self, role: Role) {
        match role {
            Role::Value => self.out.array([b',']),
            Role::Key => {
                self.out.colon(self.options);
                self.named = true;
            }
        }
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) {
        self.out.integer(value, !USUAL && self.options.safe_integers);
        self.out.array([b',']);
    }

    fn big(&mut self, role: Role, negative: bool) -> Played<()> {
        let len = self.sized()?;
        let magnitude = self.take(len)?;
        limits::digits_fit(magnitude, self.limit.saturating_sub(self.out.len()) as u64)?;
        self.out.big(role, negative, magnitude, self.options.safe_integers);
        Ok(())
    }

    #[inline(always)]
    fn eight(&mut self) -> Played<[u8; 8]> {
        let bytes = self.tape.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or(BROKEN)?;
        self.at += 8;
        Ok(*bytes)
    }

    /// A length of four bytes.
    fn sized(&mut self) -> Played<usize> {
        let len = self.tape.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or(BROKEN)?;
        self.at += 4;
        Ok(u32::from_le_bytes(*len) as usize)
    }

    /// The bytes that come next.
    fn take(&mut self, len: usize) -> Played<&'a [u8]> {
        let bytes = self.tape.get(self.at..).and_then(|rest| rest.get(..len)).ok_or(BROKEN)?;
        self.at += len;
        Ok(bytes)
    }

    /// A text, and what stands behind it: its second quote and a comma or a colon.
    #[inline(always)]
    fn string(&mut self, len: usize, end: [u8; 2]) -> Played<()> {
        if !USUAL {
            let bytes = self.take(len)?;
            return self.careful_string(bytes, if end[1] == b':' { Role::Key } else { Role::Value });
        }
        let text = self.tape.get(self.at..).and_then(|rest| rest.get(..len + tape::SLACK)).ok_or(BROKEN)?;
        self.at += len;
        let room = self.out.room(len + SLACK + 3).ok_or(Stop::Again)?;
        room[0] = b'"';
        let run = self.kernel.copy_padded(text, len, &mut room[1..]);
        if run.end < len {
            self.out.advance(1 + run.end);
            string::escaped(self.kernel, self.out, &text[..len], run.end, run.ascii).map_err(|_| Stop::Again)?;
            self.out.array([end[1]]);
            return Ok(());
        }
        room[1 + len..3 + len].copy_from_slice(&end);
        self.out.advance(len + 3);
        if run.ascii { Ok(()) } else { string::check(&text[..len]).map_err(|()| Stop::Again) }
    }

    #[inline(never)]
    fn careful_string(&mut self, bytes: &[u8], role: Role) -> Played<()> {
        if bytes.len() > NOTABLE_STRING {
            limits::too_long((self.out.len() - self.start) as u64, bytes.len(), self.options)?;
        }
        if let Err(wrong) = self.out.rare_string(self.kernel, role, self.options, bytes) {
            if !self.options.replace_invalid {
                self.text = error::invalid_utf8(bytes);
                return Err(Stop::Error(EncodeErrorKind::InvalidUtf8));
            }
            if !self.out.replace(self.kernel, self.options, wrong, bytes) {
                return Err(Stop::Error(EncodeErrorKind::OutOfMemory));
            }
        }
        self.end_of(role);
        Ok(())
    }

    /// A fragment up to its end.
    fn fragment(&mut self, mut kind: Kind, mut number: usize) -> Played<bool> {
        let start = self.out.len();
        while kind != Kind::EndRaw {
            match kind {
                Kind::Raw => self.raw()?,
                // The encoder looks at the limit behind each of them.
                Kind::Bytes => {
                    let most = self.limit.saturating_sub(self.out.len()).saturating_add(1);
                    let bytes = self.take(number)?;
                    self.out.raw(&bytes[..most.min(number)]);
                }
                Kind::Failed => return self.failed(number),
                Kind::Back => {
                    self.out.truncate(start);
                    self.hole_instead()?;
                    return Ok(true);
                }
                _ => return Err(BROKEN),
            }
            if self.out.len() > self.limit {
                return Err(Stop::Error(EncodeErrorKind::MaxBytes));
            }
            let (next, word) = tape::read(self.tape, self.at).ok_or(BROKEN)?;
            self.at += TOKEN;
            (kind, number) = (next, tape::number(word));
        }
        self.out.array([b',']);
        Ok(true)
    }

    fn raw(&mut self) -> Played<()> {
        let len = self.sized()?;
        let text = self.take(len)?;
        if len > NOTABLE_STRING {
            limits::too_long((self.out.len() - self.start) as u64, len, self.options)?;
        }
        self.out.raw(text);
        Ok(())
    }

    /// A key of a shape, with quotes and colon.
    #[inline(always)]
    fn key(&mut self, number: usize) -> Played<()> {
        let &(start, len) = self.player.keys.get(number).ok_or(BROKEN)?;
        let (start, len) = (start as usize, len as usize);
        if !USUAL && let Some(pretty) = self.options.pretty {
            pretty.line(self.out, self.depth());
            self.named = true;
        }
        let (text, _) = self.player.text.parts();
        let text = text.get(start..start + len + BLOCK).ok_or(BROKEN)?;
        let room = self.out.room(len + BLOCK).ok_or(Stop::Again)?;
        room[..BLOCK].copy_from_slice(&text[..BLOCK]);
        if len > BLOCK {
            room[..len].copy_from_slice(&text[..len]);
        }
        self.out.advance(len);
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, here: Frame, bracket: u8) -> Played<Frame> {
        self.deeper()?;
        self.player.open.push(here);
        if !USUAL {
            self.player.starts.push((self.out.len(), self.player.holes.len()));
        }
        self.out.array([bracket]);
        Ok(Frame { key: 0, left: NO_SHAPE })
    }

    /// The walk has counted the containers. Their lines get longer, and are too long as the encoder finds it.
    #[inline(always)]
    fn deeper(&self) -> Played<()> {
        let most = if USUAL { self.limit } else { self.limit.saturating_add(DESCENT) };
        let over = self.out.len() > most && (USUAL || self.options.pretty.is_some());
        if over { Err(Stop::Error(EncodeErrorKind::MaxBytes)) } else { Ok(()) }
    }

    #[inline(always)]
    fn empty(&mut self, text: [u8; 3]) -> Played<()> {
        self.deeper()?;
        self.out.array(text);
        Ok(())
    }

    /// Takes the innermost container back.
    #[cold]
    fn back(&mut self) -> Played<Frame> {
        let (start, holes) = self.player.starts.pop().ok_or(Stop::Again)?;
        self.out.truncate(start);
        self.player.holes.truncate(holes);
        self.hole_instead()?;
        self.player.open.pop().ok_or(BROKEN)
    }

    /// What was taken back is a hole.
    fn hole_instead(&mut self) -> Played<()> {
        let (Kind::Hole, _) = tape::read(self.tape, self.at).ok_or(BROKEN)? else { return Err(BROKEN) };
        self.at += TOKEN;
        self.player.holes.push(self.out.len());
        self.end_of(Role::Value);
        Ok(())
    }

    /// Replaces the comma behind the last value.
    #[inline(always)]
    fn close(&mut self, end: [u8; 2]) -> Played<Frame> {
        let here = self.player.open.pop().ok_or(BROKEN)?;
        self.out.truncate(self.out.len().saturating_sub(1));
        if !USUAL {
            self.player.starts.pop();
            self.last_line();
        }
        self.out.array(end);
        Ok(here)
    }

    #[inline(always)]
    fn shaped(&mut self, here: Frame, number: usize) -> Played<Frame> {
        let &(key, left) = self.player.shapes.get(number).ok_or(BROKEN)?;
        self.open(here, b'{')?;
        Ok(Frame { key: key as usize, left: left as usize })
    }

    /// Learns the keys of a shape.
    #[inline(never)]
    fn shape(&mut self, here: Frame, count: usize) -> Played<Frame> {
        let (first, number) = (self.player.keys.len(), self.player.shapes.len());
        for _ in 0..count {
            let (kind, word) = tape::read(self.tape, self.at).ok_or(BROKEN)?;
            self.at += TOKEN;
            let len = match kind {
                Kind::Key => tape::number(word),
                Kind::LongKey => self.sized()?,
                _ => return Err(BROKEN),
            };
            let key = self.take(len)?;
            self.learn(key)?;
        }
        self.player.shapes.push((first as u32, count as u32));
        self.player.text.room(BLOCK).ok_or(Stop::Error(EncodeErrorKind::OutOfMemory))?;
        self.shaped(here, number)
    }

    /// Writes a key of a shape, for the maps to come.
    fn learn(&mut self, key: &[u8]) -> Played<()> {
        let text = &mut self.player.text;
        let start = text.len();
        if let Err(wrong) = string::rare_string(self.kernel, text, self.options.escape, key)
            && !(self.options.replace_invalid && text.replace(self.kernel, self.options, wrong, key))
        {
            // The keys stood on the tape before, and were found to be wrong.
            return Err(BROKEN);
        }
        text.colon(self.options);
        self.player.keys.push((start as u32, (text.len() - start) as u32));
        Ok(())
    }
}
