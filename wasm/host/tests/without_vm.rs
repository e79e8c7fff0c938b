//! The modules that need no VM, with their unit tests: the library itself can only be linked into one.
#![allow(dead_code, missing_docs)]

#[path = "../src/clock.rs"]
mod clock;
#[path = "../src/fault.rs"]
mod fault;
#[path = "../src/guest.rs"]
mod guest;
#[path = "../src/host.rs"]
mod host;
#[path = "../src/pool.rs"]
mod pool;
#[path = "../src/queue.rs"]
mod queue;
#[path = "../src/ticker.rs"]
mod ticker;
