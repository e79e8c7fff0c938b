//! One instance of the guest. Its results are not trusted: addresses and lengths are checked against its memory.

use crate::call::Call;
use crate::fault::Fault;
use crate::ticker::Deadline;
use rustyjson_core::abi;
use rustyjson_terms::builder::MOST_NODES;
use std::ops::Range;
use wasmtime::{
    Engine, Instance, InstancePre, Memory, ResourceLimiter, Store, TypedFunc, UpdateDeadline, WasmParams, WasmResults,
};

/// Ticks that instantiation and the version check may take.
const START_TICKS: u64 = 1_000;

/// What the store holds for us: the memory cap, whether the guest ran into it, and the end of its time.
pub struct Limits {
    max_memory: usize,
    denied: bool,
    deadline: Deadline,
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.denied |= desired > self.max_memory;
        Ok(desired <= self.max_memory)
    }

    fn table_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // The module's own tables are made, and stay as they are.
        Ok(current == 0)
    }
}

/// Length of the input, and how many bytes of it are options.
pub type Lengths = (u32, u32);
/// An export that does something to the input.
type Export = TypedFunc<Lengths, u64>;

/// An instance and its exports.
pub struct Guest {
    store: Store<Limits>,
    instance: Instance,
    memory: Memory,
    input: TypedFunc<u32, u32>,
    decode: Export,
    encode: Export,
    extend: Export,
    play: TypedFunc<(u32, u32, u32), u64>,
    reset: TypedFunc<(), ()>,
    /// Whether a call may have left large buffers behind.
    untidy: bool,
    /// The call runs on a scheduler that others wait for.
    short: bool,
}

/// Input up to this size leaves no buffers that have to be freed.
const TIDY: u32 = 16 << 10;
/// Results beyond this many bytes take too long for the caller's scheduler.
const LARGE: usize = 512 << 10;
/// Bytes copied between two looks at the clock: well under a millisecond, even into memory never touched before.
const CHUNK: usize = 1 << 20;

impl Guest {
    /// Makes an instance that may have this much memory.
    pub fn new(
        engine: &Engine,
        pre: &InstancePre<Limits>,
        max_memory: usize,
        deadline: Deadline,
    ) -> Result<Self, Fault> {
        let mut store = Store::new(engine, Limits { max_memory, denied: false, deadline });
        store.limiter(|limits| limits);
        store.epoch_deadline_callback(|store| {
            Ok(if store.data().deadline.is_due() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
        });
        store.set_epoch_deadline(START_TICKS);
        let instance = pre.instantiate(&mut store).map_err(|error| Fault::from_start(&error, store.data().denied))?;
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| missing("memory"))?;
        Ok(Self {
            input: export(&mut store, &instance, "input")?,
            decode: export(&mut store, &instance, "decode")?,
            encode: export(&mut store, &instance, "encode")?,
            extend: export(&mut store, &instance, "extend")?,
            play: export(&mut store, &instance, "play")?,
            reset: export(&mut store, &instance, "reset")?,
            store,
            instance,
            memory,
            untidy: false,
            short: false,
        })
    }

    /// Refuses a module with other exports than this host knows.
    pub fn check_version(&mut self) -> Result<(), Fault> {
        let version = export::<(), u32>(&mut self.store, &self.instance, "abi_version")?;
        match self.call(&version, ())? {
            abi::VERSION => Ok(()),
            other => Err(Fault::Unavailable(format!("the guest's exports have version {other}, not {}", abi::VERSION))),
        }
    }

    /// Sets the limits of the next call.
    pub fn limit(&mut self, call: &Call) {
        let limits = self.store.data_mut();
        (limits.max_memory, limits.denied) = (call.max_memory, false);
        limits.deadline.set(call.ticks, !call.short);
        self.short = call.short;
        self.store.set_epoch_deadline(call.ticks);
    }

    /// Values and keys that the call may build.
    pub const fn most_terms(&self) -> u64 {
        if self.short { MOST_NODES } else { u64::MAX }
    }

    /// When the call must be over.
    pub fn deadline(&self) -> &Deadline {
        &self.store.data().deadline
    }

    /// Ends a call whose deadline passed while the host worked.
    pub fn in_time(&self) -> Result<(), Fault> {
        if self.deadline().passed() { Err(Fault::Timeout) } else { Ok(()) }
    }

    /// Bytes of linear memory.
    pub fn memory_size(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// Copies options, which may come in parts, and what follows them into the guest's input buffer.
    pub fn write(&mut self, options: &[&[u8]], body: &[u8]) -> Result<Lengths, Fault> {
        let options_len = options.iter().map(|part| part.len()).sum::<usize>();
        // A length beyond 32 bits exceeds what the guest can address.
        let len = u32::try_from(options_len + body.len()).map_err(|_| Fault::MemoryLimit)?;
        self.untidy |= len > TIDY;
        let input = self.input.clone();
        let mut at = match self.call(&input, len)? {
            0 => return Err(Fault::MemoryLimit),
            address => address as usize,
        };
        let (memory, limits) = self.memory.data_and_store_mut(&mut self.store);
        for chunk in options.iter().chain([&body]).flat_map(|part| part.chunks(CHUNK)) {
            let place = memory.get_mut(at..).and_then(|rest| rest.get_mut(..chunk.len()));
            place.ok_or_else(|| Fault::invalid("its input buffer lies outside its memory"))?.copy_from_slice(chunk);
            at += chunk.len();
            if limits.deadline.passed() {
                return Err(Fault::Timeout);
            }
        }
        Ok((len, options_len as u32))
    }

    /// The most linear memory that the call may take.
    pub fn max_memory(&self) -> usize {
        self.store.data().max_memory
    }

    /// Whether others wait for the scheduler that the call runs on.
    pub const fn is_short(&self) -> bool {
        self.short
    }

    /// Where there is room for at least this many bytes of input, of which the first `keep` stay.
    pub fn extend(&mut self, len: usize, keep: usize) -> Result<Range<usize>, Fault> {
        // A length beyond 32 bits exceeds what the guest can address.
        let len = u32::try_from(len).map_err(|_| Fault::MemoryLimit)?;
        self.untidy |= len > TIDY;
        let extend = self.extend.clone();
        let packed = self.call(&extend, (len, keep as u32))?;
        let room = abi::place(packed).ok_or(Fault::MemoryLimit)?;
        if room.start == 0 || self.memory().get(room.clone()).is_none() {
            return Err(Fault::invalid("its input buffer lies outside its memory"));
        }
        Ok(room)
    }

    /// Writes bytes to this address.
    pub fn put(&mut self, address: usize, bytes: &[u8]) -> Result<(), Fault> {
        let memory = self.memory.data_mut(&mut self.store);
        let place = memory.get_mut(address..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.ok_or_else(|| Fault::invalid("its input buffer lies outside its memory"))?.copy_from_slice(bytes);
        Ok(())
    }

    /// Encodes the tape that was written, to about as many bytes of text as are expected.
    pub fn play(&mut self, (len, options): Lengths, expected: u32) -> Result<Range<usize>, Fault> {
        let play = self.play.clone();
        let packed = self.call(&play, (len, options, expected))?;
        self.record(packed)
    }

    /// Decodes what was written.
    pub fn decode(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let decode = self.decode.clone();
        let packed = self.call(&decode, lengths)?;
        self.record(packed)
    }

    /// Decodes what was written, with the repeated keys of its objects resolved.
    pub fn resolve(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let resolve = export(&mut self.store, &self.instance, "resolve")?;
        let packed = self.call(&resolve, lengths)?;
        self.record(packed)
    }

    /// The keys of what was written, or the error that key number `stop` is not an atom.
    pub fn keys(&mut self, (len, options): Lengths, stop: u64) -> Result<Range<usize>, Fault> {
        let keys = export(&mut self.store, &self.instance, "keys")?;
        let packed = self.call(&keys, (len, options, stop))?;
        self.record(packed)
    }

    /// Decodes what a piece of a stream completes.
    pub fn feed(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let feed = export(&mut self.store, &self.instance, "feed")?;
        let packed = self.call(&feed, lengths)?;
        self.record(packed)
    }

    /// Decodes the documents that were written.
    pub fn many(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let many = export(&mut self.store, &self.instance, "many")?;
        let packed = self.call(&many, lengths)?;
        self.record(packed)
    }

    /// Encodes what was written.
    pub fn encode(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let encode = self.encode.clone();
        let packed = self.call(&encode, lengths)?;
        self.record(packed)
    }

    /// Compresses what was written.
    pub fn gzip(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let gzip = export(&mut self.store, &self.instance, "gzip")?;
        let packed = self.call(&gzip, lengths)?;
        self.record(packed)
    }

    /// Writes what was written in canonical form.
    pub fn canonicalize(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let canonicalize = export(&mut self.store, &self.instance, "canonicalize")?;
        let packed = self.call(&canonicalize, lengths)?;
        self.record(packed)
    }

    /// Lays out what was written.
    pub fn format(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let format = export(&mut self.store, &self.instance, "format")?;
        let packed = self.call(&format, lengths)?;
        self.record(packed)
    }

    /// Lets the guest give back what a large input left.
    pub fn forget(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.untidy) {
            return Ok(());
        }
        let reset = self.reset.clone();
        self.call(&reset, ())
    }

    /// The guest's memory.
    pub fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// Where the record is that the guest gave.
    fn record(&self, packed: u64) -> Result<Range<usize>, Fault> {
        let range = abi::place(packed).ok_or(Fault::MemoryLimit)?;
        if range.is_empty() || self.memory().get(range.clone()).is_none() {
            return Err(Fault::invalid("its result lies outside its memory"));
        }
        // Copied, or made into terms, where there is time.
        if self.short && range.len() > LARGE { Err(Fault::Timeout) } else { Ok(range) }
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, function: &TypedFunc<P, R>, params: P) -> Result<R, Fault> {
        function.call(&mut self.store, params).map_err(|error| Fault::from_call(&error, self.store.data().denied))
    }
}

fn export<P, R>(store: &mut Store<Limits>, instance: &Instance, name: &str) -> Result<TypedFunc<P, R>, Fault>
where
    P: WasmParams,
    R: WasmResults,
{
    instance.get_typed_func(store, name).map_err(|_| missing(name))
}

#[cold]
fn missing(name: &str) -> Fault {
    Fault::Unavailable(format!("the guest has no export {name} of the expected type"))
}
