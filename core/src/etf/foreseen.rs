//! The time that the VM takes for a term which it makes in one step.

use super::judge::KEY_NS;
use crate::ErrorKind;
use crate::builder::{TermBuilder, no_numbers, numbers_only};

/// What the VM takes for a byte, in nanoseconds.
const BYTE_NS: u64 = 10;
/// The VM makes larger maps key by key.
const FLAT_MAP: usize = 32;

/// A builder that makes nothing and counts down the nanoseconds that are left, so that the walk ends where the VM would be late.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    left: u64,
}

impl Foreseen {
    /// For a term of this many bytes.
    pub const fn new(left: u64, bytes: usize) -> Self {
        Self { left: left.saturating_sub((bytes as u64).saturating_mul(BYTE_NS)) }
    }

    /// Whether the VM would be late.
    pub const fn is_late(&self) -> bool {
        self.left == 0
    }
}

impl TermBuilder for Foreseen {
    const DROPS: bool = true;
    const WORDS: bool = false;
    numbers_only!();
    no_numbers!();
    fn time_left(&self) -> u64 {
        self.left
    }
    fn end_unsearched(&mut self, len: usize) -> Result<bool, ErrorKind> {
        if len > FLAT_MAP {
            self.left = self.left.saturating_sub((len as u64).saturating_mul(KEY_NS));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecodeOptions;
    use crate::etf::check::{Fault, Open, Policy, build_list};

    #[test]
    fn the_clock_is_looked_at_between_short_documents() {
        let documents = [[131, 108, 0, 0, 0, 100].as_slice(), &[97, 1].repeat(100), &[106]].concat();
        let run = |left| {
            let policies = core::iter::repeat_n(Policy::new(&DecodeOptions::DEFAULT, 1), 100);
            build_list(&documents, policies, &mut Open::default(), &mut Foreseen::new(left, 0))
        };
        assert_eq!(run(0).map_err(|refused| refused.fault), Err(Fault::Work));
        assert_eq!(run(1), Ok(()));
    }

    #[test]
    fn keys_of_large_maps_take_time() {
        let mut foreseen = Foreseen::new(100_000, 1_000);
        assert_eq!(foreseen.time_left(), 90_000);
        assert_eq!(foreseen.end_unsearched(FLAT_MAP), Ok(true));
        assert_eq!(foreseen.time_left(), 90_000);
        assert_eq!(foreseen.end_unsearched(100), Ok(true));
        assert_eq!(foreseen.time_left(), 50_000);
        assert_eq!(foreseen.end_unsearched(200), Ok(true));
        assert!(foreseen.is_late());
    }
}
