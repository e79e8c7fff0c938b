//! One call in an instance: what goes in, what comes out, and which keys are not atoms.

use crate::arguments::{Decode, Encode};
use crate::fault::Fault;
use crate::guest::Guest;
use rustyjson_core::abi::{DecodeFailure, EncodeFailure, Names, Status, open};
use rustyjson_core::abi::{is_short_text, longest_compressed, may_be_text, shortest_plain};
use rustyjson_core::etf::check::{Policy, check};
use rustyjson_core::etf::extra::Extra;
use rustyjson_core::etf::holes::{self, Found};
use rustyjson_core::{EncodeOptions, ErrorKind};
use std::ops::Range;

/// What encoding gave, in the guest's memory.
pub enum Encoded<'a> {
    /// The text.
    Text(&'a [u8]),
    /// A text with holes.
    Partial(Found<'a>),
    /// No text.
    Failure(EncodeFailure<'a>),
}

/// Decodes a document. Gives where the term stands in the guest's memory, judged.
pub fn decode(
    guest: &mut Guest,
    json: &[u8],
    options: &Decode,
    seed: u64,
) -> Result<Result<Range<usize>, DecodeFailure<'static>>, Fault> {
    let len = guest.write(&[json])?;
    let Decode { flags, max_depth, digit_limit, max_nodes } = *options;
    let record = guest.decode((len, flags, max_depth, digit_limit, max_nodes, seed))?;
    match open(&guest.memory()[record.clone()]) {
        Some((Status::Done, etf)) => {
            judge(etf, options, json.len())?;
            guest.in_time()?;
            Ok(Ok(record.start + 1..record.end))
        }
        Some((Status::Error, body)) => decode_failure(body, json.len()).map(|failure| Err(failure.into_owned())),
        _ => Err(no_status()),
    }
}

fn no_status() -> Fault {
    Fault::invalid("its result has no known status")
}

fn decode_failure(body: &[u8], json_len: usize) -> Result<DecodeFailure<'_>, Fault> {
    DecodeFailure::read(body, json_len).ok_or_else(|| Fault::invalid("its error record is broken"))
}

/// The first key that is not an existing atom, as an error. The guest cannot know, so it lists the keys of the document (up
/// to its error, if it has one), and the host then asks it for the position of the first unknown one.
pub fn unknown_atom(
    guest: &mut Guest,
    json_len: usize,
    options: &Decode,
    exists: impl Fn(&[u8]) -> bool,
) -> Result<Option<DecodeFailure<'static>>, Fault> {
    let args = |stop| (json_len as u32, options.flags, options.max_depth, options.digit_limit, options.max_nodes, stop);
    let record = guest.keys(args(u64::MAX))?;
    let unknown = first_unknown(&guest.memory()[record], exists, || guest.deadline().passed())?;
    let Some(number) = unknown else { return Ok(None) };
    let record = guest.keys(args(number))?;
    match open(&guest.memory()[record]) {
        Some((Status::Error, body)) => match decode_failure(body, json_len)? {
            failure if failure.kind == ErrorKind::UnknownAtom => Ok(Some(failure.into_owned())),
            _ => Err(Fault::invalid("it does not find a key that it listed")),
        },
        _ => Err(Fault::invalid("it does not find a key that it listed")),
    }
}

/// The number of the first key of a list that does not exist. `late` is asked from time to time.
fn first_unknown(record: &[u8], exists: impl Fn(&[u8]) -> bool, late: impl Fn() -> bool) -> Result<Option<u64>, Fault> {
    let lie = || Fault::invalid("its list of keys is broken");
    let Some((Status::Done, names)) = open(record) else { return Err(lie()) };
    for (number, name) in (0..).zip(Names(names)) {
        if !exists(name.ok_or_else(lie)?) {
            return Ok(Some(number));
        }
        if number % 256 == 255 && late() {
            return Err(Fault::Timeout);
        }
    }
    Ok(None)
}

/// Refuses bytes that are no JSON-shaped term, or none that a document of this length can have.
pub fn judge(etf: &[u8], options: &Decode, json_len: usize) -> Result<(), Fault> {
    check(etf, &Policy::new(&options.core(), json_len)).map_err(|refused| Fault::invalid(refused.text()))
}

/// Encodes a term, preceded by what belongs to its options.
pub fn encode<'a>(guest: &'a mut Guest, input: [&[u8]; 2], options: &Encode) -> Result<Encoded<'a>, Fault> {
    let [extra, etf] = input;
    let len = guest.write(&input)?;
    let Encode { flags, max_depth, max_bytes, gzip, base_depth } = *options;
    let record = guest.encode((len, extra.len() as u32, flags, max_depth, gzip, base_depth, max_bytes))?;
    match open(&guest.memory()[record]) {
        Some((Status::Done, json)) => text(json, etf, extra, options).map(Encoded::Text),
        Some((Status::Partial, body)) => find_holes(body, etf, extra, options).map(Encoded::Partial),
        Some((Status::Error, body)) => {
            EncodeFailure::read(body).map(Encoded::Failure).ok_or_else(|| Fault::invalid("its error record is broken"))
        }
        None => Err(no_status()),
    }
}

fn find_holes<'a>(body: &'a [u8], etf: &[u8], extra: &[u8], options: &Encode) -> Result<Found<'a>, Fault> {
    // The runtime wrote it, as it did the term.
    let extra = Extra::parse(extra).unwrap_or_default();
    let options = EncodeOptions { pretty: extra.pretty, ..options.core() };
    let found = holes::read(body, etf, &options, &extra.plans).map_err(|fault| Fault::invalid(fault.text()))?;
    if may_be_text(found.1.len(), etf, &options, &extra.plans) { Ok(found) } else { Err(too_long()) }
}

/// A text, perhaps compressed, that is no longer than one an honest guest could have made of the term.
fn text<'a>(text: &'a [u8], etf: &[u8], extra: &[u8], options: &Encode) -> Result<&'a [u8], Fault> {
    if is_short_text(text.len(), etf) {
        return Ok(text);
    }
    let extra = Extra::parse(extra).unwrap_or_default();
    let options = EncodeOptions { pretty: extra.pretty, ..options.core() };
    if may_be_text(shortest_plain(text.len()), etf, &options, &extra.plans) { Ok(text) } else { Err(too_long()) }
}

fn too_long() -> Fault {
    Fault::invalid("its text is longer than the term's can be")
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
) -> Result<Result<&'a [u8], DecodeFailure<'a>>, Fault> {
    let [extra, text] = input;
    let len = guest.write(&input)?;
    let record = match *operation {
        Operation::Gzip { level } => guest.gzip((len, level))?,
        Operation::Format { base_depth, max_depth } => {
            guest.format((len, extra.len() as u32, base_depth, max_depth))?
        }
    };
    match open(&guest.memory()[record]) {
        Some((Status::Done, result)) if result.len() > longest(operation, extra, text) => Err(too_long()),
        Some((Status::Done, result)) => Ok(Ok(result)),
        Some((Status::Error, body)) => decode_failure(body, text.len()).map(Err),
        _ => Err(no_status()),
    }
}

/// The most bytes that the operation may give.
fn longest(operation: &Operation, extra: &[u8], text: &[u8]) -> usize {
    match operation {
        Operation::Gzip { .. } => longest_compressed(text.len()),
        // The layout starts with the limit of the output; 0 is none.
        Operation::Format { .. } => match extra.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) {
            None | Some(0) => usize::MAX,
            Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
        },
    }
}
