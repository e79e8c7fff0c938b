//! One instance of the guest. Its results are not trusted: addresses and lengths are checked against its memory.

use crate::call::Call;
use crate::fault::Fault;
use crate::translated::{Export, Instance, Module, Trap};
use rustyjson_core::abi;
use rustyjson_terms::builder::MOST_NODES;
use rustyjson_terms::turn::{self, SHORT};
use std::ops::Range;
use std::time::Duration;

/// Length of the input, and how many bytes of it are options.
pub type Lengths = (u32, u32);

/// Options, as the guest gets them.
#[derive(Clone, Copy)]
pub enum Sent<'a> {
    /// Those of one call.
    Once(&'a [u8]),
    /// Those of calls that are kept.
    Kept(&'static [u8]),
}

impl<'a> Sent<'a> {
    /// The bytes.
    #[inline(always)]
    pub const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Once(bytes) | Self::Kept(bytes) => bytes,
        }
    }
}

/// An instance and what is known of it.
pub struct Guest {
    instance: Instance,
    /// The input buffer, as long as the guest keeps it where it is.
    room: Range<usize>,
    /// The kept options that stand at its start. A guest that fell can have written over them, which changes only what it does itself.
    holds: Option<&'static [u8]>,
    /// The most bytes that the guest was given in this call at once.
    given: usize,
    /// The same, or that it gave.
    work: usize,
    /// The call runs on a scheduler that others wait for.
    short: bool,
}

/// What was given up to this size leaves no buffers that have to be freed.
const TIDY: usize = 16 << 10;
/// Bytes for which nothing is taken from the caller's turn.
const FREE: usize = 255;
/// Bytes of input that the guest is asked for first: its own least buffer.
const LEAST: u32 = 4096;
/// Results beyond this many bytes take too long for the caller's scheduler.
pub const LARGE: usize = 512 << 10;
/// Bytes copied between two looks at the clock: well under a millisecond, even into memory never touched before.
const CHUNK: usize = 1 << 20;

impl Guest {
    /// Makes an instance that may have this much memory.
    pub fn new(module: &'static Module, max_memory: usize) -> Result<Self, Fault> {
        let instance = Instance::new(module, max_memory).map_err(|trap| match trap {
            // The memory that the module starts with is all that can be missing.
            Trap::Unreachable => Fault::MemoryLimit,
            trap => Fault::Trap(trap),
        })?;
        Ok(Self { instance, room: 0..0, holds: None, given: 0, work: 0, short: false })
    }

    /// The version of the module's exports.
    pub fn version(&mut self) -> Result<u32, Fault> {
        self.call(Export::AbiVersion, [0; 3]).map(|version| version as u32)
    }

    /// Whether it is an instance of this module.
    #[cfg(feature = "replaceable")]
    pub fn is_of(&self, module: Option<&'static Module>) -> bool {
        module.is_some_and(|module| std::ptr::eq(module, self.instance.module()))
    }

    /// Sets the limits of the next call.
    pub fn limit(&mut self, call: &Call) {
        self.instance.limit(call.max_memory, call.timeout);
        self.short = call.short;
    }

    /// Calls an export.
    #[inline]
    fn call(&mut self, export: Export, arguments: [u64; 3]) -> Result<u64, Fault> {
        self.instance.call(export, arguments).map_err(|trap| Fault::of(trap, self.instance.denied()))
    }

    /// Values and keys that the call may build.
    pub const fn most_terms(&self) -> u64 {
        if self.short { MOST_NODES } else { u64::MAX }
    }

    /// Ends a call whose deadline passed while the host worked.
    pub fn in_time(&self) -> Result<(), Fault> {
        // A short call whose clock was not read yet has used a fraction of its time.
        let early = self.short && !self.instance.has_begun();
        if early { Ok(()) } else { self.look() }
    }

    /// The same, and the time begins here if it did not before.
    pub fn look(&self) -> Result<(), Fault> {
        if self.time_left() > 0 { Ok(()) } else { Err(Fault::Timeout) }
    }

    /// Nanoseconds until the call must be over.
    pub fn time_left(&self) -> u64 {
        self.instance.time_left()
    }

    /// Takes what the call took from its caller's turn.
    #[inline(always)]
    pub fn take_turn(&mut self, call: &Call) {
        if self.work > FREE {
            self.take_long_turn(call);
        }
    }

    // The clock of long input began with the call, that of short input somewhere in it.
    #[cold]
    #[inline(never)]
    fn take_long_turn(&mut self, call: &Call) {
        let work = std::mem::take(&mut self.work);
        if self.instance.has_begun() {
            turn::take_time(call.env, Duration::from_nanos(call.timeout.saturating_sub(self.time_left())));
        }
        if self.given <= SHORT || !self.instance.has_begun() {
            turn::take_bytes(call.env, work);
        }
    }

    /// The guest was given this many bytes.
    const fn count(&mut self, bytes: usize) {
        if bytes > self.given {
            self.given = bytes;
        }
        self.count_work(bytes);
    }

    /// The call is about this many bytes, too.
    const fn count_work(&mut self, bytes: usize) {
        if bytes > self.work {
            self.work = bytes;
        }
    }

    /// Bytes of linear memory.
    pub fn memory_size(&self) -> usize {
        self.memory().len()
    }

    /// Copies options, which may come in parts, and what follows them into the guest's input buffer.
    pub fn write(&mut self, options: &[&[u8]], body: &[u8]) -> Result<Lengths, Fault> {
        let options_len = options.iter().map(|part| part.len()).sum::<usize>();
        // A length beyond 32 bits exceeds what the guest can address.
        let len = u32::try_from(options_len + body.len()).map_err(|_| Fault::MemoryLimit)?;
        let mut at = self.input(len)?;
        self.holds = None;
        for part in options.iter().chain([&body]) {
            self.put_any(at, part)?;
            at += part.len();
        }
        Ok((len, options_len as u32))
    }

    /// The same for options that are kept.
    #[inline(always)]
    pub fn write_kept(&mut self, options: &'static [u8], body: &[u8]) -> Result<Lengths, Fault> {
        let len = u32::try_from(options.len() + body.len()).map_err(|_| Fault::MemoryLimit)?;
        let at = self.input(len)?;
        self.put_options(Sent::Kept(options))?;
        self.put_any(at + options.len(), body)?;
        Ok((len, options.len() as u32))
    }

    /// Puts options at the start of the input, if they do not stand there.
    #[inline(always)]
    pub fn put_options(&mut self, sent: Sent<'_>) -> Result<(), Fault> {
        let kept = match sent {
            Sent::Kept(options) if self.holds.is_some_and(|held| std::ptr::eq(held, options)) => return Ok(()),
            Sent::Kept(options) => Some(options),
            Sent::Once(_) => None,
        };
        self.put(self.room.start, sent.bytes())?;
        self.holds = kept;
        Ok(())
    }

    #[inline(always)]
    fn put_any(&mut self, at: usize, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() < CHUNK { self.put(at, bytes) } else { self.put_long(at, bytes) }
    }

    /// Writes many bytes to this address.
    #[cold]
    fn put_long(&mut self, mut at: usize, bytes: &[u8]) -> Result<(), Fault> {
        for chunk in bytes.chunks(CHUNK) {
            self.put(at, chunk)?;
            at += chunk.len();
            if chunk.len() == CHUNK {
                self.in_time()?;
            }
        }
        Ok(())
    }

    /// Returns the address of the guest's input buffer, which has room for `len` bytes.
    #[inline(always)]
    fn input(&mut self, len: u32) -> Result<usize, Fault> {
        if len as usize > self.room.len().min(FREE) {
            self.long_input(len)?;
        }
        Ok(self.room.start)
    }

    /// Asks the guest for a buffer only if that of an earlier call is too short.
    #[inline(never)]
    fn long_input(&mut self, len: u32) -> Result<(), Fault> {
        self.count(len as usize);
        if self.given > SHORT {
            self.look()?;
        }
        if len as usize > self.room.len() {
            self.leave();
            let wanted = len.max(LEAST);
            match self.call(Export::Input, [wanted.into(), 0, 0])? as u32 as usize {
                0 => return Err(Fault::MemoryLimit),
                address => self.room = address..address + wanted as usize,
            }
        }
        Ok(())
    }

    /// The input buffer may be elsewhere from now on.
    fn leave(&mut self) {
        (self.room, self.holds) = (0..0, None);
    }

    /// The input buffer that the guest gave last.
    pub fn room(&self) -> Range<usize> {
        self.room.clone()
    }

    /// The most linear memory that the call may take.
    pub fn max_memory(&self) -> usize {
        self.instance.max_memory()
    }

    /// Whether others wait for the scheduler that the call runs on.
    pub const fn is_short(&self) -> bool {
        self.short
    }

    /// Where there is room for at least this many bytes of input, of which the first `keep` stay.
    pub fn extend(&mut self, len: usize, keep: usize) -> Result<Range<usize>, Fault> {
        // A length beyond 32 bits exceeds what the guest can address.
        let len = u32::try_from(len).map_err(|_| Fault::MemoryLimit)?;
        self.given = self.given.max(len as usize);
        self.leave();
        let packed = self.call(Export::Extend, [len.into(), keep as u64, 0])?;
        let room = abi::place(packed).ok_or(Fault::MemoryLimit)?;
        if room.start == 0 || self.memory().get(room.clone()).is_none() {
            return Err(Fault::invalid("its input buffer lies outside its memory"));
        }
        self.room = room.clone();
        Ok(room)
    }

    /// Writes bytes to this address.
    pub fn put(&mut self, address: usize, bytes: &[u8]) -> Result<(), Fault> {
        self.place(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Memory of this length at this address.
    #[inline(always)]
    fn place(&mut self, address: usize, len: usize) -> Result<&mut [u8], Fault> {
        let place = self.instance.memory_mut().get_mut(address..).and_then(|rest| rest.get_mut(..len));
        place.ok_or_else(|| Fault::invalid("its input buffer lies outside its memory"))
    }

    /// Encodes the tape that was written, to about as many bytes of text as are expected.
    pub fn play(&mut self, (len, options): Lengths, expected: u32) -> Result<Range<usize>, Fault> {
        self.count(len as usize);
        let packed = self.call(Export::Play, [len.into(), options.into(), expected.into()])?;
        self.record(packed)
    }

    /// The keys of what was written, or the error that key number `stop` is not an atom.
    pub fn keys(&mut self, (len, options): Lengths, stop: u64) -> Result<Range<usize>, Fault> {
        let packed = self.call(Export::Keys, [len.into(), options.into(), stop])?;
        self.record(packed)
    }

    /// Calls an export that does something to what was written.
    #[inline(always)]
    pub fn run(&mut self, export: Export, (len, options): Lengths) -> Result<Range<usize>, Fault> {
        let packed = self.call(export, [len.into(), options.into(), 0])?;
        self.record(packed)
    }

    /// Lets the guest give back what a large input left.
    pub fn forget(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.given) <= TIDY {
            return Ok(());
        }
        self.leave();
        self.call(Export::Reset, [0; 3]).map(drop)
    }

    /// The guest's memory.
    pub fn memory(&self) -> &[u8] {
        self.instance.memory()
    }

    /// Where the record is that the guest gave.
    #[inline(always)]
    fn record(&mut self, packed: u64) -> Result<Range<usize>, Fault> {
        let range = abi::place(packed).ok_or(Fault::MemoryLimit)?;
        if range.is_empty() || self.memory().get(range.clone()).is_none() {
            return Err(Fault::invalid("its result lies outside its memory"));
        }
        if range.len() > FREE {
            self.count_work(range.len());
        }
        // Copied, or made into terms, where there is time.
        if self.short && range.len() > LARGE { Err(Fault::Timeout) } else { Ok(range) }
    }
}
