//! What threads share their data with. `wasm/model` has the same names from a checker that tries every order of their steps.

pub use std::sync::{Mutex, MutexGuard, PoisonError};
