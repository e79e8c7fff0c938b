//! Holes in an encoded text: where the guest met a term that it cannot write.
//!
//! The guest says where the term stands in the input. That is a claim: bytes from the middle of a binary could be made to
//! read as a function. So the places are looked up in the host's own copy of the input, which comes from the runtime and
//! can be trusted, by one walk over it: each must be the start of a term, and none may lie within another.

use crate::fault::Fault;

/// A hole: where it is in the text, how deep the term stands, whether it is an object key, and the term's bytes in the
/// input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    pub offset: u32,
    pub depth: u32,
    pub key: bool,
    pub start: usize,
    pub len: usize,
}

/// Set in the depth of a hole that is an object key.
const KEY: u32 = 1 << 31;

impl Hole {
    /// Reads what the guest says; the length is found later.
    fn new(bytes: &[u8]) -> Self {
        let number = |i: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
        let (offset, start, depth) = (number(0), number(1) as usize, number(2));
        Self { offset, depth: depth & !KEY, key: depth & KEY != 0, start, len: 0 }
    }
}

/// Reads a partial record behind its status. Gives the holes in the order of the text, and the text. The input stands
/// at `base_depth`.
pub fn read<'a>(body: &'a [u8], etf: &[u8], base_depth: u32) -> Result<(Vec<Hole>, &'a [u8]), Fault> {
    let lie = || Fault::invalid("its list of holes is broken");
    let (count, rest) = body.split_first_chunk::<4>().ok_or_else(lie)?;
    let size = (u32::from_le_bytes(*count) as usize).checked_mul(12).ok_or_else(lie)?;
    let (list, text) = rest.split_at_checked(size).ok_or_else(lie)?;
    let mut holes: Vec<_> = list.chunks_exact(12).map(Hole::new).collect();
    let in_order = holes.is_sorted_by_key(|hole| hole.offset);
    if !in_order || holes.last().is_some_and(|hole| hole.offset as usize > text.len()) {
        return Err(lie());
    }
    measure(&mut holes, etf, base_depth).ok_or_else(|| Fault::invalid("a hole is no term of the input"))?;
    Ok((holes, text))
}

/// Finds the length of each hole's term. `None` when one is no term, lies within another, or says that it stands deeper
/// than it does (indentation grows with the depth).
fn measure(holes: &mut [Hole], etf: &[u8], base_depth: u32) -> Option<()> {
    let mut order: Vec<_> = (0..holes.len()).collect();
    order.sort_unstable_by_key(|&i| holes[i].start);
    let mut order = order.into_iter();
    let Some(mut hole) = order.next().map(|i| &mut holes[i]) else { return Some(()) };
    // Behind the version byte; terms that are still to come, container by container.
    let mut walk = Walk { etf, at: 1 };
    let mut left = vec![1_usize];
    while walk.at <= hole.start {
        let here = left.last_mut()?;
        let Some(rest) = here.checked_sub(1) else {
            left.pop();
            continue;
        };
        *here = rest;
        if walk.at < hole.start {
            let parts = walk.header()?;
            left.push(parts);
            continue;
        }
        walk.term()?;
        hole.len = walk.at - hole.start;
        if hole.depth as usize >= base_depth as usize + left.len() {
            return None;
        }
        match order.next() {
            Some(i) => hole = &mut holes[i],
            None => return Some(()),
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `{1, #Fun, [:a, %{"k" => <pid>}]}`, roughly, with the offset of each term.
    const ETF: &[u8] =
        b"\x83\x68\x03\x61\x01\x70\0\0\0\x06\xff\xff\x6c\0\0\0\x02\x77\x01a\x74\0\0\0\x01\x6d\0\0\0\x01k\
        \x58\x77\x01n\0\0\0\x01\0\0\0\0\0\0\0\0\x6a";

    fn find(claims: &[(u32, u32, u32)]) -> Option<Vec<(usize, usize)>> {
        let mut body = (claims.len() as u32).to_le_bytes().to_vec();
        for (offset, start, depth) in claims {
            body.extend([*offset, *start, *depth].iter().flat_map(|n| n.to_le_bytes()));
        }
        body.extend_from_slice(b"0123456789");
        let (holes, text) = read(&body, ETF, 0).ok()?;
        assert_eq!(text, b"0123456789");
        Some(holes.iter().map(|hole| (hole.start, hole.len)).collect())
    }

    #[test]
    fn finds_terms_in_any_order() {
        assert_eq!(find(&[(0, 1, 0)]), Some(vec![(1, ETF.len() - 1)]));
        assert_eq!(find(&[(0, 5, 1)]), Some(vec![(5, 7)]));
        assert_eq!(find(&[(0, 31, 3), (3, 5, 1), (9, 3, 1)]), Some(vec![(31, 16), (5, 7), (3, 2)]));
        assert_eq!(find(&[(10, 25, KEY | 3)]), Some(vec![(25, 6)]));
        assert_eq!(find(&[(10, 47, 2)]), Some(vec![(47, 1)]));
    }

    #[test]
    fn refuses_what_is_no_term() {
        for lie in [
            // Before, inside, between, behind.
            &[(0, 0, 0)][..],
            &[(0, 2, 0)],
            &[(0, 6, 0)],
            &[(0, 11, 0)],
            &[(0, 30, 0)],
            &[(0, 32, 0)],
            &[(0, 48, 0)],
            &[(0, u32::MAX, 0)],
            // Twice, or one within another.
            &[(0, 5, 1), (1, 5, 1)],
            &[(0, 12, 1), (1, 17, 1)],
            // Out of order or outside the text.
            &[(3, 5, 1), (2, 3, 1)],
            &[(11, 5, 1)],
            // Deeper than there is.
            &[(0, 5, 2)],
            &[(0, 1, 1)],
        ] {
            assert_eq!(find(lie), None, "{lie:?}");
        }
        assert!(read(b"\x01\0\0\0", ETF, 0).is_err());
        assert!(read(b"\xff\xff\xff\xff", ETF, 0).is_err());
        assert!(read(b"\x01\0\0", ETF, 0).is_err());
    }
}
