//! One call in an instance: what goes in, what comes out, and which keys are not atoms.

use crate::call::Operation;
use crate::fault::Fault;
use crate::guest::{Guest, Lengths, Sent};
use crate::kept::{Keep, Whole};
use crate::translated::Export;
use rustler::Binary;
use rustyjson_core::abi::{DecodeFailure, EncodeFailure, Names, Partial, Status, Undecoded, open};
use rustyjson_core::abi::{longest_canonical, longest_compressed, may_be_played, shortest_plain};
use rustyjson_core::etf::check::Policy;
use rustyjson_core::parts::{Parts, Shape};
use rustyjson_core::{DecodeOptions, EncodeOptions, ErrorKind};
use rustyjson_terms::judged::Structs;
use rustyjson_terms::raw::read::Raw;
use std::ops::Range;

/// What came of a tape, in the guest's memory.
pub enum Played<'a> {
    /// The text.
    Text(&'a [u8]),
    /// A text, and where its holes are.
    Partial(Partial<'a>),
    /// No text.
    Failure(EncodeFailure<'a>),
}

/// A document and how it is decoded.
pub struct Document<'a, 'o> {
    pub json: &'a [u8],
    pub options: &'o DecodeOptions,
    /// Which parts of it are wanted; `None` for the whole.
    parts: Option<Parts<'a>>,
    /// The options and the plan of parts as Elixir wrote them; with the seed if they are kept.
    sent: Sent<'a>,
}

impl<'a, 'o> Document<'a, 'o> {
    /// With the options that these bytes hold, in front of the plan. `None`: that is broken.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], options: &'o DecodeOptions, json: &'a [u8]) -> Option<Self> {
        let parts = match bytes.get(DecodeOptions::LEN..)? {
            [] => None,
            parts => Some(Parts::read(parts)?),
        };
        Some(Self { json, options, parts, sent: Sent::Once(bytes) })
    }

    /// The whole of one, in a call that is kept.
    #[inline(always)]
    pub fn kept(keep: &'o Keep<Whole>, json: &'a [u8]) -> Self {
        let Whole { options, check } = &keep.options;
        Self { json, options, parts: check.then_some(Parts::Check), sent: Sent::Kept(keep.sent) }
    }

    /// The value of the type that is asked for, which is built of these templates. `None`: another part is.
    pub fn structs(&self, templates: &'a [Raw<'a>], json: Binary<'a>) -> Option<Structs<'a>> {
        match self.parts {
            Some(Parts::Typed(shape)) => Some(Structs { shape, templates, json }),
            _ => None,
        }
    }

    /// Whether this answer says that the document is right, where only that is asked. Then there is nothing to judge or to build.
    #[inline(always)]
    pub fn is_right(&self, etf: &[u8]) -> bool {
        matches!(self.parts, Some(Parts::Check)) && etf == Parts::RIGHT
    }

    /// The type that is asked for. `None`: another part is.
    const fn shape(&self) -> Option<&Shape<'a>> {
        match &self.parts {
            Some(Parts::Typed(shape)) => Some(shape),
            _ => None,
        }
    }

    /// What an honest answer can look like.
    pub fn policy(&self) -> Policy {
        match &self.parts {
            None => Policy::new(self.options, self.json.len()),
            Some(parts) => parts.policy(self.options, self.json.len()),
        }
    }
}

/// Where a term stands in the guest's memory, which nobody has judged yet; or why there is none.
type Decoded = Result<Range<usize>, Undecoded<'static>>;

/// Decodes a document, and says how to ask about it again. The term may have maps with repeated keys.
#[inline(always)]
pub fn decode(guest: &mut Guest, document: &Document) -> Result<(Decoded, Lengths), Fault> {
    let Document { json, options, sent, .. } = document;
    let lengths = match sent {
        Sent::Kept(options) => guest.write_kept(options, json)?,
        Sent::Once(bytes) => guest.write(&[bytes, &options.seed.to_le_bytes()], json)?,
    };
    let record = guest.run(Export::Decode, lengths)?;
    Ok((decoded(guest, document, record)?, lengths))
}

/// Decodes it again, with repeated keys resolved.
pub fn resolve(guest: &mut Guest, document: &Document, lengths: Lengths) -> Result<Range<usize>, Fault> {
    let record = guest.run(Export::Resolve, lengths)?;
    decoded(guest, document, record)?.map_err(|_| Fault::invalid("it refuses a document that it has decoded"))
}

#[inline(always)]
fn decoded(guest: &Guest, document: &Document, record: Range<usize>) -> Result<Decoded, Fault> {
    match open(&guest.memory()[record.clone()]) {
        Some((Status::Done, _)) => Ok(Ok(record.start + 1..record.end)),
        Some((status @ (Status::Error | Status::Errors), body)) => {
            Ok(Err(undecoded(status, body, document)?.into_owned()))
        }
        _ => Err(no_status()),
    }
}

fn no_status() -> Fault {
    Fault::invalid("its result has no known status")
}

fn undecoded<'a>(status: Status, body: &'a [u8], document: &Document<'_, '_>) -> Result<Undecoded<'a>, Fault> {
    Undecoded::read(status, body, document.json.len(), document.shape())
        .ok_or_else(|| Fault::invalid("its error record is broken"))
}

fn decode_failure(body: &[u8], json_len: usize) -> Result<DecodeFailure<'_>, Fault> {
    DecodeFailure::read(body, json_len).ok_or_else(|| Fault::invalid("its error record is broken"))
}

/// The first key that is not an existing atom, as an error. The guest cannot know, so it lists the keys of the document (up
/// to its error, if it has one), and the host then asks it for the position of the first unknown one.
pub fn unknown_atom(
    guest: &mut Guest,
    lengths: Lengths,
    document: &Document<'_, '_>,
    exists: impl Fn(&[u8]) -> bool,
) -> Result<Option<Undecoded<'static>>, Fault> {
    let record = guest.keys(lengths, u64::MAX)?;
    let names = names(&guest.memory()[record], document).ok_or_else(broken_names)?;
    let unknown = first_unknown(names, exists, || guest.time_left() == 0)?;
    let Some(number) = unknown else { return Ok(None) };
    let record = guest.keys(lengths, number)?;
    match open(&guest.memory()[record]) {
        Some((status @ (Status::Error | Status::Errors), body)) => match undecoded(status, body, document)? {
            failure if failure.may_end_with(ErrorKind::UnknownAtom) => Ok(Some(failure.into_owned())),
            _ => Err(Fault::invalid("it does not find a key that it listed")),
        },
        _ => Err(Fault::invalid("it does not find a key that it listed")),
    }
}

/// A list of keys that is not longer than the document's can be.
fn names<'a>(record: &'a [u8], document: &Document<'_, '_>) -> Option<Names<'a>> {
    match open(record)? {
        (Status::Done, names) if names.len() <= document.policy().max_names => Some(Names(names)),
        _ => None,
    }
}

/// The number of the first key of a list that does not exist. `late` is asked from time to time.
fn first_unknown(
    names: Names<'_>,
    exists: impl Fn(&[u8]) -> bool,
    late: impl Fn() -> bool,
) -> Result<Option<u64>, Fault> {
    for (number, name) in (0..).zip(names) {
        if !exists(name.ok_or_else(broken_names)?) {
            return Ok(Some(number));
        }
        if number % 256 == 255 && late() {
            return Err(Fault::Timeout);
        }
    }
    Ok(None)
}

/// Encodes the tape that was written, behind options; both lengths count these. With all keys of its shapes it would have `whole` bytes, and
/// it has so many holes.
pub fn play<'a>(
    guest: &'a mut Guest,
    (len, options_len): (usize, usize),
    (whole, holes): (usize, usize),
    options: &EncodeOptions<'_>,
) -> Result<Played<'a>, Fault> {
    let len = u32::try_from(len).map_err(|_| Fault::MemoryLimit)?;
    // A hint, without which the output would be moved whenever it has doubled.
    let expected = u32::try_from(whole.saturating_add(whole / 8)).unwrap_or(len);
    let record = guest.play((len, options_len as u32), expected)?;
    let played = match open(&guest.memory()[record]) {
        Some((Status::Done, text)) if holes == 0 => {
            let plain = if options.compress.is_some() { shortest_plain(text.len()) } else { text.len() };
            (plain, Played::Text(text))
        }
        Some((Status::Partial, body)) if holes > 0 => {
            let partial = Partial::of_tape(body, holes).ok_or_else(broken_holes)?;
            (partial.text.len(), Played::Partial(partial))
        }
        Some((Status::Done | Status::Partial, _)) => return Err(broken_holes()),
        Some((Status::Error, body)) => {
            let failure = EncodeFailure::read(body).ok_or_else(|| Fault::invalid("its error record is broken"))?;
            (0, Played::Failure(failure))
        }
        Some((Status::Errors, _)) | None => return Err(no_status()),
    };
    if may_be_played(played.0, whole, options) { Ok(played.1) } else { Err(too_long()) }
}

fn broken_names() -> Fault {
    Fault::invalid("its list of keys is broken")
}

fn broken_holes() -> Fault {
    Fault::invalid("its list of holes is broken")
}

fn too_long() -> Fault {
    Fault::invalid("its text is longer than the term's can be")
}

/// Compresses a text, lays it out, or makes it canonical.
pub fn transform<'a>(
    guest: &'a mut Guest,
    operation: Operation,
    options: &[u8],
    text: &[u8],
    seed: u64,
) -> Result<Result<&'a [u8], DecodeFailure<'a>>, Fault> {
    let seed = if operation == Operation::Canonicalize { &seed.to_le_bytes()[..] } else { &[] };
    let lengths = guest.write(&[options, seed], text)?;
    let export = match operation {
        Operation::Gzip => Export::Gzip,
        Operation::Canonicalize => Export::Canonicalize,
        _ => Export::Format,
    };
    let record = guest.run(export, lengths)?;
    match open(&guest.memory()[record]) {
        Some((Status::Done, result)) if result.len() > longest(operation, options, text) => Err(too_long()),
        Some((Status::Done, result)) => Ok(Ok(result)),
        Some((Status::Error, body)) => decode_failure(body, text.len()).map(Err),
        _ => Err(no_status()),
    }
}

/// The most bytes that the operation may give.
fn longest(operation: Operation, options: &[u8], text: &[u8]) -> usize {
    match EncodeOptions::from_bytes(options) {
        _ if operation == Operation::Gzip => longest_compressed(text.len()),
        _ if operation == Operation::Canonicalize => longest_canonical(text.len()),
        Some((options, _)) if options.max_bytes > 0 => usize::try_from(options.max_bytes).unwrap_or(usize::MAX),
        _ => usize::MAX,
    }
}
