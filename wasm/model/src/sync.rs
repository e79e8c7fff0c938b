//! What the sandbox's sources find under `crate::sync`: the same names, from the checker.

pub use loom::sync::{Mutex, MutexGuard};
pub use std::sync::PoisonError;
