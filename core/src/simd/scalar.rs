//! The kernels byte by byte.

use super::kernel::{Kernel, Kernels, Run, ends_run, is_space};
use super::vector::LANES;

/// One byte at a time.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Kernels for Scalar {
    #[inline(always)]
    fn vectorize<T>(self, run: impl FnOnce() -> T) -> T {
        run()
    }
}

impl Kernel for Scalar {
    #[inline(always)]
    fn string_run(self, bytes: &[u8], pos: usize) -> Run {
        let mut ascii = true;
        for (i, &byte) in bytes.iter().enumerate().skip(pos) {
            if ends_run(byte) {
                return Run { end: i, ascii };
            }
            ascii &= byte < 0x80;
        }
        Run { end: bytes.len(), ascii }
    }

    #[inline(always)]
    fn space_end(self, bytes: &[u8], pos: usize) -> usize {
        let rest = bytes.get(pos..).unwrap_or_default();
        pos + rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len())
    }

    #[inline(always)]
    fn digit_run(self, block: &[u8; LANES]) -> usize {
        block.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    #[inline(always)]
    fn integers(self, block: &[u8; LANES]) -> (usize, u32) {
        let (mut last, mut count) = (0, 0);
        loop {
            let first = last + 1 + usize::from(block.get(last + 1) == Some(&b'-'));
            let rest = block.get(first..).unwrap_or_default();
            let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if len == 0 || (len > 1 && rest[0] == b'0') || rest.get(len) != Some(&b',') {
                return (last, count);
            }
            (last, count) = (first + len, count + 1);
        }
    }

    #[inline(always)]
    fn find(self, bytes: &[u8], pos: usize, byte: u8) -> Option<usize> {
        bytes.get(pos..)?.iter().position(|&other| other == byte).map(|at| pos + at)
    }
}
