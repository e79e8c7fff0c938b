//! The heads of terms in ETF bytes.

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
        97 => (1, 0),
        98 => (4, 0),
        70 => (8, 0),
        106 => (0, 0),
        99 => (31, 0),
        109 => (word(bytes, at)?.checked_add(4)?, 0),
        77 => (word(bytes, at)?.checked_add(5)?, 0),
        107 | 100 | 118 => (2 + short(bytes, at)?, 0),
        115 | 119 => (1 + byte(bytes, at)?, 0),
        110 => (2 + byte(bytes, at)?, 0),
        111 => (word(bytes, at)?.checked_add(5)?, 0),
        108 => (4, word(bytes, at)?.checked_add(1)?),
        104 => (1, byte(bytes, at)?),
        105 => (4, word(bytes, at)?),
        116 => (4, word(bytes, at)?.checked_mul(2)?),
        // Ports, pids and references: the node, and some words before or behind it, which are skipped with it here.
        88 => return node(bytes, at, 12),
        89 => return node(bytes, at, 8),
        90 => return node(bytes, at + 2, 4 + 4 * short(bytes, at)?),
        101 => return node(bytes, at, 5),
        102 => return node(bytes, at, 5),
        103 => return node(bytes, at, 9),
        114 => return node(bytes, at + 2, 1 + 4 * short(bytes, at)?),
        120 => return node(bytes, at, 12),
        112 => (word(bytes, at)?, 0),
        113 => (0, 3),
        _ => return None,
    };
    let body = at.checked_add(len)?;
    (body <= bytes.len()).then_some(Head { body, terms, is_map: tag == 116 })
}

/// A node's name and the bytes behind it.
fn node(bytes: &[u8], at: usize, len: usize) -> Option<Head> {
    let atom = head(bytes, at).filter(|_| matches!(bytes.get(at), Some(100 | 115 | 118 | 119)))?;
    let body = atom.body.checked_add(len)?;
    (body <= bytes.len()).then_some(Head { body, terms: 0, is_map: false })
}

/// The bytes of an atom; Latin-1 ones as they are, which is UTF-8 when they are ASCII.
pub fn atom_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    match bytes.get(at)? {
        115 | 119 => bytes.get(at + 2..at + 2 + byte(bytes, at + 1)?),
        100 | 118 => bytes.get(at + 3..at + 3 + short(bytes, at + 1)?),
        _ => None,
    }
}
