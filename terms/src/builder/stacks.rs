//! The stacks on which terms wait for the end of their container, and what else calls keep for the next one.

use crate::heap::FirstKeys;
use crate::key_cache::{AtomKeys, KeyCache};
use crate::key_order::Orders;
use crate::shapes::Shapes;
use rustler::sys::ErlNifTerm;
use rustyjson_core::ErrorKind;
use rustyjson_core::builder::Dropped;
use rustyjson_core::etf::check::Open;

/// Buffers kept between calls. What is left in them from an earlier call is never read.
#[derive(Default)]
pub struct Stacks {
    pub(super) values: Vec<ErlNifTerm>,
    pub(super) keys: Vec<ErlNifTerm>,
    /// The first eight bytes of each key, as a number that sorts as they do.
    pub(super) heads: Vec<u64>,
    pub(super) cache: KeyCache,
    pub(super) atoms: AtomKeys,
    pub(super) orders: Orders,
    pub(super) shapes: Shapes,
    pub(super) first_keys: FirstKeys,
    /// Of a judge, whose terms these are.
    pub(crate) open: Open,
}

/// More waiting terms than this are given back after a call.
const KEEP: usize = 1 << 15;

impl Stacks {
    /// None are waiting. (A call, for its frame is as large as the caches.)
    #[cold]
    #[inline(never)]
    pub fn new() -> Self {
        Self::default()
    }

    #[inline(always)]
    pub(super) fn start(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.heads.clear();
        self.cache.start();
        self.shapes.start();
    }

    /// Gives large buffers back to the allocator.
    #[inline(always)]
    pub fn shrink(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.heads.clear();
        self.open.shrink();
        if self.values.capacity() > KEEP || self.keys.capacity() > KEEP || self.heads.capacity() > KEEP {
            self.give_back();
        }
    }

    #[cold]
    fn give_back(&mut self) {
        self.values.shrink_to(KEEP);
        self.keys.shrink_to(KEEP);
        self.heads.shrink_to(KEEP);
    }
}

/// Pushes, where running out of memory is an error.
#[inline(always)]
pub(super) fn push<T>(stack: &mut Vec<T>, item: T) -> Result<(), ErrorKind> {
    if stack.len() == stack.capacity() {
        grow(stack)?;
    }
    stack.push(item);
    Ok(())
}

#[cold]
#[inline(never)]
fn grow<T>(stack: &mut Vec<T>) -> Result<(), ErrorKind> {
    stack.try_reserve(1).map_err(|_| ErrorKind::OutOfMemory)
}

/// Removes the entries with these numbers (ascending) from the last `len` of the stack.
pub(super) fn drop_from_top<T: Copy>(stack: &mut Vec<T>, len: usize, dropped: Dropped<'_>) {
    let base = stack.len() - len;
    let mut to = base;
    let mut dropped = dropped.iter().peekable();
    for i in 0..len {
        if dropped.next_if(|&&number| number as usize == i).is_none() {
            stack[to] = stack[base + i];
            to += 1;
        }
    }
    stack.truncate(to);
}
