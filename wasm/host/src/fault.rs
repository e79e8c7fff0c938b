//! Why a call has no answer.

use wasmtime::{Error, Trap};

/// The reasons of `RustyJson.SandboxError` that a host finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The guest asked for more memory than it may have.
    MemoryLimit,
    /// The deadline passed.
    Timeout,
    /// The guest trapped; what wasmtime says about it.
    Trap(String),
    /// The guest answered something that no honest guest answers.
    InvalidResult(String),
    /// No instance can be made.
    Unavailable(String),
}

impl Fault {
    /// A result refused.
    #[cold]
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidResult(what.into())
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
