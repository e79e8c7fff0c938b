//! A clock that Elixir and this library share.

use std::sync::LazyLock;
use std::time::Instant;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds since it was read first.
pub fn now() -> u64 {
    START.elapsed().as_millis() as u64
}
