//! Many documents in one guest call: how they stand in the input, and the record that answers them.
//!
//! The input is the number of documents (`u32`), the length of each (`u32`), then the documents one after the other. The
//! record is a list in External Term Format with the terms of the documents that were decoded, in order; then for each of the
//! others its number and the length of its failure (`u32` each) and a [`DecodeFailure`]; and last the length of the list
//! (`u32`). Errors count from the start of their own document.

use super::{DecodeFailure, MAX_PATH};
use alloc::vec::Vec;
use core::ops::Range;

/// Documents that cross together.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    lengths: &'a [u8],
    /// The documents, one after the other.
    pub texts: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Reads what Elixir wrote. `None` when the lengths are not those of the documents.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk()?;
        let (lengths, texts) = rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(4)?)?;
        let batch = Self { lengths, texts };
        let sum = batch.lengths().try_fold(0usize, usize::checked_add)?;
        (sum == texts.len()).then_some(batch)
    }

    /// The length of each document.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> + Clone + use<'a> {
        self.lengths.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    }

    /// Where each document stands in the texts.
    pub fn places(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        self.lengths().scan(0, |start, len| {
            let place = *start..*start + len;
            *start = place.end;
            Some(place)
        })
    }
}

/// Appends the failure of a document. `buffer` is for the failure alone. `false` when memory ran out.
#[must_use]
pub fn write_failure(number: usize, failure: &DecodeFailure<'_>, buffer: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
    // Its record has a status, which is not needed here.
    if !failure.write(buffer) || out.try_reserve(8 + buffer.len()).is_err() {
        return false;
    }
    let body = &buffer[1..];
    out.extend_from_slice(&(number as u32).to_le_bytes());
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    out.extend_from_slice(body);
    true
}

/// What the guest says about a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchAnswer<'a> {
    /// A list of terms in External Term Format, not judged yet.
    pub list: &'a [u8],
    /// The documents that failed, by their numbers, which ascend.
    pub failures: Vec<(usize, DecodeFailure<'a>)>,
}

impl<'a> BatchAnswer<'a> {
    /// Reads the body of a record. `None` for what no honest guest says about these documents.
    pub fn read(body: &'a [u8], batch: &Batch<'_>) -> Option<Self> {
        let (record, len) = body.split_last_chunk()?;
        let (list, mut rest) = record.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let (mut failures, mut lengths) = (Vec::new(), batch.lengths().enumerate());
        while !rest.is_empty() {
            let (number, after) = rest.split_first_chunk()?;
            let (len, after) = after.split_first_chunk()?;
            let (failure, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            let number = u32::from_le_bytes(*number) as usize;
            // Skipping to the number finds only numbers that ascend and exist.
            let (number, json_len) = lengths.find(|&(at, _)| at == number)?;
            let failure =
                DecodeFailure::read(failure, json_len).filter(|it| it.path.len() <= longest_path(json_len))?;
            failures.push((number, failure));
            rest = after;
        }
        Some(Self { list, failures })
    }

    /// The lengths of the documents whose terms are in the list.
    pub fn decoded<'b>(&'b self, batch: &Batch<'b>) -> impl Iterator<Item = usize> + Clone + use<'a, 'b> {
        let mut failed = self.failures.iter().map(|(number, _)| *number).peekable();
        batch
            .lengths()
            .enumerate()
            .filter(move |(number, _)| failed.next_if_eq(number).is_none())
            .map(|(_, json_len)| json_len)
    }
}

/// The longest path into a document: a byte of a key becomes two or three at most, a level one and its number.
const fn longest_path(json_len: usize) -> usize {
    let longest = json_len.saturating_mul(4).saturating_add(16);
    if longest < MAX_PATH { longest } else { MAX_PATH }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use alloc::vec;

    fn body(documents: &[&[u8]]) -> Vec<u8> {
        let lengths = documents.iter().flat_map(|text| (text.len() as u32).to_le_bytes());
        (documents.len() as u32).to_le_bytes().into_iter().chain(lengths).chain(documents.concat()).collect()
    }

    fn record(list: &[u8], failures: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = list.to_vec();
        for (number, failure) in failures {
            out.extend(number.to_le_bytes());
            out.extend((failure.len() as u32).to_le_bytes());
            out.extend(*failure);
        }
        out.extend((list.len() as u32).to_le_bytes());
        out
    }

    #[test]
    fn documents_stand_one_after_the_other() {
        let body = body(&[b"[1]", b"", b"null"]);
        let batch = Batch::read(&body).unwrap();
        assert_eq!(batch.places().collect::<Vec<_>>(), [0..3, 3..3, 3..7]);
        assert_eq!(batch.texts, b"[1]null");
        for broken in [&b""[..], b"\x01\0\0\0", b"\xff\xff\xff\xff", b"\x01\0\0\0\x02\0\0\0a", b"\x01\0\0\0\0\0\0\0a"] {
            assert!(Batch::read(broken).is_none(), "{broken:?}");
        }
        let huge = [&2u32.to_le_bytes()[..], &u32::MAX.to_le_bytes(), &u32::MAX.to_le_bytes()].concat();
        assert!(Batch::read(&huge).is_none());
    }

    #[test]
    fn an_answer_is_read_as_it_is_written() {
        let body = body(&[b"[1]", b"[", b"2", b"x"]);
        let batch = Batch::read(&body).unwrap();
        let failure = |json: &[u8], offset| DecodeFailure::locate(json, Error::new(ErrorKind::ExpectedValue, offset));
        let (mut buffer, mut out) = (Vec::new(), b"list".to_vec());
        assert!(write_failure(1, &failure(b"[", 1), &mut buffer, &mut out));
        assert!(write_failure(3, &failure(b"x", 0), &mut buffer, &mut out));
        out.extend(4u32.to_le_bytes());
        let answer = BatchAnswer::read(&out, &batch).unwrap();
        assert_eq!(answer.list, b"list");
        assert_eq!(answer.failures, [(1, failure(b"[", 1)), (3, failure(b"x", 0))]);
        assert_eq!(answer.decoded(&batch).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn lies_are_refused() {
        let body = body(&[b"[1]", b"[", b"2"]);
        let batch = Batch::read(&body).unwrap();
        let failure = |offset: u64, path: &[u8]| {
            let numbers = [offset, 1, 1].map(u64::to_le_bytes).concat();
            [&[2][..], &numbers, path].concat()
        };
        let good = failure(0, b"/a");
        assert!(BatchAnswer::read(&record(b"", &[(0, &good), (2, &good)]), &batch).is_some());
        for lie in [
            vec![],
            vec![9, 0, 0, 0],
            record(b"", &[(3, &good)]),
            record(b"", &[(u32::MAX, &good)]),
            record(b"", &[(1, &good), (1, &good)]),
            record(b"", &[(2, &good), (1, &good)]),
            record(b"", &[(1, &failure(2, b""))]),
            record(b"", &[(1, &failure(0, &[b'a'; 21]))]),
            record(b"", &[(1, &[200; 25])]),
            record(b"", &[(1, b"")]),
            [&[1, 0, 0, 0, 255, 255, 255, 255][..], &[0; 4]].concat(),
        ] {
            assert_eq!(BatchAnswer::read(&lie, &batch), None, "{lie:?}");
        }
    }
}
