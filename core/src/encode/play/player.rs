//! What a tape is played with, and what calls can keep of it.

use crate::output::Output;
use crate::simd::copy::SLACK;
use alloc::vec::Vec;

/// Where a container that waits for the end of another one goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its next key.
    pub(super) key: usize,
    /// Keys that are left.
    pub(super) left: usize,
}

/// The number of keys left, outside maps with a shape.
pub(super) const NO_SHAPE: usize = usize::MAX;

/// Bytes of a key that are copied without a look at its length.
pub(super) const BLOCK: usize = 2 * SLACK;

/// What a tape is played with, for the next one to use again.
#[derive(Debug, Default)]
pub struct Player {
    pub(super) open: Vec<Frame>,
    /// The keys of shapes, each in quotes and with its colon. The buffer has [`BLOCK`] bytes more.
    pub(super) text: Output<Vec<u8>>,
    /// Where each stands.
    pub(super) keys: Vec<(u32, u32)>,
    /// The first key of each shape, and how many there are.
    pub(super) shapes: Vec<(u32, u32)>,
    /// Where the holes are in the output.
    pub(super) holes: Vec<usize>,
    /// Where open containers start, and the holes in front of them; only the careful loop knows.
    pub(super) starts: Vec<(usize, usize)>,
}

impl Player {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.text.restart();
        self.keys.clear();
        self.shapes.clear();
        self.holes.clear();
        self.starts.clear();
    }

    /// Gives back what only a large tape needs.
    pub fn shrink(&mut self) {
        const KEEP: usize = 4096;
        self.clear();
        self.open.shrink_to(KEEP);
        self.text = Output::default();
        self.keys.shrink_to(KEEP);
        self.shapes.shrink_to(KEEP);
        self.holes.shrink_to(KEEP);
        self.starts.shrink_to(KEEP);
    }

    /// Where the holes are in the output, in their order.
    pub fn holes(&self) -> &[usize] {
        &self.holes
    }
}
