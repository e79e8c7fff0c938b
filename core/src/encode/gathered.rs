//! Members that were collected before the first is written, and their order.

use super::driver::Walk;
use super::limits;
use crate::output::Output;
use alloc::vec::Vec;

/// A member: where its key's text is, and its value.
#[derive(Clone, Copy)]
pub(super) struct Member<T> {
    pub start: usize,
    pub end: usize,
    /// `None`: it is redacted.
    pub value: Option<T>,
    /// The pointers that may end inside it.
    pub scope: u64,
}

impl<T> Member<T> {
    fn key<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }
}

/// Members of all objects that are open in this way, innermost last, with the unescaped text of their keys.
pub(super) struct Gathered<T> {
    pub text: Output<Vec<u8>>,
    pub members: Vec<Member<T>>,
    pub open: Vec<Range>,
    /// Memory to sort with, and for members of an object that is not sorted itself.
    spare: Vec<Member<T>>,
    copy: Vec<Member<T>>,
}

impl<T> Default for Gathered<T> {
    fn default() -> Self {
        let [members, spare, copy] = [(); 3].map(|()| Vec::new());
        Self { text: Output::new(Vec::new()), members, open: Vec::new(), spare, copy }
    }
}

/// One object's part of it.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub members: usize,
    pub text: usize,
    pub next: usize,
}

impl<T: Copy> Gathered<T> {
    pub fn range(&self) -> Range {
        Range { members: self.members.len(), text: self.text.len(), next: self.members.len() }
    }

    pub fn cut(&mut self, range: Range) {
        self.members.truncate(range.members);
        self.text.truncate(range.text);
    }

    /// Sorts members by the text of their keys; those with the same one keep their order.
    pub fn sort(&mut self, range: Range) -> Walk<()> {
        sort_by_key(self.text.written(), &mut self.members[range.members..], &mut self.spare)
    }

    /// Two members with the same key, if there are any: the text of it.
    pub fn duplicate(&mut self, range: Range, is_sorted: bool) -> Walk<Option<&[u8]>> {
        let (text, mut members) = (self.text.written(), &self.members[range.members..]);
        if !is_sorted {
            self.copy.clear();
            limits::room(&mut self.copy, members.len())?;
            self.copy.extend_from_slice(members);
            sort_by_key(text, &mut self.copy, &mut self.spare)?;
            members = &self.copy;
        }
        let mut pairs = members.array_windows().map(|[a, b]| (a.key(text), b.key(text)));
        Ok(pairs.find(|(a, b)| a == b).map(|(key, _)| key))
    }
}

#[inline(never)]
fn sort_by_key<T: Copy>(text: &[u8], members: &mut [Member<T>], spare: &mut Vec<Member<T>>) -> Walk<()> {
    merge_sort(members, spare, |a, b| a.key(text) < b.key(text))
}

/// Members that are sorted by insertion, for which that is faster.
const FEW: usize = 16;

/// A stable sort. That of the standard library asks for memory and ends the VM if there is none, and takes 5 KB in the WebAssembly module.
fn merge_sort<T: Copy>(items: &mut [T], spare: &mut Vec<T>, is_before: impl Fn(&T, &T) -> bool) -> Walk<()> {
    for few in items.chunks_mut(FEW) {
        insertion_sort(few, &is_before);
    }
    let mut width = FEW;
    while width < items.len() {
        for pair in items.chunks_mut(2 * width) {
            if width < pair.len() && is_before(&pair[width], &pair[width - 1]) {
                spare.clear();
                limits::room(spare, width)?;
                spare.extend_from_slice(&pair[..width]);
                merge(spare, pair, &is_before);
            }
        }
        width *= 2;
    }
    Ok(())
}

fn insertion_sort<T: Copy>(items: &mut [T], is_before: &impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let item = items[end];
        let place = items[..end].iter().rposition(|before| !is_before(&item, before)).map_or(0, |last| last + 1);
        items.copy_within(place..end, place + 1);
        items[place] = item;
    }
}

/// Merges sorted items with those behind their places, which are sorted, too.
fn merge<T: Copy>(left: &[T], items: &mut [T], is_before: &impl Fn(&T, &T) -> bool) {
    let (mut taken, mut right) = (0, left.len());
    while taken < left.len() {
        let from_right = right < items.len() && is_before(&items[right], &left[taken]);
        items[right + taken - left.len()] = if from_right { items[right] } else { left[taken] };
        if from_right { right += 1 } else { taken += 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::merge_sort;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merge_sort_sorts_as_the_standard_library_does(keys in proptest::collection::vec(0_u8..50, 0..200)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            merge_sort(&mut items, &mut Vec::new(), |a, b| a.0 < b.0).unwrap();
            prop_assert_eq!(items, expected);
        }
    }
}
