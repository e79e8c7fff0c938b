//! One call in an instance: what goes in, what comes out, and which keys are no atoms.

use crate::arguments::{Decode, Encode};
use crate::fault::Fault;
use crate::guest::Guest;
use crate::holes::{self, Hole};
use rustyjson_core::ErrorKind;
use rustyjson_core::etf::check::{Policy, check};
use std::ops::Range;

const DONE: u8 = 1;
const ERROR: u8 = 0;
const PARTIAL: u8 = 2;

/// A decode error as the guest reports it.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodeError {
    pub code: u8,
    pub offset: u64,
    pub line: u64,
    pub column: u64,
    pub path: String,
}

/// Decodes a document. Gives where the term stands in the guest's memory, judged.
pub fn decode(
    guest: &mut Guest,
    json: &[u8],
    options: &Decode,
    seed: u64,
) -> Result<Result<Range<usize>, DecodeError>, Fault> {
    let len = guest.write(&[json])?;
    let Decode { flags, max_depth, digit_limit, max_nodes } = *options;
    let record = guest.decode((len, flags, max_depth, digit_limit, max_nodes, seed))?;
    let body = record.start + 1..record.end;
    match guest.memory()[record.start] {
        DONE => {
            judge(&guest.memory()[body.clone()], options, json.len())?;
            Ok(Ok(body))
        }
        ERROR => decode_error(&guest.memory()[body], json.len()).map(Err),
        _ => Err(Fault::invalid("its result has no known status")),
    }
}

/// The first key that is no existing atom, as an error. The guest cannot know, so it lists the keys that the document
/// has (up to its error, if there is one), and is asked for the place of the first unknown one.
pub fn unknown_atom(
    guest: &mut Guest,
    json_len: usize,
    options: &Decode,
    exists: impl Fn(&[u8]) -> bool,
) -> Result<Option<DecodeError>, Fault> {
    let args = |stop| (json_len as u32, options.flags, options.max_depth, options.digit_limit, options.max_nodes, stop);
    let record = guest.keys(args(u64::MAX))?;
    let Some(number) = first_unknown(&guest.memory()[record], exists)? else { return Ok(None) };
    let record = guest.keys(args(number))?;
    match guest.memory()[record].split_first() {
        Some((&ERROR, body)) => match decode_error(body, json_len)? {
            error if error.code == ErrorKind::UnknownAtom as u8 => Ok(Some(error)),
            _ => Err(Fault::invalid("it does not find a key that it listed")),
        },
        _ => Err(Fault::invalid("it does not find a key that it listed")),
    }
}

/// Refuses bytes that are no JSON-shaped term, or none that a document of this length can have.
pub fn judge(etf: &[u8], options: &Decode, json_len: usize) -> Result<(), Fault> {
    check(etf, &Policy::new(&options.core(), json_len))
        .map_err(|refused| Fault::invalid(format!("{:?} at byte {} of the term", refused.fault, refused.offset)))
}

/// What encoding gave, in the guest's memory.
pub enum Encoded<'a> {
    Text(&'a [u8]),
    Partial(Vec<Hole>, &'a [u8]),
    Error { code: u8, path: &'a [u8], payload: &'a [u8] },
}

/// Encodes a term, preceded by what belongs to its options.
pub fn encode<'a>(guest: &'a mut Guest, input: [&[u8]; 2], options: &Encode) -> Result<Encoded<'a>, Fault> {
    let [extra, etf] = input;
    let len = guest.write(&input)?;
    let Encode { flags, max_depth, max_bytes, gzip, base_depth } = *options;
    let record = guest.encode((len, extra.len() as u32, flags, max_depth, gzip, base_depth, max_bytes))?;
    match guest.memory()[record].split_first() {
        Some((&DONE, json)) => Ok(Encoded::Text(json)),
        Some((&PARTIAL, body)) => holes::read(body, etf, base_depth).map(|(holes, json)| Encoded::Partial(holes, json)),
        Some((&ERROR, body)) => encode_error(body),
        _ => Err(Fault::invalid("its result has no known status")),
    }
}

/// What is done to a text.
pub enum Operation {
    Gzip { level: u32 },
    Format { base_depth: u32, max_depth: u32 },
}

/// Compresses a text or lays it out, preceded by what belongs to the operation.
pub fn transform<'a>(
    guest: &'a mut Guest,
    input: [&[u8]; 2],
    operation: &Operation,
) -> Result<Result<&'a [u8], DecodeError>, Fault> {
    let [extra, text] = input;
    let len = guest.write(&input)?;
    let record = match *operation {
        Operation::Gzip { level } => guest.gzip((len, level))?,
        Operation::Format { base_depth, max_depth } => {
            guest.format((len, extra.len() as u32, base_depth, max_depth))?
        }
    };
    match guest.memory()[record].split_first() {
        Some((&DONE, text)) => Ok(Ok(text)),
        Some((&ERROR, body)) => decode_error(body, text.len()).map(Err),
        _ => Err(Fault::invalid("its result has no known status")),
    }
}

fn encode_error(body: &[u8]) -> Result<Encoded<'_>, Fault> {
    let lie = || Fault::invalid("its error record is broken");
    let (&code, rest) = body.split_first().ok_or_else(lie)?;
    let (len, rest) = rest.split_first_chunk::<4>().ok_or_else(lie)?;
    let (path, payload) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(lie)?;
    if !(1..=8).contains(&code) || str::from_utf8(path).is_err() {
        return Err(lie());
    }
    Ok(Encoded::Error { code, path, payload })
}

fn first_unknown(record: &[u8], exists: impl Fn(&[u8]) -> bool) -> Result<Option<u64>, Fault> {
    let lie = || Fault::invalid("its list of keys is broken");
    let Some((&DONE, mut rest)) = record.split_first() else { return Err(lie()) };
    let mut number = 0;
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (key, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(lie)?;
        if !exists(key) {
            return Ok(Some(number));
        }
        (number, rest) = (number + 1, after);
    }
    if rest.is_empty() { Ok(None) } else { Err(lie()) }
}

/// Reads an error record behind its status, and holds it to what an honest one can say.
fn decode_error(body: &[u8], json_len: usize) -> Result<DecodeError, Fault> {
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
        let find = |known: &[&[u8]]| first_unknown(list, |key| known.contains(&key)).unwrap();
        assert_eq!(find(&[b"a", b"", b"bc"]), None);
        assert_eq!(find(&[b"a", b""]), Some(2));
        assert_eq!(find(&[]), Some(0));
        for lie in [&b""[..], b"\x00", b"\x01\x01", b"\x01\x05\0\0\0a"] {
            assert!(first_unknown(lie, |_| true).is_err());
        }
    }
}
