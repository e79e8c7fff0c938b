//! Results as bytes. The first one is the status; integers are little endian.
//!
//! - 1: done. The rest is the term in External Term Format (decode) or the JSON text (encode).
//! - 0: an error. Decode: code (u8), offset, line and column (u64 each), then the path.
//!   Encode: code (u8), length of the path (u32), the path, then the payload.
//! - 2: encode only, a text with holes: their number (u32), then for each the offset in the text, the offset of the term
//!   in the input and the depth (u32 each; the depth's top bit is set for an object key), then the text.

use alloc::string::String;
use alloc::vec::Vec;
use rustyjson_core::encode::{EncodeError, EncodeErrorKind, Hole};
use rustyjson_core::etf::reader::Term;
use rustyjson_core::locate::locate;
use rustyjson_core::{Buffer, Error};

/// Status of a result without error.
pub const DONE: u8 = 1;
/// Status of an error.
pub const ERROR: u8 = 0;
/// Status of a text with holes.
pub const PARTIAL: u8 = 2;
/// Set in the depth of a hole that is an object key.
const KEY: u32 = 1 << 31;

/// Room for a result behind its status byte.
#[derive(Debug, Default)]
pub struct Body(pub Vec<u8>);

impl Buffer for Body {
    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        self.0.get_mut(1..).unwrap_or_default()
    }

    #[cold]
    fn grow(&mut self, len: usize) -> bool {
        len.checked_add(1).is_some_and(|len| Buffer::grow(&mut self.0, len))
    }
}

/// The record of a decode error.
pub fn decode_error(json: &[u8], error: Error, out: &mut Vec<u8>) {
    let place = locate(json, error.offset);
    out.clear();
    out.extend_from_slice(&[ERROR, error.kind as u8]);
    for number in [error.offset as u64, place.line, place.column] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(place.path.as_bytes());
}

/// The record of an encode error.
pub fn encode_error<'a>(error: &EncodeError, out: &'a mut Vec<u8>) -> &'a [u8] {
    out.clear();
    out.extend_from_slice(&[ERROR, error.kind as u8]);
    out.extend_from_slice(&(error.path.len() as u32).to_le_bytes());
    out.extend_from_slice(error.path.as_bytes());
    out.extend_from_slice(&error.payload);
    out
}

/// The record for an input that is no term.
pub fn broken(out: &mut Vec<u8>) -> &[u8] {
    encode_error(&EncodeError { kind: EncodeErrorKind::Unsupported, path: String::new(), payload: Vec::new() }, out)
}

/// Makes a partial record of the one in `out`, which has this length. `None` when memory ran out.
pub fn partial<'a>(holes: &[Hole<Term>], out: &'a mut Vec<u8>, len: usize) -> Option<&'a [u8]> {
    let list = 4 + 12 * holes.len();
    out.truncate(len);
    out.try_reserve(list).ok()?;
    out.resize(len + list, 0);
    out.copy_within(1..len, 1 + list);
    out[0] = PARTIAL;
    out[1..5].copy_from_slice(&(holes.len() as u32).to_le_bytes());
    for (hole, place) in holes.iter().zip(out[5..].chunks_exact_mut(12)) {
        let depth = hole.depth | if hole.key { KEY } else { 0 };
        // Offsets count the status byte, which is not part of the text.
        let numbers = [hole.offset as u32 - 1, hole.term.offset() as u32, depth];
        place.iter_mut().zip(numbers.iter().flat_map(|number| number.to_le_bytes())).for_each(|(to, from)| *to = from);
    }
    Some(out)
}

/// How an export returns a record: address and length in one integer, 0 for none.
pub fn packed(record: Option<&[u8]>) -> u64 {
    record.map_or(0, |bytes| (bytes.as_ptr() as u64) << 32 | bytes.len() as u64)
}
