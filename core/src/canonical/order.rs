//! The order of keys.

use core::cmp::Ordering;

/// Compares texts by their UTF-16 units. In UTF-8 that is the order of bytes, but for characters beyond the basic plane: their
/// surrogates, `D800` to `DFFF`, come before the units from `E000` on, which start with the bytes `EE` and `EF`.
pub(super) fn utf16(a: &[u8], b: &[u8]) -> Ordering {
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((&a, &b)) => weight(a).cmp(&weight(b)),
        None => a.len().cmp(&b.len()),
    }
}

const fn weight(byte: u8) -> u8 {
    if byte == 0xEE || byte == 0xEF { byte + 0x10 } else { byte }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_that_of_utf16_units(a in "[a\u{e9}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}", b in ".{0,4}", c in 0..3) {
            let b = if c == 0 { b } else { a.chars().rev().collect() };
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            prop_assert_eq!(utf16(a.as_bytes(), b.as_bytes()), units(&a).cmp(&units(&b)));
        }
    }
}
