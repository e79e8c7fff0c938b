//! What the sandbox's sources find under `crate::clock`: time that goes on when a model says so.

use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

loom::lazy_static! {
    static ref MILLISECONDS: AtomicUsize = AtomicUsize::new(0);
}

pub fn elapsed() -> Duration {
    Duration::from_millis(MILLISECONDS.load(SeqCst) as u64)
}

pub fn pass(milliseconds: usize) {
    MILLISECONDS.fetch_add(milliseconds, SeqCst);
}
