//! The contract between the guest and its hosts: the version of the exports, and the layout of every record in linear
//! memory. Both sides read and write records only with this module.
//!
//! An export returns the address and length of a record in one integer ([`pack`]). A record starts with its [`Status`];
//! integers are little endian.
//!
//! - [`Status::Done`]: the term in External Term Format (decode), the JSON text (encode), the names of keys ([`Names`]), or
//!   what came of many documents ([`batch`]).
//! - [`Status::Error`]: a [`DecodeFailure`] or an [`EncodeFailure`].
//! - [`Status::Errors`]: [`DecodeFailures`], for a type whose errors are all asked for.
//! - [`Status::Partial`]: a text with holes, from encode and play ([`Partial`]).
//!
//! The guest may be under an attacker's control, so every reader here returns `None` for bytes that an honest guest does not
//! write. `lib/rustyjson/wasm/abi.ex` does the same in Elixir, for a host without a native library.

pub mod batch;

use crate::encode::{EncodeError, EncodeErrorKind, MAX_PAYLOAD};
use crate::error::{Error, ErrorKind};
use crate::locate::{Location, MAX_PATH, absent, around, locate, locate_all};
use crate::options::EncodeOptions;
use crate::parts::{Failed, Found, Shape, Wrong};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

/// Raised by hand when a record or the layout of bytes that cross changes.
const LAYOUT: u32 = 7;

/// Version of the exports and of what crosses there: Elixir, the native library and the module must have the same. It is made of the number
/// of the layout and a hash of the tables of options, so that an option needs no thought of it.
pub const VERSION: u32 = LAYOUT << 24 | crate::options::HASH & 0x00ff_ffff;

/// The first byte of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The call failed.
    Error = 0,
    /// The whole answer.
    Done = 1,
    /// A text with holes.
    Partial = 2,
    /// The call failed, for several reasons.
    Errors = 3,
}

/// Takes a record apart into its status and its body.
pub fn open(record: &[u8]) -> Option<(Status, &[u8])> {
    let (&status, body) = record.split_first()?;
    let known = [Status::Error, Status::Done, Status::Partial, Status::Errors];
    let status = known.into_iter().find(|known| *known as u8 == status)?;
    Some((status, body))
}

/// How an export returns a record: address and length in one integer, 0 when memory ran out.
pub const fn pack(address: u64, len: u64) -> u64 {
    address << 32 | len
}

/// Where a record lies that [`pack`] describes. `None` for 0.
pub fn place(packed: u64) -> Option<Range<usize>> {
    let (start, len) = ((packed >> 32) as usize, packed as u32 as usize);
    (packed != 0).then(|| start..start.saturating_add(len))
}

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
    pub fn locate_part(json: &[u8], wrong: &Wrong) -> DecodeFailure<'static> {
        Self::at(json, wrong, locate(json, wrong.error.offset))
    }

    fn at(json: &[u8], Wrong { error, key }: &Wrong, place: Location) -> DecodeFailure<'static> {
        let Location { line, column, path, open } = place;
        let path = match (key, error.kind) {
            (Some(key), _) => absent(path, json, error.offset, key),
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
        let (mut list, mut wrongs) = (Vec::new(), found.list.iter());
        locate_all(json, found.list.iter().map(|wrong| wrong.error.offset), |_offset, place| {
            let Some(wrong) = wrongs.next() else { return };
            // Without memory for it, the list is shorter.
            if list.try_reserve(1).is_ok() {
                list.push(DecodeFailure::at(json, wrong, place));
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

/// Why a term was not encoded: code (`u8`), length of the path (`u32`), the path, then the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeFailure<'a> {
    /// What is wrong.
    pub kind: EncodeErrorKind,
    /// JSON Pointer of the term that failed.
    pub path: &'a str,
    /// More about it, by kind.
    pub payload: &'a [u8],
}

impl<'a> From<&'a EncodeError> for EncodeFailure<'a> {
    fn from(error: &'a EncodeError) -> Self {
        Self { kind: error.kind, path: &error.path, payload: &error.payload }
    }
}

impl<'a> EncodeFailure<'a> {
    /// Replaces `out` by the record. `false` when memory ran out.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        out.clear();
        if out.try_reserve(2 + 4 + self.path.len() + self.payload.len()).is_err() {
            return false;
        }
        out.extend_from_slice(&[Status::Error as u8, self.kind as u8]);
        out.extend_from_slice(&(self.path.len() as u32).to_le_bytes());
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(self.payload);
        true
    }

    /// Reads the body of a record.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (&code, rest) = body.split_first()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (path, payload) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let kind = EncodeErrorKind::from_code(code).filter(|kind| *kind != EncodeErrorKind::Budget)?;
        (payload.len() <= MAX_PAYLOAD).then_some(Self { kind, path: read_path(path)?, payload })
    }
}

fn read_path(path: &[u8]) -> Option<&str> {
    if path.len() > MAX_PATH { None } else { core::str::from_utf8(path).ok() }
}

/// Most times that a text is as long as its term on a tape: a control character becomes six bytes.
const GROWTH: u64 = 6;

/// Whether an honest guest could have written a text of this length for a tape of this length, counted with all keys of its shapes.
pub fn may_be_played(len: usize, tape: usize, options: &EncodeOptions<'_>) -> bool {
    let terms = tape as u64;
    // Two lines for each token at most, which has four bytes.
    len as u64 <= GROWTH.saturating_mul(terms).saturating_add(16).saturating_add(longest_lines(terms, options))
}

/// The most that lines of a term of this size can take.
fn longest_lines(terms: u64, options: &EncodeOptions<'_>) -> u64 {
    options.pretty.map_or(0, |pretty| {
        let deepest = u64::from(options.max_depth).min(u64::from(options.base_depth).saturating_add(terms));
        let indent = deepest.saturating_mul(pretty.indent.len() as u64);
        let line = indent.saturating_add((pretty.line_separator.len() + pretty.after_colon.len()) as u64);
        line.saturating_mul(terms.saturating_add(1))
    })
}

/// The most bytes that a text becomes when it is compressed: what doesn't get shorter is stored.
pub const fn longest_compressed(plain: usize) -> usize {
    plain.saturating_add(plain / 8).saturating_add(64)
}

/// The most bytes of a text in canonical form: `1e20` gets 21 digits.
pub const fn longest_canonical(plain: usize) -> usize {
    plain.saturating_mul(6).saturating_add(16)
}

/// The fewest bytes that a compressed text had before, if [`longest_compressed`] is right.
pub const fn shortest_plain(compressed: usize) -> usize {
    compressed.saturating_sub(compressed / 8).saturating_sub(64)
}

/// What the guest says about a hole: a place in the text where the host must put a term that the core does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Offset in the text.
    pub offset: u32,
    /// Offset of the term in the input, which counts the version byte; of a tape, the number of the hole.
    pub start: u32,
    /// Number of containers around the term.
    pub depth: u32,
    /// The term is an object key.
    pub key: bool,
}

impl Claim {
    const SIZE: usize = 12;
    /// Set in the depth of an object key.
    const KEY: u32 = 1 << 31;

    /// The hole of a tape that has this number.
    pub const fn of_tape(offset: u32, number: u32) -> Self {
        Self { offset, start: number, depth: 0, key: false }
    }

    fn to_bytes(self) -> [u8; Self::SIZE] {
        let depth = self.depth | if self.key { Self::KEY } else { 0 };
        let mut bytes = [0; Self::SIZE];
        for (to, number) in bytes.chunks_exact_mut(4).zip([self.offset, self.start, depth]) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let number = |i: usize| u32::from_le_bytes(core::array::from_fn(|k| bytes[4 * i + k]));
        let depth = number(2);
        Self { offset: number(0), start: number(1), depth: depth & !Self::KEY, key: depth & Self::KEY != 0 }
    }
}

/// A text with holes: their number (`u32`), a [`Claim`] for each in the order of the text, then the text.
#[derive(Clone, Copy, Debug)]
pub struct Partial<'a> {
    claims: &'a [u8],
    /// The text, without what belongs into the holes.
    pub text: &'a [u8],
}

impl<'a> Partial<'a> {
    /// Makes the record out of one of [`Status::Done`] that has this length in `out`. `false` when memory ran out.
    pub fn write(claims: impl ExactSizeIterator<Item = Claim>, out: &mut Vec<u8>, len: usize) -> bool {
        let (count, list) = (claims.len(), 4 + Claim::SIZE * claims.len());
        out.truncate(len);
        if out.try_reserve(list).is_err() {
            return false;
        }
        out.resize(len + list, 0);
        out.copy_within(1..len, 1 + list);
        out[0] = Status::Partial as u8;
        out[1..5].copy_from_slice(&(count as u32).to_le_bytes());
        for (claim, place) in claims.zip(out[5..].chunks_exact_mut(Claim::SIZE)) {
            place.copy_from_slice(&claim.to_bytes());
        }
        true
    }

    /// The offsets of holes in the body of a record that answers a tape with as many. `None`: no honest guest gives them.
    pub fn offsets(body: &'a [u8], holes: usize) -> Option<(Vec<usize>, &'a [u8])> {
        let partial = Self::read(body).filter(|partial| partial.claims().len() == holes)?;
        let offset = |(number, claim): (u32, Claim)| {
            (claim == Claim::of_tape(claim.offset, number)).then_some(claim.offset as usize)
        };
        let offsets: Vec<_> = (0..).zip(partial.claims()).map(offset).collect::<Option<_>>()?;
        let in_text = offsets.is_sorted() && offsets.last().is_none_or(|last| *last <= partial.text.len());
        in_text.then_some((offsets, partial.text))
    }

    /// Reads the body of a record. What the claims say is not checked here.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk()?;
        let (claims, text) = rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(Claim::SIZE)?)?;
        Some(Self { claims, text })
    }

    /// The claims.
    pub fn claims(&self) -> impl ExactSizeIterator<Item = Claim> + use<'a> {
        self.claims.chunks_exact(Claim::SIZE).map(Claim::from_bytes)
    }
}

/// The names of keys, each as its length (`u32`) and its bytes. An item that is `None` ends them: the bytes are broken.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a>(pub &'a [u8]);

impl Names<'_> {
    /// Appends a name. `false` when memory ran out.
    #[must_use]
    pub fn write(name: &[u8], out: &mut Vec<u8>) -> bool {
        if out.try_reserve(4 + name.len()).is_err() {
            return false;
        }
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name);
        true
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let name = self.0.split_first_chunk().and_then(|(len, rest)| {
            let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            Some((name, rest))
        });
        self.0 = name.map_or(&[], |(_, rest)| rest);
        Some(name.map(|(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Pretty;
    use alloc::vec;

    fn record(code: u8, numbers: [u64; 3], path: &[u8]) -> Vec<u8> {
        let numbers = numbers.map(u64::to_le_bytes).concat();
        [&[code], &numbers[..], path].concat()
    }

    #[test]
    fn places_of_records() {
        assert_eq!(place(pack(7, 3)), Some(7..10));
        assert_eq!(place(u64::MAX), Some(0xFFFF_FFFF..0x1_FFFF_FFFE));
        assert_eq!(place(0), None);
    }

    #[test]
    fn only_known_statuses_open() {
        assert_eq!(open(b"\x01ab"), Some((Status::Done, &b"ab"[..])));
        assert_eq!(open(b"\x03ab"), Some((Status::Errors, &b"ab"[..])));
        assert_eq!(open(b"\x04ab"), None);
        assert_eq!(open(b""), None);
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
    fn failures_are_read_as_they_are_written() {
        let (json, mut out) = (b"{\"a\":\n[1,x", vec![9; 3]);
        let failure = DecodeFailure::locate(json, Error::new(ErrorKind::ExpectedValue, 9));
        assert!(failure.write(&mut out));
        assert_eq!(open(&out).map(|(status, _)| status), Some(Status::Error));
        assert_eq!(DecodeFailure::read(&out[1..], json.len()), Some(failure));

        let failure = EncodeFailure { kind: EncodeErrorKind::InvalidUtf8, path: "/a", payload: b"\xff" };
        assert!(failure.write(&mut out));
        assert_eq!(EncodeFailure::read(&out[1..]), Some(failure));
        for lie in [&b""[..], b"\x01\x02\0\0\0a", b"\x00\0\0\0\0", b"\x09\0\0\0\0", b"\x01\x01\0\0\0\xff"] {
            assert_eq!(EncodeFailure::read(lie), None, "{lie:?}");
        }
    }

    #[test]
    fn encode_failures_are_bounded() {
        let record = |path: usize, payload: usize| {
            let failure =
                EncodeFailure { kind: EncodeErrorKind::MaxDepth, path: &"a".repeat(path), payload: &vec![0; payload] };
            let mut out = Vec::new();
            assert!(failure.write(&mut out));
            out
        };
        assert!(EncodeFailure::read(&record(MAX_PATH, MAX_PAYLOAD)[1..]).is_some());
        assert!(EncodeFailure::read(&record(MAX_PATH + 1, 0)[1..]).is_none());
        assert!(EncodeFailure::read(&record(0, MAX_PAYLOAD + 1)[1..]).is_none());
    }

    #[test]
    fn texts_are_bounded_by_the_tape() {
        let plain = EncodeOptions::default();
        let pretty = Pretty { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };
        let pretty = EncodeOptions { pretty: Some(pretty), max_depth: 3, ..plain };
        assert!(may_be_played(76, 10, &plain) && !may_be_played(77, 10, &plain));
        assert!(may_be_played(76 + 11 * 8, 10, &pretty) && !may_be_played(77 + 11 * 8, 10, &pretty));
    }

    #[test]
    fn claims_are_read_as_they_are_written() {
        let claims = [
            Claim { offset: 0, start: 1, depth: 0, key: false },
            Claim { offset: 7, start: u32::MAX, depth: 3, key: true },
        ];
        let mut out = b"\x01{:1}behind".to_vec();
        assert!(Partial::write(claims.into_iter(), &mut out, 5));
        let (status, body) = open(&out).unwrap();
        let partial = Partial::read(body).unwrap();
        assert_eq!((status, partial.text), (Status::Partial, &b"{:1}"[..]));
        assert!(partial.claims().eq(claims));
        assert_eq!(Partial::offsets(body, 2), None);
        for lie in [&b""[..], b"\x01\0\0", b"\x01\0\0\0", b"\xff\xff\xff\xff"] {
            assert!(Partial::read(lie).is_none(), "{lie:?}");
        }
    }

    #[test]
    fn holes_of_tapes_are_those_of_the_host() {
        let body = |offsets: &[u32]| {
            let claims = offsets.iter().zip(0..).map(|(offset, number)| Claim::of_tape(*offset, number));
            let mut out = b"\x01[,]".to_vec();
            assert!(Partial::write(claims.collect::<Vec<_>>().into_iter(), &mut out, 4));
            out[1..].to_vec()
        };
        assert_eq!(Partial::offsets(&body(&[1, 2]), 2), Some((vec![1, 2], &b"[,]"[..])));
        assert!(Partial::offsets(&body(&[3, 3]), 2).is_some());
        for (offsets, holes) in [(&[1, 2][..], 1), (&[1], 2), (&[2, 1], 2), (&[1, 4], 2), (&[u32::MAX], 1)] {
            assert_eq!(Partial::offsets(&body(offsets), holes), None, "{offsets:?}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let mut out = Vec::new();
        assert!(["a", "", "bc"].iter().all(|name| Names::write(name.as_bytes(), &mut out)));
        let names: Option<Vec<_>> = Names(&out).collect();
        assert_eq!(names, Some(vec![&b"a"[..], b"", b"bc"]));
        for lie in [&b"\x01"[..], b"\x05\0\0\0a", b"\x00\0\0\0\x01"] {
            assert!(Names(lie).any(|name| name.is_none()), "{lie:?}");
        }
    }
}
