//! RustyJson's native library: a thin shell around `rustyjson-core`, which has the JSON logic. `rustyjson-terms` builds the terms
//! on the process heap.
#![deny(unsafe_code)]

mod allocator;
mod decode;
mod encode;
mod feed;
mod kept;
mod many;
mod memory;
mod text;

mod atoms {
    rustler::atoms! {
        ok,
        error,
        nil,
        simd,
        version,
        allocator,
        in_place,
        dirty,
        partial,
        suspended,
        planned,
        lost,
        decode,
        more,
        alone,
        again,
        join,
        key,
        value,
    }
}

// The functions of the sandbox.
use rustyjson_wasm_host as _;

use rustler::codegen_runtime::inventory;

rustyjson_terms::entry!(decode(json, options) = 2, crate::decode::decode);
rustyjson_terms::entry!(valid(json, options) = 2, crate::decode::valid);
rustyjson_terms::entry!(encode(term, options, plans) = 3, crate::encode::encode);

rustler::init!("Elixir.RustyJson.Engine.Native.Nif");
