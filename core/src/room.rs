//! Memory that is asked for before it is needed, where running out of it must be an error and not the end of the VM.
//!
//! Only for buffers that grow with the input. In the WebAssembly module there is nothing to ask: memory that is denied ends
//! in a trap, which ends the call and nothing else.

use crate::error::ErrorKind;
use alloc::vec::Vec;

/// Makes room for this many more elements. Costs nothing before the vector's own check, which is the same.
#[inline(always)]
pub(crate) fn room<T>(vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
    if cfg!(target_arch = "wasm32") || vec.capacity() - vec.len() >= more { Ok(()) } else { grow(vec, more) }
}

#[cold]
#[inline(never)]
fn grow<T>(vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
    vec.try_reserve(more).map_err(|_| ErrorKind::OutOfMemory)
}
