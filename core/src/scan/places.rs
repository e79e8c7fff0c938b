//! What else a stream can give of a value: its place, for values that are then decoded into a type, each by itself; or parts of it.

use crate::builder::{Nothing, TermBuilder, Text};
use crate::decode::{Scratch, part};
use crate::error::Error;
use crate::options::DecodeOptions;
use crate::parts::{Plan, select_at};
use crate::simd::is_space;

/// Validates the value at an offset, and builds a list of its offset, its length and this path.
///
/// # Errors
/// Those of the value.
#[inline(never)]
pub(super) fn place<B: TermBuilder>(
    (bytes, start): (&[u8], usize),
    path: &str,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<usize, Error> {
    let end = part(bytes, start, options, scratch, &mut Nothing)?;
    let at = |kind| Error::new(kind, start);
    builder.begin_array();
    builder.integer(start as i64).map_err(at)?;
    builder.integer((end - start) as i64).map_err(at)?;
    builder.string(Text::Unescaped(path.as_bytes())).map_err(at)?;
    builder.end_array(3).map_err(at)?;
    Ok(end)
}

/// Builds what is wanted of the value at an offset.
///
/// # Errors
/// Those of the value.
#[inline(never)]
pub(super) fn parts<B: TermBuilder>(
    (bytes, start): (&[u8], usize),
    plan: &Plan<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<usize, Error> {
    let end = part(bytes, start, options, scratch, &mut Nothing)?;
    record((&bytes[..end], start), plan, options, scratch, builder)
}

/// The same for a value behind which the text has nothing but space. The offset behind the value is not looked for, so this takes one
/// pass.
#[inline(never)]
pub(super) fn record<B: TermBuilder>(
    (bytes, start): (&[u8], usize),
    plan: &Plan<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<usize, Error> {
    select_at(bytes, start, plan, options, 0, scratch, builder)?;
    let spaces = bytes.iter().rev().take_while(|byte| is_space(**byte)).count();
    Ok(bytes.len() - spaces)
}
