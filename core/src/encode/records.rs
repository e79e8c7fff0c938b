//! The elements of a list as texts of their own: lines, or a sequence of RFC 7464.

use super::driver::{Driver, Records, Walk};
use super::error::EncodeErrorKind;
use super::reader::{Step, TermReader, Value};
use super::writer::Writer;
use crate::options::Records as Form;
use crate::options::shape::Shape;
use crate::simd::copy::CopyKernel;

/// The character in front of a text of a sequence.
pub(super) const RECORD_SEPARATOR: u8 = 0x1E;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// The value to begin with. Of a list of records there is none: the first one comes next.
    #[inline(always)]
    pub fn first(&mut self, root: R::Term) -> Option<R::Term> {
        if self.options.records == Form::None { Some(root) } else { self.open_records(root) }
    }

    #[cold]
    #[inline(never)]
    fn open_records(&mut self, root: R::Term) -> Option<R::Term> {
        let Value::List(rest) = self.reader.read(root) else { return Some(root) };
        self.records = Some(Records { rest, number: 0, begun: false });
        None
    }

    /// Goes on with a list of records where a walk was suspended.
    pub fn take_up_records(&mut self, rest: R::Term, number: usize, begun: bool) {
        self.records = self.reader.list_from(rest).map(|rest| Records { rest, number, begun });
    }

    /// A text is complete: ends its record and begins the next one, if there is one.
    #[inline(always)]
    pub fn next_record(&mut self) -> Walk<Option<R::Term>> {
        if self.records.is_none() { Ok(None) } else { self.another_record() }
    }

    #[cold]
    #[inline(never)]
    fn another_record(&mut self) -> Walk<Option<R::Term>> {
        if let Some(records) = &mut self.records
            && records.begun
        {
            self.out.end_record();
            (records.begun, records.number) = (false, records.number + 1);
        }
        if self.over_limit() {
            self.over_between_values()?;
        }
        let Some(records) = &mut self.records else { return Ok(None) };
        let record = match self.reader.next_item(&mut records.rest) {
            Step::Item(record) => record,
            Step::End => {
                self.records = None;
                return Ok(None);
            }
            Step::Tail(_) => return Err(EncodeErrorKind::ImproperList),
        };
        records.begun = true;
        self.out.record(self.options.records == Form::Sequence);
        self.scope = self.shape.map_or(0, Shape::scope);
        Ok(Some(record))
    }
}
