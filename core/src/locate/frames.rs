//! Which containers are open at an offset, and where in each: the structure of a text, and nothing more of it.

use super::MAX_FRAMES;

/// An open container. The two low bits are the tag, the others the element's index or the offset of the key's opening
/// quote.
#[derive(Clone, Copy)]
pub(super) struct Frame(u64);

impl Frame {
    const TAG: u64 = 3;
    /// In an array, at the element of this index.
    pub(super) const ARRAY: u64 = 0;
    /// In an object, where no key is complete.
    pub(super) const OBJECT: u64 = 1;
    /// After a key.
    const KEY: u64 = 2;
    /// After a colon.
    const VALUE: u64 = 3;

    pub(super) const fn tag(self) -> u64 {
        self.0 & Self::TAG
    }

    pub(super) const fn bracket(self) -> u8 {
        if self.tag() == Self::ARRAY { b'[' } else { b'{' }
    }

    pub(super) const fn number(self) -> u64 {
        self.0 >> 2
    }

    const fn key(quote: usize) -> Self {
        Self((quote as u64) << 2 | Self::KEY)
    }

    /// What stands at `at` in the container, which neither opens nor closes.
    pub(super) fn take(&mut self, step: &Step, at: usize) {
        match step {
            Step::Comma => self.comma(),
            Step::Colon => self.colon(),
            Step::Text if self.tag() == Self::OBJECT => *self = Self::key(at),
            _ => {}
        }
    }

    fn comma(&mut self) {
        match self.tag() {
            Self::ARRAY => self.0 += 4,
            _ => self.0 = Self::OBJECT,
        }
    }

    fn colon(&mut self) {
        match self.tag() {
            Self::KEY => self.0 |= Self::VALUE,
            // A key the encoder left out: the value has no name, but a string in it is not a key either.
            Self::OBJECT => self.0 = Self::VALUE | NO_KEY << 2,
            _ => {}
        }
    }
}

/// The number of a key that the encoder left out.
pub(super) const NO_KEY: u64 = u64::MAX >> 2;

/// Containers open at the end of a text, as far as they are kept: depths from `from` on.
pub(super) struct Open {
    from: usize,
    pub(super) depth: usize,
    pub(super) frames: [Frame; MAX_FRAMES],
}

impl Open {
    /// Walks over the text. The memory is the same for every text, since a hostile one may open a container with every
    /// byte of it.
    pub(super) fn at_end(before: &[u8], from: usize) -> Self {
        let mut open = Self { from, depth: 0, frames: [Frame(0); MAX_FRAMES] };
        let mut at = 0;
        while let Some((next, step)) = step(before, at) {
            match step {
                Step::Enter(frame) => open.enter(frame),
                Step::Leave => open.depth = open.depth.saturating_sub(1),
                step => open.innermost().into_iter().for_each(|frame| frame.take(&step, at)),
            }
            at = next;
        }
        open
    }

    fn enter(&mut self, new: Frame) {
        self.depth += 1;
        self.innermost().into_iter().for_each(|frame| *frame = new);
    }

    /// The frame of the innermost container, if it is one of those that are kept.
    pub(super) fn innermost(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.wrapping_sub(1).wrapping_sub(self.from))
    }
}

/// What stands at an offset, as far as paths go.
pub(super) enum Step {
    Enter(Frame),
    Leave,
    Comma,
    Colon,
    Text,
    Other,
}

/// What stands at `at`, and the offset behind it. `None`: the text ends there, or inside a string.
#[inline(always)]
pub(super) fn step(before: &[u8], at: usize) -> Option<(usize, Step)> {
    let step = match before.get(at)? {
        b'[' => Step::Enter(Frame(Frame::ARRAY)),
        b'{' => Step::Enter(Frame(Frame::OBJECT)),
        b']' | b'}' => Step::Leave,
        b',' => Step::Comma,
        b':' => Step::Colon,
        b'"' => return string_end(before, at).map(|end| (end, Step::Text)),
        _ => Step::Other,
    };
    Some((at + 1, step))
}

/// The offset after the string's closing quote, when it has one.
fn string_end(text: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
