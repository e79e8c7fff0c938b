//! RustyJson's native library: a thin shell that builds and walks terms on the process heap. It holds no JSON logic;
//! that is in `rustyjson-core`.
#![deny(unsafe_code)]

mod allocator;
mod atom_cache;
mod builder;
mod decode;
mod encode;
mod feed;
mod heap;
mod judge;
mod key_cache;
mod key_order;
mod many;
mod memory;
mod raw;
mod reader;
mod shapes;
mod tags;
mod text;

mod atoms {
    rustler::atoms! {
        ok,
        error,
        nil,
        null,
        undefined,
        nif_panicked,
        __struct__,
        values,
        sign,
        coef,
        exp,
        decimal = "Elixir.Decimal",
        encode,
        fragment = "Elixir.RustyJson.Fragment",
        ordered_object = "Elixir.RustyJson.OrderedObject",
        simd,
        version,
        allocator,
        in_place,
        dirty,
        partial,
        suspended,
        planned,
        more,
        alone,
        again,
        join,
        key,
        value,
        fault,
        invalid_result,
        left,
        load = "Elixir.RustyJson.Schema.Load",
    }
}

rustler::init!("Elixir.RustyJson.Engine.Native.Nif");
