//! What a call is given of a stream, and what came of it.

use crate::error::ErrorKind;
use alloc::string::String;

/// What came of a piece. The builder holds one list more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Length of the list: values, each behind its pointer if the plan says so; or the events of a partial document.
    pub items: usize,
    /// The bytes from this offset on were not processed.
    pub kept: usize,
    /// Why it stopped.
    pub end: End,
}

/// Why a piece was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is used up. What is kept has to wait for more.
    More,
    /// Enough for one call: what is kept can come again at once.
    Again,
    /// The value whose bytes were kept ends here, or is wrong: they have to come with this piece, as one.
    Join,
    /// The stream is wrong.
    Wrong(Trouble),
}

/// An error in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Bytes from the start of the piece; negative when it lies in an earlier one.
    pub offset: i64,
    /// Line, from 1, in the stream.
    pub line: u64,
    /// Column, from 1, in Unicode code points.
    pub column: u64,
    /// JSON Pointer of the value or key reached.
    pub path: String,
    /// Where the current value starts in the piece, and where it ends as far as that is known.
    pub value: (usize, usize),
}

/// What a call is given beside the piece.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The new bytes, or joined ones.
    pub bytes: &'a [u8],
    /// Bytes that the shell keeps.
    pub held: u64,
    /// Nothing follows.
    pub last: bool,
}
