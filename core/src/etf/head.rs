//! The heads of terms in ETF bytes: the one table of what each tag is followed by.

use super::tags::*;

/// How a term starts: where what follows its head is, and how many terms that is (map: keys and values; list: also the
/// tail). Terms without parts are skipped whole.
pub struct Head {
    pub body: usize,
    pub terms: usize,
    pub is_map: bool,
}

pub fn byte(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at).map(|b| usize::from(*b))
}

pub fn short(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|b| usize::from(u16::from_be_bytes(*b)))
}

#[inline(always)]
pub fn word(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_be_bytes(*b) as usize)
}

pub fn head(bytes: &[u8], at: usize) -> Option<Head> {
    let tag = *bytes.get(at)?;
    let at = at + 1;
    let (len, terms) = match tag {
        SMALL_INTEGER => (1, 0),
        INTEGER => (4, 0),
        NEW_FLOAT => (8, 0),
        NIL => (0, 0),
        FLOAT => (31, 0),
        BINARY => (word(bytes, at)?.checked_add(4)?, 0),
        BIT_BINARY => (word(bytes, at)?.checked_add(5)?, 0),
        STRING | ATOM | ATOM_UTF8 => (2 + short(bytes, at)?, 0),
        SMALL_ATOM | SMALL_ATOM_UTF8 => (1 + byte(bytes, at)?, 0),
        SMALL_BIG => (2 + byte(bytes, at)?, 0),
        LARGE_BIG => (word(bytes, at)?.checked_add(5)?, 0),
        LIST => (4, word(bytes, at)?.checked_add(1)?),
        SMALL_TUPLE => (1, byte(bytes, at)?),
        LARGE_TUPLE => (4, word(bytes, at)?),
        MAP => (4, word(bytes, at)?.checked_mul(2)?),
        // Ports, pids and references: the node, and some words before or behind it, which are skipped with it here.
        NEW_PID | V4_PORT => return node(bytes, at, 12),
        NEW_PORT => return node(bytes, at, 8),
        NEWER_REFERENCE => return node(bytes, at + 2, 4 + 4 * short(bytes, at)?),
        REFERENCE | PORT => return node(bytes, at, 5),
        PID => return node(bytes, at, 9),
        NEW_REFERENCE => return node(bytes, at + 2, 1 + 4 * short(bytes, at)?),
        // The length counts itself.
        NEW_FUN => (word(bytes, at)?.max(4), 0),
        EXPORT => (0, 3),
        // The number of fields and a byte of flags; then module, name, the fields' names, and their values.
        NATIVE_RECORD => (5, word(bytes, at)?.checked_mul(2)?.checked_add(2)?),
        _ => return None,
    };
    let body = at.checked_add(len)?;
    (body <= bytes.len()).then_some(Head { body, terms, is_map: tag == MAP })
}

/// A node's name and the bytes behind it.
fn node(bytes: &[u8], at: usize, len: usize) -> Option<Head> {
    let atom = head(bytes, at).filter(|_| bytes.get(at).is_some_and(|tag| is_atom(*tag)))?;
    let body = atom.body.checked_add(len)?;
    (body <= bytes.len()).then_some(Head { body, terms: 0, is_map: false })
}

/// Whether a term with this tag is an atom.
pub const fn is_atom(tag: u8) -> bool {
    matches!(tag, SMALL_ATOM_UTF8 | ATOM_UTF8 | SMALL_ATOM | ATOM)
}

/// The bytes of an atom; Latin-1 ones as they are, which is UTF-8 when they are ASCII.
pub fn atom_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    match *bytes.get(at)? {
        SMALL_ATOM | SMALL_ATOM_UTF8 => bytes.get(at + 2..at + 2 + byte(bytes, at + 1)?),
        ATOM | ATOM_UTF8 => bytes.get(at + 3..at + 3 + short(bytes, at + 1)?),
        _ => None,
    }
}
