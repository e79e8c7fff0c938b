//! Which small maps have the same keys.

use crate::raw::layout::Layout;
use crate::raw::read::Raw;
use crate::tags::{Kind, kind};
use std::array::from_fn;
use std::cell::{Cell, OnceCell};

/// Sets of keys that are remembered.
const SLOTS: usize = 64;
/// Questions of small documents, for which it does not pay to remember anything.
const FEW: u8 = 16;

type Set<'a> = &'a [Raw<'a>];

/// The keys of small maps that were seen lately. Maps made of one another share the tuple of their keys, but those that came in a message or
/// out of a table, and structs on older versions of OTP, have one each. Keys are equal if they are the same word, or binaries of up to 64
/// bytes that stand on the heap.
#[derive(Default)]
pub(super) struct KeySets<'a> {
    /// Questions so far, up to a few.
    asked: Cell<u8>,
    seen: OnceCell<Box<Seen<'a>>>,
}

struct Seen<'a> {
    /// The last set, and that which stands for it.
    last: Cell<(Set<'a>, Set<'a>)>,
    slots: [Cell<Set<'a>>; SLOTS],
}

impl<'a> KeySets<'a> {
    /// The keys that stand for all that are equal to these.
    #[inline(never)]
    pub(super) fn find(&self, layout: &Layout, keys: Set<'a>) -> Set<'a> {
        if self.asked.get() < FEW {
            self.asked.set(self.asked.get() + 1);
            return keys;
        }
        let seen =
            self.seen.get_or_init(|| Box::new(Seen { last: Cell::default(), slots: from_fn(|_| Cell::default()) }));
        let (last, found) = seen.last.get();
        if std::ptr::eq(last, keys) {
            return found;
        }
        let found = seen.look_for(layout, keys);
        seen.last.set((keys, found));
        found
    }
}

impl<'a> Seen<'a> {
    #[inline(always)]
    fn look_for(&self, layout: &Layout, keys: Set<'a>) -> Set<'a> {
        let Some(last) = keys.last() else { return keys };
        let slot = &self.slots[(keys.len() << 3 ^ mark(layout, *last)) % SLOTS];
        let seen = slot.get();
        if std::ptr::eq(seen, keys) || are_same(layout, seen, keys) {
            return seen;
        }
        slot.set(keys);
        keys
    }
}

/// A number that equal keys have in common.
#[inline(always)]
fn mark(layout: &Layout, key: Raw<'_>) -> usize {
    match kind(key.word()) {
        Kind::Boxed => {
            layout.binary(key).map_or(0, |bytes| bytes.first().map_or(0, |first| usize::from(*first)) ^ bytes.len())
        }
        _ => key.word() >> 6,
    }
}

#[inline(always)]
fn are_same(layout: &Layout, some: Set<'_>, others: Set<'_>) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| is_same(layout, *one, *other))
}

#[inline(always)]
fn is_same(layout: &Layout, one: Raw<'_>, other: Raw<'_>) -> bool {
    if one.word() == other.word() {
        return true;
    }
    let boxed = kind(one.word()) == Kind::Boxed && kind(other.word()) == Kind::Boxed;
    boxed && layout.binary(one).is_some_and(|bytes| layout.binary(other) == Some(bytes))
}
