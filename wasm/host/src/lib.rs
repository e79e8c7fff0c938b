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
mod kept;
mod many;
mod pool;
mod queue;
#[cfg(feature = "replaceable")]
#[allow(unsafe_code)]
mod replaceable;
mod session;
mod sync;
mod tape;
mod terms;
#[allow(unsafe_code)]
mod translated;
mod waiter;
mod work;

use call::{Call, Input, Operation};
use guest::Sent;
use kept::Keep;
use rustler::codegen_runtime::inventory;
use rustler::types::atom::false_;
use rustler::{Binary, Env, Term};
use rustyjson_core::EncodeOptions;
use rustyjson_core::options::shape::LONG_SHAPE;
use rustyjson_terms::entry;
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::read::{Look, Raw};
use rustyjson_terms::taped;

/// `:ok`, or `{:fault, :unavailable, reason}` if no call can run.
#[rustler::nif(name = "sandbox_status", schedule = "DirtyCpu")]
fn status(env: Env<'_>) -> Term<'_> {
    match host::failure() {
        None => atoms::ok().to_term(env),
        Some(reason) => terms::fault_term(env, &fault::Fault::unavailable(reason)),
    }
}

/// Runs an [`Operation`], on a dirty scheduler or on the caller's. Returns the result, or `:later` if it takes too long there.
/// The options of `:decode` can be a tuple of their bytes and the templates of a type, whose values it then builds.
#[inline(always)]
fn run<'a, const DIRTY: bool>(
    env: Env<'a>,
    operation: Raw<'a>,
    options: Raw<'a>,
    body: Raw<'a>,
    limits: Raw<'a>,
    ticket: Raw<'a>,
) -> Returned {
    let input = Input::new(env, options, body)?;
    work::run(env, Operation::new(operation)?, &input, &Call::read(env, limits, ticket, DIRTY)?)
}

/// Encodes a term in the same way. Returns `{:ok, text}`, `{:partial, text, holes}` or `{:error, failure}`, inside
/// `{:planned, answer, modules}` if it used plans of structs; or `:later`.
#[inline(always)]
fn write<'a, const DIRTY: bool>(
    env: Env<'a>,
    term: Raw<'a>,
    plans: Raw<'a>,
    options: Raw<'a>,
    limits: Raw<'a>,
    ticket: Raw<'a>,
) -> Returned {
    let bytes = Look::new(env).binary(options).ok_or(BadArg)?;
    let (options, _) = EncodeOptions::from_bytes(bytes).ok_or(BadArg)?;
    if !DIRTY && options.shape.len() > LONG_SHAPE {
        return Ok(terms::later(env).as_c_arg());
    }
    let options = (&taped::Options::new(&options), Sent::Once(bytes));
    Ok(tape::run(env, [term, plans], options, &Call::read(env, limits, ticket, DIRTY)?))
}

/// Decodes a document on the caller's scheduler, with the options and limits of a number of `sandbox_keep/3`: `false` if it is unknown.
#[inline(always)]
fn decode<'a>(env: Env<'a>, json: Raw<'a>, given: Raw<'a>) -> Returned {
    let Some(keep) = kept::find(env, &kept::DECODE, given) else { return Ok(false_().as_c_arg()) };
    let json = Binary::from_term(json.term(env))?;
    Ok(work::decode_kept(env, keep, json.as_slice()))
}

/// Encodes a term in the same way.
#[inline(always)]
fn encode<'a>(env: Env<'a>, term: Raw<'a>, given: Raw<'a>, plans: Raw<'a>) -> Returned {
    let Some(Keep { options, sent, limits }) = kept::find(env, &kept::ENCODE, given) else {
        return Ok(false_().as_c_arg());
    };
    Ok(tape::run(env, [term, plans], (options, Sent::Kept(sent)), &Call::here(env, limits)))
}

entry!(sandbox_decode(json, number) = 2, decode);
entry!(sandbox_encode(term, number, plans) = 3, encode);

/// The entries of a function: on the caller's scheduler, and on a dirty one.
macro_rules! entries {
    ($here:ident, $dirty:ident, $run:ident($($argument:ident),+)) => {
        entry!($here($($argument),+) = 5, $run::<false>);
        entry!($dirty($($argument),+) = 5, $run::<true>, DirtyCpu);
    };
}

entries!(sandbox_run, sandbox_run_dirty, run(operation, options, body, limits, ticket));
entries!(sandbox_write, sandbox_write_dirty, write(term, plans, options, limits, ticket));

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
