//! Copying a few bytes.

/// Copies bytes. Most are few, for which a call of the library function takes longer than the copy: 16 at a time, or 8 or 4
/// from either end, overlapping.
///
/// # Safety
/// The target has room for all of them and does not overlap them.
#[inline(always)]
pub unsafe fn copy(bytes: &[u8], target: *mut u8) {
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: every part lies within the first `len` bytes of both, which do not overlap by the caller's promise.
    unsafe {
        let part = |at: usize, size: usize| std::ptr::copy_nonoverlapping(from.add(at), target.add(at), size);
        match len {
            0..4 => {
                for at in 0..len {
                    *target.add(at) = *from.add(at);
                }
            }
            4..8 => {
                part(0, 4);
                part(len - 4, 4);
            }
            8..16 => {
                part(0, 8);
                part(len - 8, 8);
            }
            16..=64 => {
                for at in (0..len - 16).step_by(16) {
                    part(at, 16);
                }
                part(len - 16, 16);
            }
            _ => part(0, len),
        }
    }
}
