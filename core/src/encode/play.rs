//! A [tape](crate::tape) to JSON text, as [`encode`](super::encode()) writes the term.
//!
//! Nothing is counted or looked up, and every value is written with a comma, which the end of a container replaces: so one turn of
//! the loop writes a value with its key. Options that change how values are written have a loop of their own, of the same text. What
//! is rare ends it with [`Again`]: the caller encodes the term in the general way, which also finds out what is wrong.

use super::records::RECORD_SEPARATOR;
use super::repair::is_safe;
use super::{float, limits, number, string};
use crate::options::{EncodeOptions, Escape, Records};
use crate::output::{Buffer, Output};
use crate::simd::copy::{CopyKernel, SLACK};
use crate::tape::{self, Kind, TOKEN};
use alloc::vec::Vec;

/// This is not for the tape: a text that is not UTF-8, a term too deep, a text too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again;

type Played<T> = Result<T, Again>;

/// Whether a tape can be played with these options. What they say about members and atoms, its writer has seen to.
pub const fn may_play(options: &EncodeOptions<'_>) -> bool {
    matches!(options.records, Records::None) || options.pretty.is_none()
}

/// Whether values are written as they are by default.
const fn is_usual(options: &EncodeOptions<'_>) -> bool {
    matches!(options.escape, Escape::Json) && options.pretty.is_none() && !options.safe_integers
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
}

impl Player {
    fn clear(&mut self) {
        self.open.clear();
        self.text.restart();
        self.keys.clear();
        self.shapes.clear();
    }

    /// Gives back what only a large tape needs.
    pub fn shrink(&mut self) {
        const KEEP: usize = 4096;
        self.clear();
        self.open.shrink_to(KEEP);
        self.text = Output::default();
        self.keys.shrink_to(KEEP);
        self.shapes.shrink_to(KEEP);
    }
}

/// Appends the JSON text of the term on a tape to the output.
pub fn play<B: Buffer>(
    tape: &[u8],
    options: &EncodeOptions<'_>,
    player: &mut Player,
    out: &mut Output<B>,
) -> Played<()> {
    player.clear();
    if is_usual(options) {
        crate::with_kernel!(kernel => play_with::<_, _, true>(kernel, tape, options, player, out))
    } else {
        crate::with_kernel!(kernel => play_with::<_, _, false>(kernel, tape, options, player, out))
    }
}

#[inline(always)]
fn play_with<K: CopyKernel, B: Buffer, const USUAL: bool>(
    kernel: K,
    tape: &[u8],
    options: &EncodeOptions<'_>,
    player: &mut Player,
    out: &mut Output<B>,
) -> Played<()> {
    let (start, deepest) = (out.len(), limits::deepest(options));
    let limit = limits::limit(options, start, usize::MAX);
    Play::<_, _, USUAL> { kernel, tape, at: 0, player, out, options, deepest, limit, start, named: false }.run()?;
    if out.failed() || out.len() > limit { Err(Again) } else { Ok(()) }
}

#[inline(never)]
fn float_text<K: CopyKernel, B: Buffer>(kernel: K, out: &mut Output<B>, value: f64) {
    kernel.vectorize(
        #[inline(always)]
        || float::float(kernel, out, value),
    );
}

/// A tape that is played. `USUAL`: values are written as they are by default.
struct Play<'a, K, B, const USUAL: bool> {
    kernel: K,
    tape: &'a [u8],
    at: usize,
    player: &'a mut Player,
    out: &'a mut Output<B>,
    options: &'a EncodeOptions<'a>,
    deepest: usize,
    limit: usize,
    /// Where the text starts, or that of the last record.
    start: usize,
    /// A key stands in front of the value to come. Nobody asks by default.
    named: bool,
}

impl<K: CopyKernel, B: Buffer, const USUAL: bool> Play<'_, K, B, USUAL> {
    #[inline(always)]
    fn run(&mut self) -> Played<()> {
        let mut here = Frame { key: 0, left: NO_SHAPE };
        loop {
            if here.left != NO_SHAPE {
                if here.left == 0 {
                    here = self.close(*b"},")?;
                    continue;
                }
                self.key(here.key)?;
                here = Frame { key: here.key + 1, left: here.left - 1 };
            }
            let (kind, word) = tape::read(self.tape, self.at).ok_or(Again)?;
            self.at += TOKEN;
            if !USUAL {
                self.lay_out(kind);
            }
            match kind {
                Kind::String => self.string(tape::number(word), *b"\",")?,
                Kind::Key => {
                    self.string(tape::number(word), *b"\":")?;
                    if !USUAL {
                        self.name_ends();
                    }
                }
                Kind::Small => self.integer(tape::integer(word)),
                Kind::Shaped => here = self.shaped(here, tape::number(word))?,
                Kind::Nil => self.out.array(*b"null,"),
                Kind::True => self.out.array(*b"true,"),
                Kind::False => self.out.array(*b"false,"),
                Kind::Integer => {
                    let value = i64::from_le_bytes(self.eight()?);
                    self.integer(value);
                }
                Kind::Float => {
                    let value = f64::from_le_bytes(self.eight()?);
                    float_text(self.kernel, self.out, value);
                    self.out.array([b',']);
                }
                Kind::List => here = self.open(here, b'[')?,
                Kind::EndList => here = self.close(*b"],")?,
                Kind::EmptyList => self.empty(*b"[],")?,
                Kind::EmptyMap => self.empty(*b"{},")?,
                Kind::Map => here = self.open(here, b'{')?,
                Kind::EndMap => here = self.close(*b"},")?,
                Kind::Shape => here = self.shape(here, tape::number(word))?,
                Kind::Record => self.record()?,
                Kind::End => return self.end(),
            }
        }
    }

    /// Replaces the comma behind the value. A text without a value is not whole.
    fn end(&mut self) -> Played<()> {
        if !self.player.open.is_empty() {
            return Err(Again);
        }
        let end = self.out.len().checked_sub(1).filter(|end| *end > self.start).ok_or(Again)?;
        self.out.truncate(end);
        if self.options.records != Records::None {
            self.out.array([b'\n']);
        }
        Ok(())
    }

    /// Ends the record before, if there is one, and starts another.
    #[inline(never)]
    fn record(&mut self) -> Played<()> {
        let first = self.at == TOKEN;
        if !first {
            self.end()?;
        }
        if self.options.records == Records::None || self.out.len() > self.limit {
            return Err(Again);
        }
        if self.options.records == Records::Sequence {
            self.out.array([RECORD_SEPARATOR]);
        }
        self.start = self.out.len();
        Ok(())
    }

    /// What stands in front of a token: a new line for each value or key in a container.
    #[inline(never)]
    fn lay_out(&mut self, kind: Kind) {
        let Some(pretty) = self.options.pretty else { return };
        let named = core::mem::take(&mut self.named);
        let ends = matches!(kind, Kind::EndList | Kind::EndMap | Kind::End);
        if !named && !ends && !self.player.open.is_empty() {
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

    /// What stands behind a key and its colon.
    #[inline(never)]
    fn name_ends(&mut self) {
        if let Some(pretty) = self.options.pretty {
            self.out.text(pretty.after_colon);
            self.named = true;
        }
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) {
        if !USUAL && self.options.safe_integers && !is_safe(value) {
            self.out.array([b'"']);
            number::integer(self.out, value);
            return self.out.array(*b"\",");
        }
        number::integer(self.out, value);
        self.out.array([b',']);
    }

    #[inline(always)]
    fn eight(&mut self) -> Played<[u8; 8]> {
        let bytes = self.tape.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or(Again)?;
        self.at += 8;
        Ok(*bytes)
    }

    /// A text, and what stands behind it: its second quote and a comma or a colon.
    #[inline(always)]
    fn string(&mut self, len: usize, end: [u8; 2]) -> Played<()> {
        let text = self.tape.get(self.at..self.at + len + tape::SLACK).ok_or(Again)?;
        self.at += len;
        if !USUAL && self.options.escape != Escape::Json {
            string::string(self.kernel, self.out, self.options.escape, &text[..len]).map_err(|_| Again)?;
            self.out.array([end[1]]);
            return Ok(());
        }
        let room = self.out.room(len + SLACK + 3).ok_or(Again)?;
        room[0] = b'"';
        let run = self.kernel.copy_padded(text, len, &mut room[1..]);
        if run.end < len {
            self.out.advance(1 + run.end);
            string::escaped(self.kernel, self.out, &text[..len], run.end, run.ascii).map_err(|_| Again)?;
            self.out.array([end[1]]);
            return Ok(());
        }
        room[1 + len..3 + len].copy_from_slice(&end);
        self.out.advance(len + 3);
        if run.ascii { Ok(()) } else { string::check(&text[..len]).map_err(|()| Again) }
    }

    /// A key of a shape, with quotes and colon.
    #[inline(always)]
    fn key(&mut self, number: usize) -> Played<()> {
        let &(start, len) = self.player.keys.get(number).ok_or(Again)?;
        let (start, len) = (start as usize, len as usize);
        if !USUAL && let Some(pretty) = self.options.pretty {
            pretty.line(self.out, self.depth());
            self.named = true;
        }
        let (text, _) = self.player.text.parts();
        let text = text.get(start..start + len + BLOCK).ok_or(Again)?;
        let room = self.out.room(len + BLOCK).ok_or(Again)?;
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
        self.out.array([bracket]);
        Ok(Frame { key: 0, left: NO_SHAPE })
    }

    #[inline(always)]
    fn deeper(&self) -> Played<()> {
        let fits = self.player.open.len() < self.deepest && self.out.len() <= self.limit;
        if fits { Ok(()) } else { Err(Again) }
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
        let here = self.player.open.pop().ok_or(Again)?;
        self.out.truncate(self.out.len().saturating_sub(1));
        if !USUAL {
            self.last_line();
        }
        self.out.array(end);
        Ok(here)
    }

    #[inline(always)]
    fn shaped(&mut self, here: Frame, number: usize) -> Played<Frame> {
        let &(key, left) = self.player.shapes.get(number).ok_or(Again)?;
        self.open(here, b'{')?;
        Ok(Frame { key: key as usize, left: left as usize })
    }

    /// Learns the keys of a shape.
    #[inline(never)]
    fn shape(&mut self, here: Frame, count: usize) -> Played<Frame> {
        let (first, number) = (self.player.keys.len(), self.player.shapes.len());
        for _ in 0..count {
            let (Kind::Key, word) = tape::read(self.tape, self.at).ok_or(Again)? else { return Err(Again) };
            let (start, len) = (self.at + TOKEN, tape::number(word));
            let key = self.tape.get(start..start + len).ok_or(Again)?;
            self.at = start + len;
            let text = &mut self.player.text;
            let start = text.len();
            string::rare_string(self.kernel, text, self.options.escape, key).map_err(|_| Again)?;
            text.array([b':']);
            if let Some(pretty) = self.options.pretty {
                text.text(pretty.after_colon);
            }
            self.player.keys.push((start as u32, (text.len() - start) as u32));
        }
        self.player.shapes.push((first as u32, count as u32));
        self.player.text.room(BLOCK).ok_or(Again)?;
        self.shaped(here, number)
    }
}
