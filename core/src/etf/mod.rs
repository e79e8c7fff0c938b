//! Erlang's External Term Format (ETF): the [writer] builds it, the [reader] walks it, [check] judges what an untrusted
//! guest wrote. Format: Erlang ERTS User's Guide, "External Term Format".
pub mod check;
pub mod extra;
mod head;
mod index;
pub mod reader;
mod tags;
pub mod writer;
