//! Erlang's External Term Format (ETF): the [writer] builds it, the [reader] walks it, [check] judges what an
//! untrusted guest wrote. Format: Erlang ERTS User's Guide, "External Term Format".
mod bytes;
pub mod check;
pub mod foreseen;
mod head;
mod index;
pub(crate) mod judge;
pub mod plans;
mod policy;
pub mod reader;
pub(crate) mod tags;
pub mod writer;
