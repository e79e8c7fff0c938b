//! Faults: the reasons why a call has no result.

use wasmtime::{Error, PoolConcurrencyLimitError, Trap};

/// The reasons of `RustyJson.SandboxError` that a host finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The guest asked for more memory than it may have.
    MemoryLimit,
    /// The deadline passed.
    Timeout,
    /// The call waited too long before it could begin.
    Busy,
    /// The guest trapped; what wasmtime says about it.
    Trap(String),
    /// The guest returned something that an honest guest cannot return.
    InvalidResult(String),
    /// The allocator has no room for another instance now.
    Full,
    /// No instance can be made.
    Unavailable(String),
}

/// Why a call gave nothing.
#[derive(Debug)]
pub enum Stop {
    /// All places are taken.
    Busy,
    /// The call failed.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Fault {
    /// A result refused.
    #[cold]
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidResult(what.into())
    }

    /// Why no instance was made.
    #[cold]
    pub fn from_start(error: &Error, denied: bool) -> Self {
        if error.is::<PoolConcurrencyLimitError>() {
            return Self::Full;
        }
        if denied { Self::MemoryLimit } else { Self::Unavailable(format!("no instance: {error}")) }
    }

    /// What wasmtime's error means. A guest that was denied memory usually traps a moment later.
    #[cold]
    pub fn from_call(error: &Error, denied: bool) -> Self {
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::Timeout,
            _ if denied => Self::MemoryLimit,
            Some(trap) => Self::Trap(trap.to_string()),
            None => Self::Trap(error.to_string()),
        }
    }
}
