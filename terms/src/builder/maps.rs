//! Maps and ordered objects of the members on the stacks. Few members are put in the order of the VM here, as those of the last object
//! with the same keys were; the VM makes other maps.

use super::Terms;
use super::stacks::{Stacks, drop_from_top};
use crate::atoms;
use crate::heap::Heap;
use crate::key_order::Order;
use crate::raw::read::Raw;
use rustler::sys::ErlNifTerm;
use rustyjson_core::ErrorKind;
use rustyjson_core::builder::{Dropped, SMALL_MAP};
use rustyjson_core::options::Keys;

impl Terms<'_, '_> {
    /// Takes the members that do not count off the top of the stacks.
    #[cold]
    pub(super) fn drop_members(&mut self, len: usize, dropped: Dropped<'_>) {
        drop_from_top(&mut self.stacks.keys, len, dropped);
        drop_from_top(&mut self.stacks.values, len, dropped);
        drop_from_top(&mut self.stacks.heads, len, dropped);
    }

    pub(super) fn ordered_object(&mut self, len: usize) -> Result<ErlNifTerm, ErrorKind> {
        let Stacks { keys, values, .. } = &*self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let mut pairs = Vec::new();
        pairs.try_reserve_exact(len).map_err(|_| ErrorKind::OutOfMemory)?;
        pairs.extend(keys.iter().zip(values).map(|(&key, &value)| self.make.tuple(&[key, value])));
        let names = [atoms::__struct__().as_c_arg(), atoms::values().as_c_arg()];
        let fields = [atoms::ordered_object().as_c_arg(), self.make.list(&pairs)];
        Ok(self.make.map(&names, &fields).unwrap_or(self.nil))
    }

    /// `None`: keys repeat.
    #[inline(always)]
    pub(super) fn map(&mut self, len: usize) -> Option<ErlNifTerm> {
        self.small_map(len).or_else(|| {
            let Stacks { keys, values, .. } = &*self.stacks;
            self.heap.map(&keys[keys.len() - len..], &values[values.len() - len..])
        })
    }

    /// Puts the object in the place of its members.
    #[inline(always)]
    pub(super) fn finish_object(&mut self, len: usize, object: ErlNifTerm) -> Result<(), ErrorKind> {
        let Stacks { keys, values, heads, .. } = &mut *self.stacks;
        keys.truncate(keys.len() - len);
        heads.truncate(heads.len() - len);
        values.truncate(values.len() - len);
        self.push(object)
    }

    /// A map of few members, from the top of the stacks, which stay as they are. `None`: there are more, or keys repeat.
    #[inline(always)]
    pub(super) fn small_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        if len > SMALL_MAP {
            return None;
        }
        if len == 0 || !self.heap.has_shapes() {
            return self.ordered_map(len);
        }
        let Stacks { keys, values, shapes, .. } = &*self.stacks;
        if let Some((keys, places)) = shapes.find(&keys[keys.len() - len..])
            && let Some(map) = self.heap.like(keys, &values[values.len() - len..], places)
        {
            return Some(map);
        }
        self.first_of_shape(len)
    }

    /// The first object whose keys come like this, which the table of shapes learns.
    #[inline(never)]
    fn first_of_shape(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, shapes, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        if let Some(order) = orders.of(&heads[heads.len() - len..])
            && let Some((tuple, map)) = new_map(&mut self.heap, keys, values, order, self.wants.keys)
        {
            shapes.learn_places(keys, tuple, order.places());
            return Some(map);
        }
        let map = self.vm_map(len)?;
        if let Some((tuple, ordered, _)) = self.heap.members(Raw::of(self.make.term(map))) {
            let Stacks { keys, shapes, .. } = &mut *self.stacks;
            shapes.learn(&keys[keys.len() - len..], tuple, ordered);
        }
        Some(map)
    }

    /// A map that nothing is remembered of.
    #[inline(always)]
    fn ordered_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let order = orders.of(&heads[heads.len() - len..]);
        match order.and_then(|order| new_map(&mut self.heap, keys, values, order, self.wants.keys)) {
            Some((_, map)) => Some(map),
            None => self.vm_map(len),
        }
    }

    /// A map made by the VM, which is given the members in about its own order.
    #[inline(never)]
    fn vm_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let order = match orders.of(&heads[heads.len() - len..]) {
            Some(order) if !order.sorted => order.places(),
            _ => return self.heap.map(keys, values),
        };
        let mut sorted = [[self.nil; SMALL_MAP]; 2];
        let [sorted_keys, sorted_values] = &mut sorted;
        for ((&from, key), value) in order.iter().zip(&mut *sorted_keys).zip(&mut *sorted_values) {
            (*key, *value) = (keys[usize::from(from)], values[usize::from(from)]);
        }
        self.heap.map(&sorted_keys[..len], &sorted_values[..len])
    }
}

/// A map whose keys are binaries that differ in their first bytes: these say in which order the VM has them. And the tuple of its keys.
#[inline(always)]
fn new_map(
    heap: &mut Heap<'_>,
    keys: &[ErlNifTerm],
    values: &[ErlNifTerm],
    order: &Order,
    of: Keys,
) -> Option<(crate::raw::Keys, ErlNifTerm)> {
    if !order.distinct || of == Keys::ExistingAtoms {
        return None;
    }
    heap.new_map(keys, values, order.places())
}
