//! Checks the holes in an encoded text that a guest reports, which may be under an attacker's control.
//!
//! The guest reports the positions of the terms that it does not write. Bytes in the middle of a binary could read as a
//! function, so one walk over the host's own copy of the input looks up each position: it must be the start of a term and
//! outside every other hole. The term must also be one that the core leaves to the shell ([`unwritten`](super::unwritten)):
//! otherwise a guest could report the same term forever.

use super::head::head;
use super::reader::PlannedStruct;
use super::tags::*;
use super::unwritten::Unwritten;
use crate::abi::{Claim, Partial};
use crate::encode::Hole;
use crate::options::EncodeOptions;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Why a list of holes is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not a list of holes in the order of the text.
    List,
    /// A hole is not a term of the input, is inside another one, or claims a wrong depth.
    Place,
    /// A hole is a term that the core writes.
    Written,
}

impl Fault {
    /// The same for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::List => "its list of holes is broken",
            Self::Place => "a hole is not a term of the input",
            Self::Written => "a hole is a term that it can write",
        }
    }
}

/// The holes with the place of their terms in the input, in the order of the text; and the text.
pub type Found<'a> = (Vec<Hole<Range<usize>>>, &'a [u8]);

/// Reads the body of a partial record that answers a call with this input, these options and plans.
pub fn read<'a>(
    body: &'a [u8],
    etf: &[u8],
    options: &EncodeOptions<'_>,
    plans: &[PlannedStruct<'_>],
) -> Result<Found<'a>, Fault> {
    let partial = Partial::read(body).ok_or(Fault::List)?;
    // No two holes share a byte of the input.
    if partial.claims().len() > etf.len() {
        return Err(Fault::List);
    }
    let claims: Vec<Claim> = partial.claims().collect();
    let in_text = claims.last().is_some_and(|claim| claim.offset as usize <= partial.text.len());
    if !in_text || !claims.is_sorted_by_key(|claim| claim.offset) {
        return Err(Fault::List);
    }
    let ends = ends(&claims, etf, &Unwritten { etf, options, plans })?;
    let hole = |(claim, end): (&Claim, usize)| Hole {
        offset: claim.offset as usize,
        depth: claim.depth,
        term: claim.start as usize..end,
        key: claim.key,
    };
    Ok((claims.iter().zip(ends).map(hole).collect(), partial.text))
}

/// A container around the place that the walk has reached.
struct Open {
    /// Its tag and the number of its parts.
    tag: u8,
    parts: usize,
    /// Parts still to come.
    left: usize,
}

impl Open {
    /// Whether the next part is, or may be, a key: in a map, or first in a pair of an ordered object.
    const fn at_key(&self) -> bool {
        match self.tag {
            MAP => self.left.is_multiple_of(2),
            SMALL_TUPLE => self.parts == 2 && self.left == 2,
            _ => false,
        }
    }
}

/// Where the term of each claim ends.
fn ends(claims: &[Claim], etf: &[u8], unwritten: &Unwritten<'_>) -> Result<Vec<usize>, Fault> {
    let mut ends = vec![0; claims.len()];
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_unstable_by_key(|&i| claims[i].start);
    // Behind the version byte; the outermost container is the document.
    let mut walk = Walk { etf, at: 1, open: vec![Open { tag: NIL, parts: 1, left: 1 }] };
    for i in order {
        let claim = &claims[i];
        let at_key = walk.go_to(claim.start as usize).ok_or(Fault::Place)?;
        // Indentation grows with the depth.
        if u64::from(claim.depth) >= u64::from(unwritten.options.base_depth) + walk.open.len() as u64 {
            return Err(Fault::Place);
        }
        let start = walk.at;
        let left = if claim.key { at_key && unwritten.key(start) } else { unwritten.value(start) };
        walk.skip().ok_or(Fault::Place)?;
        if !left {
            return Err(Fault::Written);
        }
        ends[i] = walk.at;
    }
    Ok(ends)
}

/// Steps over terms that the runtime wrote.
struct Walk<'a> {
    etf: &'a [u8],
    at: usize,
    open: Vec<Open>,
}

impl Walk<'_> {
    /// Goes on to the term at this offset, and says whether it may be a key. `None`: no term that is still to come starts there.
    fn go_to(&mut self, start: usize) -> Option<bool> {
        while self.at <= start {
            let here = self.open.last_mut()?;
            if here.left == 0 {
                self.open.pop();
                continue;
            }
            let at_key = here.at_key();
            if self.at == start {
                here.left -= 1;
                return Some(at_key);
            }
            here.left -= 1;
            let head = head(self.etf, self.at)?;
            self.open.push(Open { tag: self.etf[self.at], parts: head.terms, left: head.terms });
            self.at = head.body;
        }
        None
    }

    /// Steps over a whole term.
    fn skip(&mut self) -> Option<()> {
        self.at = super::head::end(self.etf, self.at)?;
        Some(())
    }
}

#[cfg(test)]
#[path = "holes_tests.rs"]
mod tests;
