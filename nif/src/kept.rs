//! The options that stay read: see [`rustyjson_terms::kept`].

use crate::atoms;
use rustler::{Atom, Binary, Encoder, Env, Term};
use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_terms::kept::Shelf;
pub use rustyjson_terms::kept::number;
use rustyjson_terms::reader::FIRST_BUDGET;

/// The number of the encoder's options that ask for nothing.
const USUAL_NUMBER: i64 = 0;
/// What a call of the encoder has that asks for nothing.
pub static USUAL: EncodeOptions<'static> = EncodeOptions { budget: FIRST_BUDGET as u64, ..EncodeOptions::DEFAULT };

/// Those of the encoder.
pub static ENCODE: Shelf<EncodeOptions<'static>> = Shelf::new();
/// Those of the decoder, but for the seed, which each call has of its own.
pub static DECODE: Shelf<DecodeOptions> = Shelf::new();

/// The number of options of `:decode` or `:encode`, or their bytes if they are not kept.
#[rustler::nif]
fn keep_options<'a>(env: Env<'a>, function: Atom, options: Binary<'a>) -> Term<'a> {
    let bytes = options.as_slice();
    let number = if function == atoms::decode() { keep_decode(bytes) } else { keep_encode(bytes) };
    number.map_or_else(|| options.encode(env), |number| number.encode(env))
}

/// Parts of a document are read in each call.
fn keep_decode(bytes: &[u8]) -> Option<i64> {
    let options = DecodeOptions::from_bytes(bytes, 0)?;
    if bytes.len() == DecodeOptions::LEN { DECODE.keep(bytes, &[], |_, _| options) } else { None }
}

fn keep_encode(bytes: &[u8]) -> Option<i64> {
    if EncodeOptions::are_default(bytes) {
        return Some(USUAL_NUMBER);
    }
    EncodeOptions::from_bytes(bytes)?;
    ENCODE.keep(bytes, &[], |bytes, place| {
        let read = EncodeOptions::from_bytes(bytes).map_or(EncodeOptions::DEFAULT, |(options, _)| options);
        EncodeOptions { budget: FIRST_BUDGET as u64, kept: place as u32 + 1, ..read }
    })
}

/// Whether it is that of the encoder's options that ask for nothing.
#[inline(always)]
pub const fn is_usual(number: i64) -> bool {
    number == USUAL_NUMBER
}
