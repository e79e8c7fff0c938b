//! Reserves memory before it is needed, where running out of memory must be an error and not the end of the VM.
//!
//! Only for buffers that grow with the input. The WebAssembly module does not need this: denied memory is a trap there, which
//! ends only the call.

use crate::error::ErrorKind;
use alloc::vec::Vec;

/// Makes room for this many more elements, or returns `OutOfMemory`. Costs nothing before the vector's own check, which is the same.
#[inline(always)]
pub fn room<T>(vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
    if cfg!(target_arch = "wasm32") || vec.capacity() - vec.len() >= more { Ok(()) } else { grow(vec, more) }
}

#[cold]
#[inline(never)]
fn grow<T>(vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
    vec.try_reserve(more).map_err(|_| ErrorKind::OutOfMemory)
}
