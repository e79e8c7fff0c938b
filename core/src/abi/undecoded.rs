//! Why a text was not decoded: the first error, or all that is wrong with a text for a type.

use super::{Status, read_path};
use crate::error::{Error, ErrorKind};
use crate::locate::{Location, around, locate, locate_all, member};
use crate::parts::{Failed, Found, Shape, Wrong};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a text was not decoded, and where: code (`u8`), offset, line and column (`u64` each), then the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeFailure<'a> {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Byte offset into the input.
    pub offset: u64,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// JSON Pointer of the value or key reached.
    pub path: Cow<'a, str>,
}

impl<'a> DecodeFailure<'a> {
    /// Looks up the place of an error.
    pub fn locate(json: &[u8], error: Error) -> DecodeFailure<'static> {
        Self::locate_part(json, &error.into())
    }

    /// Looks up the place of an error about a part of a document. A member that is missing has the path that it would have, and a container
    /// of a wrong length its own.
    fn locate_part(json: &[u8], wrong: &Wrong) -> DecodeFailure<'static> {
        Self::at(json, wrong, locate(json, wrong.error.offset), &mut None)
    }

    /// `object`: the path of the object that ends at an offset. To find it takes a look at all white space before its end, and many of its
    /// members can be missing.
    fn at(
        json: &[u8],
        Wrong { error, key }: &Wrong,
        place: Location,
        object: &mut Option<(usize, String)>,
    ) -> DecodeFailure<'static> {
        let Location { line, column, path, open } = place;
        let path = match (key, error.kind) {
            (Some(key), _) => {
                let known = object.take().filter(|(offset, _)| *offset == error.offset);
                let (_, path) = object
                    .insert(known.unwrap_or_else(|| (error.offset, around(path, json, error.offset, Some(b'{')))));
                member(path.clone(), key)
            }
            (_, ErrorKind::MinItems | ErrorKind::MaxItems) => around(path, json, error.offset, open),
            _ => path,
        };
        let (kind, offset) = (error.kind.within(open), error.offset as u64);
        DecodeFailure { kind, offset, line, column, path: Cow::Owned(path) }
    }

    /// Replaces `out` by the record. `false` when memory ran out.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        out.clear();
        if out.try_reserve(1 + self.len()).is_err() {
            return false;
        }
        out.push(Status::Error as u8);
        self.append(out);
        true
    }

    fn len(&self) -> usize {
        1 + 3 * 8 + self.path.len()
    }

    /// Appends the body, for which there is room.
    fn append(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8);
        for number in [self.offset, self.line, self.column] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(self.path.as_bytes());
    }

    /// Reads the body of a record about a text of this length.
    pub fn read(body: &'a [u8], json_len: usize) -> Option<Self> {
        let (&code, rest) = body.split_first()?;
        let (numbers, path) = rest.split_at_checked(3 * 8)?;
        let mut numbers = numbers.chunks_exact(8).map(|bytes| bytes.iter().rfold(0, |n, b| n << 8 | u64::from(*b)));
        let (offset, line, column) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let most = json_len as u64 + 1;
        let possible = offset < most && (1..=most).contains(&line) && (1..=most).contains(&column);
        let path = Cow::Borrowed(read_path(path)?);
        possible.then_some(Self { kind: ErrorKind::from_code(code)?, offset, line, column, path })
    }

    /// The same with a path of its own.
    pub fn into_owned(self) -> DecodeFailure<'static> {
        DecodeFailure { path: Cow::Owned(self.path.into_owned()), ..self }
    }
}

/// All that is wrong with a text, for a type: the number of errors (`u64`), whether values are left to Elixir (`u8`), the number of errors
/// that are listed (`u32`), then each as its length (`u32`) and its [`DecodeFailure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeFailures<'a> {
    /// How many errors there are.
    pub total: u64,
    /// Elixir has to judge some values.
    pub left: bool,
    /// The first errors, in the order of the text.
    pub list: Vec<DecodeFailure<'a>>,
}

impl<'a> DecodeFailures<'a> {
    /// Looks up the places of all errors in one walk.
    pub fn locate(json: &[u8], found: &Found) -> DecodeFailures<'static> {
        let (mut list, mut wrongs, mut object) = (Vec::new(), found.list.iter(), None);
        locate_all(json, found.list.iter().map(|wrong| wrong.error.offset), |_offset, place| {
            let Some(wrong) = wrongs.next() else { return };
            // Without memory for it, the list is shorter.
            if list.try_reserve(1).is_ok() {
                list.push(DecodeFailure::at(json, wrong, place, &mut object));
            }
        });
        DecodeFailures { total: found.total, left: found.left, list }
    }

    /// Replaces `out` by the record. `false` when memory ran out.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        out.clear();
        let len = 14 + self.list.iter().map(|failure| 4 + failure.len()).sum::<usize>();
        if out.try_reserve(len).is_err() {
            return false;
        }
        out.push(Status::Errors as u8);
        out.extend_from_slice(&self.total.to_le_bytes());
        out.push(self.left.into());
        out.extend_from_slice(&(self.list.len() as u32).to_le_bytes());
        for failure in &self.list {
            out.extend_from_slice(&(failure.len() as u32).to_le_bytes());
            failure.append(out);
        }
        true
    }

    /// Reads the body of a record about a text of this length, which was to have this type. The errors are in the order of the text, and
    /// no more than were asked for; more are counted only if that many are listed.
    pub fn read(body: &'a [u8], json_len: usize, shape: &Shape<'_>) -> Option<Self> {
        let (most, most_total) = shape.most_errors(json_len);
        let (total, rest) = body.split_first_chunk()?;
        let (&left, rest) = rest.split_first()?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let (total, count) = (u64::from_le_bytes(*total), u32::from_le_bytes(*count) as usize);
        let counted = if count < most { total == count as u64 } else { (count as u64..=most_total).contains(&total) };
        if !(1..=most).contains(&count) || count > rest.len() || !counted || left > 1 {
            return None;
        }
        let (mut list, mut last) = (Vec::with_capacity(count), 0);
        for _ in 0..count {
            let (len, failures) = rest.split_first_chunk()?;
            let (failure, behind) = failures.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            let failure = DecodeFailure::read(failure, json_len)?;
            if failure.offset < last {
                return None;
            }
            (rest, last) = (behind, failure.offset);
            list.push(failure);
        }
        rest.is_empty().then_some(Self { total, left: left == 1, list })
    }

    /// The same with paths of its own.
    pub fn into_owned(self) -> DecodeFailures<'static> {
        let list = self.list.into_iter().map(DecodeFailure::into_owned).collect();
        DecodeFailures { list, ..self }
    }
}

/// Why a text was not decoded: for a type, perhaps for several reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecoded<'a> {
    /// The first error.
    First(DecodeFailure<'a>),
    /// All errors.
    All(DecodeFailures<'a>),
}

impl<'a> Undecoded<'a> {
    /// Looks up the places of the errors.
    pub fn locate(json: &[u8], failed: &Failed) -> Undecoded<'static> {
        match failed {
            Failed::First(wrong) => Undecoded::First(DecodeFailure::locate_part(json, wrong)),
            Failed::All(found) => Undecoded::All(DecodeFailures::locate(json, found)),
        }
    }

    /// Replaces `out` by the record. `false` when memory ran out.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::First(failure) => failure.write(out),
            Self::All(failures) => failures.write(out),
        }
    }

    /// Reads the body of a record of this status. There are several errors only for a type.
    pub fn read(status: Status, body: &'a [u8], json_len: usize, shape: Option<&Shape<'_>>) -> Option<Self> {
        match status {
            Status::Error => DecodeFailure::read(body, json_len).map(Self::First),
            Status::Errors => DecodeFailures::read(body, json_len, shape?).map(Self::All),
            _ => None,
        }
    }

    /// The same with paths of its own.
    pub fn into_owned(self) -> Undecoded<'static> {
        match self {
            Self::First(failure) => Undecoded::First(failure.into_owned()),
            Self::All(failures) => Undecoded::All(failures.into_owned()),
        }
    }

    /// Whether an error of this kind may have ended decoding: if not all errors are listed, it need not be among them.
    pub fn may_end_with(&self, kind: ErrorKind) -> bool {
        match self {
            Self::First(failure) => failure.kind == kind,
            Self::All(DecodeFailures { total, list, .. }) => {
                list.len() as u64 != *total || list.last().is_some_and(|failure| failure.kind == kind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::open;
    use crate::locate::MAX_PATH;
    use alloc::vec;

    fn record(code: u8, numbers: [u64; 3], path: &[u8]) -> Vec<u8> {
        let numbers = numbers.map(u64::to_le_bytes).concat();
        [&[code], &numbers[..], path].concat()
    }

    #[test]
    fn decode_failures_are_held_to_the_input() {
        let read = |bytes: &[u8]| DecodeFailure::read(bytes, 10).map(DecodeFailure::into_owned);
        let failure = read(&record(2, [10, 1, 11], b"/a")).unwrap();
        assert_eq!((failure.kind, failure.offset, &*failure.path), (ErrorKind::ExpectedValue, 10, "/a"));
        for lie in [
            record(0, [0, 1, 1], b""),
            record(200, [0, 1, 1], b""),
            record(2, [11, 1, 1], b""),
            record(2, [0, 12, 1], b""),
            record(2, [0, 0, 1], b""),
            record(2, [0, 1, 0], b""),
            record(2, [0, 1, u64::MAX], b""),
            record(2, [0, 1, 1], b"\xff"),
            record(2, [0, 1, 1], &[b'a'; MAX_PATH + 1]),
            vec![2; 24],
            vec![],
        ] {
            assert_eq!(read(&lie), None, "{lie:?}");
        }
    }

    #[test]
    fn a_text_that_ends_too_early_names_its_bracket() {
        for (json, kind) in [
            ("", ErrorKind::UnexpectedEnd),
            ("\"a", ErrorKind::UnexpectedEnd),
            ("[1", ErrorKind::UnclosedArray),
            ("{\"a\": [1, {}], \"b", ErrorKind::UnclosedObject),
            ("{\"a\": [\"]", ErrorKind::UnclosedArray),
            (&"[".repeat(1000), ErrorKind::UnclosedArray),
        ] {
            let failure = DecodeFailure::locate(json.as_bytes(), Error::new(ErrorKind::UnexpectedEnd, json.len()));
            assert_eq!((failure.kind, failure.kind.plain()), (kind, ErrorKind::UnexpectedEnd), "{json}");
        }
        let other = DecodeFailure::locate(b"[x", Error::new(ErrorKind::ExpectedValue, 1));
        assert_eq!(other.kind, ErrorKind::ExpectedValue);
    }

    #[test]
    fn decode_failures_are_read_as_they_are_written() {
        let (json, mut out) = (b"{\"a\":\n[1,x", vec![9; 3]);
        let failure = DecodeFailure::locate(json, Error::new(ErrorKind::ExpectedValue, 9));
        assert!(failure.write(&mut out));
        assert_eq!(open(&out).map(|(status, _)| status), Some(Status::Error));
        assert_eq!(DecodeFailure::read(&out[1..], json.len()), Some(failure));
    }
}
