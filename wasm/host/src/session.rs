//! One call in an instance: what goes in, what comes out, and which keys are no atoms.

use crate::arguments::{Decode, Encode};
use crate::fault::Fault;
use crate::guest::Guest;
use crate::holes;
use crate::record::{DONE, DecodeError, ERROR, Encoded, PARTIAL, decode_error, encode_error, first_unknown};
use rustyjson_core::ErrorKind;
use rustyjson_core::etf::check::{Policy, check};
use std::ops::Range;

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
            guest.in_time()?;
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
    let unknown = first_unknown(&guest.memory()[record], exists, || guest.deadline().passed())?;
    let Some(number) = unknown else { return Ok(None) };
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
