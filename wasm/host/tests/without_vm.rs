//! The modules that need no VM, with their unit tests: the library itself can only be linked into one.
#![allow(dead_code, missing_docs)]

#[path = "../src/clock.rs"]
mod clock;
#[path = "../src/queue.rs"]
mod queue;
