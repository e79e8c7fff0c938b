//! Structs whose type a member tells, which may stand anywhere in them.
//!
//! To find it the object is walked over first. What stands in that object are mostly tagged structs again, so this walk notes the tags
//! of all objects in it: however deep they are nested, each byte is walked over once. Numbers may have any size there, because their types
//! say which ones are too large.

use super::super::answer::Answer;
use super::super::shape::Tagged;
use super::walk::{Next, Step, Walk};
use crate::decode::cursor::Follows;
use crate::error::{Error, ErrorKind};
use crate::options::Duplicates;
use crate::room::room;
use crate::simd::Kernel;
use alloc::vec::Vec;

/// A member that may be the tag of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tag {
    /// Where the object starts.
    object: usize,
    /// The number of the key.
    key: u32,
    /// Where the value starts.
    value: usize,
}

/// The tags of objects that were walked over.
#[derive(Debug, Default)]
pub(super) struct Tags {
    /// Those of all objects that start before this are known, as far as the walk over the values is not behind them.
    until: usize,
    known: Vec<Tag>,
    /// The containers around the current one, of the walk that looks for them: where an object starts, or [`ARRAY`].
    open: Vec<usize>,
}

/// An open array.
const ARRAY: usize = usize::MAX;

impl Tags {
    fn add(&mut self, tag: Tag, first: bool, pos: usize) -> Step<()> {
        if let Some(last) = self.known.last_mut()
            && (last.object, last.key) == (tag.object, tag.key)
        {
            // Repeated keys, of which one counts.
            if !first {
                *last = tag;
            }
            return Ok(());
        }
        room(&mut self.known, 1).map_err(|kind| Error::new(kind, pos))?;
        self.known.push(tag);
        Ok(())
    }

    /// Where the tag with this key stands in the object at `object`; of repeated ones, the one that counts.
    fn find(&self, object: usize, key: u32, first: bool) -> Option<usize> {
        let from = self.known.partition_point(|tag| (tag.object, tag.key) < (object, key));
        let mut same = self.known[from..].iter().take_while(|tag| (tag.object, tag.key) == (object, key));
        let tag = if first { same.next() } else { same.last() };
        tag.map(|tag| tag.value)
    }
}

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    /// A struct whose type a member tells, which may stand anywhere in it.
    pub(super) fn tagged(&mut self, tagged: &Tagged<'a>, pos: usize) -> Step<Next> {
        let shape = self.shape;
        if pos >= self.tags.until {
            self.look_for_tags(tagged.number, pos)?;
        }
        let Some(tag) = self.tags.find(pos, tagged.number, self.first()) else { return self.untagged(tagged, pos) };
        if self.cursor.json.get(tag) != Some(&b'"') {
            return self.refuse_tag(ErrorKind::TypeString, tag, pos);
        }
        let (text, _) = self.cursor.text(tag)?;
        let Some(number) = shape.number(&tagged.names, text.bytes()) else {
            return self.refuse_tag(ErrorKind::Enum, tag, pos);
        };
        self.answer.begin_variant(number).map_err(|kind| Error::new(kind, pos))?;
        self.open_struct(shape.variant(tagged, number), pos, true)
    }

    const fn first(&self) -> bool {
        matches!(self.cursor.options.duplicates, Duplicates::First)
    }

    #[cold]
    fn untagged(&mut self, tagged: &Tagged<'a>, pos: usize) -> Step<Next> {
        let end = self.cursor.value_by_call(pos, self.depth())?;
        self.errors.add(ErrorKind::Missing, end - 1, Some(tagged.key))?;
        self.refused(end)
    }

    #[cold]
    fn refuse_tag(&mut self, kind: ErrorKind, tag: usize, pos: usize) -> Step<Next> {
        let end = self.cursor.value_by_call(pos, self.depth());
        // A number beyond a limit, which the look for tags passed over.
        if let Err(error) = end
            && error.offset < tag
        {
            return Err(error);
        }
        self.errors.add(kind, tag, None)?;
        self.refused(end?)
    }

    /// Walks over the object at `pos`, and notes the tags in it. If the first of repeated keys counts, the walk ends at that of the
    /// object itself.
    fn look_for_tags(&mut self, key: u32, pos: usize) -> Step<()> {
        self.tags.known.clear();
        self.tags.open.clear();
        let options = core::mem::replace(&mut self.cursor.options, self.any_number);
        let until = self.walk_over(key, pos);
        self.cursor.options = options;
        self.tags.until = until?;
        // Objects are noted when their tags come, which is after those in them.
        self.tags.known.sort_unstable();
        Ok(())
    }

    fn walk_over(&mut self, key: u32, pos: usize) -> Step<usize> {
        let (around, json) = (self.depth(), self.cursor.json);
        let (mut at, mut container) = (pos, ARRAY);
        loop {
            let mut end = match json.get(at) {
                Some(&bracket @ (b'{' | b'[')) => {
                    self.cursor.check_depth(at, around + self.tags.open.len())?;
                    room(&mut self.tags.open, 1).map_err(|kind| Error::new(kind, at))?;
                    self.tags.open.push(container);
                    container = if bracket == b'{' { at } else { ARRAY };
                    match self.cursor.inside(at) {
                        Follows::Item(next) => {
                            at = self.item(container, next)?;
                            if self.is_found(key, pos, container) {
                                return Ok(at);
                            }
                            continue;
                        }
                        Follows::Close(bracket) => {
                            container = self.tags.open.pop().unwrap_or(ARRAY);
                            bracket + 1
                        }
                    }
                }
                _ => self.cursor.value(at, 0)?,
            };
            loop {
                if self.tags.open.is_empty() {
                    return Ok(end);
                }
                match self.cursor.behind(end, container != ARRAY)? {
                    Follows::Item(next) => {
                        at = self.item(container, next)?;
                        if self.is_found(key, pos, container) {
                            return Ok(at);
                        }
                        break;
                    }
                    Follows::Close(bracket) => {
                        container = self.tags.open.pop().unwrap_or(ARRAY);
                        end = bracket + 1;
                    }
                }
            }
        }
    }

    /// The offset of the value of an element, or of a member, which is noted if its key is one of a tag.
    fn item(&mut self, container: usize, pos: usize) -> Step<usize> {
        if container == ARRAY {
            return Ok(pos);
        }
        let (text, end) = self.cursor.key(pos)?;
        let key = self.shape.tag(text.bytes());
        let value = self.cursor.colon(end)?;
        if let Some(key) = key {
            let first = self.first();
            self.tags.add(Tag { object: container, key, value }, first, pos)?;
        }
        Ok(value)
    }

    /// Whether the last member noted is the tag that is looked for, and no other one can count.
    fn is_found(&self, key: u32, pos: usize, object: usize) -> bool {
        let found = |tag: &Tag| (tag.object, tag.key) == (pos, key);
        self.first() && object == pos && self.tags.known.last().is_some_and(found)
    }
}
