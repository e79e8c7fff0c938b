//! Decodes into the types of a schema. What it does not have is passed over, and never built.
//!
//! What the values become is up to the [`Answer`]. No atom comes from here.

mod checked;
mod found;
mod order;
mod tagged;
mod values;
mod walk;

use super::answer::Answer;
use super::shape::Shape;
use crate::builder::{Rewind, TermBuilder};
use crate::decode::cursor::Cursor;
use crate::decode::{self, Places, Scratch, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;
pub use found::{Failed, Found, Wrong};
use walk::Walk;

/// Decodes a text into a type. Returns `false` when that may take more than `most_nodes` values and keys; what was built is
/// then incomplete. 0 removes this limit.
///
/// # Errors
/// The first one of the text or of the schema, or all of them, if the shape asks for that.
pub fn typed<A: Answer>(
    json: &[u8],
    shape: &Shape<'_>,
    options: &DecodeOptions,
    most_nodes: u64,
    scratch: &mut Scratch,
    answer: &mut A,
) -> Result<bool, Failed> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0).into());
    }
    // The driver alone counts all nodes and looks for all repeated keys.
    if options.max_nodes != 0 || options.duplicates == Duplicates::Error {
        decode::validate(json, 0, &options.of_any_number(), scratch)?;
    }
    let options = DecodeOptions { max_nodes: 0, ..*options };
    let mut places = core::mem::take(&mut scratch.places);
    let call = Call { json, shape, options: &options, any_number: &options.of_any_number(), most_nodes };
    let (mark, mut left) = (answer.terms().mark(), Vec::new());
    let result = with_kernel!(kernel => walk(kernel, &call, &mut places, scratch, answer, &mut left));
    scratch.places = places;
    if shape.list_left {
        answer.terms().rewind(mark);
        // The list would end too early.
        if matches!(result, Ok(false)) {
            return result;
        }
        // An error ends the list, too. Who asks for it knows that error already.
        list(&call, &left, scratch, answer.terms())?;
        return Ok(true);
    }
    result
}

struct Call<'a> {
    json: &'a [u8],
    shape: &'a Shape<'a>,
    options: &'a DecodeOptions,
    any_number: &'a DecodeOptions,
    most_nodes: u64,
}

#[inline(always)]
fn walk<K: Kernel, A: Answer>(
    kernel: K,
    call: &Call<'_>,
    places: &mut Places,
    scratch: &mut Scratch,
    answer: &mut A,
    left: &mut Vec<(u32, usize)>,
) -> Result<bool, Failed> {
    let Places { open, text, .. } = places;
    let cursor = Cursor::new(kernel, call.json, call.options, open, text);
    let budget = if call.most_nodes == 0 { u64::MAX } else { call.most_nodes };
    let mut walk = Walk::new(cursor, call.any_number, call.shape, scratch, answer, left, budget);
    match walk.run() {
        // Not an error of the text, whose limit is looked after.
        Err(Error { kind: ErrorKind::MaxNodes, .. }) => Ok(false),
        result => walk.errors.finish(result).map(|()| true),
    }
}

/// The values that Elixir has to judge, which are dates in unusual forms and those that it loads: of each its kind, and the value.
fn list<B: TermBuilder>(
    call: &Call<'_>,
    left: &[(u32, usize)],
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Error> {
    builder.begin_array();
    for &(kind, start) in left {
        builder.integer(kind.into()).map_err(|kind| Error::new(kind, start))?;
        decode::part(call.json, start, call.options, scratch, builder)?;
    }
    builder.end_array(2 * left.len()).map_err(|kind| Error::new(kind, 0))
}
