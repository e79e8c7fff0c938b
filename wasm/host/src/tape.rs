//! A term, written into the guest's memory as a tape while it is walked.

use crate::call::Call;
use crate::fault::Fault;
use crate::guest::{Guest, LARGE, Sent};
use crate::host;
use crate::session::{self, Played};
use crate::terms;
use rustler::Env;
use rustler::sys::ErlNifTerm;
use rustyjson_core::tape::Sink;
use rustyjson_terms::raw::read::Raw;
use rustyjson_terms::taped::{self, Limits, Options, State, Taped, Time, Untaped};
use rustyjson_terms::turn::SHORT;
use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

/// A tape that is likely to have more bytes is not begun on the caller's scheduler.
const LIKELY: usize = 128 << 10;
/// One that has more all the same ends there. With 512 KB, citm_catalog was interrupted at its end and took a tenth more time: so much may
/// take a millisecond.
const LONG: usize = 192 << 10;
/// Bytes of input that the guest is asked for first: enough for a small term.
const FIRST: usize = 4096;
/// Up to here, room grows to four times as much; beyond, by a half.
const QUICK: usize = 1 << 20;

thread_local! {
    /// What a scheduler thread keeps between calls.
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// The guest's input, as it is written behind the options.
struct Paper<'g> {
    guest: &'g mut Guest,
    room: Range<usize>,
    options: usize,
    stopped: Option<Stopped>,
}

/// Why a tape was not written to its end.
enum Stopped {
    /// It takes too long here. The instance is as good as before.
    Later,
    Fault(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Sink for &mut Paper<'_> {
    fn take(&mut self, at: usize, bytes: &[u8]) -> bool {
        self.stopped = self.put(self.options + at, bytes).err();
        self.stopped.is_none()
    }
}

impl Paper<'_> {
    fn put(&mut self, at: usize, bytes: &[u8]) -> Result<(), Stopped> {
        let needed = at + bytes.len();
        if needed > LONG && self.guest.is_short() {
            return Err(Stopped::Later);
        }
        if needed > self.room.len() {
            self.grow(needed, at)?;
        }
        self.guest.put(self.room.start + at, bytes)?;
        if needed > SHORT { self.in_time() } else { Ok(()) }
    }

    /// The instance is as good as before where only the caller's scheduler has no time.
    fn in_time(&self) -> Result<(), Stopped> {
        match self.guest.look() {
            Err(Fault::Timeout) if self.guest.is_short() => Err(Stopped::Later),
            looked => Ok(looked?),
        }
    }

    /// Asks for more room than is needed, and for little more where there is no memory for that.
    fn grow(&mut self, needed: usize, keep: usize) -> Result<(), Fault> {
        let wanted = if needed < QUICK { 4 * needed } else { needed + needed / 2 };
        let room = match self.guest.extend(wanted.max(FIRST), keep) {
            Err(Fault::MemoryLimit) => self.guest.extend(needed + needed / 8, keep)?,
            room => room?,
        };
        self.room = room;
        if self.room.len() < needed { Err(Fault::invalid("it gives less room than it was asked for")) } else { Ok(()) }
    }
}

/// Encodes a term by way of a tape. The answer is that of the native engine, in `{:ok, text}` and with the same holes, or `:later`.
fn encode<'a>(
    env: Env<'a>,
    guest: &mut Guest,
    term: [Raw<'a>; 2],
    (options, sent): (&Options<'_>, Sent<'_>),
    time: Time,
) -> Result<ErlNifTerm, Fault> {
    let bytes = sent.bytes();
    let room = guest.room();
    let mut paper = Paper { guest, room, options: bytes.len(), stopped: None };
    let Taped { len, whole, holes, used, lost } = match write(env, &mut paper, term, (options, sent), time) {
        Ok(taped) => taped,
        Err(Stopped::Fault(fault)) => return Err(fault),
        Err(Stopped::Later) => return Ok(terms::later(env).as_c_arg()),
    };
    if guest.is_short() && whole > LARGE {
        return Ok(terms::later(env).as_c_arg());
    }
    let answer = match session::play(guest, (bytes.len() + len, bytes.len()), (whole, holes.len()), options.of_text())?
    {
        Played::Text(text) => terms::text(env, text)?,
        Played::Partial(partial) => terms::holed(env, &partial, &holes)?,
        Played::Failure(failure) => terms::encode_error(env, &failure),
    };
    let answer = if used.is_empty() { answer } else { terms::planned(env, answer, &used) };
    let answer = lost.map_or(answer, |parts| terms::lost(env, answer, parts));
    Ok(answer.as_c_arg())
}

fn write<'a>(
    env: Env<'a>,
    paper: &mut Paper<'_>,
    terms: [Raw<'a>; 2],
    (options, sent): (&Options<'_>, Sent<'_>),
    time: Time,
) -> Result<Taped<'a>, Stopped> {
    if sent.bytes().len() > paper.room.len() {
        paper.grow(sent.bytes().len(), 0)?;
    }
    paper.guest.put_options(sent)?;
    let (short, limits) = (paper.guest.is_short(), Limits { time, memory: paper.guest.max_memory() });
    STATE
        .with_borrow_mut(|state| {
            let state = state.get_or_insert_with(State::new);
            taped::tape(env, terms, options, limits, state, &mut *paper)
        })
        .map_err(|stop| match (stop, paper.stopped.take()) {
            (_, Some(stopped)) => stopped,
            (Untaped::Late, None) if short => Stopped::Later,
            (Untaped::Late, None) => Stopped::Fault(Fault::Timeout),
            (Untaped::NoMemory, None) => Stopped::Fault(Fault::unavailable("no memory for the walk over the term")),
            // More holes than memory, or a length that no module addresses.
            (Untaped::Full, None) => Stopped::Fault(Fault::MemoryLimit),
        })
}

/// The same in an instance of the host's. The terms are what is encoded, and the plans of structs or `nil`.
#[inline(always)]
pub fn run<'a>(env: Env<'a>, terms: [Raw<'a>; 2], options: (&Options<'_>, Sent<'_>), call: &Call<'_>) -> ErlNifTerm {
    let time = if call.short { Time::Slice(LIKELY) } else { Time::Until(Duration::from_nanos(call.timeout)) };
    let answer = host::run(call, |guest| encode(env, guest, terms, options, time));
    answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short).as_c_arg())
}
