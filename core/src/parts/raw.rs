//! Decoding in which the values at some places stay text.
//!
//! One walk finds the places and checks the text, a second one decodes what is around them. A place may have `*` for any element or
//! member. Of two places that lie in each other the outer one counts.

use super::check::check;
use super::fragments::{Fragments, Numbers};
use crate::builder::TermBuilder;
use crate::decode::cursor::{Cursor, Follows};
use crate::decode::{self, Places, Scratch, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::etf::check::Policy;
use crate::options::{DecodeOptions, Duplicates};
use crate::room::room;
use crate::scan::wire::{Reader, number, search};
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;

/// The kind of a plan, its first byte.
const RAW: u8 = 3;
/// The second byte of a plan in which all numbers stay text, and nothing else.
const NUMBERS: u8 = 1;
/// The same for those alone whose text is another one when they are written again: a fraction or an exponent, which may then be any, or
/// `-0`.
const ALTERED: u8 = 2;
/// Bytes before the root.
const HEADER: usize = 4;

/// Places, as a tree of their tokens. A node has whether a place ends there (`u8`), where its node for any token is (`u32`, 0 for none),
/// and the number of named ones (`u32`) with where each name is (`u32`), sorted; behind a name, which stands behind its length
/// (`u32`), is its node.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a [u8]);

struct Node<'a> {
    ends: bool,
    any: usize,
    names: &'a [u8],
}

impl<'a> Raw<'a> {
    /// Reads a plan. `None`: these bytes are none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() > HEADER && bytes[0] == RAW).then_some(Self(bytes))
    }

    /// What an honest answer about a document of this length can look like: text is told by its place.
    pub fn policy(options: &DecodeOptions, json_len: usize) -> Policy {
        let max_len = json_len.saturating_mul(24).saturating_add(64);
        Policy { raw: true, max_len, ..Policy::new(&DecodeOptions { max_nodes: 0, ..*options }, json_len) }
    }

    /// Which numbers stay text, if nothing else does.
    fn numbers(&self) -> Option<Numbers> {
        match self.0.get(1) {
            Some(&NUMBERS) => Some(Numbers::All),
            Some(&ALTERED) => Some(Numbers::Altered),
            _ => None,
        }
    }

    /// A node; one without any below it for a place where there is none.
    fn node(&self, place: usize) -> Node<'a> {
        let read = || {
            let mut reader = Reader(self.0.get(place..)?);
            Some(Node { ends: reader.flag()?, any: reader.u32()? as usize, names: reader.numbers()? })
        };
        read().unwrap_or(Node { ends: false, any: 0, names: &[] })
    }

    fn named(&self, node: &Node<'a>, name: &[u8]) -> Option<usize> {
        search(node.names.len() / 4, |place| {
            let place = number(node.names, place);
            Some((Reader(self.0.get(place..)?).slice()?.cmp(name), place + 4 + name.len()))
        })
    }
}

/// Decodes a text, of which the values at these places are fragments. `false`: there are more than `most_nodes` values and keys (0
/// is no limit).
///
/// # Errors
/// Those of [`decode`](crate::decode()).
pub fn with_raw<B: TermBuilder>(
    json: &[u8],
    raw: &Raw<'_>,
    options: &DecodeOptions,
    most_nodes: u64,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<bool, Error> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    if let Some(numbers) = raw.numbers() {
        match numbers {
            Numbers::All => check(json, options, scratch),
            Numbers::Altered => check(json, &options.of_any_number(), scratch),
        }?;
        let plain = DecodeOptions { max_nodes: most_nodes, ..*options };
        let fragments = &mut Fragments::of_numbers(builder, json, numbers, most_nodes);
        return most(decode::decode(json, &plain, scratch, fragments));
    }
    if options.duplicates == Duplicates::Error {
        decode::validate(json, 0, options, scratch)?;
    }
    let mut places = core::mem::take(&mut scratch.places);
    let found = with_kernel!(kernel => find(kernel, json, raw, options, &mut places));
    scratch.places = places;
    let options = DecodeOptions { max_nodes: most_nodes, ..*options };
    most(decode::decode(json, &options, scratch, &mut Fragments::new(builder, json, &found?)))
}

/// `false`: more would have to be built than was allowed.
fn most(result: Result<(), Error>) -> Result<bool, Error> {
    match result {
        Err(Error { kind: ErrorKind::MaxNodes, .. }) => Ok(false),
        result => result.map(|()| true),
    }
}

/// An open container on the way to a place.
struct Level {
    object: bool,
    /// The current element.
    element: u64,
    /// The nodes of the container.
    nodes: (usize, usize),
}

struct Walk<'a, K> {
    cursor: Cursor<'a, K>,
    raw: &'a Raw<'a>,
    levels: Vec<Level>,
    /// The nodes of the open containers, then those of the current value.
    nodes: Vec<usize>,
    found: Vec<(usize, usize)>,
}

enum Next {
    Value(usize),
    Member(usize),
    Ended(usize),
}

#[inline(always)]
fn find<K: Kernel>(
    kernel: K,
    json: &[u8],
    raw: &Raw<'_>,
    options: &DecodeOptions,
    places: &mut Places,
) -> Result<Vec<(usize, usize)>, Error> {
    let Places { open, text, .. } = places;
    let cursor = Cursor::new(kernel, json, options, open, text);
    let mut walk = Walk { cursor, raw, levels: Vec::new(), nodes: Vec::new(), found: Vec::new() };
    walk.nodes.push(HEADER);
    let mut next = Next::Value(walk.cursor.space(0));
    loop {
        next = match next {
            Next::Value(pos) => walk.value(pos)?,
            Next::Member(pos) => walk.member(pos)?,
            Next::Ended(end) if walk.levels.is_empty() => {
                walk.cursor.end_of_document(end)?;
                return Ok(walk.found);
            }
            Next::Ended(end) => walk.after(end)?,
        };
    }
}

impl<K: Kernel> Walk<'_, K> {
    /// Where the nodes of the current value start.
    fn base(&self) -> usize {
        self.levels.last().map_or(0, |level| level.nodes.1)
    }

    fn value(&mut self, pos: usize) -> Result<Next, Error> {
        let base = self.base();
        let raw = self.raw;
        let ends = self.nodes[base..].iter().any(|&place| raw.node(place).ends);
        match self.cursor.json.get(pos) {
            Some(&bracket @ (b'{' | b'[')) if !ends && self.nodes.len() > base => self.open(pos, bracket == b'{', base),
            _ => {
                self.nodes.truncate(base);
                let end = self.cursor.value(pos, self.levels.len())?;
                if ends {
                    room(&mut self.found, 1).map_err(|kind| Error::new(kind, pos))?;
                    self.found.push((pos, end));
                }
                Ok(Next::Ended(end))
            }
        }
    }

    fn open(&mut self, pos: usize, object: bool, base: usize) -> Result<Next, Error> {
        self.cursor.count(pos)?;
        self.cursor.check_depth(pos, self.levels.len())?;
        let inside = match self.cursor.inside(pos) {
            Follows::Item(inside) => inside,
            Follows::Close(bracket) => {
                self.nodes.truncate(base);
                return Ok(Next::Ended(bracket + 1));
            }
        };
        room(&mut self.levels, 1).map_err(|kind| Error::new(kind, pos))?;
        self.levels.push(Level { object, element: 0, nodes: (base, self.nodes.len()) });
        Ok(Next::Member(inside))
    }

    fn member(&mut self, pos: usize) -> Result<Next, Error> {
        let Some(level) = self.levels.last() else { return Ok(Next::Ended(pos)) };
        let (first, behind) = level.nodes;
        room(&mut self.nodes, 2 * (behind - first)).map_err(|kind| Error::new(kind, pos))?;
        if !level.object {
            let mut digits = itoa::Buffer::new();
            below(self.raw, &mut self.nodes, (first, behind), digits.format(level.element).as_bytes());
            return Ok(Next::Value(pos));
        }
        let (text, end) = self.cursor.key(pos)?;
        below(self.raw, &mut self.nodes, (first, behind), text.bytes());
        Ok(Next::Value(self.cursor.colon(end)?))
    }

    fn after(&mut self, pos: usize) -> Result<Next, Error> {
        let Some(level) = self.levels.last_mut() else { return Ok(Next::Ended(pos)) };
        match self.cursor.behind(pos, level.object)? {
            Follows::Item(start) => {
                level.element += 1;
                Ok(Next::Member(start))
            }
            Follows::Close(bracket) => {
                let base = level.nodes.0;
                self.levels.pop();
                self.nodes.truncate(base);
                Ok(Next::Ended(bracket + 1))
            }
        }
    }
}

/// Appends the nodes that this token leads to.
fn below(raw: &Raw<'_>, nodes: &mut Vec<usize>, (first, behind): (usize, usize), token: &[u8]) {
    for number in first..behind {
        let node = raw.node(nodes[number]);
        nodes.extend(raw.named(&node, token));
        if node.any != 0 {
            nodes.push(node.any);
        }
    }
}
