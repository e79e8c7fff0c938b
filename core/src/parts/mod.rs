//! Parts of a document: only what is wanted becomes terms.

mod plan;
mod select;

pub use plan::Plan;
pub use select::select;

use alloc::vec::Vec;

/// Buffers that are kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Offset and length of each answer.
    found: Vec<Option<(usize, usize)>>,
    /// For each node the container in which its name was seen last.
    seen: Vec<u64>,
    /// Open containers of the text that is passed over.
    open: Vec<bool>,
    text: Vec<u8>,
}

impl Places {
    pub(crate) fn capacity(&self) -> usize {
        self.found.capacity().max(self.seen.capacity()).max(self.open.capacity()).max(self.text.capacity())
    }
}
