//! A clock that Elixir and this library share.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since it was read first.
pub fn elapsed() -> Duration {
    START.elapsed()
}

/// The same in milliseconds.
pub fn now() -> u64 {
    elapsed().as_millis() as u64
}
