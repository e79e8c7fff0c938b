//! Which parts of a document are wanted: a tree of the tokens of all pointers, read where it stands.
//!
//! Elixir writes it once for a list of pointers (`lib/rustyjson/paths.ex`). A call reads of it only what it needs, so that a
//! plan costs a small document nothing.

use crate::etf::check::Policy;
use crate::options::DecodeOptions;
use crate::scan::wire::{Reader, number, search};

/// The kind of a plan, its first byte.
const SELECT: u8 = 1;
/// Bytes before the root.
const HEADER: usize = 12;
const RAW: u8 = 1;
const TRUSTED: u8 = 2;

/// A plan: kind and flags (`u8` each), the most answers that share a byte of the document (`u16`), the number of answers and the
/// number of nodes (`u32` each), then the root. Flags are 1 for parts that stay text, 2 for a text that is not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    bytes: &'a [u8],
    /// Parts are places in the text.
    pub raw: bool,
    /// The text is trusted: what is not needed is not read.
    pub trusted: bool,
    /// Pointers that lead to different places.
    pub answers: usize,
    nodes: usize,
    overlap: usize,
}

/// A place that pointers lead to, or through: its number (`u32`), the number of its answer plus one or 0 (`u32`), the answers
/// at it and below (`u32` twice, the first and the one behind the last), then members and elements below, each the number of
/// them (`u32`) and for each its place in the plan (`u32`). Members are sorted by name, elements by index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node<'a> {
    pub number: usize,
    pub answer: Option<usize>,
    pub first: usize,
    pub behind: usize,
    names: &'a [u8],
    indices: &'a [u8],
}

impl<'a> Plan<'a> {
    /// Reads a plan. `None`: these bytes are none.
    #[inline(always)]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let &[kind, flags, a, b, ..] = bytes.first_chunk::<HEADER>()?;
        let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
        let (answers, nodes) = (number(4)?, number(8)?);
        let overlap = u16::from_le_bytes([a, b]).into();
        // Each has its place in the plan.
        let possible = kind == SELECT && answers <= bytes.len() && nodes <= bytes.len();
        possible.then_some(Self {
            bytes,
            raw: flags & RAW != 0,
            trusted: flags & TRUSTED != 0,
            answers,
            nodes,
            overlap,
        })
    }

    /// What an honest answer about a document of this length can look like. It is a list one level around the values; those
    /// that overlap are built each by itself; and how many values each has is not told apart.
    pub fn policy(&self, options: &DecodeOptions, json_len: usize) -> Policy {
        let values = json_len.saturating_mul(if self.raw { 0 } else { self.overlap });
        let len = values.saturating_add(self.answers * 16).saturating_add(16);
        let max_depth = options.max_depth.saturating_add(1);
        Policy::new(&DecodeOptions { max_depth, max_nodes: 0, ..*options }, len)
    }

    /// The most answers that share a byte of the document.
    pub(crate) const fn overlap(&self) -> usize {
        self.overlap
    }

    pub(super) const fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn root(&self) -> Node<'a> {
        self.node(&self.bytes[HEADER..])
    }

    /// The node that starts here; one without a name for bytes that are none.
    fn node(&self, bytes: &'a [u8]) -> Node<'a> {
        read(&mut Reader(bytes))
            .filter(|node| node.number < self.nodes && node.behind <= self.answers)
            .unwrap_or_default()
    }

    fn at(&self, places: &[u8], place: usize) -> &'a [u8] {
        self.bytes.get(number(places, place)..).unwrap_or_default()
    }

    /// The place of the member of this name.
    #[inline(always)]
    pub(super) fn member(&self, node: &Node<'a>, name: &[u8]) -> Option<Node<'a>> {
        let node = search(node.names.len() / 4, |place| {
            let mut reader = Reader(self.at(node.names, place));
            Some((reader.slice()?.cmp(name), reader.0))
        })?;
        Some(self.node(node))
    }

    /// The index of the wanted element of this number, and its place.
    pub(super) fn element(&self, node: &Node<'a>, number: usize) -> Option<(u64, Node<'a>)> {
        let mut reader = Reader(self.at(node.indices, number));
        // An index is also a name, which stands between.
        let index = reader.u64()?;
        reader.slice()?;
        Some((index, self.node(reader.0)))
    }
}

impl Node<'_> {
    /// Nothing below it is wanted.
    #[inline(always)]
    pub const fn is_last(&self) -> bool {
        self.names.is_empty() && self.indices.is_empty()
    }
}

fn read<'a>(reader: &mut Reader<'a>) -> Option<Node<'a>> {
    let number = reader.u32()? as usize;
    let answer = (reader.u32()? as usize).checked_sub(1);
    let (first, behind) = (reader.u32()? as usize, reader.u32()? as usize);
    let (names, indices) = (reader.numbers()?, reader.numbers()?);
    (first <= behind).then_some(Node { number, answer, first, behind, names, indices })
}
