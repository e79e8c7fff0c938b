//! White space between tokens.

use crate::output::{Buffer, Output};

/// How pretty output is laid out: a line for each element and member. Empty containers stay `[]` and `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pretty<'a> {
    /// Written once for each level.
    pub indent: &'a [u8],
    /// Written at the start of each line but the first.
    pub line_separator: &'a [u8],
    /// Written after each colon.
    pub after_colon: &'a [u8],
}

impl Pretty<'_> {
    /// Starts a line at this depth.
    pub fn line<B: Buffer>(&self, out: &mut Output<B>, depth: usize) {
        out.text(self.line_separator);
        out.repeat(self.indent, depth);
    }
}
