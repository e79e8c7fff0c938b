//! The kernels on 16 bytes at a time, for every instruction set.
//!
//! Strings and white space in real documents are short (a median of 10 bytes), so the first block decides the speed and
//! wider vectors only add set-up. The end of the input is read as the last 16 bytes again, shifted, so that
//! only inputs under 16 bytes are walked byte by byte.

use super::kernel::{Kernel, Kernels, Run};
use super::scalar::Scalar;
use fearless_simd::{Level, Simd, SimdBase, SimdMask, u8x16};

/// A token of `fearless_simd` that proves its instruction set is there.
#[derive(Clone, Copy, Debug)]
pub struct Vector<S>(pub S);

/// Bytes of a vector.
pub const LANES: usize = 16;

impl<S: Simd> Kernels for Vector<S> {
    #[inline(always)]
    fn vectorize<T>(self, run: impl FnOnce() -> T) -> T {
        self.0.vectorize(run)
    }
}

impl<S: Simd> Kernel for Vector<S> {
    #[inline(always)]
    fn string_run(self, bytes: &[u8], pos: usize) -> Run {
        let mut pos = pos;
        let mut high = 0;
        // The first block, where most strings end, is no turn of the loop: the WebAssembly module looks at its deadline in each.
        if let Some(block) = bytes.get(pos..pos + LANES) {
            let (ends, wide) = self.string_masks(block);
            if ends != 0 {
                let at = ends.trailing_zeros();
                return Run { end: pos + at as usize, ascii: wide & !(!0 << at) == 0 };
            }
            high = wide;
            pos += LANES;
        }
        while let Some(block) = bytes.get(pos..pos + LANES) {
            let (ends, wide) = self.string_masks(block);
            if ends != 0 {
                let at = ends.trailing_zeros();
                return Run { end: pos + at as usize, ascii: high | (wide & !(!0 << at)) == 0 };
            }
            high |= wide;
            pos += LANES;
        }
        let tail = self.string_tail(bytes, pos);
        Run { end: tail.end, ascii: tail.ascii && high == 0 }
    }

    #[inline(always)]
    fn space_end(self, bytes: &[u8], pos: usize) -> usize {
        let mut pos = pos;
        if let Some(block) = bytes.get(pos..pos + LANES) {
            let others = self.other_mask(block);
            if others != 0 {
                return pos + others.trailing_zeros() as usize;
            }
            pos += LANES;
        }
        while let Some(block) = bytes.get(pos..pos + LANES) {
            let others = self.other_mask(block);
            if others != 0 {
                return pos + others.trailing_zeros() as usize;
            }
            pos += LANES;
        }
        Scalar.space_end(bytes, pos)
    }

    #[inline(always)]
    fn digit_run(self, block: &[u8; LANES]) -> usize {
        let digits = (u8x16::from_slice(self.0, block) - b'0').simd_lt(10).to_bitmask() as u32;
        (!digits).trailing_zeros() as usize
    }

    #[inline(always)]
    fn integers(self, block: &[u8; LANES]) -> (usize, u32) {
        let bytes = u8x16::from_slice(self.0, block);
        let digits = (bytes - b'0').simd_lt(10).to_bitmask() as u32;
        let commas = bytes.simd_eq(b',').to_bitmask() as u32;
        let minus = bytes.simd_eq(b'-').to_bitmask() as u32;
        let zeros = bytes.simd_eq(b'0').to_bitmask() as u32;
        // Where no integer goes on: two commas, a sign that is not first or not before a digit, a zero before more digits, other bytes.
        let wrong = (commas & commas << 1)
            | (minus & !(commas << 1))
            | (minus << 1 & !digits)
            | (zeros & (commas | minus) << 1 & digits >> 1)
            | !(digits | commas | minus);
        let ends = commas & ((wrong & wrong.wrapping_neg()) - 1);
        (31 - (ends | 1).leading_zeros() as usize, (ends >> 1).count_ones())
    }

    #[inline(always)]
    fn find(self, bytes: &[u8], pos: usize, byte: u8) -> Option<usize> {
        let mut pos = pos;
        while let Some(block) = bytes.get(pos..pos + LANES) {
            let hits = u8x16::from_slice(self.0, block).simd_eq(byte).to_bitmask();
            if hits != 0 {
                return Some(pos + hits.trailing_zeros() as usize);
            }
            pos += LANES;
        }
        Scalar.find(bytes, pos, byte)
    }
}

impl<S: Simd> Vector<S> {
    /// Bits of the bytes that end a run, and of those that are not ASCII.
    #[inline(always)]
    pub(super) fn string_masks(self, block: &[u8]) -> (u32, u32) {
        let v = u8x16::from_slice(self.0, block);
        let ends = v.simd_eq(b'"') | v.simd_eq(b'\\') | v.simd_lt(0x20);
        (ends.to_bitmask() as u32, v.simd_ge(0x80).to_bitmask() as u32)
    }

    /// Bits of backslashes, and of what a backslash can stand before, if that is all of the escape.
    #[inline(always)]
    pub(super) fn escape_masks(self, block: &[u8]) -> (u32, u32) {
        let v = u8x16::from_slice(self.0, block);
        let backslashes = v.simd_eq(b'\\');
        let signs = backslashes | v.simd_eq(b'"') | v.simd_eq(b'/');
        let letters = v.simd_eq(b'b') | v.simd_eq(b'f') | v.simd_eq(b'n') | v.simd_eq(b'r') | v.simd_eq(b't');
        (backslashes.to_bitmask() as u32, (signs | letters).to_bitmask() as u32)
    }

    /// The run continues in the last, partial block of the input.
    #[inline(always)]
    fn string_tail(self, bytes: &[u8], pos: usize) -> Run {
        let Some(start) = bytes.len().checked_sub(LANES) else {
            return Scalar.string_run(bytes, pos);
        };
        if pos >= bytes.len() {
            return Run { end: bytes.len(), ascii: true };
        }
        let shift = pos - start;
        let (ends, wide) = self.string_masks(&bytes[start..]);
        let (ends, wide) = (ends >> shift, wide >> shift);
        if ends == 0 {
            return Run { end: bytes.len(), ascii: wide == 0 };
        }
        let at = ends.trailing_zeros();
        Run { end: pos + at as usize, ascii: wide & !(!0 << at) == 0 }
    }

    /// Bits of the bytes that are not white space.
    #[inline(always)]
    fn other_mask(self, block: &[u8]) -> u32 {
        let v = u8x16::from_slice(self.0, block);
        let space = v.simd_eq(b' ') | v.simd_eq(b'\n') | v.simd_eq(b'\r') | v.simd_eq(b'\t');
        !(space.to_bitmask() as u32) & 0xFFFF
    }
}

/// Name of the instruction set that [`with_kernel!`](crate::with_kernel) chooses.
#[cfg(target_arch = "x86_64")]
pub fn level() -> &'static str {
    if Level::new().as_avx2().is_some() { "AVX2" } else { "SSE2" }
}

/// Name of the instruction set that [`with_kernel!`](crate::with_kernel) chooses.
#[cfg(not(target_arch = "x86_64"))]
pub fn level() -> &'static str {
    match Level::new() {
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => "NEON",
        #[cfg(target_arch = "wasm32")]
        Level::WasmSimd128(_) => "simd128",
        _ => "scalar",
    }
}
