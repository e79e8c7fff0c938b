//! How long the tape of a term will be, about: what is long belongs on a dirty scheduler, where a walk that began here starts anew.

use super::Terms;
use crate::raw::read::Raw;
use rustyjson_core::encode::{Step, TermReader, Value};
use rustyjson_core::tape::TOKEN;

/// Terms that are looked at first, and later.
pub(super) const LOOKS: usize = 128;
pub(super) const MORE_LOOKS: usize = 2048;
/// Containers around one of them.
const DEEPEST: usize = 12;
/// Cells of lists that are counted.
const CELLS: usize = 4096;
/// Cells of a list of small values, which are written about as fast as they are counted.
const FEW: usize = 256;
/// Bytes of such a value.
const SMALL: usize = 32;
/// Bytes of a member of a large map, whose values are not looked at.
const MEMBER: usize = 16;

/// What a look at a term may still take.
struct Look {
    terms: usize,
    cells: usize,
    /// Bytes beyond which nothing is counted any more.
    most: usize,
}

impl<'a> Terms<'a, '_> {
    /// Whether a tape is likely to have more than `most` bytes: at most so many terms are looked at. Half of a list counts as its first
    /// element, half as one in the middle.
    #[cold]
    #[inline(never)]
    pub(super) fn is_long(&mut self, root: Raw<'a>, most: usize, looks: usize) -> bool {
        self.foreseen(root, 0, &mut Look { terms: looks, cells: CELLS, most }) > most
    }

    /// The bytes that a term takes, about.
    fn foreseen(&mut self, term: Raw<'a>, depth: usize, look: &mut Look) -> usize {
        if depth > DEEPEST || look.terms == 0 {
            return TOKEN;
        }
        look.terms -= 1;
        TOKEN
            + match self.read(term) {
                Value::Binary(text) => text.len(),
                Value::Float(_) => 8,
                Value::List(list) => self.foreseen_list(list, depth, look),
                Value::Map(map) => match map.members {
                    Some(members) => self.foreseen_values(members.values, depth, look),
                    None => map.size.saturating_mul(MEMBER),
                },
                _ => 0,
            }
    }

    fn foreseen_values(&mut self, values: &[Raw<'a>], depth: usize, look: &mut Look) -> usize {
        let mut bytes = 0_usize;
        for value in values {
            bytes = bytes.saturating_add(self.foreseen(*value, depth + 1, look));
            if bytes > look.most {
                break;
            }
        }
        bytes
    }

    /// Cells are counted up to where it is long: each may be far from the one before.
    fn foreseen_list(&mut self, mut list: Raw<'a>, depth: usize, look: &mut Look) -> usize {
        let Step::Item(first) = self.next_item(&mut list) else { return 0 };
        let each = self.foreseen(first, depth + 1, look);
        let most = (look.most / each + 1).min(look.cells).min(if each < SMALL { FEW } else { CELLS });
        let (mut count, mut middle) = (1_usize, first);
        while count < most
            && let Step::Item(item) = self.next_item(&mut list)
        {
            count += 1;
            if count.is_power_of_two() {
                middle = item;
            }
        }
        look.cells -= count.min(look.cells);
        let other = if count > 1 { self.foreseen(middle, depth + 1, look) } else { each };
        (each.saturating_add(other) / 2).saturating_mul(count)
    }
}
