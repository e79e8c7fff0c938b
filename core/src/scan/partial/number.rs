//! As much of a number as can be told while it may go on.

use super::events::NUMBER;
use super::{Document, LONGEST};
use crate::builder::Rewind;
use crate::error::ErrorKind;
use crate::options::DecodeOptions;
use crate::simd::Kernel;

impl<K: Kernel, B: Rewind> Document<'_, K, B> {
    /// Tells how much of a number can be told: the longest part from its start that is a number and within the limits.
    pub(super) fn number(&mut self, pos: usize) -> Result<(), ErrorKind> {
        let rest = &self.piece.bytes[pos..];
        let rest = &rest[..rest.len().min(LONGEST)];
        let options = DecodeOptions { max_nodes: 0, ..*self.options };
        for end in ends(rest, &options).into_iter().filter(|&end| end > 0) {
            let (mark, items) = (self.builder.mark(), self.items);
            self.event(NUMBER)?;
            if self.decoded(&rest[..end], 0, &options).is_ok() {
                self.items += 1;
                return Ok(());
            }
            self.builder.rewind(mark);
            self.items = items;
        }
        Ok(())
    }
}

/// Where the text of a number may end so that it is one, the longest first; a decimal and an integer also where they have the most digits
/// that are allowed; 0 for none.
fn ends(text: &[u8], options: &DecodeOptions) -> [usize; 5] {
    let most = options.digit_limit as usize;
    let digits = |from: usize| from + text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let at = |pos: usize| text.get(pos).copied().unwrap_or(0);
    let start = usize::from(at(0) == b'-');
    let whole = digits(start);
    if whole == start {
        return [0; 5];
    }
    let mut fraction = whole;
    if at(whole) == b'.' && digits(whole + 1) > whole + 1 {
        fraction = digits(whole + 1);
    }
    let mut exponent = fraction;
    if matches!(at(fraction), b'e' | b'E') {
        let first = fraction + 1 + usize::from(matches!(at(fraction + 1), b'+' | b'-'));
        if first < text.len() && digits(first) > first {
            exponent = digits(first);
        }
    }
    let limited = decimal_end(&text[start..fraction], options).map_or(0, |len| start + len);
    let limited = if limited > whole + 1 { limited } else { 0 };
    [exponent, fraction, limited, whole, if most > 0 { whole.min(start + most) } else { 0 }]
}

/// Where a decimal has the most digits that are allowed, if it has more.
fn decimal_end(text: &[u8], options: &DecodeOptions) -> Option<usize> {
    let digits = text.iter().enumerate().filter(|(_, byte)| **byte != b'.');
    let mut significant = digits.skip_while(|(_, byte)| **byte == b'0');
    let most = if options.decimals { options.max_decimal_digits as usize } else { usize::MAX };
    significant.nth(most).map(|(at, _)| at)
}
