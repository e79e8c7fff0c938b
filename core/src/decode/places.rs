//! Buffers for parts of a document, which are kept between calls.

use alloc::vec::Vec;

/// The place of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Its number in the plan.
    pub answer: usize,
    pub start: usize,
    pub len: usize,
}

impl Found {
    /// The number of what a later member of the same name has replaced. It sorts behind the answers.
    pub const REPLACED: usize = usize::MAX;
}

/// A member of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The number of the object.
    pub container: u64,
    /// What was found in it: the first, and the one behind the last.
    pub first: usize,
    pub behind: usize,
}

/// What a walk over a document notes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// What was found, in the order of the text.
    pub found: Vec<Found>,
    /// For each node the member of its name that was seen last.
    pub seen: Vec<Seen>,
    /// Containers so far, of all documents: none has a number that another had.
    pub containers: u64,
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
