//! Options to try things with.

use rustyjson_core::options::{Duplicates, Escape, Keys};
use rustyjson_core::{DecodeOptions, EncodeOptions};

const DECODE: DecodeOptions = DecodeOptions::DEFAULT;

/// Each way to decode on its own, and two together.
pub const WAYS: [DecodeOptions; 11] = [
    DECODE,
    DecodeOptions { decimals: true, ..DECODE },
    DecodeOptions { ordered_objects: true, ..DECODE },
    DecodeOptions { validate_strings: false, ..DECODE },
    DecodeOptions { duplicates: Duplicates::First, ..DECODE },
    DecodeOptions { duplicates: Duplicates::Error, ..DECODE },
    DecodeOptions { keys: Keys::ExistingAtoms, ..DECODE },
    DecodeOptions { decimals: true, ordered_objects: true, ..DECODE },
    DecodeOptions { keys: Keys::Copy, ..DECODE },
    DecodeOptions { copy_strings: true, ..DECODE },
    DecodeOptions { decimals: true, ordered_objects: true, keys: Keys::ExistingAtoms, ..DECODE },
];

/// One of 128 ways to encode: each bit, or pair of bits, chooses for one option.
pub fn encode_options(choice: u32) -> EncodeOptions<'static> {
    let bit = |number: u32| choice >> number & 1 != 0;
    EncodeOptions {
        escape: [Escape::Json, Escape::HtmlSafe, Escape::JavascriptSafe, Escape::UnicodeSafe][choice as usize & 3],
        strict_maps: bit(2),
        sort_keys: bit(3),
        plain_structs: bit(4),
        lean: bit(5),
        reverse_large_maps: bit(6),
        ..EncodeOptions::DEFAULT
    }
}
