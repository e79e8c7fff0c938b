//! A growing byte buffer with cheap checked writes.

use alloc::vec::Vec;

/// Memory an [`Output`] writes into.
pub trait Buffer {
    /// All bytes there are, initialised.
    fn bytes(&mut self) -> &mut [u8];
    /// Makes the bytes at least `len` long, keeping what is there. `false` when there is no memory.
    fn grow(&mut self, len: usize) -> bool;
}

impl Buffer for Vec<u8> {
    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        self
    }

    #[cold]
    fn grow(&mut self, len: usize) -> bool {
        ample(len, self.len().saturating_mul(2).max(256), |target| {
            let room = self.try_reserve_exact(target - self.len()).is_ok();
            if room {
                self.resize(target, 0);
            }
            room
        })
    }
}

/// Grows a buffer to what is wanted or, if there is no memory for that, to an eighth more than what is needed. A cap on memory
/// then ends a text only when the text itself is too long, and every byte is still copied only a few times.
pub fn ample(needed: usize, wanted: usize, mut grow: impl FnMut(usize) -> bool) -> bool {
    let enough = needed.saturating_add(needed / 8);
    grow(needed.max(wanted)) || enough < wanted && grow(enough)
}

/// Bytes written so far, over a [`Buffer`]. Running out of memory is remembered, not a panic: after it, writes are
/// dropped and [`Output::failed`] tells.
#[derive(Debug, Default)]
pub struct Output<B> {
    buffer: B,
    len: usize,
    failed: bool,
}

impl<B: Buffer> Output<B> {
    /// An empty output over this memory.
    pub const fn new(buffer: B) -> Self {
        Self { buffer, len: 0, failed: false }
    }

    /// Bytes written.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is written.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether memory ran out.
    pub const fn failed(&self) -> bool {
        self.failed
    }

    /// The bytes written.
    pub fn written(&mut self) -> &mut [u8] {
        &mut self.buffer.bytes()[..self.len]
    }

    /// The buffer and how much of it is written.
    pub fn into_parts(self) -> (B, usize) {
        (self.buffer, self.len)
    }

    /// The buffer, and how much of it is written.
    pub const fn parts(&mut self) -> (&mut B, usize) {
        (&mut self.buffer, self.len)
    }

    /// Forgets all that was written, and that memory ran out.
    pub const fn restart(&mut self) {
        (self.len, self.failed) = (0, false);
    }

    /// Cuts the output to this length.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Room for at least `extra` bytes: a slice from the end of what is written. Follow it by [`Output::advance`].
    /// `None` when memory ran out.
    #[inline(always)]
    pub fn room(&mut self, extra: usize) -> Option<&mut [u8]> {
        if self.buffer.bytes().len() - self.len < extra && !self.grow(extra) {
            return None;
        }
        Some(&mut self.buffer.bytes()[self.len..])
    }

    /// Counts `n` bytes of the room as written.
    #[inline(always)]
    pub fn advance(&mut self, n: usize) {
        debug_assert!(self.len + n <= self.buffer.bytes().len());
        self.len += n;
    }

    /// Appends bytes known in number at compile time.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(room) = self.room(N) {
            room[..N].copy_from_slice(&bytes);
            self.advance(N);
        }
    }

    /// Writes bytes over those at this place, unless they would end behind what the buffer has.
    #[inline(always)]
    pub fn overwrite<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(place) = self.buffer.bytes().get_mut(at..at + N) {
            place.copy_from_slice(&bytes);
        }
    }

    /// Appends the first `len` bytes of a block, which is copied whole.
    #[inline(always)]
    pub fn block<const N: usize>(&mut self, block: &[u8; N], len: usize) {
        if let Some(room) = self.room(N) {
            room[..N].copy_from_slice(block);
            self.advance(len.min(N));
        }
    }

    /// Appends bytes.
    #[inline(always)]
    pub fn slice(&mut self, bytes: &[u8]) {
        if let Some(room) = self.room(bytes.len()) {
            room[..bytes.len()].copy_from_slice(bytes);
            self.advance(bytes.len());
        }
    }

    /// Everything after this is dropped: what should be written cannot be.
    #[cold]
    pub const fn fail(&mut self) {
        self.failed = true;
    }

    /// Appends bytes `times` times. Each copy doubles the written part, so that deep indentation needs few calls.
    pub fn repeat(&mut self, bytes: &[u8], times: usize) {
        let Some(len) = bytes.len().checked_mul(times) else { return self.failed = true };
        if len == 0 {
            return;
        }
        let Some(room) = self.room(len) else { return };
        let room = &mut room[..len];
        let mut written = bytes.len();
        room[..written].copy_from_slice(bytes);
        while written < len {
            let more = written.min(len - written);
            room.copy_within(..more, written);
            written += more;
        }
        self.advance(len);
    }

    /// [`Output::slice`] for places that few documents reach: a call, which keeps the loops around them small.
    #[inline(never)]
    pub fn text(&mut self, bytes: &[u8]) {
        self.slice(bytes);
    }

    #[cold]
    fn grow(&mut self, extra: usize) -> bool {
        let grown = !self.failed && self.len.checked_add(extra).is_some_and(|len| self.buffer.grow(len));
        self.failed |= !grown;
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Output, ample};
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn asks_for_less_where_memory_is_short() {
        let asked = |needed, wanted, most| {
            let mut asked = Vec::new();
            let grown = ample(needed, wanted, |target| {
                asked.push(target);
                target <= most
            });
            (grown, asked)
        };
        assert_eq!(asked(80, 128, 128), (true, vec![128]));
        assert_eq!(asked(80, 128, 127), (true, vec![128, 90]));
        assert_eq!(asked(80, 128, 89), (false, vec![128, 90]));
        // Nothing smaller is left to ask for.
        assert_eq!(asked(120, 128, 127), (false, vec![128]));
        assert_eq!(asked(128, 64, 127), (false, vec![128]));
        assert_eq!(asked(usize::MAX, 64, 127), (false, vec![usize::MAX]));
    }

    /// At most `most` bytes.
    struct Capped {
        bytes: Vec<u8>,
        most: usize,
    }

    impl Buffer for Capped {
        fn bytes(&mut self) -> &mut [u8] {
            &mut self.bytes
        }

        fn grow(&mut self, len: usize) -> bool {
            ample(len, self.bytes.len() * 2, |target| {
                let room = target <= self.most;
                if room {
                    self.bytes.resize(target, 0);
                }
                room
            })
        }
    }

    #[test]
    fn fills_most_of_a_memory_that_is_not_a_power_of_two() {
        let mut out = Output::new(Capped { bytes: vec![0; 64], most: 200 });
        for _ in 0..17 {
            out.slice(&[b'x'; 10]);
        }
        assert!(!out.failed());
        assert_eq!(out.written(), [b'x'; 170]);
        out.slice(&[b'x'; 100]);
        assert!(out.failed());
        assert_eq!(out.len(), 170);
    }

    #[test]
    fn a_length_that_no_memory_holds_is_refused() {
        let mut bytes = vec![7];
        assert!(!Buffer::grow(&mut bytes, usize::MAX));
        assert_eq!(bytes, [7]);
    }
}
