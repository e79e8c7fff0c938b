//! A [tape](crate::tape) to JSON text, as [`encode`](super::encode()) writes the term.
//!
//! What is written the tape says, how it looks are the functions of the encoder itself. Nothing is counted or looked up, and every value is
//! written with a comma, which the end of a container replaces: so one turn of the loop writes a value with its key. There are two such
//! loops of one text: options that change how values look, limits and errors have one that takes care of them at each token. The other
//! one stops with [`Stop::Again`] at whatever is rare, and the text is made again.

mod careful;
mod player;
mod rare;
mod shapes;

pub use player::Player;

use super::error::{EncodeError, EncodeErrorKind};
use super::limits::{self, DESCENT};
use super::string;
use super::writer::{Role, Writer, float_text};
use crate::options::{EncodeOptions, Escape};
use crate::output::{Buffer, Output};
use crate::simd::copy::{CopyKernel, SLACK};
use crate::tape::{self, Kind, TOKEN};
use alloc::vec::Vec;
use player::{Frame, NO_SHAPE};

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

    #[inline(always)]
    fn integer(&mut self, value: i64) {
        self.out.integer(value, !USUAL && self.options.safe_integers);
        self.out.array([b',']);
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
}
