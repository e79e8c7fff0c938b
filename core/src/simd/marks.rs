//! The kernel of strings with escapes: what is in a block of 64 bytes, as bits.
//!
//! A walk from one bit to the next is faster than a search for each escape, where the processor waits for the end of one search before it
//! starts the next: in a JSON text within a string there is an escape every five bytes.

use super::kernel::{Kernels, ends_run};
use super::scalar::Scalar;
use super::vector::{LANES, Vector};
use fearless_simd::Simd;

/// Bytes of the block that [`MarkKernel::string_marks`] looks at.
pub const BLOCK: usize = 64;
/// Bytes that [`copy_part`] may read: the block, and some behind it.
pub const SEEN: usize = BLOCK + PART;
/// Bytes behind what [`copy_part`] copies that it may write.
pub const TOUCHED: usize = PART;
const PART: usize = 32;

/// What is in a block of a string: a bit for each byte, the lowest for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// Bytes that end a run of plain ones.
    pub ends: u64,
    /// Bytes that are not ASCII.
    pub wide: u64,
}

/// Looks at a block of a string.
pub trait MarkKernel: Kernels {
    /// Tells what is in the first [`BLOCK`] bytes.
    fn string_marks(self, bytes: &[u8; SEEN]) -> Marks;
    /// The same where nobody wants the text: without the marks of escapes that are one letter and lie within the block. The first byte is
    /// not escaped.
    fn passed_marks(self, bytes: &[u8; SEEN]) -> Marks;
}

/// What a backslash can stand before, if that is all of the escape.
const fn is_letter(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// The marks that are left without escapes of one letter. Which backslashes of a run are escaped themselves is told by a subtraction, whose
/// borrow goes through the run (simdjson's `find_escaped`).
#[inline(always)]
const fn without_escapes(ends: u64, backslashes: u64, letters: u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let escapes = ((backslashes << 1 | ODD).wrapping_sub(backslashes) ^ ODD) & backslashes & letters >> 1;
    ends & !(escapes | escapes << 1)
}

impl MarkKernel for Scalar {
    #[inline(always)]
    fn string_marks(self, bytes: &[u8; SEEN]) -> Marks {
        let mut marks = Marks { ends: 0, wide: 0 };
        for (at, &byte) in bytes[..BLOCK].iter().enumerate() {
            marks.ends |= u64::from(ends_run(byte)) << at;
            marks.wide |= u64::from(byte >= 0x80) << at;
        }
        marks
    }

    #[inline(always)]
    fn passed_marks(self, bytes: &[u8; SEEN]) -> Marks {
        let Marks { mut ends, wide } = self.string_marks(bytes);
        let mut at = 0;
        while at + 1 < BLOCK {
            let escape = bytes[at] == b'\\';
            if escape && is_letter(bytes[at + 1]) {
                ends &= !(3 << at);
            }
            at += 1 + usize::from(escape);
        }
        Marks { ends, wide }
    }
}

impl<S: Simd> MarkKernel for Vector<S> {
    #[inline(always)]
    fn string_marks(self, bytes: &[u8; SEEN]) -> Marks {
        let mut marks = Marks { ends: 0, wide: 0 };
        // In a closure, every vector operation would be a call.
        for at in [0, LANES, 2 * LANES, 3 * LANES] {
            let (ends, wide) = self.string_masks(&bytes[at..at + LANES]);
            marks.ends |= u64::from(ends) << at;
            marks.wide |= u64::from(wide) << at;
        }
        marks
    }

    #[inline(always)]
    fn passed_marks(self, bytes: &[u8; SEEN]) -> Marks {
        let Marks { ends, wide } = self.string_marks(bytes);
        let (mut backslashes, mut letters) = (0, 0);
        for at in [0, LANES, 2 * LANES, 3 * LANES] {
            let (escapes, escaped) = self.escape_masks(&bytes[at..at + LANES]);
            backslashes |= u64::from(escapes) << at;
            letters |= u64::from(escaped) << at;
        }
        Marks { ends: without_escapes(ends, backslashes, letters), wide }
    }
}

/// The start of a text, with zeros behind it where it is short.
#[inline(always)]
pub fn block<'a>(text: &'a [u8], short: &'a mut [u8; SEEN]) -> &'a [u8; SEEN] {
    match text.first_chunk() {
        Some(block) => block,
        None => {
            *short = [0; SEEN];
            short[..text.len()].copy_from_slice(text);
            short
        }
    }
}

/// Copies what stands between two places of a block, and some bytes more.
#[inline(always)]
pub fn copy_part(seen: &[u8; SEEN], from: usize, to: usize, target: &mut [u8]) {
    target[..PART].copy_from_slice(&seen[from..from + PART]);
    if to - from > PART {
        target[PART..2 * PART].copy_from_slice(&seen[from + PART..from + 2 * PART]);
    }
}
