//! White space between tokens.

use crate::options::Pretty;
use crate::output::{Buffer, Output};

impl Pretty<'_> {
    /// Starts a line at this depth.
    pub fn line<B: Buffer>(&self, out: &mut Output<B>, depth: usize) {
        out.text(self.line_separator);
        out.repeat(self.indent, depth);
    }
}
