//! Holes in an encoded text: where the guest met a term that it cannot write.
//!
//! The guest says where the term stands in the input. That is a claim: bytes from the middle of a binary could be made to
//! read as a function. So the places are looked up in the host's own copy of the input, which comes from the runtime and
//! can be trusted, by one walk over it: each must be the start of a term, and none may lie within another.

use crate::fault::Fault;

/// A hole: where it is in the text, how deep the term stands, and the term's bytes in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    pub offset: u32,
    pub depth: u32,
    pub start: usize,
    pub len: usize,
}

/// Reads a partial record behind its status. Gives the holes in the order of the text, and the text.
pub fn read<'a>(body: &'a [u8], etf: &[u8]) -> Result<(Vec<Hole>, &'a [u8]), Fault> {
    let lie = || Fault::invalid("its list of holes is broken");
    let (count, rest) = body.split_first_chunk::<4>().ok_or_else(lie)?;
    let size = (u32::from_le_bytes(*count) as usize).checked_mul(12).ok_or_else(lie)?;
    let (list, text) = rest.split_at_checked(size).ok_or_else(lie)?;
    let number = |bytes: &[u8], i: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
    let mut holes: Vec<_> = list
        .chunks_exact(12)
        .map(|hole| Hole { offset: number(hole, 0), depth: number(hole, 2), start: number(hole, 1) as usize, len: 0 })
        .collect();
    let in_order = holes.is_sorted_by_key(|hole| hole.offset);
    if !in_order || holes.last().is_some_and(|hole| hole.offset as usize > text.len()) {
        return Err(lie());
    }
    measure(&mut holes, etf)?;
    Ok((holes, text))
}

/// Finds the length of each hole's term. An error when one is no term or lies within another.
fn measure(holes: &mut [Hole], etf: &[u8]) -> Result<(), Fault> {
    let lie = || Fault::invalid("a hole is no term of the input");
    let mut order: Vec<_> = (0..holes.len()).collect();
    order.sort_unstable_by_key(|&i| holes[i].start);
    let mut order = order.into_iter();
    let Some(mut next) = order.next() else { return Ok(()) };
    // Behind the version byte.
    let mut walk = Walk { etf, at: 1 };
    let mut left = 1;
    while left > 0 && walk.at <= holes[next].start {
        if walk.at < holes[next].start {
            left = left - 1 + walk.header().ok_or_else(lie)?;
            continue;
        }
        left -= 1;
        walk.term().ok_or_else(lie)?;
        holes[next].len = walk.at - holes[next].start;
        match order.next() {
            Some(i) => next = i,
            None => return Ok(()),
        }
    }
    Err(lie())
}

/// Steps over terms that the runtime wrote.
struct Walk<'a> {
    etf: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// Steps over a whole term.
    fn term(&mut self) -> Option<()> {
        let mut left = 1_usize;
        while left > 0 {
            left = left - 1 + self.header()?;
        }
        Some(())
    }

    /// Steps over a term up to its first part. Gives the number of its parts.
    fn header(&mut self) -> Option<usize> {
        let start = self.at;
        let parts = match self.byte()? {
            97 => self.skip(1),
            98 => self.skip(4),
            70 => self.skip(8),
            99 => self.skip(31),
            106 => Some(0),
            // Atoms
            115 | 119 => self.byte().and_then(|len| self.skip(len.into())),
            100 | 118 | 107 => self.number(2).and_then(|len| self.skip(len)),
            // Binaries, integers, local terms
            109 => self.number(4).and_then(|len| self.skip(len)),
            77 => self.number(4).and_then(|len| self.skip(len + 1)),
            110 => self.byte().and_then(|len| self.skip(usize::from(len) + 1)),
            111 => self.number(4).and_then(|len| self.skip(len + 1)),
            // Containers
            104 => self.byte().map(usize::from),
            105 => self.number(4),
            108 => self.number(4).map(|len| len + 1),
            116 => self.number(4).map(|pairs| pairs * 2),
            // External functions: module, name, arity
            113 => Some(3),
            // Functions say how long they are; the length counts itself.
            112 => self.number(4).and_then(|len| self.skip(len.checked_sub(4)?)),
            // Pids, ports and references: the node, then numbers
            88 => self.node().and_then(|()| self.skip(12)),
            103 => self.node().and_then(|()| self.skip(9)),
            89 => self.node().and_then(|()| self.skip(8)),
            102 => self.node().and_then(|()| self.skip(5)),
            120 => self.node().and_then(|()| self.skip(12)),
            90 => self.number(2).and_then(|words| self.node().and_then(|()| self.skip(4 + 4 * words))),
            114 => self.number(2).and_then(|words| self.node().and_then(|()| self.skip(1 + 4 * words))),
            _ => None,
        };
        if parts.is_none() {
            self.at = start;
        }
        parts
    }

    /// Steps over the atom that names a node.
    fn node(&mut self) -> Option<()> {
        matches!(self.etf.get(self.at)?, 100 | 115 | 118 | 119).then(|| self.header()).flatten().map(|_| ())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.etf.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        (0..bytes).try_fold(0, |number, _| Some(number << 8 | usize::from(self.byte()?)))
    }

    /// Steps over the rest of a term without parts.
    fn skip(&mut self, len: usize) -> Option<usize> {
        if len > self.etf.len() - self.at {
            return None;
        }
        self.at += len;
        Some(0)
    }
}
