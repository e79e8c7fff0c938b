//! What kernels exist, and which bytes they look for.

use super::marks::MarkKernel;
use super::vector::LANES;

/// A run of plain string bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first `"`, `\` or control character, or the length of the input.
    pub end: usize,
    /// Whether every byte of the run is ASCII.
    pub ascii: bool,
}

/// A set of kernels.
pub trait Kernels: Copy {
    /// Runs a closure, marked `#[inline(always)]`, compiled for this instruction set. Functions that are not inlined into
    /// the expression of [`with_kernel!`] need it: outside, every vector operation is a call.
    fn vectorize<T>(self, run: impl FnOnce() -> T) -> T;
}

/// The kernels decoding needs.
pub trait Kernel: MarkKernel {
    /// Finds the end of the plain run of string bytes that starts at `pos`.
    fn string_run(self, bytes: &[u8], pos: usize) -> Run;
    /// Offset of the first byte at or after `pos` that is not white space (RFC 8259 section 2), or the length.
    fn space_end(self, bytes: &[u8], pos: usize) -> usize;
    /// How many of these bytes are digits before the first that is none.
    fn digit_run(self, block: &[u8; LANES]) -> usize;
    /// How far a block that starts with a comma holds integers with a comma behind each: the offset of the last comma, and their number.
    fn integers(self, block: &[u8; LANES]) -> (usize, u32);
    /// Offset of the first such byte from `pos` on.
    fn find(self, bytes: &[u8], pos: usize, byte: u8) -> Option<usize>;
}

/// Whether this byte ends a plain run of string bytes.
#[inline(always)]
pub const fn ends_run(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether this byte is white space (RFC 8259 section 2).
#[inline(always)]
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
