//! Drives the epoch, wasmtime's clock for deadlines: one tick is about a millisecond.
//!
//! A thread ticks during calls and for a moment after, then parks: an idle VM is not disturbed, and a busy one does not wake a
//! thread for every call.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread::{Builder, Thread, park, sleep};
use std::time::{Duration, Instant};
use wasmtime::Engine;

/// Length of a tick.
const TICK: Duration = Duration::from_millis(1);
/// Ticks without a call after which the thread parks.
const IDLE_TICKS: u32 = 250;

#[derive(Default)]
struct Shared {
    /// Ticks so far.
    ticks: AtomicU64,
    /// Calls under way.
    running: AtomicUsize,
    /// Whether a call began since the last tick.
    used: AtomicBool,
    parked: AtomicBool,
    stop: AtomicBool,
}

/// The thread, until this is dropped.
pub struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

/// A call under way.
pub struct Running<'a>(&'a Shared);

/// The end of a call's time. The epoch interrupts the guest only; work of the host checks this from time to time.
#[derive(Clone)]
pub struct Deadline {
    shared: Arc<Shared>,
    at: u64,
    time: Option<Instant>,
}

impl Deadline {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.shared.ticks.load(Relaxed) >= self.at && self.is_due()
    }

    /// Whether these ticks took long enough: on a busy machine some arrive late and all at once.
    pub fn is_due(&self) -> bool {
        self.time.is_none_or(|time| Instant::now() >= time)
    }

    /// Sets the deadline to this many ticks from now. `exact`: and not before as many milliseconds, less the current tick.
    pub fn set(&mut self, ticks: u64, exact: bool) {
        self.at = self.shared.ticks.load(Relaxed).saturating_add(ticks);
        let time = Duration::from_millis(ticks.saturating_sub(1));
        self.time = if exact { Instant::now().checked_add(time) } else { None };
    }
}

impl Ticker {
    /// Starts the thread. It does not keep the engine alive longer than this.
    pub fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        let handle = Builder::new().name("rustyjson-epoch".into()).spawn(move || tick(&engine, &ours))?;
        Ok(Self { shared, thread: handle.thread().clone() })
    }

    /// A deadline that is to be set.
    pub fn deadline(&self) -> Deadline {
        Deadline { shared: Arc::clone(&self.shared), at: u64::MAX, time: None }
    }

    /// Makes sure that time passes until the result is dropped.
    pub fn run(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, SeqCst);
        // Only says that it is not idle; whether to tick, the call itself does.
        self.shared.used.store(true, Relaxed);
        if self.shared.parked.load(SeqCst) {
            self.thread.unpark();
        }
        Running(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        self.thread.unpark();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, SeqCst);
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle = 0;
    let mut last = Instant::now();
    while !shared.stop.load(SeqCst) {
        sleep(TICK);
        // A late wake-up ticks more than once, so that a deadline stays near what it says.
        while last.elapsed() >= TICK {
            engine.increment_epoch();
            shared.ticks.fetch_add(1, Relaxed);
            last += TICK;
        }
        let active = shared.used.swap(false, SeqCst) || shared.running.load(SeqCst) > 0;
        idle = if active { 0 } else { idle + 1 };
        if idle >= IDLE_TICKS {
            wait(shared);
            (idle, last) = (0, Instant::now());
        }
    }
}

/// Parks until a call begins or the ticker is dropped. A call that begins after `parked` is set unparks; one that began
/// before is seen here.
fn wait(shared: &Shared) {
    shared.parked.store(true, SeqCst);
    while shared.running.load(SeqCst) == 0 && !shared.used.load(SeqCst) && !shared.stop.load(SeqCst) {
        park();
    }
    shared.parked.store(false, SeqCst);
}
