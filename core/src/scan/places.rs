//! Places of values instead of the values: those that are then decoded into a type, each by itself.

use crate::builder::{Nothing, TermBuilder, Text};
use crate::decode::{Scratch, part};
use crate::error::Error;
use crate::options::DecodeOptions;

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
