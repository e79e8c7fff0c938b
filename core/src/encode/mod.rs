//! Terms to JSON text (RFC 8259).

mod calendar;
pub(crate) mod canonical;
mod containers;
mod decimal;
mod driver;
mod duration;
mod error;
mod fields;
mod float;
mod fragment;
mod gather;
mod gathered;
mod keys;
mod known;
mod known_keys;
mod layout;
mod limits;
mod notation;
mod number;
mod play;
mod reader;
mod records;
mod repair;
mod run;
mod shape;
mod shaped;
mod string;
mod structs;
mod suspension;
#[cfg(test)]
mod tests;
mod unsupported;
mod uri;
mod writer;

pub use driver::Stack;
pub use error::{EncodeError, EncodeErrorKind, Hole, MAX_PAYLOAD};
pub use fields::{Fields, text_of_struct};
pub use known::Known;
pub use notation::Notation;
pub(crate) use number::big_digits;
pub use play::{Player, play};
pub use reader::{Ahead, AtomText, Block, Member, PlanRules, Step, TermReader, Value, is_plain};
pub use string::NotUtf8;
pub use suspension::{Outcome, Place, Suspension};
pub use writer::{Keys, Role, Writer};

use crate::options::{EncodeOptions, Records};
use crate::output::{Buffer, Output};
use crate::simd::Scalar;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;
use driver::Driver;

/// Where a walk starts.
enum Start<T> {
    Root(T),
    /// With the number of records that are written.
    Suspended(Suspension<T>, usize),
}

/// Appends the JSON text of a term to the output. What the core does not know is left out and returned as holes, in the
/// order of their offsets.
pub fn encode<'t, R: TermReader<'t>, B: Buffer>(
    reader: &mut R,
    root: R::Term,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
) -> Result<Vec<Hole<R::Term>>, EncodeError> {
    match encode_slice(reader, root, options, out, &mut Stack::default())? {
        Outcome::Done(holes) => Ok(holes),
        Outcome::Suspended(_) => Err(EncodeError::budget()),
    }
}

/// The same, but where the budget of work is used up and the reader can tell the places it has reached, the walk is
/// suspended and [`resume`] takes it up again, with another reader over the same terms.
pub fn encode_slice<'t, R: TermReader<'t>, B: Buffer>(
    reader: &mut R,
    root: R::Term,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
    stack: &mut Stack<'t, R>,
) -> Result<Outcome<R::Term>, EncodeError> {
    crate::with_kernel!(kernel => drive(kernel, reader, Start::Root(root), options, out, stack))
}

/// Continues a suspended walk; `out` holds what it had written.
pub fn resume<'t, R: TermReader<'t>, B: Buffer>(
    reader: &mut R,
    suspension: Suspension<R::Term>,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
    stack: &mut Stack<'t, R>,
) -> Result<Outcome<R::Term>, EncodeError> {
    // Nothing else writes a line break between two records: see `fragment`.
    let records = match options.records {
        Records::None => 0,
        _ => out.written().iter().filter(|byte| **byte == b'\n').count(),
    };
    crate::with_kernel!(kernel => drive(kernel, reader, Start::Suspended(suspension, records), options, out, stack))
}

/// Writes a term onto a tape. The error of a term that is none of JSON stands on the tape, too; the others are about time and memory.
pub fn write<'t, R: TermReader<'t>, W: Writer>(
    reader: &mut R,
    root: R::Term,
    options: &EncodeOptions<'_>,
    out: &mut W,
    stack: &mut Stack<'t, R>,
) -> Result<Vec<Hole<R::Term>>, EncodeError> {
    // How text looks, another one finds out.
    match drive(Scalar, reader, Start::Root(root), options, out, stack)? {
        Outcome::Done(holes) => Ok(holes),
        Outcome::Suspended(_) => Err(EncodeError::budget()),
    }
}

#[inline(always)]
fn drive<'t, K: CopyKernel, R: TermReader<'t>, W: Writer>(
    kernel: K,
    reader: &mut R,
    start: Start<R::Term>,
    options: &EncodeOptions<'_>,
    out: &mut W,
    stack: &mut Stack<'t, R>,
) -> Result<Outcome<R::Term>, EncodeError> {
    let mut driver = Driver::new(kernel, reader, options, out, stack);
    let first = match start {
        Start::Root(root) => Ok(driver.first(root)),
        Start::Suspended(suspension, records) => driver.take_up(suspension, records),
    };
    // A closure would be a function without the processor features of this one, where each operation on a vector is a call.
    let ran = match first {
        Ok(first) => driver.run(first),
        Err(kind) => Err(kind),
    };
    let result = match ran {
        Ok(()) => Ok(Outcome::Done(core::mem::take(&mut driver.holes))),
        Err(kind) => match driver.suspend(kind) {
            Some(suspension) => Ok(Outcome::Suspended(suspension)),
            None => Err(driver.error(kind)),
        },
    };
    let lost = driver.parts;
    stack.lost = lost;
    stack.shapes.trim(options.shape.len());
    result
}
