//! Where a call runs: in the instance of its thread.
//!
//! An instance belongs to the scheduler thread that runs the call, so a short call waits for nobody and nothing is locked. Long calls
//! run on dirty schedulers, at most `pool_size` at once.

use crate::call::Call;
use crate::clock;
use crate::fault::{Fault, Stop};
use crate::guest::Guest;
use crate::pool::Pool;
use crate::translated::{self, Module};
use crate::waiter::Waiter;
use rustyjson_core::abi;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// Instances with more linear memory are not kept after a call.
const KEEP_MEMORY: usize = 32 << 20;

/// The module, or why there is none.
fn module() -> Result<&'static Module, String> {
    #[cfg(not(feature = "replaceable"))]
    {
        static CHECKED: LazyLock<Result<&'static Module, String>> = LazyLock::new(checked);
        CHECKED.clone()
    }
    #[cfg(feature = "replaceable")]
    checked()
}

fn checked() -> Result<&'static Module, String> {
    let module = translated::module().ok_or("the native library was built without the WebAssembly module")?;
    match Guest::new(module, usize::MAX).and_then(|mut guest| guest.version()) {
        Ok(abi::VERSION) => Ok(module),
        Ok(other) => Err(format!("the module's exports have version {other}, not {}", abi::VERSION)),
        Err(fault) => Err(format!("the module does not start: {fault:?}")),
    }
}

/// Who runs and who waits.
static POOL: LazyLock<Pool<Arc<Waiter>>> = LazyLock::new(Pool::default);

/// Seed of the guest's hashes: it has no randomness of its own.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// Instances that there are.
static INSTANCES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The instance that the last call of this thread left.
    static KEPT: Cell<Option<Box<Counted>>> = const { Cell::new(None) };
}

/// An instance that is counted.
struct Counted(Guest);

impl Counted {
    /// In a box, because it goes from hand to hand in each call.
    fn new(max_memory: usize) -> Result<Box<Self>, Fault> {
        let module = module().map_err(Fault::unavailable)?;
        let guest = Guest::new(module, max_memory)?;
        INSTANCES.fetch_add(1, Relaxed);
        Ok(Box::new(Self(guest)))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        INSTANCES.fetch_sub(1, Relaxed);
    }
}

/// Why no call can run, or nothing.
pub fn failure() -> Option<String> {
    module().err()
}

/// The seed of hashes.
pub fn seed() -> u64 {
    *SEED
}

/// Who runs and who waits.
pub fn pool() -> &'static Pool<Arc<Waiter>> {
    &POOL
}

/// Long calls running, instances that there are, and callers waiting.
pub fn counts() -> (usize, usize, usize) {
    let (running, waiting) = POOL.counts();
    (running, INSTANCES.load(Relaxed), waiting)
}

/// Runs a call.
#[inline(always)]
pub fn run<T>(call: &Call<'_>, run: impl FnMut(&mut Guest) -> Result<T, Fault>) -> Result<T, Stop> {
    if !call.dirty {
        return Ok(in_instance(call, run)?);
    }
    if clock::now() > call.start_by {
        POOL.leave(call.env, call.ticket);
        return Err(Fault::Busy.into());
    }
    let _place = POOL.enter(call.env, call.pool_size, call.ticket).ok_or(Stop::Busy)?;
    Ok(in_instance(call, run)?)
}

/// Runs a call in the instance of this thread, or in a new one. One that failed is thrown away, whatever the reason. A call that has no
/// memory left in a kept one runs again in a new one, within the same time: there, what an earlier call left cannot stand where a
/// large buffer would fit.
#[inline(always)]
fn in_instance<T>(call: &Call<'_>, mut run: impl FnMut(&mut Guest) -> Result<T, Fault>) -> Result<T, Fault> {
    let kept = if call.fresh { None } else { KEPT.take() };
    let (used, set_aside) = match kept {
        #[cfg(feature = "replaceable")]
        Some(kept) if !kept.0.is_of(translated::module()) => (None, None),
        Some(kept) if kept.0.memory_size() <= call.max_memory => (Some(kept), None),
        other => (None, other),
    };
    let again = used.is_some();
    let mut guest = match used.map_or_else(|| Counted::new(call.max_memory), Ok) {
        Ok(guest) => guest,
        Err(fault) => {
            if set_aside.is_some() {
                KEPT.set(set_aside);
            }
            return Err(fault);
        }
    };
    guest.0.limit(call);
    let mut answer = run(&mut guest.0);
    if again && matches!(answer, Err(Fault::MemoryLimit)) {
        let left = guest.0.time_left();
        drop(guest);
        guest = Counted::new(call.max_memory)?;
        guest.0.limit(&Call { timeout: left, ..*call });
        answer = run(&mut guest.0);
    }
    if !call.dirty {
        guest.0.take_turn(call);
    }
    if !call.fresh {
        let keep = answer.is_ok() && guest.0.forget().is_ok() && guest.0.memory_size() <= KEEP_MEMORY;
        KEPT.set(set_aside.or(keep.then_some(guest)));
    }
    answer
}
