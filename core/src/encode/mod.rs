//! Terms to JSON text (RFC 8259).

mod calendar;
mod decimal;
mod driver;
mod error;
mod fragment;
mod gather;
mod keys;
mod known;
mod layout;
mod number;
mod reader;
mod string;
mod structs;
#[cfg(test)]
mod tests;
mod uri;

pub use error::{EncodeError, EncodeErrorKind, Hole};
pub use known::Known;
pub use layout::Pretty;
pub use reader::{AtomText, Step, TermReader, Value};

use crate::options::EncodeOptions;
use crate::output::{Buffer, Output};
use driver::Driver;

/// Appends the JSON text of a term to the output. What the core does not know is left out and returned as holes, in the
/// order of their offsets.
pub fn encode<'t, R: TermReader<'t>, B: Buffer>(
    reader: &mut R,
    root: R::Term,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
) -> Result<Vec<Hole<R::Term>>, EncodeError> {
    crate::with_kernel!(kernel => drive(kernel, reader, root, options, out))
}

#[inline(always)]
fn drive<'t, K: crate::simd::escape::CopyKernel, R: TermReader<'t>, B: Buffer>(
    kernel: K,
    reader: &mut R,
    root: R::Term,
    options: &EncodeOptions<'_>,
    out: &mut Output<B>,
) -> Result<Vec<Hole<R::Term>>, EncodeError> {
    let mut driver = Driver::new(kernel, reader, options, out);
    match driver.run(root) {
        Ok(()) => Ok(driver.into_holes()),
        Err(kind) => Err(driver.into_error(kind)),
    }
}
