//! Whether a text is a document that `decode` accepts: only its errors are wanted.

use crate::decode::cursor::Cursor;
use crate::decode::{self, Places, Scratch, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::with_kernel;

/// The kind of a plan, its first byte.
const CHECK: u8 = 4;
/// The whole plan: its kind.
pub(super) const PLAN: &[u8] = &[CHECK];

/// Reads a whole text without building anything.
///
/// # Errors
/// Those of [`decode`](crate::decode()), except for keys that do not exist as atoms.
pub fn check(json: &[u8], options: &DecodeOptions, scratch: &mut Scratch) -> Result<(), Error> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    // Repeated keys are looked for by the driver alone.
    if options.duplicates == Duplicates::Error {
        return decode::validate(json, 0, options, scratch);
    }
    let Places { open, text, .. } = &mut scratch.places;
    with_kernel!(kernel => {
        let mut cursor = Cursor::new(kernel, json, options, open, text);
        let start = cursor.space(0);
        let end = cursor.value(start, 0)?;
        cursor.end_of_document(end)
    })
}
