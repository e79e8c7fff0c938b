//! Lays out JSON text again without decoding it: insignificant whitespace is replaced, tokens are copied.
//!
//! One pass with a depth and no stack, since brackets are copied and not matched. The result for invalid JSON is
//! unspecified. Several texts may follow one another.
//!
//! A few bytes of text can become megabytes of indentation, so work is counted in bytes of output. Before each token the
//! formatter knows how much it writes, so it can stop there, either because the output would exceed its limit or
//! because the caller's budget is used up. Then [`Place`] is all that it needs to go on.

#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorKind};
use crate::options::{EncodeOptions, Pretty};
use crate::output::{Buffer, Output};
use crate::simd::{Kernel, is_space};
use crate::with_kernel;

/// What is written between tokens, and how much may be written.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Before an element, once a level.
    pub indent: &'a [u8],
    /// Before an element and before the end of its container.
    pub line_separator: &'a [u8],
    /// Between texts.
    pub record_separator: &'a [u8],
    /// After a colon.
    pub after_colon: &'a [u8],
    /// Levels at which the text already stands.
    pub base_depth: u32,
    /// Deepest nesting; `u32::MAX` for none.
    pub max_depth: u32,
    /// Longest output in bytes; 0 for no limit.
    pub max_bytes: u64,
}

impl<'a> Layout<'a> {
    /// No whitespace at all, one line for each text.
    pub const MINIMAL: Self = Layout {
        indent: b"",
        line_separator: b"",
        record_separator: b"\n",
        after_colon: b"",
        base_depth: 0,
        max_depth: u32::MAX,
        max_bytes: 0,
    };

    /// The layout, the base depth and the limits of these options.
    #[must_use]
    pub fn new(options: &EncodeOptions<'a>) -> Self {
        let limits = Layout { base_depth: options.base_depth, max_depth: options.max_depth, ..Self::MINIMAL };
        let limits = Layout { max_bytes: options.max_bytes, ..limits };
        match options.pretty {
            None => limits,
            Some(Pretty { indent, line_separator, record_separator, after_colon }) => {
                Layout { indent, line_separator, record_separator, after_colon, ..limits }
            }
        }
    }

    /// Where the formatter starts.
    #[must_use]
    pub const fn first_place(&self) -> Place {
        Place { offset: 0, depth: self.base_depth, last: Last::None }
    }
}

/// How far the formatter has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset of the next byte to read.
    pub offset: usize,
    /// The number of open brackets.
    pub depth: u32,
    /// What the last token was.
    pub last: Last,
}

/// What the last token was, as far as it matters for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// There was none.
    None,
    /// An opening bracket: the next token starts a line, unless it closes.
    Open,
    /// A comma or colon.
    Inside,
    /// A text may have ended: at the outermost level, the next token starts another.
    Value,
}

impl Last {
    /// The same as a number, for shells that store a place.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`Last::number`] gave.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1 => Some(Self::Open),
            2 => Some(Self::Inside),
            3 => Some(Self::Value),
            _ => None,
        }
    }
}

/// Writes the text in this layout.
///
/// # Errors
/// Nesting deeper than the layout allows, output longer than it allows, and memory that ran out.
///
/// ```
/// use rustyjson_core::{Output, format::{Layout, format}};
///
/// let mut out = Output::new(Vec::new());
/// format(b"{ \"a\": [1, 2] } [ ]", &Layout::MINIMAL, &mut out).unwrap();
/// assert_eq!(out.written(), b"{\"a\":[1,2]}\n[]");
/// ```
pub fn format<B: Buffer>(text: &[u8], layout: &Layout<'_>, out: &mut Output<B>) -> Result<(), Error> {
    let start = out.len();
    format_slice(text, layout, layout.first_place(), start, usize::MAX, out).map(drop)
}

/// Goes on from a place until the output, which began at `start`, would be longer than `budget` bytes. `Some` is the
/// place to go on from, with a larger budget; `None` means that the whole text is written.
///
/// # Errors
/// As for [`format`].
pub fn format_slice<B: Buffer>(
    text: &[u8],
    layout: &Layout<'_>,
    place: Place,
    start: usize,
    budget: usize,
    out: &mut Output<B>,
) -> Result<Option<Place>, Error> {
    let max = match layout.max_bytes {
        0 => usize::MAX,
        max => usize::try_from(max).unwrap_or(usize::MAX),
    };
    let limit = start.saturating_add(max.min(budget));
    with_kernel!(kernel => Formatter { kernel, text, layout, out, place, limit, start }.run())
}

struct Formatter<'a, K, B> {
    kernel: K,
    text: &'a [u8],
    layout: &'a Layout<'a>,
    out: &'a mut Output<B>,
    place: Place,
    /// Length of the output behind which the formatter stops.
    limit: usize,
    /// Where the output began.
    start: usize,
}

/// Why the formatter stops before a token.
enum Stop {
    TooDeep,
    /// The token does not fit; the output would have this length.
    Full(usize),
}

impl<K: Kernel, B: Buffer> Formatter<'_, K, B> {
    #[inline(always)]
    fn run(mut self) -> Result<Option<Place>, Error> {
        while let Some(&byte) = self.text.get(self.place.offset) {
            let pos = self.place.offset;
            let next = match byte {
                byte if is_space(byte) => Ok(self.kernel.space_end(self.text, pos)),
                b'{' | b'[' => self.open(pos),
                b'}' | b']' => self.close(pos),
                b',' => self.comma(pos),
                b':' => self.colon(pos),
                b'"' => self.value(pos, self.string_end(pos)),
                _ => self.value(pos, self.scalar_end(pos)),
            };
            match next {
                Ok(next) => self.place.offset = next,
                Err(stop) => return self.stopped(stop),
            }
        }
        self.memory()?;
        Ok(None)
    }

    #[cold]
    fn stopped(&self, stop: Stop) -> Result<Option<Place>, Error> {
        self.memory()?;
        let max = self.layout.max_bytes;
        let kind = match stop {
            Stop::TooDeep => ErrorKind::MaxDepth,
            Stop::Full(len) if max != 0 && (len - self.start) as u64 > max => ErrorKind::MaxBytes,
            Stop::Full(_) => return Ok(Some(self.place)),
        };
        Err(Error::new(kind, self.place.offset))
    }

    fn memory(&self) -> Result<(), Error> {
        if self.out.failed() { Err(Error::new(ErrorKind::OutOfMemory, self.place.offset)) } else { Ok(()) }
    }

    /// Checks whether this many more bytes may be written.
    #[inline(always)]
    fn fits(&self, bytes: usize) -> Result<(), Stop> {
        let len = self.out.len().saturating_add(bytes);
        if len > self.limit { Err(Stop::Full(len)) } else { Ok(()) }
    }

    fn open(&mut self, pos: usize) -> Result<usize, Stop> {
        if self.place.depth >= self.layout.max_depth {
            return Err(Stop::TooDeep);
        }
        self.before_value(1)?;
        self.out.slice(&self.text[pos..=pos]);
        self.place.depth += 1;
        self.place.last = Last::Open;
        Ok(pos + 1)
    }

    fn close(&mut self, pos: usize) -> Result<usize, Stop> {
        let depth = self.place.depth.saturating_sub(1);
        let line = self.place.last != Last::Open;
        self.fits(if line { self.line_len(depth).saturating_add(1) } else { 1 })?;
        self.place.depth = depth;
        if line {
            self.new_line(depth);
        }
        self.out.slice(&self.text[pos..=pos]);
        self.place.last = Last::Value;
        Ok(pos + 1)
    }

    fn comma(&mut self, pos: usize) -> Result<usize, Stop> {
        let depth = self.place.depth;
        self.fits(self.line_len(depth).saturating_add(1))?;
        self.out.array([b',']);
        self.new_line(depth);
        self.place.last = Last::Inside;
        Ok(pos + 1)
    }

    fn colon(&mut self, pos: usize) -> Result<usize, Stop> {
        self.fits(self.layout.after_colon.len() + 1)?;
        self.out.array([b':']);
        self.out.slice(self.layout.after_colon);
        self.place.last = Last::Inside;
        Ok(pos + 1)
    }

    #[inline(always)]
    fn value(&mut self, pos: usize, end: usize) -> Result<usize, Stop> {
        self.before_value(end - pos)?;
        self.out.slice(&self.text[pos..end]);
        self.place.last = Last::Value;
        Ok(end)
    }

    /// Writes what stands before a token of this length, if all of it fits.
    #[inline(always)]
    fn before_value(&mut self, len: usize) -> Result<(), Stop> {
        let depth = self.place.depth;
        match self.place.last {
            Last::Open => {
                self.fits(len.saturating_add(self.line_len(depth)))?;
                self.new_line(depth);
            }
            Last::Value if depth == self.layout.base_depth => {
                self.fits(len + self.layout.record_separator.len())?;
                self.out.slice(self.layout.record_separator);
            }
            _ => self.fits(len)?,
        }
        Ok(())
    }

    /// Bytes of a line's start at this depth.
    #[inline(always)]
    fn line_len(&self, depth: u32) -> usize {
        (depth as usize).saturating_mul(self.layout.indent.len()).saturating_add(self.layout.line_separator.len())
    }

    #[inline(always)]
    fn new_line(&mut self, depth: u32) {
        self.out.slice(self.layout.line_separator);
        self.out.repeat(self.layout.indent, depth as usize);
    }

    /// Offset behind the string that starts at `pos`; the end of the text when it is not closed.
    #[inline(always)]
    fn string_end(&self, pos: usize) -> usize {
        let mut pos = pos + 1;
        loop {
            pos = self.kernel.string_run(self.text, pos).end;
            match self.text.get(pos) {
                Some(b'"') => return pos + 1,
                Some(b'\\') => pos = (pos + 2).min(self.text.len()),
                Some(_) => pos += 1,
                None => return self.text.len(),
            }
        }
    }

    /// Offset behind the number or word that starts at `pos`.
    #[inline(always)]
    fn scalar_end(&self, pos: usize) -> usize {
        let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
        let rest = &self.text[pos + 1..];
        pos + 1 + rest.iter().position(ends).unwrap_or(rest.len())
    }
}
