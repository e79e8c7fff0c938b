//! What a call takes of its caller's turn on a scheduler, so that the scheduler stays fair.
//!
//! Beyond 4 KB the clock says how much. Bytes say little about long numbers, brackets or improper lists: when a hundredth of a turn was
//! taken for each 4 KB, and nothing for less, rows of such calls held a scheduler for 5 to 12 ms.

use rustler::Env;
use rustler::schedule::consume_timeslice;
use std::time::{Duration, Instant};

/// Bytes of work up to which the clock is not read, which takes 70 ns for a call.
pub const SHORT: usize = 4096;
/// So many of them count as a hundredth of a turn: what takes longest (brackets, long numbers) takes that long.
const BYTES_PER_PERCENT: usize = 1024;
/// About a turn.
const TURN: Duration = Duration::from_millis(1);

/// A call on the caller's scheduler.
pub struct Turn {
    len: usize,
    began: Option<Instant>,
}

impl Turn {
    /// Begins work on a text of this many bytes.
    #[inline(always)]
    pub fn begin(len: usize) -> Self {
        Self { len, began: (len > SHORT).then(Instant::now) }
    }

    /// Begins work of which the length of the text says little.
    pub fn begin_timed() -> Self {
        Self { len: 0, began: Some(Instant::now()) }
    }

    /// Takes what passed from the caller's turn.
    #[inline(always)]
    pub fn end(self, env: Env<'_>) {
        take(env, self.began.map(|began| began.elapsed()), self.len);
    }
}

/// Takes from the caller's turn the time that was spent, if the clock was read, or what work on this many bytes may take.
#[inline(always)]
pub fn take(env: Env<'_>, spent: Option<Duration>, bytes: usize) {
    if let Some(spent) = spent {
        take_time(env, spent);
    } else if bytes >= BYTES_PER_PERCENT {
        take_bytes(env, bytes);
    }
}

/// The time that was spent.
#[inline(never)]
pub fn take_time(env: Env<'_>, spent: Duration) {
    take_percent(env, spent.as_nanos() * 100 / TURN.as_nanos());
}

/// What work on this many bytes may take.
#[inline(never)]
pub fn take_bytes(env: Env<'_>, bytes: usize) {
    take_percent(env, (bytes / BYTES_PER_PERCENT) as u128);
}

fn take_percent(env: Env<'_>, percent: u128) {
    if percent > 0 {
        consume_timeslice(env, percent.min(100) as i32);
    }
}
