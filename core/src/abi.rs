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
mod bounds;
mod names;
mod undecoded;
mod unencoded;

pub use bounds::{longest_canonical, longest_compressed, may_be_played, shortest_plain};
pub use names::Names;
pub use undecoded::{DecodeFailure, DecodeFailures, Undecoded};
pub use unencoded::{Claim, EncodeFailure, Partial};

use crate::locate::MAX_PATH;
use core::ops::Range;

/// The number in `abi/layout.txt`, which Elixir's side reads too. It is raised by hand when a record or the layout of bytes that cross
/// changes.
const LAYOUT: u32 = match u32::from_str_radix(include_str!("abi/layout.txt").trim_ascii_end(), 10) {
    Ok(number) => number,
    Err(_) => panic!("abi/layout.txt holds no number"),
};

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

/// Reads a path, which an error of either direction has.
fn read_path(path: &[u8]) -> Option<&str> {
    if path.len() > MAX_PATH { None } else { core::str::from_utf8(path).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
