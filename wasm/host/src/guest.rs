//! One instance of the guest. Its results are not trusted: addresses and lengths are checked against its memory.

use crate::call::Call;
use crate::export::{Lazy, missing};
use crate::fault::Fault;
use crate::ticker::Deadline;
use rustyjson_core::abi;
use rustyjson_terms::builder::MOST_NODES;
use std::ops::Range;
use wasmtime::{Engine, Instance, InstancePre, Memory, ResourceLimiter, Store, UpdateDeadline, WasmParams};

/// Ticks that instantiation and the version check may take.
const START_TICKS: u64 = 1_000;

/// What the store holds for us: the memory cap, whether the guest ran into it, and the end of its time.
pub struct Limits {
    max_memory: usize,
    /// It asked for more.
    pub denied: bool,
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
type Export = Lazy<Lengths, u64>;

/// An instance and its exports.
pub struct Guest {
    store: Store<Limits>,
    instance: Instance,
    memory: Memory,
    input: Lazy<u32, u32>,
    decode: Export,
    extend: Export,
    play: Lazy<(u32, u32, u32), u64>,
    reset: Lazy<(), ()>,
    /// The input buffer, as long as the guest keeps it where it is.
    room: Range<usize>,
    /// Whether a call may have left large buffers behind.
    untidy: bool,
    /// The call runs on a scheduler that others wait for.
    short: bool,
}

/// Input up to this size leaves no buffers that have to be freed.
const TIDY: u32 = 16 << 10;
/// Bytes of input that the guest is asked for first: its own least buffer.
const LEAST: u32 = 4096;
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
            input: Lazy::new("input"),
            decode: Lazy::new("decode"),
            extend: Lazy::new("extend"),
            play: Lazy::new("play"),
            reset: Lazy::new("reset"),
            store,
            instance,
            memory,
            room: 0..0,
            untidy: false,
            short: false,
        })
    }

    /// Refuses a module with other exports than this host knows.
    pub fn check_version(&mut self) -> Result<(), Fault> {
        let Self { store, instance, .. } = self;
        match Lazy::<(), u32>::new("abi_version").call(store, instance, ())? {
            abi::VERSION => {}
            other => {
                return Err(Fault::Unavailable(format!(
                    "the guest's exports have version {other}, not {}",
                    abi::VERSION
                )));
            }
        }
        for export in [&mut self.decode, &mut self.extend] {
            export.get(store, instance)?;
        }
        self.input.get(store, instance)?;
        self.play.get(store, instance)?;
        self.reset.get(store, instance).map(drop)
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
        let mut at = self.input(len)?;
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

    /// Returns the address of the guest's input buffer, which has room for `len` bytes. Asks the guest only if the buffer of an earlier
    /// call is too short.
    fn input(&mut self, len: u32) -> Result<usize, Fault> {
        self.untidy |= len > TIDY;
        if len as usize > self.room.len() {
            self.room = 0..0;
            let wanted = len.max(LEAST);
            match self.input.call(&mut self.store, &self.instance, wanted)? {
                0 => return Err(Fault::MemoryLimit),
                address => self.room = address as usize..address as usize + wanted as usize,
            }
        }
        Ok(self.room.start)
    }

    /// The input buffer that the guest gave last.
    pub fn room(&self) -> Range<usize> {
        self.room.clone()
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
        self.room = 0..0;
        let packed = self.extend.call(&mut self.store, &self.instance, (len, keep as u32))?;
        let room = abi::place(packed).ok_or(Fault::MemoryLimit)?;
        if room.start == 0 || self.memory().get(room.clone()).is_none() {
            return Err(Fault::invalid("its input buffer lies outside its memory"));
        }
        self.room = room.clone();
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
        let packed = self.play.call(&mut self.store, &self.instance, (len, options, expected))?;
        self.record(packed)
    }

    /// Decodes what was written.
    pub fn decode(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        let packed = self.decode.call(&mut self.store, &self.instance, lengths)?;
        self.record(packed)
    }

    /// Decodes what was written, with the repeated keys of its objects resolved.
    pub fn resolve(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("resolve", lengths)
    }

    /// The keys of what was written, or the error that key number `stop` is not an atom.
    pub fn keys(&mut self, (len, options): Lengths, stop: u64) -> Result<Range<usize>, Fault> {
        self.once("keys", (len, options, stop))
    }

    /// Decodes what a piece of a stream completes.
    pub fn feed(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("feed", lengths)
    }

    /// Decodes the documents that were written.
    pub fn many(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("many", lengths)
    }

    /// Compresses what was written.
    pub fn gzip(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("gzip", lengths)
    }

    /// Writes what was written in canonical form.
    pub fn canonicalize(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("canonicalize", lengths)
    }

    /// Lays out what was written.
    pub fn format(&mut self, lengths: Lengths) -> Result<Range<usize>, Fault> {
        self.once("format", lengths)
    }

    /// Lets the guest give back what a large input left.
    pub fn forget(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.untidy) {
            return Ok(());
        }
        self.room = 0..0;
        self.reset.call(&mut self.store, &self.instance, ())
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

    /// Calls an export that few calls need.
    fn once<P: WasmParams>(&mut self, name: &'static str, params: P) -> Result<Range<usize>, Fault> {
        let packed = Lazy::<P, u64>::new(name).call(&mut self.store, &self.instance, params)?;
        self.record(packed)
    }
}
