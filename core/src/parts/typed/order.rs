//! The order in which members came in earlier objects of the same struct.
//!
//! Records are mostly alike. A key that stands where it stood in the last record is known by a comparison of its bytes, and the offset behind
//! it without looking for its end.

use super::super::shape::{Field, Struct, same};
use alloc::vec::Vec;

/// Structs that are remembered at the same time.
const STRUCTS: usize = 8;
/// Members that are remembered of each.
const MOST: usize = 64;
/// How far ahead a member is looked for, when others are left out.
const AHEAD: usize = 8;
/// How many members are inserted into an order. If there are more, the records have no common order, and it is not used.
const PATIENCE: u32 = 256;
/// In shorter documents few keys come again.
pub(super) const LONG: usize = 1024;

/// What a member is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// The field of this number, and the place of its type.
    Field(usize, usize),
    /// One whose value is passed over, though the struct knows it.
    Ignored,
    Foreign,
}

impl Known {
    #[inline(always)]
    pub const fn of(found: Option<(usize, Field)>) -> Self {
        match found {
            Some((_, field)) if field.ignored() => Self::Ignored,
            Some((number, field)) => Self::Field(number, field.node),
            None => Self::Foreign,
        }
    }
}

/// A member that was seen: the place of its quoted key with the colon, and the first and last eight bytes of that.
#[derive(Clone, Copy, Debug)]
struct Member {
    head: u64,
    tail: u64,
    start: usize,
    len: usize,
    known: Known,
}

impl Member {
    /// If this key stands at `pos`, the offset behind its colon.
    #[inline(always)]
    fn starts(&self, json: &[u8], pos: usize) -> Option<usize> {
        let long = || json.get(self.start..self.start + self.len);
        same(json.get(pos..)?, self.len, self.head, self.tail, long).then_some(pos + self.len)
    }
}

/// The members of a struct, in the order in which they came.
#[derive(Debug, Default)]
struct Order {
    /// The struct, by the place of its type; 0 is none.
    place: usize,
    members: Vec<Member>,
    /// Members that were inserted between others.
    inserted: u32,
}

/// The orders of the structs of a document.
#[derive(Debug, Default)]
pub(super) struct Orders([Order; STRUCTS]);

impl Orders {
    /// The member at `pos`, when it is the one that came at this turn, and the offset behind its colon. Moves the turn on.
    #[inline(always)]
    pub fn next(&self, record: &Struct<'_>, turn: &mut usize, json: &[u8], pos: usize) -> Option<(Known, usize)> {
        let order = &self.0[record.template % STRUCTS];
        if order.place != record.place {
            return None;
        }
        let member = order.members.get(*turn)?;
        let (member, end) = match member.starts(json, pos) {
            Some(end) => (member, end),
            None => order.ahead(turn, json, pos)?,
        };
        *turn += 1;
        Some((member.known, end))
    }

    /// Remembers the member at `pos`, whose colon ends at `end`, for this turn.
    #[cold]
    pub fn learn(
        &mut self,
        record: &Struct<'_>,
        turn: &mut usize,
        json: &[u8],
        (pos, end): (usize, usize),
        known: Known,
    ) {
        let order = &mut self.0[record.template % STRUCTS];
        if order.place == 0 {
            order.place = record.place;
        }
        let (len, rest) = (end - pos, &json[pos..]);
        let word = |bytes: Option<&[u8; 8]>| bytes.map(|bytes| u64::from_le_bytes(*bytes));
        let (Some(head), last) = (word(rest.first_chunk()), word(rest[..len].last_chunk())) else { return };
        let inserts = *turn < order.members.len();
        if order.place != record.place || order.members.len() == MOST || inserts && order.inserted == PATIENCE {
            return;
        }
        order.inserted += u32::from(inserts);
        if order.members.try_reserve(1).is_ok() {
            let member = Member { head, tail: last.unwrap_or_default(), start: pos, len, known };
            order.members.insert((*turn).min(order.members.len()), member);
            *turn += 1;
        }
    }
}

impl Order {
    /// The next member with this key, when others are left out.
    #[inline(never)]
    fn ahead(&self, turn: &mut usize, json: &[u8], pos: usize) -> Option<(&Member, usize)> {
        let next = *turn + 1;
        let members = self.members.get(next..)?.iter().take(AHEAD);
        let (skipped, found) = members.enumerate().find_map(|(at, member)| {
            let end = member.starts(json, pos)?;
            Some((at, (member, end)))
        })?;
        *turn = next + skipped;
        Some(found)
    }
}
