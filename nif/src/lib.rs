//! RustyJson's native library: a thin shell that builds and walks terms on the process heap. It holds no JSON logic;
//! that is in `rustyjson-core`.
#![deny(unsafe_code)]

mod atom_cache;
mod builder;
mod decode;
mod encode;
mod heap;
mod key_cache;
#[cfg(all(feature = "mimalloc", not(feature = "jemalloc"), not(feature = "snmalloc")))]
mod allocator {
    #[global_allocator]
    static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
    pub const NAME: &str = "mimalloc";
}
mod raw;
mod reader;

mod atoms {
    rustler::atoms! {
        ok,
        error,
        nil,
        __struct__,
        values,
        sign,
        coef,
        exp,
        decimal = "Elixir.Decimal",
        ordered_object = "Elixir.RustyJson.OrderedObject",
        simd,
        version,
        allocator,
        dirty,
        partial,
        key,
        value,
    }
}

rustler::init!("Elixir.RustyJson.Engine.Native.Nif");
