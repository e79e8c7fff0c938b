//! Faults: the reasons why a call has no result.

use crate::translated::Trap;

/// The reasons of `RustyJson.SandboxError` that a host finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The guest asked for more memory than it may have.
    MemoryLimit,
    /// The deadline passed.
    Timeout,
    /// The call waited too long before it could begin.
    Busy,
    /// The guest trapped.
    Trap(Trap),
    /// The guest returned something that an honest guest cannot return.
    InvalidResult(String),
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

    /// What a trap means. A guest that was denied memory usually traps a moment later.
    #[cold]
    pub const fn of(trap: Trap, denied: bool) -> Self {
        match trap {
            Trap::Deadline => Self::Timeout,
            _ if denied => Self::MemoryLimit,
            trap => Self::Trap(trap),
        }
    }
}
