//! Runs the guest, translated to C ahead of time, inside the BEAM. The native library has these functions beside its own.
//!
//! The design assumes that the document has taken over the guest, which can return anything, loop or trap. Each call runs in an
//! instance with a memory cap and a deadline, and the result is checked before it becomes a term.
//!
//! Every function returns by its deadline and never waits. Those without `dirty` in the name run on the caller's scheduler and
//! have about a millisecond.
#![deny(unsafe_code)]

mod atoms;
mod built;
mod call;
mod clock;
mod fault;
mod feed;
mod guest;
mod host;
mod many;
mod pool;
mod queue;
#[cfg(feature = "replaceable")]
#[allow(unsafe_code)]
mod replaceable;
mod session;
mod tape;
mod terms;
#[allow(unsafe_code)]
mod translated;
mod waiter;
mod work;

use call::{Call, Input, Operation};
use rustler::{Atom, Binary, Env, NifResult, Term, schedule::consume_timeslice};

/// Bytes that take about a hundredth of a scheduler's turn.
const BYTES_PER_PERCENT: usize = 2048;

/// `:ok`, or `{:fault, :unavailable, reason}` if no call can run.
#[rustler::nif(name = "sandbox_status", schedule = "DirtyCpu")]
fn status(env: Env<'_>) -> Term<'_> {
    match host::failure() {
        None => atoms::ok().to_term(env),
        Some(reason) => terms::fault_term(env, &fault::Fault::Unavailable(reason)),
    }
}

/// Runs an [`Operation`] on the caller's scheduler. Returns the result, or `:later` if it takes too long.
/// The options of `:decode` can be a tuple of their bytes and the templates of a type, whose values it then builds.
#[rustler::nif(name = "sandbox_run")]
fn run<'a>(
    env: Env<'a>,
    operation: Atom,
    options: Term<'a>,
    body: Binary<'a>,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    charge(env, body.len());
    let input = Input::new(options, body)?;
    work::run(env, Operation::new(operation)?, &input, &Call::new(limits, ticket)?.here())
}

/// The same on a dirty scheduler.
#[rustler::nif(name = "sandbox_run_dirty", schedule = "DirtyCpu")]
fn run_dirty<'a>(
    env: Env<'a>,
    operation: Atom,
    options: Term<'a>,
    body: Binary<'a>,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let input = Input::new(options, body)?;
    work::run(env, Operation::new(operation)?, &input, &Call::new(limits, ticket)?)
}

/// Encodes a term on the caller's scheduler. Returns `{:ok, text}`, `{:partial, text, holes}` or `{:error, failure}`, inside
/// `{:planned, answer, modules}` if it used plans of structs; or `:later` if it takes too long.
#[rustler::nif(name = "sandbox_write")]
fn write<'a>(
    env: Env<'a>,
    term: Term<'a>,
    plans: Term<'a>,
    options: Binary,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    tape::run(env, [term, plans], &options, &Call::new(limits, ticket)?.here())
}

/// The same on a dirty scheduler.
#[rustler::nif(name = "sandbox_write_dirty", schedule = "DirtyCpu")]
fn write_dirty<'a>(
    env: Env<'a>,
    term: Term<'a>,
    plans: Term<'a>,
    options: Binary,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    tape::run(env, [term, plans], &options, &Call::new(limits, ticket)?)
}

/// What `start_by` is measured by.
#[rustler::nif(name = "sandbox_now")]
fn now() -> u64 {
    clock::now()
}

/// Long calls running, instances that there are, and callers waiting.
#[rustler::nif(name = "sandbox_counts")]
fn counts(env: Env<'_>) -> Term<'_> {
    terms::counts(env, host::counts())
}

/// Takes the work from the caller's turn, so that the scheduler stays fair.
fn charge(env: Env, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        consume_timeslice(env, percent.min(100) as i32);
    }
}
