//! Options in the form that Elixir packs.

use crate::host::Call;
use crate::session::Operation;
use rustler::{Atom, Error, NifResult, Term};
use rustyjson_core::options::Keys;
use rustyjson_core::{DecodeOptions, EncodeOptions};

mod atoms {
    rustler::atoms! { gzip, format }
}

/// Options of a decode call, as the guest takes them and as the core does.
pub struct Decode {
    pub flags: u32,
    pub max_depth: u32,
    pub digit_limit: u32,
    pub max_nodes: u64,
}

impl Decode {
    /// Reads `{flags, max_depth, digit_limit, max_nodes, dirty_threshold}`.
    pub fn new(packed: Term) -> NifResult<Self> {
        let (flags, max_depth, digit_limit, max_nodes, _): (u32, u32, u32, u64, Term) = packed.decode()?;
        Ok(Self { flags, max_depth, digit_limit, max_nodes })
    }

    /// Whether a key that is not yet an atom is an error.
    pub fn existing_atoms_only(&self) -> bool {
        self.core().keys == Keys::ExistingAtoms
    }

    /// The same as the core's type.
    pub fn core(&self) -> DecodeOptions {
        DecodeOptions::from_bits(self.flags, self.max_depth, self.digit_limit, self.max_nodes, 0)
    }
}

/// Options of an encode call.
pub struct Encode {
    pub flags: u32,
    pub max_depth: u32,
    pub max_bytes: u64,
    pub gzip: u32,
    pub base_depth: u32,
}

impl Encode {
    /// Reads `{flags, max_depth, max_bytes, gzip, pretty, base_depth, plans}`; `pretty` and `plans` come beside it.
    pub fn new(packed: Term) -> NifResult<Self> {
        let (flags, max_depth, max_bytes, gzip, _, base_depth, _): (u32, u32, u64, i32, Term, u32, Term) =
            packed.decode()?;
        Ok(Self { flags, max_depth, max_bytes, gzip: gzip.cast_unsigned(), base_depth })
    }

    /// The same as the core's type.
    pub fn core(&self) -> EncodeOptions<'static> {
        EncodeOptions::from_bits(self.flags, self.max_depth, self.base_depth, self.max_bytes)
    }
}

/// Reads `{:gzip, level}` or `{:format, base_depth, max_depth}`.
pub fn operation(packed: Term) -> NifResult<Operation> {
    if let Ok((name, level)) = packed.decode::<(Atom, u32)>() {
        return if name == atoms::gzip() { Ok(Operation::Gzip { level }) } else { Err(Error::BadArg) };
    }
    let (name, base_depth, max_depth): (Atom, u32, u32) = packed.decode()?;
    if name == atoms::format() { Ok(Operation::Format { base_depth, max_depth }) } else { Err(Error::BadArg) }
}

/// Reads `{pool_size, max_memory, timeout, fresh, start_by}`.
pub fn limits<'a>(packed: Term<'a>, ticket: u64) -> NifResult<Call<'a>> {
    let (pool_size, max_memory, timeout, fresh, start_by): (usize, usize, u64, bool, u64) = packed.decode()?;
    // The tick under way counts as one.
    Ok(Call {
        env: packed.get_env(),
        pool_size,
        max_memory,
        ticks: timeout.saturating_add(1),
        short: false,
        fresh,
        ticket,
        start_by,
    })
}
