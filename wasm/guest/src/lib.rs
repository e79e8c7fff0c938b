//! The core as a WebAssembly module. Exports take and give scalars; texts and terms cross in linear memory.
//!
//! A call is: [`input`] gives the address of a buffer, the host writes the options and what the call is about into it,
//! one behind the other, then [`decode`], [`encode`] or another export gives the address and length of a record in one
//! integer, valid until the next call. `len` is the number of bytes in the buffer, `options` how many of them are options.
//! 0 means out of memory. `rustyjson_core::abi` writes records and says what is in them.
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

use rustyjson_core::abi;
use state::with_state;

/// Defines the exports.
macro_rules! exports {
    ($($(#[$documentation:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$documentation])*
            // SAFETY: the attribute is unsafe because two symbols could clash; nothing else in the module has these names.
            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $kind),*) $(-> $result)? $body
        )*
    };
}

exports! {
    /// Version of these exports.
    fn abi_version() -> u32 {
        abi::VERSION
    }

    /// Address of a buffer for at least `len` bytes of input; 0 if memory ran out.
    fn input(len: u32) -> u32 {
        with_state(|state| state.input(len as usize))
    }

    /// Decodes what follows the options into External Term Format. Behind the options stands the seed of the hashes (u64).
    /// Maps may have repeated keys, which the runtime refuses; then ask [`resolve`].
    fn decode(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.decode(len as usize, options as usize, true)))
    }

    /// Does what [`decode`] does, with repeated keys resolved.
    fn resolve(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.decode(len as usize, options as usize, false)))
    }

    /// The keys of what [`decode`] would decode, in the order of the text, up to its first error, if it has any; or, with
    /// `stop` the number of one of them, the error that this key is not an existing atom. Only the host knows which atoms exist.
    fn keys(len: u32, options: u32, stop: u64) -> u64 {
        with_state(|state| packed(state.keys(len as usize, options as usize, stop)))
    }

    /// Decodes the values that a piece of a stream completes. The options are the question ([`rustyjson_core::scan::Question`])
    /// and those of [`decode`]; the piece follows. The record holds a list in External Term Format, the answer
    /// ([`rustyjson_core::scan::Answer`]), and the length of the list (`u32`).
    fn feed(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.feed(len as usize, options as usize)))
    }

    /// Decodes many documents: what follows the options is a [`rustyjson_core::abi::batch::Batch`]. The options are those of
    /// [`decode`].
    fn many(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.many(len as usize, options as usize)))
    }

    /// Encodes the term in External Term Format that follows the options. Behind the options stands another such term, the
    /// plans of derived structs, or nothing.
    fn encode(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.encode(len as usize, options as usize)))
    }

    /// Makes room for at least `len` bytes of input and keeps the first `keep` of them. Address and length of the room in one integer, 0
    /// if memory ran out.
    fn extend(len: u32, keep: u32) -> u64 {
        with_state(|state| state.extend(len as usize, keep as usize))
    }

    /// Encodes the term whose tape ([`rustyjson_core::tape`]) follows the options, to about as many bytes of text as are expected. The claims
    /// of a partial record say where its holes are, in their order.
    fn play(len: u32, options: u32, expected: u32) -> u64 {
        with_state(|state| packed(state.play(len as usize, options as usize, expected as usize)))
    }

    /// Compresses what follows the options (gzip).
    fn gzip(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.gzip(len as usize, options as usize)))
    }

    /// Lays out again the JSON text that follows the options.
    fn format(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.format(len as usize, options as usize)))
    }

    /// Writes the JSON text that follows the options in canonical form. The options are those of [`decode`], the longest output (u64, 0
    /// for no limit), and the seed.
    fn canonicalize(len: u32, options: u32) -> u64 {
        with_state(|state| packed(state.canonicalize(len as usize, options as usize)))
    }

    /// Forgets input and result. Buffers are kept up to a share, so that the next small document allocates nothing.
    fn reset() {
        with_state(state::State::reset);
    }
}

/// How an export returns a record.
fn packed(record: Option<&[u8]>) -> u64 {
    record.map_or(0, |bytes| abi::pack(bytes.as_ptr() as u64, bytes.len() as u64))
}
