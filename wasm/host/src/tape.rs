//! A term, written into the guest's memory as a tape while it is walked.

use crate::call::Call;
use crate::fault::Fault;
use crate::guest::Guest;
use crate::session;
use crate::terms;
use rustler::schedule::consume_timeslice;
use rustler::{Env, Term};
use rustyjson_core::EncodeOptions;
use rustyjson_core::encode::may_play;
use rustyjson_core::tape::TOKEN;
use rustyjson_terms::raw::read::Raw;
use rustyjson_terms::taped::{self, Memory, Sink, Taped, Untaped};
use std::cell::RefCell;
use std::ops::Range;

/// Bytes of a tape that take too long on the caller's scheduler. With 512 KB, citm_catalog was interrupted at its end and took a tenth more
/// time, and twitter a fifth less: so much may take a millisecond.
const LONG: usize = 96 << 10;
/// Bytes of a tape that take about a hundredth of a scheduler's turn.
const BYTES_PER_PERCENT: usize = 8192;
/// Bytes of input that the guest is asked for first: enough for a small term.
const FIRST: usize = 4096;
/// Up to here, room grows to four times as much; beyond, by a half.
const QUICK: usize = 1 << 20;

thread_local! {
    /// What a scheduler thread keeps between calls.
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// The guest's input, as it is written.
struct Paper<'g> {
    guest: &'g mut Guest,
    room: Range<usize>,
    len: usize,
    /// The most bytes that a tape may have whose text is within its limit.
    most: usize,
}

/// Why a tape was not written to its end.
enum Stopped {
    /// The general way says what is wrong.
    External,
    /// It takes too long here. The instance is as good as before.
    Later,
    Fault(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Sink for Paper<'_> {
    type Stop = Stopped;

    fn take(&mut self, bytes: &[u8]) -> Result<(), Self::Stop> {
        let needed = self.len + bytes.len();
        if needed > self.most {
            return Err(Stopped::External);
        }
        if needed > LONG && self.guest.is_short() {
            return Err(Stopped::Later);
        }
        if needed > self.room.len() {
            self.grow(needed)?;
        }
        self.guest.put(self.room.start + self.len, bytes)?;
        self.len = needed;
        Ok(self.guest.in_time()?)
    }
}

impl Paper<'_> {
    /// Asks for more room than is needed, and for little more where there is no memory for that.
    fn grow(&mut self, needed: usize) -> Result<(), Fault> {
        let wanted = if needed < QUICK { 4 * needed } else { needed + needed / 2 };
        let room = match self.guest.extend(wanted.max(FIRST), self.len) {
            Err(Fault::MemoryLimit) => self.guest.extend(needed + needed / 8, self.len)?,
            room => room?,
        };
        self.room = room;
        if self.room.len() < needed { Err(Fault::invalid("it gives less room than it was asked for")) } else { Ok(()) }
    }
}

/// Encodes a term by way of a tape: `{:ok, text}`, or `{:planned, text, modules}` where it used plans of structs; `:external`, if it has
/// something that no tape has; or `:later`.
fn encode<'a>(
    env: Env<'a>,
    guest: &mut Guest,
    terms: [Term<'a>; 2],
    bytes: &[u8],
    options: &EncodeOptions<'_>,
) -> Result<Term<'a>, Fault> {
    let most = most_bytes(options).saturating_add(bytes.len());
    let room = guest.room();
    let mut paper = Paper { guest, room, len: 0, most };
    let (taped, used) = match write(env, &mut paper, terms, bytes, options) {
        Ok(written) => written,
        Err(Untaped::Stopped(Stopped::Fault(fault))) => return Err(fault),
        Err(Untaped::Stopped(Stopped::Later)) => return Ok(terms::later(env)),
        Err(Untaped::Stopped(Stopped::External) | Untaped::Other) => return Ok(terms::external(env)),
    };
    let len = paper.len;
    if guest.is_short() {
        charge(env, len);
    }
    let max_memory = guest.max_memory();
    match session::play(guest, (len, bytes.len()), taped, options)? {
        Some(text) if used.is_empty() => Ok(terms::text(env, text)),
        Some(text) => Ok(terms::planned(env, text, &used)),
        // A term that shares its parts can be small on a tape and many times the memory limit in External Term Format.
        None if taped.whole() > max_memory as u64 => Err(Fault::MemoryLimit),
        None => Ok(terms::external(env)),
    }
}

/// Takes the work from the caller's turn, so that the scheduler stays fair.
fn charge(env: Env<'_>, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        consume_timeslice(env, percent.min(100) as i32);
    }
}

fn write<'a>(
    env: Env<'a>,
    paper: &mut Paper<'_>,
    terms: [Term<'a>; 2],
    bytes: &[u8],
    options: &EncodeOptions<'_>,
) -> Result<(Taped, Vec<Raw<'a>>), Untaped<Stopped>> {
    paper.take(bytes).map_err(Untaped::Stopped)?;
    MEMORY.with_borrow_mut(|memory| {
        taped::write(env, terms.map(Raw::of), options, memory.get_or_insert_with(Memory::default), paper)
    })
}

/// Each token becomes a byte at least, so longer tapes become texts that are too long. A term that shares its parts many times over is
/// counted before it is written in the general way; as many tokens as are always counted there are written here.
fn most_bytes(options: &EncodeOptions<'_>) -> usize {
    const ALWAYS: u64 = 1_000_000;
    const MARGIN: u64 = 16;
    match options.max_bytes {
        0 => usize::MAX,
        most => {
            usize::try_from(most.saturating_mul(MARGIN).max(ALWAYS).saturating_mul(TOKEN as u64)).unwrap_or(usize::MAX)
        }
    }
}

/// The same in an instance of the host's. The terms are what is encoded, and the plans of structs or `nil`.
pub fn run<'a>(
    env: Env<'a>,
    terms: [Term<'a>; 2],
    bytes: &[u8],
    call: &Call,
) -> rustler::NifResult<Term<'a>> {
    let (options, _) = EncodeOptions::from_bytes(bytes).ok_or(rustler::Error::BadArg)?;
    if !may_play(&options) {
        return Ok(terms::external(env));
    }
    let answer = crate::host::run(call, |guest| encode(env, guest, terms, bytes, &options));
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short)))
}
