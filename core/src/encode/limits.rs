//! How far a walk may go: bytes, depth, and the budget of a time slice.

use super::driver::{Driver, Walk};
use super::error::EncodeErrorKind;
use super::reader::TermReader;
use crate::output::Buffer;
use crate::simd::escape::CopyKernel;

impl<'t, K: CopyKernel, R: TermReader<'t>, B: Buffer> Driver<'_, 't, K, R, B> {
    pub fn finish(&self) -> Walk<()> {
        if self.out.failed() {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        if self.too_long() { Err(EncodeErrorKind::MaxBytes) } else { Ok(()) }
    }

    fn too_long(&self) -> bool {
        let max = self.options.max_bytes;
        max != 0 && (self.out.len() - self.start) as u64 > max
    }

    #[inline(always)]
    pub fn over_limit(&self) -> bool {
        self.out.len() > self.limit
    }

    /// The limit is passed: of the output, which is an error, or of the budget, which the shell may extend.
    #[cold]
    #[inline(never)]
    pub fn over(&mut self) -> Walk<()> {
        if self.too_long() {
            return Err(EncodeErrorKind::MaxBytes);
        }
        let more = self.reader.extend_budget();
        if more == 0 {
            return Err(EncodeErrorKind::Budget);
        }
        self.limit_to((self.out.len() - self.start).saturating_add(more));
        Ok(())
    }

    /// The same where the walk can be suspended.
    #[cold]
    #[inline(never)]
    pub fn over_between_values(&mut self) -> Walk<()> {
        let result = self.over();
        self.between_values = result.is_err();
        result
    }

    /// The next look at the limits comes at this many bytes, or where the output becomes too long.
    pub fn limit_to(&mut self, bytes: usize) {
        let max = match self.options.max_bytes {
            0 => usize::MAX,
            max => usize::try_from(max).unwrap_or(usize::MAX),
        };
        self.limit = self.start.saturating_add(max.min(bytes));
    }

    /// Looks ahead before so many bytes are written: the limit is checked only after each value.
    #[cold]
    #[inline(never)]
    pub fn long(&mut self, len: usize) -> Walk<()> {
        let (written, max) = (self.out.len() - self.start, self.options.max_bytes);
        if max != 0 && (written + len) as u64 > max {
            return Err(EncodeErrorKind::MaxBytes);
        }
        if self.in_slice() { Err(EncodeErrorKind::Budget) } else { Ok(()) }
    }

    /// Whether the walk has a budget, so that what is long belongs elsewhere. The WebAssembly module has none, ever.
    pub fn in_slice(&self) -> bool {
        !cfg!(target_arch = "wasm32") && self.options.budget != 0
    }

    /// Checks that one more container may open.
    #[inline(always)]
    pub fn deeper(&mut self) -> Walk<()> {
        if self.stack.len() as u64 + u64::from(self.options.base_depth) >= u64::from(self.options.max_depth) {
            return Err(self.too_deep());
        }
        if self.out.failed() { Err(EncodeErrorKind::OutOfMemory) } else { Ok(()) }
    }

    #[cold]
    fn too_deep(&self) -> EncodeErrorKind {
        if self.options.max_depth == u32::MAX { EncodeErrorKind::OutOfMemory } else { EncodeErrorKind::MaxDepth }
    }
}
