//! What a walk over a term holds: an explicit stack of open containers, the output and the limits.

use super::error::{EncodeErrorKind, Hole};
use super::gathered::Gathered;
use super::limits;
use super::reader::TermReader;
use crate::options::EncodeOptions;
use crate::options::shape::{Shape, Shapes};
use alloc::vec::Vec;

/// Longer strings take too long for a short slice: a string of control characters of this length takes half of it.
pub(super) const LONG_STRING: usize = 128 * 1024;

/// With longer strings the clock starts where others wait: written as escapes, they take some twenty microseconds.
pub(super) const TIMED_STRING: usize = 4 * 1024;

/// Longer strings are checked against the limits.
pub(super) const NOTABLE_STRING: usize = 16 * 1024;

/// Integers of more bytes take too long for a short slice: turning binary digits into decimal ones is not linear.
pub(super) const LONG_INTEGER: usize = 512;

/// An open container and the place in it.
pub(super) enum Frame<'t, R: TermReader<'t>> {
    List(R::List),
    /// A list with a place on the stack of places, because pointers lead into it.
    Counted(R::List),
    Tuple(R::Tuple),
    Map(R::Entries),
    /// A struct as an object: its map without `__struct__`.
    Struct(R::Entries),
    /// The keys of a map as an array, the value of the last key, and the struct around it (MapSet).
    Set(R::Entries, R::Term, R::Map),
    /// Members as a list of pairs, and the struct around it (OrderedObject).
    Pairs(R::List, R::Map),
    /// A struct by its plan; its mark is on the stack of marks.
    Planned(R::Plan, R::Map),
    /// A map whose members are redacted, renamed or left out in passing, and the pointers that may end inside it; its mark is on the
    /// stack of marks.
    Shaped(R::Entries, u64),
    /// A struct by its plan, in the same way.
    ShapedPlan(R::Plan, R::Map, u64),
    /// A map whose keys are known to the tape.
    Values(R::Values),
    /// A struct of which that is so of the fields of its plan.
    Fields(R::Plan, R::Map),
    /// Members that were gathered first, and the map they are from.
    Gathered(R::Map),
}

/// Where the text and the holes of a container start, in case it has to be taken back: a struct with a plan that lacks a
/// field, or a map with a key that only the shell knows.
pub(super) struct Mark<T> {
    pub term: T,
    pub start: usize,
    pub holes: usize,
}

/// The elements of an open array, into which pointers may lead.
pub(super) struct Items {
    /// The pointers that may end inside it.
    pub scope: u64,
    /// Number of the next element.
    pub next: u64,
}

/// Memory for a walk, so that a shell which keeps it allocates nothing for a small document.
pub struct Stack<'t, R: TermReader<'t>> {
    pub(super) frames: Vec<Frame<'t, R>>,
    pub(super) marks: Vec<Mark<R::Term>>,
    pub(super) shapes: Shapes,
    /// Parts that the last walk visited and left no text of.
    pub(super) lost: u64,
}

impl<'t, R: TermReader<'t>> Default for Stack<'t, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'t, R: TermReader<'t>> Stack<'t, R> {
    /// No memory yet.
    pub const fn new() -> Self {
        Self { frames: Vec::new(), marks: Vec::new(), shapes: Shapes::new(), lost: 0 }
    }

    /// Parts that the last walk visited and left no text of, if they are worth counting: a term that is written in several calls can have
    /// as many in each of them as the limits allow.
    #[inline(always)]
    pub fn lost(&self) -> Option<u64> {
        (self.lost >= limits::COUNTED).then_some(self.lost)
    }

    /// Open containers kept as memory between calls.
    const KEEP: usize = 256;

    /// The memory for another reader: the standard library collects in place what has the same layout.
    #[inline(always)]
    pub fn recycled<'u, S: TermReader<'u>>(mut self) -> Stack<'u, S> {
        self.frames.clear();
        self.frames.shrink_to(Self::KEEP);
        self.marks.clear();
        self.marks.shrink_to(Self::KEEP);
        Stack {
            frames: self.frames.into_iter().map(|_| unreachable!("the stack is empty")).collect(),
            marks: self.marks.into_iter().map(|_| unreachable!("the stack is empty")).collect(),
            shapes: self.shapes,
            lost: 0,
        }
    }
}

/// A list of records, in part written.
pub(super) struct Records<L> {
    /// Those to come.
    pub rest: L,
    /// Records written.
    pub number: usize,
    /// Another one is begun.
    pub begun: bool,
}

/// What the next step of the walk is.
pub(super) enum Next<T> {
    /// Write this value.
    Value(T),
    /// The value is written: continue in the innermost container.
    Done,
}

pub(super) type Walk<T> = Result<T, EncodeErrorKind>;

pub(super) struct Driver<'a, 't, K, R: TermReader<'t>, W> {
    /// What the call does to members, unless it does nothing.
    pub shape: Option<&'a Shape>,
    /// The pointers that may end inside the value to come.
    pub scope: u64,
    /// The same of the open arrays, if there are pointers.
    pub places: Vec<Items>,
    pub kernel: K,
    pub reader: &'a mut R,
    pub options: &'a EncodeOptions<'a>,
    pub out: &'a mut W,
    pub stack: &'a mut Vec<Frame<'t, R>>,
    pub holes: Vec<Hole<R::Term>>,
    pub gathered: Gathered<R::Term>,
    pub marks: &'a mut Vec<Mark<R::Term>>,
    pub payload: Vec<u8>,
    pub limit: usize,
    pub start: usize,
    /// The most containers that may be open here.
    pub most_open: usize,
    /// As many of them as there is memory for.
    pub deepest: usize,
    /// The records to come, of a call that writes records.
    pub records: Option<Records<R::List>>,
    /// The walk stopped where it can go on.
    pub between_values: bool,
    /// Parts that were visited and left no text.
    pub parts: u64,
}
