//! What a shell supplies to decode into.

use crate::error::ErrorKind;

/// The bytes of a string, and whether they stand in the input as they are.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// A run of the input without escapes, starting at this offset.
    Input(usize, &'a [u8]),
    /// Unescaped into a buffer that is gone after the call.
    Unescaped(&'a [u8]),
}

impl<'a> Text<'a> {
    /// The bytes, wherever they stand.
    #[inline(always)]
    pub const fn bytes(self) -> &'a [u8] {
        match self {
            Text::Input(_, bytes) | Text::Unescaped(bytes) => bytes,
        }
    }
}

/// An object key: its text, and two words that tell keys apart cheaply.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The key's bytes.
    pub text: Text<'a>,
    /// The first 8 bytes, little endian, zero beyond the end.
    pub head: u64,
    /// The last 8 bytes, little endian; the same as `head` for a key of at most 8 bytes.
    pub tail: u64,
}

impl<'a> Key<'a> {
    /// The key with this text.
    #[inline(always)]
    pub fn new(text: Text<'a>) -> Self {
        let bytes = text.bytes();
        match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(head), Some(tail)) => Self { text, head: u64::from_le_bytes(*head), tail: u64::from_le_bytes(*tail) },
            _ => {
                let head = short_word(bytes);
                Self { text, head, tail: head }
            }
        }
    }
}

impl<'a> Key<'a> {
    /// The key with this text, for a builder that does not look at its words.
    #[inline(always)]
    pub const fn without_words(text: Text<'a>) -> Self {
        Self { text, head: 0, tail: 0 }
    }
}

/// A key that stands in the input without escapes, to know it again.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenKey {
    head: u64,
    tail: u64,
    /// Offset in the input.
    start: usize,
    len: usize,
}

impl Key<'_> {
    /// Head, tail and length tell keys of up to this many bytes apart.
    pub const EXACT: usize = 16;

    /// This key, which stands at `start` of the input.
    #[inline(always)]
    pub const fn seen(&self, start: usize) -> SeenKey {
        SeenKey { head: self.head, tail: self.tail, start, len: self.text.bytes().len() }
    }

    /// Whether this is the key that was seen in the same input.
    #[inline(always)]
    pub fn is(&self, seen: &SeenKey, input: &[u8]) -> bool {
        let text = self.text.bytes();
        seen.len == text.len()
            && seen.head == self.head
            && seen.tail == self.tail
            && (text.len() <= Self::EXACT || input.get(seen.start..seen.start + text.len()) == Some(text))
    }
}

/// Fewer than 8 bytes as a little-endian word.
#[inline(always)]
pub(crate) fn short_word(bytes: &[u8]) -> u64 {
    // Two overlapping reads of 4, or three single bytes, instead of a loop over up to 7.
    let len = bytes.len();
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(low), Some(high)) => {
            u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << (8 * (len - 4))
        }
        _ if len == 0 => 0,
        _ => {
            u64::from(bytes[0])
                | u64::from(bytes[len / 2]) << (8 * (len / 2))
                | u64::from(bytes[len - 1]) << (8 * (len - 1))
        }
    }
}

/// Members of the largest map whose keys the VM keeps sorted in a tuple (`MAP_SMALL_MAP_LIMIT` in `erts/emulator/beam/erl_map.h`).
pub const SMALL_MAP: usize = 32;

/// Members of a finished object that do not count, by their number in it (ascending), because another has the same key.
pub type Dropped<'a> = &'a [u32];

/// Takes the values of a document in the order in which they end (children before their container), keys before their
/// values. Every method but the two `begin_` ones adds one value or key.
///
/// An `Err` stops decoding; the driver adds the offset.
pub trait TermBuilder {
    /// Nanoseconds until whoever drives the builder has to be done. Asked every few thousand values, and before a large container is made.
    fn time_left(&self) -> u64 {
        u64::MAX
    }
    /// All that it is given is dropped, so nothing that takes time is computed for it.
    const DROPS: bool = false;
    /// Whether [`TermBuilder::key`] looks at the two words of a key.
    const WORDS: bool = true;
    /// Some values stay text: see [`TermBuilder::skipped`].
    const SKIPS: bool = false;
    /// Adds the value at this offset as text, if it stays text; gives the offset behind it.
    fn skipped(&mut self, _pos: usize) -> Result<Option<usize>, ErrorKind> {
        Ok(None)
    }
    /// Adds a part of the input that stays text.
    fn fragment(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.string(text)
    }
    /// Adds `null`.
    fn null(&mut self) -> Result<(), ErrorKind>;
    /// Adds `true` or `false`.
    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind>;
    /// Adds an integer of 64 bits.
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind>;
    /// Adds an integer of any size, by sign and little-endian magnitude (no leading zero byte at the top).
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind>;
    /// Adds a finite float.
    fn float(&mut self, value: f64) -> Result<(), ErrorKind>;
    /// Adds a decimal: `(-1)^negative * coefficient * 10^exponent`, the coefficient a little-endian magnitude.
    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind>;
    /// Adds a string.
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind>;
    /// Adds an object key.
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind>;
    /// An array starts.
    fn begin_array(&mut self);
    /// An array ends that has this many elements.
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind>;
    /// An object starts.
    fn begin_object(&mut self);
    /// An object ends that has this many members, if it can end without being told which of them to drop: a builder whose
    /// maps refuse repeated keys spares the core the search for them. `false`: nothing has changed, and
    /// [`TermBuilder::end_object`] follows.
    #[inline(always)]
    fn end_distinct(&mut self, _len: usize) -> Result<bool, ErrorKind> {
        Ok(false)
    }
    /// Whether objects may keep repeated keys, because whoever reads them refuses such objects and asks again. The core then
    /// does not look for them, except where a repeated key is an error.
    #[inline(always)]
    fn keeps_repeats(&self) -> bool {
        false
    }
    /// An object ends that has this many members, `dropped` among them.
    fn end_object(&mut self, len: usize, dropped: Dropped<'_>) -> Result<(), ErrorKind>;
    /// An object ends that has this many members, in which nobody has looked for repeated keys. `false`: they repeat, and the builder
    /// refuses that.
    #[inline(always)]
    fn end_unsearched(&mut self, len: usize) -> Result<bool, ErrorKind> {
        self.end_object(len, &[]).map(|()| true)
    }
}

/// A builder that can forget a value that turned out to be incomplete, or wrong, among others that stay.
pub trait Rewind: TermBuilder {
    /// How far it was.
    type Mark: Copy;
    /// Remembers how far it is.
    fn mark(&self) -> Self::Mark;
    /// Forgets what was added since.
    fn rewind(&mut self, mark: Self::Mark);
}

/// The methods of a builder that ignores everything but numbers.
macro_rules! numbers_only {
    () => {
        fn null(&mut self) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn boolean(&mut self, _: bool) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn string(&mut self, _: $crate::Text<'_>) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn key(&mut self, _: $crate::Key<'_>) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn begin_array(&mut self) {}
        fn end_array(&mut self, _: usize) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn begin_object(&mut self) {}
        fn end_object(&mut self, _: usize, _: $crate::builder::Dropped<'_>) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
    };
}
pub(crate) use numbers_only;

/// The rest of the methods, of a builder that ignores numbers, too.
macro_rules! no_numbers {
    () => {
        fn integer(&mut self, _: i64) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn big_integer(&mut self, _: bool, _: &[u8]) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn float(&mut self, _: f64) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
        fn decimal(&mut self, _: bool, _: &[u8], _: i64) -> Result<(), $crate::ErrorKind> {
            Ok(())
        }
    };
}

/// A builder for texts of which only the errors are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl TermBuilder for Nothing {
    const DROPS: bool = true;
    const WORDS: bool = false;
    numbers_only!();
    no_numbers!();
}

impl Rewind for Nothing {
    type Mark = ();
    fn mark(&self) {}
    fn rewind(&mut self, (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_again_by_their_whole_length() {
        let input = b"0123456789abcdef";
        let key = Key::new(Text::Input(0, input));
        let seen = key.seen(0);
        assert!(key.is(&seen, input));
        assert!(!key.is(&SeenKey { len: input.len() + usize::MAX / 2 + 1, ..seen }, input));
        assert!(!key.is(&SeenKey { head: 0, ..seen }, input));
        assert!(!key.is(&SeenKey { tail: 0, ..seen }, input));
    }

    #[test]
    fn long_keys_are_compared_byte_by_byte() {
        let input = b"0123456789abcdefgh0123456789Xbcdefgh01234567";
        let key = |start: usize| Key::new(Text::Input(start, &input[start..start + 18]));
        assert!(key(0).is(&key(0).seen(0), input));
        let other = SeenKey { start: 18, ..key(0).seen(0) };
        assert!(!key(0).is(&other, input));
    }
}
