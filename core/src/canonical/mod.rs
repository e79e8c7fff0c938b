//! Canonical JSON (RFC 8785): members sorted by the UTF-16 units of their keys, numbers as ECMAScript writes them, nothing between
//! tokens, and as few escapes as JSON allows.
//!
//! The text is decoded by the driver of [`decode`](crate::decode()), whose errors are its errors, into a builder that writes text
//! again. Members are sorted when everything is written, so that each byte is moved once however deep it stands.

mod arrange;
mod builder;
mod order;

use crate::decode::{Scratch, document, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates, Keys};
use crate::output::{Buffer, Output};
use crate::simd::Kernel;
use crate::simd::copy::CopyKernel;
use crate::with_kernel;
use builder::{Builder, Moved};

/// Appends the canonical form of a text.
///
/// # Errors
/// Those of decoding. A repeated key is always one, and so is an integer that its canonical text does not denote exactly
/// ([`ErrorKind::InexactInteger`]). An output longer than `max_bytes` (0 for no limit) is [`ErrorKind::MaxBytes`].
///
/// ```
/// use rustyjson_core::{DecodeOptions, Output, Scratch, canonical::canonicalize};
///
/// let mut out = Output::new(Vec::new());
/// canonicalize(br#"{"b": 1e2, "a": "\u0041"}"#, &DecodeOptions::DEFAULT, 0, &mut Scratch::default(), &mut out).unwrap();
/// assert_eq!(out.written(), br#"{"a":"A","b":100}"#);
/// ```
pub fn canonicalize<B: Buffer>(
    json: &[u8],
    options: &DecodeOptions,
    max_bytes: u64,
    scratch: &mut Scratch,
    out: &mut Output<B>,
) -> Result<(), Error> {
    let options = DecodeOptions {
        keys: Keys::Strings,
        decimals: false,
        ordered_objects: false,
        duplicates: Duplicates::Error,
        validate_strings: true,
        ..*options
    };
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    let start = out.len();
    // Canonical text is usually a little shorter than its input, and a buffer that grows is copied.
    out.room(json.len() / 2);
    let result = with_kernel!(kernel => written(kernel, json, &options, scratch, out)).and_then(|moved| {
        let sorted = if max_bytes != 0 && (out.len() - start) as u64 > max_bytes {
            Err(ErrorKind::MaxBytes)
        } else {
            arrange::arrange(&moved, out, start)
        };
        sorted.map_err(|kind| Error::new(kind, 0))
    });
    if result.is_err() {
        out.truncate(start);
    }
    result
}

#[inline(always)]
fn written<K: Kernel + CopyKernel, B: Buffer>(
    kernel: K,
    json: &[u8],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut Output<B>,
) -> Result<Moved, Error> {
    let mut builder = Builder::new(kernel, out);
    document(kernel, json, options, scratch, &mut builder)?;
    builder.finish().map_err(|kind| Error::new(kind, 0))
}
