//! Records as the guest writes them (`wasm/guest/src/record.rs`), held to what an honest one can say.

use crate::fault::Fault;
use crate::holes::Hole;
use rustyjson_core::ErrorKind;

pub const DONE: u8 = 1;
pub const ERROR: u8 = 0;
pub const PARTIAL: u8 = 2;

/// A decode error as the guest reports it.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodeError {
    pub code: u8,
    pub offset: u64,
    pub line: u64,
    pub column: u64,
    pub path: String,
}

/// What encoding gave, in the guest's memory.
pub enum Encoded<'a> {
    Text(&'a [u8]),
    Partial(Vec<Hole>, &'a [u8]),
    Error { code: u8, path: &'a [u8], payload: &'a [u8] },
}

/// The number of the first key of a list that does not exist. `late` is asked from time to time.
pub fn first_unknown(
    record: &[u8],
    exists: impl Fn(&[u8]) -> bool,
    late: impl Fn() -> bool,
) -> Result<Option<u64>, Fault> {
    let lie = || Fault::invalid("its list of keys is broken");
    let Some((&DONE, mut rest)) = record.split_first() else { return Err(lie()) };
    let mut number = 0;
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (key, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(lie)?;
        if !exists(key) {
            return Ok(Some(number));
        }
        (number, rest) = (number + 1, after);
        if number % 256 == 0 && late() {
            return Err(Fault::Timeout);
        }
    }
    if rest.is_empty() { Ok(None) } else { Err(lie()) }
}

/// Reads an error record behind its status, and holds it to what an honest one can say.
pub fn decode_error(body: &[u8], json_len: usize) -> Result<DecodeError, Fault> {
    let lie = || Fault::invalid("its error record is broken");
    let (&code, rest) = body.split_first().ok_or_else(lie)?;
    let (numbers, path) = rest.split_at_checked(24).ok_or_else(lie)?;
    let number = |i: usize| u64::from_le_bytes(std::array::from_fn(|k| numbers[8 * i + k]));
    let (offset, line, column) = (number(0), number(1), number(2));
    let most = json_len as u64 + 1;
    let known = ErrorKind::ALL.iter().any(|&kind| kind as u8 == code);
    if !known || offset >= most || line > most || column > most {
        return Err(lie());
    }
    let path = str::from_utf8(path).map_err(|_| lie())?.to_owned();
    Ok(DecodeError { code, offset, line, column, path })
}

/// Reads an error record of encode behind its status.
pub fn encode_error(body: &[u8]) -> Result<Encoded<'_>, Fault> {
    let lie = || Fault::invalid("its error record is broken");
    let (&code, rest) = body.split_first().ok_or_else(lie)?;
    let (len, rest) = rest.split_first_chunk::<4>().ok_or_else(lie)?;
    let (path, payload) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(lie)?;
    if !(1..=8).contains(&code) || str::from_utf8(path).is_err() {
        return Err(lie());
    }
    Ok(Encoded::Error { code, path, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(code: u8, numbers: [u64; 3], path: &[u8]) -> Vec<u8> {
        let numbers = numbers.map(u64::to_le_bytes).concat();
        [&[code], &numbers[..], path].concat()
    }

    #[test]
    fn error_records_are_held_to_the_input() {
        let read = |bytes: &[u8]| decode_error(bytes, 10);
        let error = read(&record(2, [10, 1, 11], b"/a")).unwrap();
        assert_eq!((error.code, error.offset, error.path.as_str()), (2, 10, "/a"));
        for lie in [
            record(0, [0, 1, 1], b""),
            record(200, [0, 1, 1], b""),
            record(2, [11, 1, 1], b""),
            record(2, [0, 12, 1], b""),
            record(2, [0, 1, u64::MAX], b""),
            record(2, [0, 1, 1], b"\xff"),
            vec![2; 24],
            vec![],
        ] {
            assert!(matches!(read(&lie), Err(Fault::InvalidResult(_))), "{lie:?}");
        }
    }

    #[test]
    fn the_first_unknown_key_is_found() {
        let list = b"\x01\x01\0\0\0a\x00\0\0\0\x02\0\0\0bc";
        let find = |known: &[&[u8]]| first_unknown(list, |key| known.contains(&key), || false).unwrap();
        assert_eq!(find(&[b"a", b"", b"bc"]), None);
        assert_eq!(find(&[b"a", b""]), Some(2));
        assert_eq!(find(&[]), Some(0));
        let many = [&[DONE], &[0; 4 * 1000][..]].concat();
        assert_eq!(first_unknown(&many, |_| true, || true), Err(Fault::Timeout));
        for lie in [&b""[..], b"\x00", b"\x01\x01", b"\x01\x05\0\0\0a"] {
            assert!(first_unknown(lie, |_| true, || false).is_err());
        }
    }
}
