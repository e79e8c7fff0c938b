//! Terms to JSON text (RFC 8259).

mod calendar;
pub(crate) mod canonical;
mod containers;
mod decimal;
mod driver;
mod error;
mod fields;
mod float;
mod fragment;
mod gather;
mod gathered;
mod keys;
mod known;
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

pub use driver::Stack;
pub use error::{EncodeError, EncodeErrorKind, Hole, MAX_PAYLOAD};
pub use fields::{Fields, text_of_struct};
pub use known::Known;
pub use notation::Notation;
pub use play::{Again, Player, may_play, play};
pub use reader::{AtomText, Block, Member, PlanRules, Step, TermReader, Value, is_plain};
pub use suspension::{Outcome, Place, Suspension};

use crate::options::EncodeOptions;
use crate::output::{Buffer, Output};
use alloc::vec::Vec;
use driver::Driver;

/// Where a walk starts.
enum Start<T> {
    Root(T),
    Suspended(Suspension<T>),
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
    crate::with_kernel!(kernel => drive(kernel, reader, Start::Suspended(suspension), options, out, stack))
}

#[inline(always)]
fn drive<'t, K: crate::simd::copy::CopyKernel, R: TermReader<'t>, B: Buffer>(
    kernel: K,
    reader: &mut R,
    start: Start<R::Term>,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
    stack: &mut Stack<'t, R>,
) -> Result<Outcome<R::Term>, EncodeError> {
    let mut driver = Driver::new(kernel, reader, options, out, stack);
    let first = match start {
        Start::Root(root) => driver.first(root),
        Start::Suspended(suspension) => driver.take_up(suspension),
    };
    let result = match driver.run(first) {
        Ok(()) => Ok(Outcome::Done(core::mem::take(&mut driver.holes))),
        Err(kind) => match driver.suspend(kind) {
            Some(suspension) => Ok(Outcome::Suspended(suspension)),
            None => Err(driver.error(kind)),
        },
    };
    stack.shapes.trim(options.shape.len());
    result
}
