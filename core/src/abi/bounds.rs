//! How long a text of the guest may be: what an honest guest never exceeds.

use crate::options::EncodeOptions;

/// Most times that a text is as long as its term on a tape: a control character becomes six bytes.
const GROWTH: u64 = 6;

/// Whether an honest guest could have written a text of this length for a tape of this length, counted with all keys of its shapes.
pub fn may_be_played(len: usize, tape: usize, options: &EncodeOptions<'_>) -> bool {
    let terms = tape as u64;
    // Two lines for each token at most, which has four bytes.
    len as u64 <= GROWTH.saturating_mul(terms).saturating_add(16).saturating_add(longest_lines(terms, options))
}

/// The most that lines of a term of this size can take.
fn longest_lines(terms: u64, options: &EncodeOptions<'_>) -> u64 {
    options.pretty.map_or(0, |pretty| {
        let deepest = u64::from(options.max_depth).min(u64::from(options.base_depth).saturating_add(terms));
        let indent = deepest.saturating_mul(pretty.indent.len() as u64);
        let line = indent.saturating_add((pretty.line_separator.len() + pretty.after_colon.len()) as u64);
        line.saturating_mul(terms.saturating_add(1))
    })
}

/// The most bytes that a text becomes when it is compressed: what doesn't get shorter is stored.
pub const fn longest_compressed(plain: usize) -> usize {
    plain.saturating_add(plain / 8).saturating_add(64)
}

/// The most bytes of a text in canonical form: `1e20` gets 21 digits.
pub const fn longest_canonical(plain: usize) -> usize {
    plain.saturating_mul(6).saturating_add(16)
}

/// The fewest bytes that a compressed text had before, if [`longest_compressed`] is right.
pub const fn shortest_plain(compressed: usize) -> usize {
    compressed.saturating_sub(compressed / 8).saturating_sub(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Pretty;

    #[test]
    fn texts_are_bounded_by_the_tape() {
        let plain = EncodeOptions::default();
        let pretty = Pretty { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };
        let pretty = EncodeOptions { pretty: Some(pretty), max_depth: 3, ..plain };
        assert!(may_be_played(76, 10, &plain) && !may_be_played(77, 10, &plain));
        assert!(may_be_played(76 + 11 * 8, 10, &pretty) && !may_be_played(77 + 11 * 8, 10, &pretty));
    }
}
