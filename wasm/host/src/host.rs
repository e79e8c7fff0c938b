//! The engine, the compiled guest and its instances.

use crate::call::Call;
use crate::clock;
use crate::fault::{Fault, Stop};
use crate::guest::{Guest, Limits};
use crate::pool::Pool;
use crate::ticker::Ticker;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, InstancePre, Linker, Module, OptLevel, PoolingAllocationConfig,
};

/// Most stack that wasm may use. It runs on the caller's, and running over its end aborts the VM. A scheduler has 160 KiB
/// at least (`+sss 20`), of which this leaves room for the host. The guest needs little: it does not recurse.
const MAX_WASM_STACK: usize = 64 << 10;
/// Stack for compiling the guest, which a small scheduler's may not be enough for.
const COMPILER_STACK: usize = 8 << 20;
/// Memory of an instance that is zeroed in place when it ends, instead of being given back to the system page by page:
/// what a small document touches.
const KEEP_RESIDENT: usize = 256 << 10;

/// The guest, ready to run.
pub struct Host {
    engine: Engine,
    pre: InstancePre<Limits>,
    pool: Arc<Pool>,
    ticker: Ticker,
    /// Seed of the guest's hashes: it has no randomness of its own.
    pub seed: u64,
}

impl Host {
    /// Compiles the guest for up to this many instances at once.
    pub fn new(wasm: &[u8], instances: u32) -> Result<Self, Fault> {
        let unavailable = |error: wasmtime::Error| Fault::Unavailable(format!("{error:#}"));
        let engine = engine(instances).map_err(unavailable)?;
        let module = compile(&engine, wasm)?.map_err(unavailable)?;
        // Nothing is defined in the linker: a module with an import does not get past this.
        let pre = Linker::new(&engine).instantiate_pre(&module).map_err(unavailable)?;
        let ticker = Ticker::start(engine.clone()).map_err(|error| Fault::Unavailable(error.to_string()))?;
        let seed = RandomState::new().build_hasher().finish();
        let pool = Arc::new(Pool::new(instances as usize));
        let host = Self { engine, pre, pool, ticker, seed };
        host.check_version()?;
        Ok(host)
    }

    /// Refuses a module with other exports than this host knows.
    fn check_version(&self) -> Result<(), Fault> {
        let _running = self.ticker.run();
        Guest::new(&self.engine, &self.pre, usize::MAX, self.ticker.deadline())?.check_version()
    }

    /// Runs a call in an instance. One that failed is thrown away, whatever the reason. A call that has no memory left in a kept one runs
    /// again in a new one, within the same time: there, what an earlier call left cannot stand where a large buffer would fit.
    pub fn run<T>(&self, call: &Call<'_>, mut run: impl FnMut(&mut Guest) -> Result<T, Fault>) -> Result<T, Stop> {
        if call.start_by != u64::MAX && clock::now() > call.start_by {
            self.pool.leave(call.env, call.ticket);
            return Err(Fault::Busy.into());
        }
        // No kept instance fits into no memory.
        let fitting = if call.fresh { 0 } else { call.max_memory };
        let (place, kept) = self.pool.enter(call.env, call.pool_size, call.ticket, fitting).ok_or(Stop::Busy)?;
        let _running = self.ticker.run();
        let used = kept.is_some();
        let mut guest = match kept {
            Some(guest) => guest,
            None => self.instance(call)?,
        };
        guest.limit(call);
        let mut answer = run(&mut guest);
        if used && matches!(answer, Err(Fault::MemoryLimit)) {
            drop(guest);
            guest = self.instance(call)?;
            guest.limit(call);
            answer = run(&mut guest);
        }
        let answer = answer?;
        if !call.fresh && guest.forget().is_ok() {
            place.leave(guest);
        }
        Ok(answer)
    }

    fn instance(&self, call: &Call<'_>) -> Result<Box<Guest>, Fault> {
        Guest::new(&self.engine, &self.pre, call.max_memory, self.ticker.deadline()).map(Box::new)
    }

    /// Who runs and who waits.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Instances running and kept, and callers waiting.
    pub fn counts(&self) -> (usize, usize, usize) {
        self.pool.counts()
    }
}

/// Compiles on a thread of its own.
fn compile(engine: &Engine, wasm: &[u8]) -> Result<wasmtime::Result<Module>, Fault> {
    let failed = |what: &str| Fault::Unavailable(format!("compiling the module {what}"));
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(COMPILER_STACK);
        let thread = builder.spawn_scoped(scope, || Module::new(engine, wasm)).map_err(|e| failed(&e.to_string()))?;
        thread.join().map_err(|_| failed("panicked"))
    })
}

/// An engine that allocates instances from a pool made in advance; where the system refuses its address space (4 GiB for
/// each instance, reserved only), one that allocates them one by one.
fn engine(instances: u32) -> wasmtime::Result<Engine> {
    let mut config = config();
    let mut pooling = PoolingAllocationConfig::new();
    pooling
        .total_core_instances(instances)
        .total_memories(instances)
        .total_tables(instances)
        .max_unused_warm_slots(instances)
        .table_elements(1_000)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(4096);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling));
    Engine::new(&config).or_else(|_| Engine::new(config.allocation_strategy(InstanceAllocationStrategy::OnDemand)))
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .max_wasm_stack(MAX_WASM_STACK)
        // Out-of-bounds accesses run into a guard page instead of being checked one by one, up to twice as fast. The
        // signal handlers look first whether the fault is in wasm code and pass everything else on to whoever was there
        // before; they run on the alternate stack that the VM's threads have too.
        .signals_based_traps(true)
        .memory_init_cow(true)
        // Only what the guest needs; relaxed SIMD gives different results on different machines.
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false);
    config
}
