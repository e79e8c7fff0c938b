//! JSON text to terms and terms to JSON text, free of any host.
//!
//! The core drives; a shell supplies the terms. [`decode`] pushes values into a
//! [`TermBuilder`], [`encode`] pulls them out of a [`TermReader`]. The NIF implements both on
//! the process heap; [`etf`] implements both on Erlang's External Term Format, for WebAssembly.
//!
//! No I/O, clock, threads, globals, recursion or `unsafe`. Time is linear in the input under the
//! default limits.
#![forbid(unsafe_code)]
// The standard library's panic messages take 12 KB of the WebAssembly module, where a panic is a trap that shows none.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod abi;
pub mod builder;
pub mod canonical;
pub mod decode;
pub mod encode;
pub mod error;
pub mod etf;
pub mod format;
pub mod gzip;
pub mod locate;
mod natural;
pub mod options;
pub mod output;
pub mod parts;
pub mod room;
pub mod scan;
pub mod simd;
pub mod tape;

pub use builder::{Key, TermBuilder, Text};
pub use decode::{Scratch, decode};
pub use encode::{TermReader, encode};
pub use error::{Error, ErrorKind};
pub use options::{DecodeOptions, EncodeOptions};
pub use output::{Buffer, Output, ample};
