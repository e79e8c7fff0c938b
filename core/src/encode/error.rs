//! Why a term is not encoded, and what the shell has to add to what is.

use alloc::string::String;
use alloc::vec::Vec;

/// Why a term is not encoded. The number is the code that shells pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EncodeErrorKind {
    /// A binary that is not UTF-8; the payload is the binary.
    InvalidUtf8 = 1,
    /// Two keys of one map become the same text under `maps: :strict`; the payload is that text.
    DuplicateKey = 2,
    /// Nested deeper than `max_depth`.
    MaxDepth = 3,
    /// The output is longer than `max_bytes`.
    MaxBytes = 4,
    /// A map key that cannot be a text.
    InvalidKey = 5,
    /// An improper list.
    ImproperList = 6,
    /// Bytes that are no term.
    Unsupported = 7,
    /// The shell could not get memory.
    OutOfMemory = 8,
    /// The work budget is used up: the shell starts over where it has time. Not an error that a caller sees.
    Budget = 9,
}

/// An error and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// What is wrong.
    pub kind: EncodeErrorKind,
    /// JSON Pointer (RFC 6901) of the term that failed.
    pub path: String,
    /// More about it, by kind.
    pub payload: Vec<u8>,
}

impl EncodeError {
    /// A walk without a budget that gave up.
    #[cold]
    pub fn out_of_memory() -> Self {
        Self { kind: EncodeErrorKind::OutOfMemory, path: String::new(), payload: Vec::new() }
    }

    /// The budget is used up.
    #[cold]
    pub(super) fn budget() -> Self {
        Self { kind: EncodeErrorKind::Budget, path: String::new(), payload: Vec::new() }
    }
}

/// A term that the core leaves to the shell: nothing is written at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole<T> {
    /// Offset into the output at which its text belongs.
    pub offset: usize,
    /// Depth at which it stands: the number of containers around it.
    pub depth: u32,
    /// The term.
    pub term: T,
    /// It stands in key position: its text is a string, quotes included; the colon is there already.
    pub key: bool,
}
