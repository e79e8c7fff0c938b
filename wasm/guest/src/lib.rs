//! The core as a WebAssembly module. Exports take and give scalars; texts and terms cross in linear memory.
//!
//! A call is: [`input`] gives the address of a buffer, the host writes into it, then [`decode`] or [`encode`] gives the
//! address and length of a record in one integer, valid until the next call. 0 means out of memory. `rustyjson_core::abi`
//! writes records and says what is in them.
//!
//! There is one thread and nothing is imported. A panic is a trap; the host then throws the instance away.
#![cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
#![cfg_attr(target_arch = "wasm32", no_std)]
#![deny(unsafe_code)]

extern crate alloc;

#[cfg(all(target_arch = "wasm32", not(target_feature = "simd128")))]
compile_error!("build the guest with -Ctarget-feature=+simd128, see .cargo/config.toml");

#[cfg(target_arch = "wasm32")]
mod runtime;
mod state;

use rustyjson_core::{DecodeOptions, EncodeOptions, abi};
use state::with_state;

/// Version of these exports.
// SAFETY: the attribute is unsafe because two symbols could clash; nothing else in the module has these names.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn abi_version() -> u32 {
    abi::VERSION
}

/// Address of a buffer for at least `len` bytes of input; 0 when there is no memory.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn input(len: u32) -> u32 {
    with_state(|state| state.input(len as usize))
}

/// Decodes the first `len` bytes of the input buffer into External Term Format.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn decode(len: u32, flags: u32, max_depth: u32, digit_limit: u32, max_nodes: u64, seed: u64) -> u64 {
    let options = DecodeOptions::from_bits(flags, max_depth, digit_limit, max_nodes, seed);
    with_state(|state| packed(state.decode(len as usize, &options)))
}

/// The keys of the first `len` bytes of the input buffer in the order of the text, up to its first error, if it has any;
/// or, with `stop` the number of one of them, the error that this key is not an existing atom. Only the host knows which
/// atoms exist.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn keys(len: u32, flags: u32, max_depth: u32, digit_limit: u32, max_nodes: u64, stop: u64) -> u64 {
    let options = DecodeOptions::from_bits(flags, max_depth, digit_limit, max_nodes, 0);
    with_state(|state| packed(state.keys(len as usize, &options, stop)))
}

/// Encodes a term in External Term Format. The input buffer holds `len` bytes: first `extra_len` of another such term,
/// `{pretty, plans}`, or none, then the term. `gzip` is a level, or `u32::MAX` for none.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn encode(
    len: u32,
    extra_len: u32,
    flags: u32,
    max_depth: u32,
    gzip: u32,
    base_depth: u32,
    max_bytes: u64,
) -> u64 {
    let options = EncodeOptions::from_bits(flags, max_depth, base_depth, max_bytes);
    with_state(|state| packed(state.encode(len as usize, extra_len as usize, options, gzip)))
}

/// Compresses the first `len` bytes of the input buffer (gzip).
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn gzip(len: u32, level: u32) -> u64 {
    with_state(|state| packed(state.gzip(len as usize, level)))
}

/// Lays out JSON text again. The input buffer holds `len` bytes: first `extra_len` of the layout, which are the most bytes
/// to write (u64, 0 for no limit), then indentation, line separator, record separator and what follows a colon, each as
/// its length (u32) and its bytes; then the text.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn format(len: u32, extra_len: u32, base_depth: u32, max_depth: u32) -> u64 {
    with_state(|state| packed(state.format(len as usize, extra_len as usize, base_depth, max_depth)))
}

/// Forgets input and result. Buffers are kept up to a share, so that the next small document allocates nothing.
// SAFETY: as for `abi_version`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn reset() {
    with_state(state::State::reset);
}

/// How an export returns a record.
fn packed(record: Option<&[u8]>) -> u64 {
    record.map_or(0, |bytes| abi::pack(bytes.as_ptr() as u64, bytes.len() as u64))
}
