//! Runs the guest in wasmtime, inside the BEAM.
//!
//! The design assumes that the document has taken over the guest, which can return anything, loop or trap. Each call has its own
//! instance with a memory cap and a deadline, and the result is checked before it becomes a term.
//!
//! Every function returns by its deadline and never waits. Those without `dirty` in the name run on the caller's scheduler and
//! have about a millisecond.
#![forbid(unsafe_code)]

mod atoms;
mod built;
mod call;
mod clock;
mod export;
mod fault;
mod feed;
mod guest;
mod host;
mod many;
mod pool;
mod queue;
mod session;
mod tape;
mod terms;
mod ticker;
mod waiter;
mod work;

use call::{Call, Input, Operation};
use host::Host;
use rustler::{Atom, Binary, Env, NifResult, Resource, ResourceArc, Term, schedule::consume_timeslice};

/// Bytes that take about a hundredth of a scheduler's turn.
const BYTES_PER_PERCENT: usize = 2048;

struct HostResource(Host);

#[rustler::resource_impl]
impl Resource for HostResource {}

type HostArc = ResourceArc<HostResource>;

/// Compiles the guest: `{:ok, host}`. `instances` is the most that the host will run or keep at once.
#[rustler::nif(schedule = "DirtyCpu")]
fn load<'a>(env: Env<'a>, wasm: Binary, instances: u32) -> Term<'a> {
    match Host::new(&wasm, instances) {
        Ok(host) => terms::ok(env, ResourceArc::new(HostResource(host))),
        Err(fault) => terms::fault_term(env, &fault),
    }
}

/// Runs an [`Operation`] on the caller's scheduler. Returns the result, or `:later` if it takes too long.
/// The options of `:decode` can be a tuple of their bytes and the templates of a type, whose values it then builds.
#[rustler::nif]
fn run<'a>(
    env: Env<'a>,
    host: HostArc,
    operation: Atom,
    options: Term<'a>,
    body: Binary<'a>,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    charge(env, body.len());
    let input = Input::new(options, body)?;
    work::run(env, &host.0, Operation::new(operation)?, &input, &Call::new(limits, ticket)?.short())
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn run_dirty<'a>(
    env: Env<'a>,
    host: HostArc,
    operation: Atom,
    options: Term<'a>,
    body: Binary<'a>,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let input = Input::new(options, body)?;
    work::run(env, &host.0, Operation::new(operation)?, &input, &Call::new(limits, ticket)?)
}

/// Encodes a term on the caller's scheduler. Returns `{:ok, text}`, `{:partial, text, holes}` or `{:error, failure}`, inside
/// `{:planned, answer, modules}` if it used plans of structs; or `:later` if it takes too long.
#[rustler::nif]
fn write<'a>(
    env: Env<'a>,
    host: HostArc,
    term: Term<'a>,
    plans: Term<'a>,
    options: Binary,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    tape::run(env, &host.0, [term, plans], &options, &Call::new(limits, ticket)?.short())
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn write_dirty<'a>(
    env: Env<'a>,
    host: HostArc,
    term: Term<'a>,
    plans: Term<'a>,
    options: Binary,
    limits: Term<'a>,
    ticket: u64,
) -> NifResult<Term<'a>> {
    tape::run(env, &host.0, [term, plans], &options, &Call::new(limits, ticket)?)
}

/// What `start_by` is measured by.
#[rustler::nif]
fn now() -> u64 {
    clock::now()
}

/// Instances running and kept, and callers waiting.
#[rustler::nif]
fn counts<'a>(env: Env<'a>, host: HostArc) -> Term<'a> {
    terms::counts(env, host.0.counts())
}

/// Takes the work from the caller's turn, so that the scheduler stays fair.
fn charge(env: Env, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        consume_timeslice(env, percent.min(100) as i32);
    }
}

rustler::init!("Elixir.RustyJson.Wasm.Host.Wasmtime.Nif");
