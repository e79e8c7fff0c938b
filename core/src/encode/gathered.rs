//! Members that were collected before the first is written, and their order.

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
}

impl<T> Default for Gathered<T> {
    fn default() -> Self {
        Self { text: Output::new(Vec::new()), members: Vec::new(), open: Vec::new() }
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

    pub fn sort(&mut self, range: Range) {
        sort_by_key(self.text.written(), &mut self.members[range.members..]);
    }

    /// Two members with the same key, if there are any: the text of it.
    pub fn duplicate(&mut self, range: Range) -> Option<&[u8]> {
        let text = self.text.written();
        let mut members = self.members[range.members..].to_vec();
        sort_by_key(text, &mut members);
        let mut pairs = members.windows(2).map(|pair| (pair[0].key(text), pair[1].key(text)));
        pairs.find(|(a, b)| a == b).map(|(key, _)| key)
    }
}

/// Sorts members by the text of their keys; those with the same one keep their order.
#[inline(never)]
fn sort_by_key<T: Copy>(text: &[u8], members: &mut [Member<T>]) {
    if cfg!(target_arch = "wasm32") {
        merge_sort(members, |a, b| a.key(text) < b.key(text));
    } else {
        members.sort_by(|a, b| a.key(text).cmp(b.key(text)));
    }
}

/// A stable sort for the WebAssembly module: the standard library's is faster, and 5 KB larger.
fn merge_sort<T: Copy>(items: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    let mut sorted = items.to_vec();
    let mut width = 1;
    while width < items.len() {
        for (pair, target) in sorted.chunks(2 * width).zip(items.chunks_mut(2 * width)) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            for slot in target {
                let side = match (left.first(), right.first()) {
                    (Some(first), Some(second)) if is_before(second, first) => &mut right,
                    (None, _) => &mut right,
                    _ => &mut left,
                };
                let Some((next, rest)) = side.split_first() else { break };
                (*slot, *side) = (*next, rest);
            }
        }
        sorted.copy_from_slice(items);
        width *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::merge_sort;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merge_sort_sorts_as_the_standard_library_does(keys in proptest::collection::vec(0_u8..20, 0..70)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            merge_sort(&mut items, |a, b| a.0 < b.0);
            prop_assert_eq!(items, expected);
        }
    }
}
