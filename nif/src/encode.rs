//! `encode/3`, `encode_dirty/3` and `resume_dirty/3`.

use crate::atoms;
use crate::kept::{self, USUAL};
use crate::memory::Memory;
use rustler::sys::ErlNifTerm;
use rustler::{Encoder, Env, NifResult, Term};
use rustyjson_core::encode::{
    EncodeError, EncodeErrorKind, Hole, Outcome, Place, Stack, Suspension, encode_slice, resume,
};
use rustyjson_core::options::Scheduler;
use rustyjson_core::options::shape::LONG_SHAPE;
use rustyjson_core::{EncodeOptions, Output};
use rustyjson_terms::atom_cache::AtomCache;
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::make::Maker;
use rustyjson_terms::raw::read::{Look, Raw, WalkMemory};
use rustyjson_terms::reader::{BUDGET, FIRST_BUDGET, May, Plans, Terms};
use rustyjson_terms::turn;
use std::cell::RefCell;
use std::mem::take;

/// What one scheduler thread keeps between calls.
struct State {
    out: Output<Memory>,
    atoms: AtomCache,
    walks: WalkMemory,
    stack: Stack<'static, Terms<'static, 'static>>,
}

// Found once in a call: each look-up takes some nanoseconds.
thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

impl State {
    #[cold]
    fn new() -> Self {
        let (atoms, walks, stack) = (AtomCache::new(), WalkMemory::new(), Stack::new());
        Self { out: Output::new(Memory::new()), atoms, walks, stack }
    }
}

/// Runs with terms, whose memory is that of the call before.
#[inline(always)]
fn with_terms<'a, T>(
    env: Env<'a>,
    plans: Plans<'a>,
    run: impl for<'s> FnOnce(&mut Terms<'a, 's>, &mut Stack<'a, Terms<'a, 's>>, &mut Output<Memory>) -> T,
) -> T {
    STATE.with_borrow_mut(|state| {
        let state = state.get_or_insert_with(State::new);
        // The output stays where it is: moved in and out, it would take 10 of 80 ns.
        restart(&mut state.out);
        let mut terms = Terms::new(env, &mut state.atoms, take(&mut state.walks), plans);
        let mut stack = take(&mut state.stack).recycled();
        let result = run(&mut terms, &mut stack, &mut state.out);
        restart(&mut state.out);
        state.stack = stack.recycled();
        state.walks = terms.take_memory();
        result
    })
}

#[inline(always)]
fn restart(out: &mut Output<Memory>) {
    out.restart();
    out.parts().0.restart();
}

/// The call's options, and the plans of derived structs.
struct Call<'a> {
    options: EncodeOptions<'a>,
    plans: Plans<'a>,
}

impl<'a> Call<'a> {
    #[inline(never)]
    fn read(env: Env<'a>, options: Raw<'a>, plans: Raw<'a>) -> Returned<Self> {
        let look = Look::new(env);
        let options = look.binary(options).and_then(EncodeOptions::from_bytes);
        let (options, _) = options.ok_or(BadArg)?;
        Ok(Self { options, plans: Plans::of(env, plans) })
    }

    /// For a dirty scheduler, where nobody waits.
    fn alone(mut self) -> Self {
        self.options.budget = BUDGET as u64;
        self.options.patient = true;
        self
    }
}

/// Encodes on the caller's scheduler, within a budget of work. When the budget is used up, returns
/// `{:suspended, json, places, holes, modules, parts}` for `resume_dirty/3`, or `:dirty` to start over on a dirty scheduler. The options are
/// their bytes, or a number of `keep_options/2`.
#[inline(always)]
pub fn encode<'a>(env: Env<'a>, term: Raw<'a>, options: Raw<'a>, plans: Raw<'a>) -> Returned {
    let number = kept::number(env, options);
    if number.is_some_and(kept::is_usual) {
        return Ok(usual(env, term, plans));
    }
    match number {
        Some(number) => with_number(env, term, number, plans),
        None => with_bytes(env, term, options, plans),
    }
}

#[inline(always)]
fn usual<'a>(env: Env<'a>, term: Raw<'a>, plans: Raw<'a>) -> ErlNifTerm {
    let result = small(env, term, &USUAL, Plans::of(env, plans));
    result.unwrap_or_else(|| atoms::dirty().as_c_arg())
}

/// A number that means nothing here is one of an older instance of the library: Elixir has the bytes.
#[inline(never)]
fn with_number<'a>(env: Env<'a>, term: Raw<'a>, number: i64, plans: Raw<'a>) -> Returned {
    match kept::ENCODE.find(number) {
        Some(options) => with_options(env, term, options, plans),
        None => Ok(atoms::dirty().as_c_arg()),
    }
}

#[inline(never)]
fn with_bytes<'a>(env: Env<'a>, term: Raw<'a>, options: Raw<'a>, plans: Raw<'a>) -> Returned {
    let bytes = Look::new(env).binary(options);
    if bytes.is_some_and(EncodeOptions::are_default) {
        return with_options(env, term, &USUAL, plans);
    }
    // Not in a `Call`: the moves would take 10 ns.
    let Some((mut read, _)) = bytes.and_then(EncodeOptions::from_bytes) else {
        return Err(BadArg);
    };
    if read.scheduler == Scheduler::Auto && read.shape.len() > LONG_SHAPE {
        return Ok(atoms::dirty().as_c_arg());
    }
    read.budget = FIRST_BUDGET as u64;
    with_options(env, term, &read, plans)
}

#[inline(always)]
fn with_options<'a>(env: Env<'a>, term: Raw<'a>, options: &EncodeOptions<'a>, plans: Raw<'a>) -> Returned {
    if options.scheduler == Scheduler::Dirty {
        return Ok(atoms::dirty().as_c_arg());
    }
    let plans = Plans::of(env, plans);
    match slice(env, term, options, plans) {
        Some(result) => Ok(result),
        None if options.scheduler == Scheduler::Auto => Ok(atoms::dirty().as_c_arg()),
        None => Ok(large(env, term, Call { options: *options, plans }).as_c_arg()),
    }
}

/// [`small`], once for all options.
#[inline(never)]
fn slice<'a>(env: Env<'a>, term: Raw<'a>, options: &EncodeOptions<'_>, plans: Plans<'a>) -> Option<ErlNifTerm> {
    small(env, term, options, plans)
}

/// Encodes on a dirty scheduler, as long as the caller lives.
#[rustler::nif(schedule = "DirtyCpu")]
fn encode_dirty<'a>(env: Env<'a>, term: Term<'a>, options: Term<'a>, plans: Term<'a>) -> NifResult<Term<'a>> {
    let call = Call::read(env, Raw::of(options), Raw::of(plans))?;
    Ok(large(env, Raw::of(term), call))
}

/// Continues what `encode/3` began, on a dirty scheduler, as long as the caller lives.
#[rustler::nif(schedule = "DirtyCpu")]
fn resume_dirty<'a>(env: Env<'a>, suspended: Suspended<'a>, options: Term<'a>, plans: Term<'a>) -> NifResult<Term<'a>> {
    let call = Call::read(env, Raw::of(options), Raw::of(plans))?.alone();
    let (_, json, places, holes, modules, parts) = suspended;
    let suspension = read_suspension(Look::new(env), places, holes, parts).ok_or(BadArg)?;
    with_terms(env, call.plans, |terms, stack, out| {
        out.slice(&json);
        terms.may(May::Last);
        terms.add_used_plans(modules.into_iter().map(Raw::of));
        let result = resume(terms, suspension, &call.options, out, stack);
        Ok(counted(env, planned(env, ended(env, result, out), terms.unchecked_plans()), stack.lost()))
    })
}

/// What `encode/3` returns when its budget is used up.
type Suspended<'a> = (rustler::Atom, rustler::Binary<'a>, Vec<Term<'a>>, Vec<HoleTerm<'a>>, Vec<Term<'a>>, u64);

/// Within the budget. `None`: it is used up.
#[inline(always)]
fn small<'a>(env: Env<'a>, term: Raw<'a>, options: &EncodeOptions<'_>, plans: Plans<'a>) -> Option<ErlNifTerm> {
    with_terms(env, plans, |terms, stack, out| {
        let result = encode_slice(terms, term, options, out, stack);
        let work = out.len().saturating_add(terms.charged());
        let answer = outcome(env, options.scheduler, &result, out, terms, stack.lost());
        turn::take(env, terms.spent(), work);
        answer
    })
}

/// The result of the first slice. `None`: start over on a dirty scheduler. It is taken by reference. A move would load it in pieces
/// of another size than those in which it was just stored, and the processor would wait for the stores.
#[inline(always)]
fn outcome<'a>(
    env: Env<'a>,
    scheduler: Scheduler,
    result: &Result<Outcome<Raw<'a>>, EncodeError>,
    out: &mut Output<Memory>,
    terms: &Terms<'a, '_>,
    lost: Option<u64>,
) -> Option<ErlNifTerm> {
    let (memory, len) = out.parts();
    match result {
        // By far the most.
        Ok(Outcome::Done(holes)) if holes.is_empty() && lost.is_none() && terms.used_known_plans() => {
            Some(memory.raw_binary(env, len))
        }
        Ok(Outcome::Done(holes)) => {
            let result = finished(env, memory.binary(env, len), holes);
            Some(counted(env, planned(env, result, terms.unchecked_plans()), lost).as_c_arg())
        }
        Ok(Outcome::Suspended(places)) if scheduler != Scheduler::Normal && places.places.len() <= MOST_PLACES => {
            Some(suspended(env, memory.binary(env, len), places, terms.used_plans()).as_c_arg())
        }
        Ok(Outcome::Suspended(_)) | Err(EncodeError { kind: EncodeErrorKind::Budget, .. }) => None,
        Err(error) => Some(failure(env, error).as_c_arg()),
    }
}

/// Open containers beyond which starting over is cheaper than handing over: each is a few words on the process heap, to
/// be collected later. Lists 400,000 deep took 41 to 54 ms handed over, 24 to 28 started over.
const MOST_PLACES: usize = 1024;

/// As long as the caller lives: a term that shares its parts can be written and taken back without end.
fn large<'a>(env: Env<'a>, term: Raw<'a>, call: Call<'a>) -> Term<'a> {
    let call = call.alone();
    with_terms(env, call.plans, |terms, stack, out| {
        terms.may(May::Last);
        let result = encode_slice(terms, term, &call.options, out, stack);
        counted(env, planned(env, ended(env, result, out), terms.unchecked_plans()), stack.lost())
    })
}

/// The result of a walk on a dirty scheduler.
fn ended<'a>(env: Env<'a>, result: Result<Outcome<Raw<'a>>, EncodeError>, out: &mut Output<Memory>) -> Term<'a> {
    let (memory, len) = out.parts();
    let error = match result {
        Ok(Outcome::Done(holes)) => return finished(env, memory.binary(env, len), &holes),
        Ok(Outcome::Suspended(_)) => EncodeError::out_of_memory(),
        Err(error) => error,
    };
    failure(env, &error)
}

/// `{:suspended, binary, places, holes, modules, parts}`; a place is `{rest of a list}` or `{map, entries written}`.
fn suspended<'a>(
    env: Env<'a>,
    json: Term<'a>,
    suspension: &Suspension<Raw<'a>>,
    plans: impl Iterator<Item = Raw<'a>>,
) -> Term<'a> {
    let place = |place: &Place<Raw<'a>>| match place {
        Place::List(rest) => (rest.term(env),).encode(env),
        Place::Map(map, written) => (map.term(env), *written).encode(env),
    };
    let places: Vec<_> = suspension.places.iter().map(place).collect();
    let holes = holes(env, &suspension.holes);
    (atoms::suspended(), json, places, holes, modules(env, plans), suspension.parts).encode(env)
}

/// `{:planned, result, modules}` where structs were encoded by plans that nobody looked at: Elixir checks whether they are still
/// current.
fn planned<'a>(env: Env<'a>, result: Term<'a>, mut plans: impl Iterator<Item = Raw<'a>>) -> Term<'a> {
    let Some(first) = plans.next() else { return result };
    let make = Maker::new(env);
    let first = first.term(env).as_c_arg();
    let modules: Vec<_> = plans.map(|module| module.term(env).as_c_arg()).collect();
    let modules = if modules.is_empty() { make.list(&[first]) } else { make.list(&[&[first], &*modules].concat()) };
    make.term(make.tuple(&[atoms::planned().as_c_arg(), result.as_c_arg(), modules]))
}

/// `{:lost, result, parts}` where the walk visited many parts that left no text.
fn counted<'a>(env: Env<'a>, result: Term<'a>, lost: Option<u64>) -> Term<'a> {
    lost.map_or(result, |parts| (atoms::lost(), result, parts).encode(env))
}

fn modules<'a>(env: Env<'a>, plans: impl Iterator<Item = Raw<'a>>) -> Vec<Term<'a>> {
    plans.map(|module| module.term(env)).collect()
}

/// Reads what [`suspended`] wrote.
fn read_suspension<'a>(
    look: Look<'a>,
    places: Vec<Term<'a>>,
    holes: Vec<HoleTerm<'a>>,
    parts: u64,
) -> Option<Suspension<Raw<'a>>> {
    let place = |term: Term<'a>| match look.tuple(Raw::of(term)) {
        Some([map, written]) => Some(Place::Map(*map, usize::try_from(look.integer(*written)?).ok()?)),
        Some([rest]) => Some(Place::List(*rest)),
        _ => None,
    };
    let hole = |(offset, depth, term, position): HoleTerm<'a>| Hole {
        offset,
        depth,
        term: Raw::of(term),
        key: position == atoms::key(),
    };
    let places = places.into_iter().map(place).collect::<Option<_>>()?;
    Some(Suspension { places, holes: holes.into_iter().map(hole).collect(), parts })
}

/// A binary, or `{:partial, binary, [{offset, depth, term, :key | :value}]}`.
fn finished<'a>(env: Env<'a>, json: Term<'a>, holes: &[Hole<Raw<'a>>]) -> Term<'a> {
    if holes.is_empty() {
        return json;
    }
    (atoms::partial(), json, self::holes(env, holes)).encode(env)
}

/// Offset, depth, term, `:key` or `:value`.
type HoleTerm<'a> = (usize, u32, Term<'a>, rustler::Atom);

/// Cell by cell: there may be as many holes as parts of the term.
fn holes<'a>(env: Env<'a>, holes: &[Hole<Raw<'a>>]) -> Term<'a> {
    let position = |key| if key { atoms::key() } else { atoms::value() };
    holes.iter().rev().fold(Term::list_new_empty(env), |list, hole| {
        let hole: HoleTerm<'a> = (hole.offset, hole.depth, hole.term.term(env), position(hole.key));
        list.list_prepend(hole.encode(env))
    })
}

#[cold]
pub fn failure<'a>(env: Env<'a>, error: &EncodeError) -> Term<'a> {
    let make = Maker::new(env);
    // The core bounds it.
    let payload = make.binary(&error.payload).map_or_else(|| atoms::nil().encode(env), |payload| make.term(payload));
    (atoms::error(), (error.kind as u8, error.path.as_str(), payload)).encode(env)
}
