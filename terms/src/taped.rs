//! Terms onto a [tape](rustyjson_core::tape), read where they stand in the memory of the VM, by the walk that encodes them natively.

use crate::atom_cache::AtomCache;
use crate::raw::read::{Raw, WalkMemory};
use crate::reader::{FIRST_BUDGET, May, Plans, Terms};
use crate::turn;
use rustler::Env;
use rustyjson_core::EncodeOptions;
use rustyjson_core::encode::{EncodeErrorKind, Hole, Stack, Writer, write};
use rustyjson_core::tape::{Memory, Sink, Tape};
use std::mem::take;
use std::time::Duration;

/// What a thread keeps between calls.
#[derive(Default)]
pub struct State {
    tape: Memory,
    atoms: AtomCache,
    walks: WalkMemory,
    stack: Stack<'static, Terms<'static, 'static>>,
}

impl State {
    /// One without memory of earlier walks. (A call, for its frame is as large as the memory.)
    #[cold]
    #[inline(never)]
    pub fn new() -> Self {
        Self::default()
    }
}

/// What was written.
pub struct Taped<'a> {
    /// The bytes of the tape.
    pub len: usize,
    /// The bytes that it would have without shapes.
    pub whole: usize,
    /// What is left to Elixir, in the order of the text.
    pub holes: Vec<Hole<Raw<'a>>>,
    /// Modules whose plans were used, unless the caller knows that these are current.
    pub used: Vec<Raw<'a>>,
    /// Parts that were visited and left no text, if they are many.
    pub lost: Option<u64>,
}

/// Why there is no tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untaped {
    /// The sink takes no more.
    Full,
    /// There is no memory for the walk.
    NoMemory,
    /// There is no time left.
    Late,
}

/// How long a walk may take.
#[derive(Clone, Copy, Debug)]
pub enum Time {
    /// Others wait for the scheduler: a tape that is likely to have more bytes than this belongs elsewhere.
    Slice(usize),
    /// So long.
    Until(Duration),
}

/// What a walk may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time.
    pub time: Time,
    /// Bytes of memory.
    pub memory: usize,
}

/// The options of a call, as the walk has them that writes a tape.
pub struct Options<'a>(EncodeOptions<'a>);

impl<'a> Options<'a> {
    /// Those of these.
    pub const fn new(options: &EncodeOptions<'a>) -> Self {
        // The option says how External Term Format has to be read, which has large maps in the opposite order.
        let reverse_large_maps = !options.reverse_large_maps;
        Self(EncodeOptions { budget: FIRST_BUDGET as u64, patient: false, reverse_large_maps, ..*options })
    }

    /// What the text is made with: these are read where it says how it looks.
    pub const fn of_text(&self) -> &EncodeOptions<'a> {
        &self.0
    }
}

/// Writes a term for a call with these options, with plans for structs.
pub fn tape<'a, S: Sink>(
    env: Env<'a>,
    [term, plans]: [Raw<'a>; 2],
    Options(options): &Options<'_>,
    limits: Limits,
    state: &mut State,
    sink: S,
) -> Result<Taped<'a>, Untaped> {
    let State { tape, atoms, walks, stack } = state;
    let mut terms = Terms::new(env, atoms, take(walks), Plans::of(env, plans));
    let patient;
    let options = match limits.time {
        Time::Slice(most) => {
            terms.expect(term, most);
            options
        }
        Time::Until(rest) => {
            terms.may(May::Take(rest));
            patient = EncodeOptions { patient: true, ..*options };
            &patient
        }
    };
    let mut out = Tape::new(tape, sink, limits.memory);
    let mut open = take(stack).recycled();
    let result = write(&mut terms, term, options, &mut out, &mut open);
    if let (Time::Slice(_), Some(spent)) = (limits.time, terms.spent()) {
        turn::take_time(env, spent);
    }
    let used = terms.unchecked_plans().collect();
    let lost = open.lost();
    *stack = open.recycled();
    *walks = terms.take_memory();
    let holes = match result {
        Ok(holes) => holes,
        Err(error) if error.kind == EncodeErrorKind::OutOfMemory => {
            return Err(if Writer::failed(&out) { Untaped::Full } else { Untaped::NoMemory });
        }
        Err(error) if error.kind == EncodeErrorKind::Budget => return Err(Untaped::Late),
        // It stands on the tape.
        Err(_) => Vec::new(),
    };
    let whole = out.whole();
    if out.end() { Ok(Taped { len: out.size(), whole, holes, used, lost }) } else { Err(Untaped::Full) }
}
