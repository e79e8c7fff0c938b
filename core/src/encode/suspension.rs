//! A walk that stops when its budget is used up and continues from there on another scheduler.
//!
//! Starting over instead would double the work for a document that takes a millisecond.

use super::driver::{Driver, Frame, Walk};
use super::error::{EncodeErrorKind, Hole};
use super::limits;
use super::reader::TermReader;
use super::writer::Writer;
use crate::options::Records;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// How a slice of work ended.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The text is written, up to the holes.
    Done(Vec<Hole<T>>),
    /// The budget ended first.
    Suspended(Suspension<T>),
}

/// What [`resume`](super::resume) needs, beside the text written so far.
#[derive(Debug)]
pub struct Suspension<T> {
    /// The open containers, the outermost first.
    pub places: Vec<Place<T>>,
    /// The holes in the text so far.
    pub holes: Vec<Hole<T>>,
    /// Parts that were visited and left no text.
    pub parts: u64,
}

/// A place in an open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<T> {
    /// The rest of a list.
    List(T),
    /// A map, and the number of its entries that are written.
    Map(T, usize),
}

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// The state of a walk whose budget is used up. `None` if it ended for another reason, or if the place in an open
    /// container is unknown: the shell then starts over.
    #[cold]
    pub fn suspend(&mut self, kind: EncodeErrorKind) -> Option<Suspension<R::Term>> {
        if kind != EncodeErrorKind::Budget || !self.between_values {
            return None;
        }
        let mut walk = 0;
        let mut places = Vec::new();
        limits::room(&mut places, self.stack.len() + 1).ok()?;
        if let Some(records) = &self.records {
            places.push(Place::List(self.reader.rest_of_list(&records.rest)?));
        }
        for frame in self.stack.iter() {
            places.push(match frame {
                Frame::List(list) => Place::List(self.reader.rest_of_list(list)?),
                Frame::Map(_) => {
                    let (map, written) = self.reader.place_in_map(walk)?;
                    walk += 1;
                    Place::Map(map, written)
                }
                _ => return None,
            });
        }
        Some(Suspension { places, holes: core::mem::take(&mut self.holes), parts: self.parts })
    }

    /// Opens the containers again. There is no first value: the walk continues in the innermost container.
    pub fn take_up(&mut self, suspension: Suspension<R::Term>, records: usize) -> Walk<Option<R::Term>> {
        self.start = 0;
        self.limit_to(usize::MAX);
        self.holes = suspension.holes;
        self.parts = suspension.parts;
        let mut places = suspension.places.into_iter();
        if self.options.records != Records::None
            && let Some(Place::List(rest)) = places.next()
        {
            self.take_up_records(rest, records, places.len() > 0);
        }
        for place in places {
            let frame = match place {
                Place::List(rest) => self.reader.list_from(rest).map(Frame::List),
                Place::Map(map, written) => {
                    self.reader.map_from(map, written, self.options.reverse_large_maps).map(Frame::Map)
                }
            };
            self.deeper()?;
            self.stack.push(frame.ok_or(EncodeErrorKind::OutOfMemory)?);
        }
        Ok(None)
    }
}
