//! Terms on the heap of the process that calls: what the native library and the built-in host share.
#![deny(unsafe_code)]

pub mod atom_cache;
pub mod builder;
mod heap;
pub mod judged;
pub mod kept;
mod key_cache;
mod key_order;
pub mod known;
pub mod plan;
pub mod raw;
pub mod reader;
mod shapes;
pub mod tags;
pub mod taped;
pub mod turn;

mod atoms {
    use rustyjson_core::options::Null;

    /// The atom that stands for null.
    pub fn of_null(choice: Null) -> rustler::Atom {
        match choice {
            Null::Nil => nil(),
            Null::Null => null(),
            Null::Undefined => undefined(),
        }
    }

    rustler::atoms! {
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
        left,
        load = "Elixir.RustyJson.Schema.Load",
        fragment = "Elixir.RustyJson.Fragment",
        ordered_object = "Elixir.RustyJson.OrderedObject",
    }
}
