//! The other answers of an encode call than a text: an error, or a text with holes.

use super::{Status, read_path};
use crate::encode::{EncodeError, EncodeErrorKind, MAX_PAYLOAD};
use alloc::vec::Vec;

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

    /// Reads the body of a record that answers a tape with as many holes. `None`: no honest guest gives it.
    pub fn of_tape(body: &'a [u8], holes: usize) -> Option<Self> {
        let partial = Self::read(body).filter(|partial| partial.claims().len() == holes)?;
        let mut numbered = (0..).zip(partial.claims());
        let offsets = || partial.claims().map(|claim| claim.offset as usize);
        let right = numbered.all(|(number, claim)| claim == Claim::of_tape(claim.offset, number))
            && offsets().is_sorted()
            && offsets().next_back().is_none_or(|last| last <= partial.text.len());
        right.then_some(partial)
    }

    /// Reads the body of a record. What the claims say is not checked here.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk()?;
        let (claims, text) = rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(Claim::SIZE)?)?;
        Some(Self { claims, text })
    }

    /// The claims.
    pub fn claims(&self) -> impl DoubleEndedIterator<Item = Claim> + ExactSizeIterator + use<'a> {
        self.claims.chunks_exact(Claim::SIZE).map(Claim::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::open;
    use crate::locate::MAX_PATH;
    use alloc::vec;

    #[test]
    fn encode_failures_are_read_as_they_are_written() {
        let mut out = vec![9; 3];
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
        assert!(Partial::of_tape(body, 2).is_none());
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
        let read = body(&[1, 2]);
        let partial = Partial::of_tape(&read, 2).unwrap();
        assert!(partial.claims().map(|claim| claim.offset).eq([1, 2]) && partial.text == b"[,]");
        assert!(Partial::of_tape(&body(&[3, 3]), 2).is_some());
        for (offsets, holes) in [(&[1, 2][..], 1), (&[1], 2), (&[2, 1], 2), (&[1, 4], 2), (&[u32::MAX], 1)] {
            assert!(Partial::of_tape(&body(offsets), holes).is_none(), "{offsets:?}");
        }
    }
}
