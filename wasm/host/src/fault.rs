//! Faults: the reasons why a call has no result.

use crate::translated::Trap;

/// A reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(pub String);

/// The reasons of `RustyJson.SandboxError` that a host finds.
// Words are boxed, so that a term or a fault is two words, which a function returns in registers. In memory, the processor would wait
// wherever larger pieces are moved than were written.
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
    InvalidResult(Box<Words>),
    /// No instance can be made, or there is no memory for the result.
    Unavailable(Box<Words>),
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
        Self::InvalidResult(Box::new(Words(what.into())))
    }

    /// No instance, for this reason.
    #[cold]
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable(Box::new(Words(why.into())))
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
