//! Buffers for parts of a document, which are kept between calls.

use alloc::vec::Vec;

/// What a walk over a document notes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Offset and length of each answer.
    pub found: Vec<Option<(usize, usize)>>,
    /// For each node the container in which its name was seen last.
    pub seen: Vec<u64>,
    /// Open containers of the text that is passed over.
    pub open: Vec<bool>,
    /// What escapes stand for.
    pub text: Vec<u8>,
}

impl Places {
    pub fn capacity(&self) -> usize {
        self.found.capacity().max(self.seen.capacity()).max(self.open.capacity()).max(self.text.capacity())
    }
}
