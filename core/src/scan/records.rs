//! Values that a byte tells apart: a line break (NDJSON) or the record separator of RFC 7464.

use super::fed::{End, Fed, Piece};
use super::places::{self, place};
use super::plan::{Format, Plan};
use super::state::State;
use super::token::Place;
use crate::builder::Rewind;
use crate::decode::{Scratch, at_start, starts_with_mark, value};
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;

const RECORD_SEPARATOR: u8 = 0x1E;

/// One piece of records. It starts where a record does.
pub(super) struct Records<'a, K, B> {
    pub kernel: K,
    pub piece: Piece<'a>,
    pub state: &'a mut State,
    pub plan: &'a Plan,
    pub options: &'a DecodeOptions,
    pub scratch: &'a mut Scratch,
    pub builder: &'a mut B,
    pub items: usize,
    /// List cells of rows that may still be made.
    pub room: usize,
}

impl<K: Kernel, B: Rewind> Records<'_, K, B> {
    #[inline(always)]
    pub fn run(mut self) -> Fed {
        let (kept, end) = self.records();
        Fed { items: self.items, kept, end }
    }

    #[inline(always)]
    fn records(&mut self) -> (usize, End) {
        let len = self.piece.bytes.len();
        let mut pos = match self.first() {
            Ok(pos) => pos,
            Err(stop) => return stop,
        };
        while pos < len {
            if self.room == 0 {
                return (pos, End::Again);
            }
            let found = self.kernel.find(self.piece.bytes, pos, self.separator());
            let (stop, next) = match found {
                Some(at) => (at, at + 1),
                None => (len, len),
            };
            let whole = found.is_some() || self.piece.last;
            if (stop - pos) as u64 > self.plan.max_bytes {
                self.state.skipping = found.is_none();
                return (next, self.wrong(Error::new(ErrorKind::MaxBytes, pos), (pos, stop)));
            }
            if !whole {
                return (pos, End::More);
            }
            if let Err(error) = self.record(pos, stop) {
                return (next, self.wrong(error, (pos, stop)));
            }
            pos = next;
        }
        (len, End::More)
    }

    /// Where the first record starts.
    fn first(&mut self) -> Result<usize, (usize, End)> {
        let Piece { bytes, .. } = self.piece;
        let mut pos = 0;
        if self.plan.format == Format::Sequence && self.state.place == Place::Start && !self.state.skipping {
            pos = self.kernel.space_end(bytes, 0);
            match bytes.get(pos) {
                None => return Err((pos, End::More)),
                Some(&RECORD_SEPARATOR) => pos += 1,
                Some(_) => {
                    self.state.skipping = true;
                    let error = Error::new(ErrorKind::ExpectedRecord, pos);
                    return Err((pos + 1, self.wrong(error, (pos, bytes.len()))));
                }
            }
        }
        if self.state.skipping {
            match self.kernel.find(bytes, 0, self.separator()) {
                Some(at) => pos = at + 1,
                None => return Err((bytes.len(), End::More)),
            }
            self.state.skipping = false;
        }
        self.state.place = Place::After;
        Ok(pos)
    }

    const fn separator(&self) -> u8 {
        match self.plan.format {
            Format::Sequence => RECORD_SEPARATOR,
            _ => b'\n',
        }
    }

    fn wrong(&self, error: Error, value: (usize, usize)) -> End {
        End::Wrong(self.state.trouble(&self.piece.bytes[..value.1], error, value, true))
    }

    /// The document between these offsets, if there is one.
    #[inline(always)]
    fn record(&mut self, start: usize, stop: usize) -> Result<(), Error> {
        let text = &self.piece.bytes[..stop];
        let pos = self.kernel.space_end(text, start);
        if pos == stop {
            return Ok(());
        }
        if starts_with_mark(&text[start..]) {
            return Err(Error::new(ErrorKind::ByteOrderMark, start));
        }
        let mark = self.builder.mark();
        let result = if self.plan.places {
            let options = if self.plan.types { self.options.of_any_number() } else { *self.options };
            place((text, pos), "", &options, self.scratch, self.builder)
        } else if let Some(parts) = self.plan.selected() {
            places::record((text, pos), &parts, self.options, self.scratch, self.builder)
        } else {
            value(self.kernel, text, pos, self.options, self.scratch, self.builder)
        };
        // A comma before it ended the record before, which was skipped because of its length.
        let result = result.and_then(|end| self.behind(text, pos, end)).map_err(|error| at_start(error, pos));
        match result {
            Ok(()) => {
                self.items += 1;
                self.room = self.plan.without(self.room);
            }
            Err(_) => self.builder.rewind(mark),
        }
        result
    }

    /// What may follow a value in its record.
    #[inline(always)]
    fn behind(&self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let rest = self.kernel.space_end(text, end);
        if rest < text.len() {
            return Err(Error::new(ErrorKind::TrailingData, rest));
        }
        // Such a value may have been cut short (RFC 7464 section 2.4).
        if self.plan.format == Format::Sequence && end == text.len() && !matches!(text[start], b'"' | b'[' | b'{') {
            return Err(Error::new(ErrorKind::UnexpectedEnd, end));
        }
        Ok(())
    }
}
