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
use builder::{Builder, Written};

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
    let mut written = with_kernel!(kernel => written(kernel, json, &options, scratch))?;
    let failed = |kind| Error::new(kind, 0);
    if max_bytes != 0 && written.len() as u64 > max_bytes {
        return Err(failed(ErrorKind::MaxBytes));
    }
    arrange::write(&mut written, out).map_err(failed)?;
    if out.failed() { Err(failed(ErrorKind::OutOfMemory)) } else { Ok(()) }
}

#[inline(always)]
fn written<K: Kernel + CopyKernel>(
    kernel: K,
    json: &[u8],
    options: &DecodeOptions,
    scratch: &mut Scratch,
) -> Result<Written, Error> {
    let mut builder = Builder::new(kernel);
    document(kernel, json, options, scratch, &mut builder)?;
    builder.finish().map_err(|kind| Error::new(kind, 0))
}
