//! The two texts that a well-known struct has.

/// Which notation a struct gets as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// As a value: `to_iso8601` and the like.
    Value,
    /// As a key: what `String.Chars` gives.
    Key,
}
