//! The limits of a walk: bytes, depth, and the budget of a time slice.
//!
//! The budget is counted in bytes of output, since that is what the hot loops look at anyway. Whatever takes longer than
//! the bytes that it writes is charged as more of them, at about 4 ns each; the comments below say what was measured.
//! Only rare steps are charged: plain lists, maps and scalars of any kind write 64 KB in less than half a millisecond.

use super::driver::{Driver, LONG_STRING, NOTABLE_STRING, Walk};
use super::error::EncodeErrorKind;
use super::reader::TermReader;
use super::writer::Writer;
use crate::options::EncodeOptions;
use crate::options::shape::Shape;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// A term that is left to the shell writes nothing: 100 to 130 ns with the shell's list of holes.
pub(super) const HOLE: usize = 32;
/// A struct that is looked at: 50 to 70 ns.
pub(super) const STRUCT: usize = 16;
/// A struct that is written as a text: 200 ns, a date with a time 600 ns.
pub(super) const STRUCT_TEXT: usize = 64;
/// A key that is neither a binary nor an atom: 80 ns.
pub(super) const KEY: usize = 16;
/// An element of iodata, which may write nothing: 10 ns.
pub(super) const IODATA: usize = 3;
/// Parts that leave no text and may be visited all the same, for each byte that the text may have, and in any case. A list whose elements are
/// each the next list twice has 2^n parts with n cells, and if these are empty, no byte is ever written.
const PARTS: u64 = 16;
const FREE_PARTS: u64 = 1 << 20;
/// As many take about as long as a call for a part.
pub(super) const COUNTED: u64 = 1024;
/// A member that is gathered to be sorted: 120 ns.
pub(super) const MEMBER: usize = 32;
/// A member that is left out: 10 ns.
pub(super) const OMITTED: usize = 3;
/// So many bytes of the key of such a member count as one part more.
const BYTES_PER_PART: usize = 64;
/// The most work of the looks at one key, or at those of a map, in a time slice. What is longer belongs on a dirty scheduler.
pub(super) const LONG_LOOK: usize = 64 * 1024;
/// Open containers in a time slice. A walk this deep cannot be suspended, and the memory for it takes its time too:
/// lists 200,000 deep held a scheduler for 15 ms.
const DEEPEST_IN_SLICE: usize = 4096;

/// Bytes that containers may write while they open one in the other.
pub(super) const DESCENT: usize = 64 * 1024;
/// Bytes of output beyond which a slice ends, whatever its time: new memory for them takes time of its own.
const LONGEST_SLICE: usize = 2 << 20;

/// The most work of writing an integer of this many bytes in decimal digits: 512 bytes take 30 µs, and twice as many three times as long.
pub(super) const fn work_of_digits(bytes: usize) -> usize {
    if bytes <= 512 { bytes * bytes / 32 } else { work_of_digits(bytes.div_ceil(2)).saturating_mul(3) }
}

/// The most work of a look at a key of this many bytes for words of `redact`.
pub(super) const fn work_of_look(shape: &Shape, bytes: usize) -> usize {
    shape.work.saturating_mul(bytes)
}

/// Checks that the digits of an integer can fit into this room: to turn a megabyte into digits takes seconds, which the limit on bytes
/// would otherwise notice only behind them.
pub(super) fn digits_fit(magnitude: &[u8], room: u64) -> Walk<()> {
    if least_digits(magnitude) > room { Err(EncodeErrorKind::MaxBytes) } else { Ok(()) }
}

/// Checks that `len` more bytes may be written.
pub(super) fn too_long(written: u64, len: usize, options: &EncodeOptions<'_>) -> Walk<()> {
    let max = options.max_bytes;
    if max != 0 && written + len as u64 > max { Err(EncodeErrorKind::MaxBytes) } else { Ok(()) }
}

/// The error that stands first in the text, and the bytes of the output in which it is located. A text that is too long is noticed sooner
/// or later behind its limit, or in front of what would exceed it: the place of the limit is the same, and an error of a term behind the
/// limit is none of the text.
pub(super) fn first_error(
    kind: EncodeErrorKind,
    written: u64,
    options: &EncodeOptions<'_>,
) -> (EncodeErrorKind, usize) {
    let max = options.max_bytes;
    let kind = if max != 0 && written > max && of_a_term(kind) { EncodeErrorKind::MaxBytes } else { kind };
    let limited = kind == EncodeErrorKind::MaxBytes && max != 0;
    (kind, if limited { usize::try_from(max).unwrap_or(usize::MAX) } else { usize::MAX })
}

/// Whether an error has a place in the text.
const fn of_a_term(kind: EncodeErrorKind) -> bool {
    use EncodeErrorKind::{DuplicateKey, ImproperList, InvalidKey, InvalidUtf8, MaxDepth};
    matches!(kind, InvalidUtf8 | DuplicateKey | MaxDepth | InvalidKey | ImproperList)
}

/// The parts that may be visited and leave no text: of iodata, elements of improper lists, members that are left out, bytes that are
/// taken back.
pub(super) const fn most_parts(options: &EncodeOptions<'_>) -> u64 {
    match options.max_bytes {
        0 => u64::MAX,
        max => max.saturating_mul(PARTS).saturating_add(FREE_PARTS),
    }
}

/// The decimal digits of a little-endian magnitude, or a few less where it has millions.
fn least_digits(magnitude: &[u8]) -> u64 {
    let Some(last) = magnitude.iter().rposition(|byte| *byte != 0) else { return 1 };
    // Of 2^n, the smallest number with n + 1 bits. Its logarithm is n times 0.301029996.
    let bits = last as u64 * 8 + u64::from(magnitude[last].ilog2());
    bits.saturating_mul(301_029_995) / 1_000_000_000 + 1
}

/// The most containers that may be open.
pub(super) fn most_open(options: &EncodeOptions<'_>) -> usize {
    let allowed = options.max_depth.saturating_sub(options.base_depth) as usize;
    if in_slice(options) { allowed.min(DEEPEST_IN_SLICE) } else { allowed }
}

/// The length of the output at this many bytes from the start, or where it becomes too long. `density`: see [`Writer::DENSITY`].
#[inline(always)]
pub(super) fn limit(options: &EncodeOptions<'_>, start: usize, bytes: usize, density: usize) -> usize {
    let max = match options.max_bytes {
        0 => usize::MAX,
        max => usize::try_from(max).unwrap_or(usize::MAX).saturating_mul(density),
    };
    start.saturating_add(max.min(bytes))
}

/// Makes room for this many more.
#[inline(always)]
pub(super) fn room<T>(list: &mut Vec<T>, more: usize) -> Walk<()> {
    crate::room::room(list, more).map_err(|_| EncodeErrorKind::OutOfMemory)
}

/// Whether the walk counts its work. The WebAssembly module does not, ever.
const fn has_budget(options: &EncodeOptions<'_>) -> bool {
    !cfg!(target_arch = "wasm32") && options.budget != 0
}

/// Whether others wait for it, so that what is long belongs elsewhere.
const fn in_slice(options: &EncodeOptions<'_>) -> bool {
    has_budget(options) && !options.patient
}

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    pub fn finish(&self) -> Walk<()> {
        if self.out.failed() {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        if self.too_long() { Err(EncodeErrorKind::MaxBytes) } else { Ok(()) }
    }

    pub fn too_long(&self) -> bool {
        let max = self.options.max_bytes;
        max != 0 && self.written() > max
    }

    /// Bytes of text that are written, at least.
    pub fn written(&self) -> u64 {
        ((self.out.length() - self.start) / W::DENSITY) as u64
    }

    /// Bytes that may still be written.
    pub fn room(&self) -> u64 {
        match self.options.max_bytes {
            0 => u64::MAX,
            max => max.saturating_sub(self.written()),
        }
    }

    #[inline(always)]
    pub fn over_limit(&self) -> bool {
        self.out.length() > self.limit
    }

    /// The limit is passed: of the output, which is an error, or of the budget, which the shell may extend.
    #[cold]
    #[inline(never)]
    pub fn over(&mut self) -> Walk<()> {
        if self.out.failed() {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        if self.too_long() {
            return Err(EncodeErrorKind::MaxBytes);
        }
        if !has_budget(self.options) {
            return Ok(());
        }
        let written = self.out.length() - self.start;
        let more = if self.in_slice() && written > LONGEST_SLICE { 0 } else { self.reader.extend_budget() };
        if more == 0 {
            return Err(EncodeErrorKind::Budget);
        }
        self.limit_to(written.saturating_add(more));
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
        self.limit = limit(self.options, self.start, bytes, W::DENSITY);
    }

    /// Checks before many bytes are written, because the limit is otherwise checked only after each value. In a slice the clock starts
    /// here: written as escapes, the bytes can be half a millisecond of work.
    #[cold]
    #[inline(never)]
    pub fn long(&mut self, len: usize) -> Walk<()> {
        if len > NOTABLE_STRING {
            too_long(self.written(), len, self.options)?;
        }
        if !self.in_slice() {
            return Ok(());
        }
        // The result is ignored: the limits are checked again between two values, where the walk can stop.
        self.reader.extend_budget();
        if len > LONG_STRING { Err(EncodeErrorKind::Budget) } else { Ok(()) }
    }

    /// Whether others wait for the walk.
    pub fn in_slice(&self) -> bool {
        in_slice(self.options)
    }

    /// Takes work from the budget that the bytes written do not show.
    #[inline(always)]
    pub fn charge(&mut self, bytes: usize) {
        if has_budget(self.options) {
            self.limit = self.limit.saturating_sub(bytes);
            self.reader.charge(bytes);
        }
    }

    /// Takes work from the budget before it is done. Whether the text is too long is asked where it always is: the error has a path.
    pub fn spend(&mut self, bytes: usize) -> Walk<()> {
        self.charge(bytes);
        // Long work leaves a limit of zero, and an empty output is not longer than that.
        if self.out.length() >= self.limit && !self.too_long() { self.over() } else { Ok(()) }
    }

    /// Counts members or bytes of which no text is left: a term that shares its parts could otherwise have any number of them, and never be
    /// too long.
    pub fn lost(&mut self, parts: usize) -> Walk<()> {
        self.parts = self.parts.saturating_add(parts as u64);
        if self.parts > most_parts(self.options) { Err(EncodeErrorKind::MaxBytes) } else { Ok(()) }
    }

    /// Counts a member that is left out, whose key has this many bytes that became text.
    pub fn omitted(&mut self, bytes: usize) -> Walk<()> {
        self.charge(OMITTED + bytes);
        self.lost(1 + bytes / BYTES_PER_PART)
    }

    /// Counts the work of making the digits of a key whose member is left out.
    pub fn lost_digits(&mut self, digits: usize) -> Walk<()> {
        // A byte holds 2.4 digits.
        self.lost(work_of_digits(digits / 12 * 5) / OMITTED)
    }

    /// The same for several members.
    #[inline(always)]
    pub fn left_out(&mut self, members: usize) -> Walk<()> {
        if members == 0 {
            return Ok(());
        }
        self.charge(members * OMITTED);
        self.lost(members)
    }

    /// Containers that open one in the other pass no other look at the limits, and each of their lines is longer than the
    /// one before. What is over by little is left to the other look, behind which the walk can be suspended. Where nobody waits for the
    /// walk, the look is made here.
    pub fn limit_descent(&mut self) {
        let far = self.out.length() > self.limit.saturating_add(DESCENT);
        if far && (self.in_slice() || self.over().is_err()) {
            (self.most_open, self.deepest) = (0, 0);
        }
    }
}
