//! Calls that are kept: their options stay read, and their limits, and Elixir sends a number (see [`rustyjson_terms::kept`]). The guest
//! remembers the options of its last call by itself; what the host relies on stands here.

use crate::atoms;
use crate::call::Limits;
use crate::host::{self, seed};
use rustler::{Atom, Binary, Env, Term};
use rustyjson_core::parts::Parts;
use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_terms::kept::{Shelf, number};
use rustyjson_terms::raw::read::Raw;
use rustyjson_terms::taped::Options;

/// A call on the caller's scheduler.
pub struct Keep<T> {
    /// What the host needs of its options.
    pub options: T,
    /// What the guest gets of them.
    pub sent: &'static [u8],
    pub limits: Limits,
}

/// How a whole document is decoded, or only looked at: parts of one are read in each call.
pub struct Whole {
    pub options: DecodeOptions,
    /// Only whether it is right is asked.
    pub check: bool,
}

/// Those that decode.
pub static DECODE: Shelf<Keep<Whole>> = Shelf::new();
/// Those that encode.
pub static ENCODE: Shelf<Keep<Options<'static>>> = Shelf::new();

/// The call of this number. `None`: another instance of the library gave it.
#[inline(always)]
pub fn find<'a, T>(env: Env<'a>, shelf: &'static Shelf<Keep<T>>, given: Raw<'a>) -> Option<&'static Keep<T>> {
    number(env, given).and_then(|number| shelf.find(number))
}

/// A number for calls of `:decode` or `:encode` with these options and limits; `nil` if they are not kept, or no call can run.
#[rustler::nif(name = "sandbox_keep")]
fn keep<'a>(env: Env<'a>, function: Atom, options: Binary<'a>, limits: Term<'a>) -> Option<i64> {
    let limits = Limits::read(env, Raw::of(limits)).ok()?;
    let bytes = options.as_slice();
    match host::failure() {
        None if function == atoms::decode() => keep_decode(bytes, limits),
        None => keep_encode(bytes, limits),
        Some(_) => None,
    }
}

fn keep_decode(bytes: &[u8], limits: Limits) -> Option<i64> {
    let options = DecodeOptions::from_bytes(bytes, seed())?;
    let check = match bytes.get(DecodeOptions::LEN..)? {
        [] => false,
        parts if Parts::asks_only(parts) => true,
        _ => return None,
    };
    let sent = [bytes, &options.seed.to_le_bytes()].concat();
    DECODE.keep(&sent, &limits.key(), |sent, _| Keep { options: Whole { options, check }, sent, limits })
}

fn keep_encode(bytes: &[u8], limits: Limits) -> Option<i64> {
    EncodeOptions::from_bytes(bytes)?;
    ENCODE.keep(bytes, &limits.key(), |sent, place| {
        let read = EncodeOptions::from_bytes(sent).map_or(EncodeOptions::DEFAULT, |(options, _)| options);
        Keep { options: Options::new(&EncodeOptions { kept: place as u32 + 1, ..read }), sent, limits }
    })
}
