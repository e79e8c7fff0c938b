//! Values at pointers (RFC 6901), in one pass for any number of them.
//!
//! The walk passes over the document and notes where the values are; then each is decoded by itself. So what a repeated key
//! replaces is never built, values that lie inside of others need no care, and the errors of the text come first. Reading the
//! wanted values twice costs little: they are few, or else `decode` serves better.

use super::plan::{Node, Plan};
use crate::builder::TermBuilder;
use crate::decode::cursor::{Cursor, Follows};
use crate::decode::{self, Found, Places, Scratch, Seen, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::room::room;
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;

/// Decodes the values that the plan wants. The builder holds one list afterwards: for each that is there, in the order of the
/// plan, its number and the value; or number, offset and length, if the plan says so. `false`: so much is wanted that more than
/// `most_nodes` values and keys would have to be built (0 is no limit).
///
/// # Errors
/// Those of [`decode`](crate::decode()) about the whole text; about no more of it than is needed, if the plan trusts it.
pub fn select<B: TermBuilder>(
    json: &[u8],
    plan: &Plan<'_>,
    options: &DecodeOptions,
    most_nodes: u64,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<bool, Error> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0));
    }
    select_at(json, 0, plan, options, most_nodes, scratch, builder)
}

/// The same for a document that starts at this offset of a text and ends with it. A byte order mark there is an error.
///
/// # Errors
/// Those of [`select`].
pub(crate) fn select_at<B: TermBuilder>(
    json: &[u8],
    from: usize,
    plan: &Plan<'_>,
    options: &DecodeOptions,
    most_nodes: u64,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<bool, Error> {
    let mut options = *options;
    match options.duplicates {
        _ if plan.trusted => options.duplicates = Duplicates::First,
        // Repeated keys are looked for by the driver alone.
        Duplicates::Error => decode::validate(json, from, &options, scratch)?,
        _ => {}
    }
    let mut places = core::mem::take(&mut scratch.places);
    let found = with_kernel!(kernel => find(kernel, (json, from), plan, &options, &mut places));
    // Each has one place that counts, so the order is that of the plan.
    places.found.sort_unstable_by_key(|found| found.answer);
    options.max_nodes = most_nodes;
    let result = found.and_then(|()| build(json, plan, &options, &places, scratch, builder));
    scratch.places = places;
    match result {
        Err(Error { kind: ErrorKind::MaxNodes, .. }) if found.is_ok() => Ok(false),
        result => result.map(|()| true),
    }
}

#[inline(always)]
fn find<K: Kernel>(
    kernel: K,
    (json, from): (&[u8], usize),
    plan: &Plan<'_>,
    options: &DecodeOptions,
    places: &mut Places,
) -> Result<(), Error> {
    let Places { found, seen, containers, open, text } = places;
    found.clear();
    // What stays of other documents names none of the containers that come, so a small document costs no more for a large plan.
    if let Some(more @ 1..) = plan.nodes().checked_sub(seen.len()) {
        room(seen, more).map_err(|kind| Error::new(kind, from))?;
        seen.resize(plan.nodes(), Seen::default());
    }
    let cursor = Cursor::new(kernel, json, options, open, text);
    Walk { cursor, plan, found, seen, levels: Vec::new(), containers, left: plan.answers }.run(from)
}

/// A container on the way to what is wanted.
struct Level<'a> {
    node: Node<'a>,
    start: usize,
    object: bool,
    /// The number of the container, which tells it from others at the same node.
    number: u64,
    /// The current element.
    element: u64,
    /// The wanted element that comes next: its number in the plan, its index, and what it leads to.
    next: usize,
    index: u64,
    below: Node<'a>,
    /// Answers that were missing when it started.
    left: usize,
}

/// No element has this index.
const NO_INDEX: u64 = u64::MAX;

struct Walk<'a, K> {
    cursor: Cursor<'a, K>,
    plan: &'a Plan<'a>,
    found: &'a mut Vec<Found>,
    seen: &'a mut [Seen],
    levels: Vec<Level<'a>>,
    containers: &'a mut u64,
    /// Answers that are still to be found, for a text that is trusted.
    left: usize,
}

/// What stands at an offset.
enum Next<'a> {
    /// A value at this node.
    Value(Node<'a>, usize),
    /// A key, or an element, of the current container.
    Member(usize),
    Element(usize),
    /// A value has ended before this.
    Ended(usize),
}

impl<'a, K: Kernel> Walk<'a, K> {
    #[inline(always)]
    fn run(mut self, from: usize) -> Result<(), Error> {
        let mut next = Next::Value(self.plan.root(), self.cursor.space(from));
        loop {
            next = match next {
                Next::Value(node, pos) => self.value(node, pos)?,
                Next::Member(pos) => self.member(pos)?,
                Next::Element(pos) => self.element(pos)?,
                Next::Ended(_) if self.plan.trusted && self.left == 0 => return Ok(()),
                Next::Ended(end) if self.levels.is_empty() => return self.cursor.end_of_document(end),
                Next::Ended(end) => self.after(end)?,
            };
        }
    }

    #[inline(always)]
    fn value(&mut self, node: Node<'a>, pos: usize) -> Result<Next<'a>, Error> {
        match self.cursor.json.get(pos) {
            Some(&bracket @ (b'{' | b'[')) if !node.is_last() => self.open(node, pos, bracket == b'{'),
            _ => {
                let left = self.left;
                let end = self.cursor.value(pos, self.levels.len())?;
                self.close(node, pos, end, left)
            }
        }
    }

    fn open(&mut self, node: Node<'a>, pos: usize, object: bool) -> Result<Next<'a>, Error> {
        self.cursor.count(pos)?;
        self.cursor.check_depth(pos, self.levels.len())?;
        let inside = match self.cursor.inside(pos) {
            Follows::Item(inside) => inside,
            Follows::Close(bracket) => return self.close(node, pos, bracket + 1, self.left),
        };
        room(&mut self.levels, 1).map_err(|kind| Error::new(kind, pos))?;
        *self.containers += 1;
        let (index, below) = self.plan.element(&node, 0).unwrap_or((NO_INDEX, Node::default()));
        let (number, left) = (*self.containers, self.left);
        self.levels.push(Level { node, start: pos, object, number, element: 0, next: 0, index, below, left });
        Ok(if object { Next::Member(inside) } else { Next::Element(inside) })
    }

    /// The value of a node stands here. What is below it and was not found is not there.
    #[inline(always)]
    fn close(&mut self, node: Node<'a>, start: usize, end: usize, left: usize) -> Result<Next<'a>, Error> {
        if let Some(answer) = node.answer {
            room(self.found, 1).map_err(|kind| Error::new(kind, start))?;
            self.found.push(Found { answer, start, len: end - start });
        }
        if let Some(seen) = self.seen.get_mut(node.number) {
            seen.behind = self.found.len();
        }
        self.left = left.saturating_sub(node.behind - node.first);
        Ok(Next::Ended(end))
    }

    #[inline(always)]
    fn member(&mut self, pos: usize) -> Result<Next<'a>, Error> {
        let Some(level) = self.levels.last() else { return Ok(Next::Ended(pos)) };
        let (text, end) = self.cursor.key(pos)?;
        let node = self.plan.member(&level.node, text.bytes());
        let (number, start) = (level.number, self.cursor.colon(end)?);
        match node {
            Some(node) if self.counts(&node, number) => Ok(Next::Value(node, start)),
            _ => self.cursor.value(start, self.levels.len()).map(Next::Ended),
        }
    }

    /// Whether a member counts, perhaps instead of an earlier one of the same name in the same object.
    fn counts(&mut self, node: &Node<'a>, container: u64) -> bool {
        let Some(seen) = self.seen.get_mut(node.number) else { return false };
        let earlier = *seen;
        let repeated = earlier.container == container;
        if repeated && self.cursor.options.duplicates == Duplicates::First {
            return false;
        }
        if repeated && earlier.behind == self.found.len() {
            self.found.truncate(earlier.first);
        } else if repeated {
            for found in self.found.get_mut(earlier.first..earlier.behind).unwrap_or_default() {
                found.answer = Found::REPLACED;
            }
        }
        *seen = Seen { container, first: self.found.len(), behind: self.found.len() };
        true
    }

    #[inline(always)]
    fn element(&mut self, pos: usize) -> Result<Next<'a>, Error> {
        let plan = self.plan;
        match self.levels.last_mut() {
            Some(level) if level.element == level.index => {
                let below = level.below;
                level.next += 1;
                (level.index, level.below) = plan.element(&level.node, level.next).unwrap_or((NO_INDEX, below));
                Ok(Next::Value(below, pos))
            }
            _ => self.cursor.value(pos, self.levels.len()).map(Next::Ended),
        }
    }

    #[inline(always)]
    fn after(&mut self, pos: usize) -> Result<Next<'a>, Error> {
        let Some(level) = self.levels.last_mut() else { return Ok(Next::Ended(pos)) };
        match (self.cursor.behind(pos, level.object)?, level.object) {
            (Follows::Item(key), true) => Ok(Next::Member(key)),
            (Follows::Item(start), false) => {
                level.element += 1;
                Ok(Next::Element(start))
            }
            (Follows::Close(bracket), _) => {
                let (node, start, left) = (level.node, level.start, level.left);
                self.levels.pop();
                self.close(node, start, bracket + 1, left)
            }
        }
    }
}

fn build<B: TermBuilder>(
    json: &[u8],
    plan: &Plan<'_>,
    options: &DecodeOptions,
    places: &Places,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Error> {
    let answers = || places.found.iter().take_while(|found| found.answer != Found::REPLACED);
    // Values that overlap are as much work as a longer text.
    let work = answers().fold(0, |sum: usize, found| sum.saturating_add(found.len));
    if options.max_nodes > 0 && work > json.len() && !plan.raw {
        return Err(Error::new(ErrorKind::MaxNodes, 0));
    }
    builder.begin_array();
    let mut items = 0;
    for &Found { answer, start, len } in answers() {
        let at = |kind| Error::new(kind, start);
        builder.integer(answer as i64).map_err(at)?;
        if plan.raw {
            builder.integer(start as i64).map_err(at)?;
            builder.integer(len as i64).map_err(at)?;
            items += 3;
        } else {
            decode::part(json, start, options, scratch, builder)?;
            items += 2;
        }
    }
    builder.end_array(items).map_err(|kind| Error::new(kind, 0))
}
