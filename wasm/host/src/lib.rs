//! Runs the guest in wasmtime, inside the BEAM.
//!
//! The design assumes that the document has taken over the guest, which can return anything, loop or trap. Each call has its own
//! instance with a memory cap and a deadline, and the result is checked before it becomes a term.
//!
//! Every function returns by its deadline and never waits. Those without `dirty` in the name run on the caller's scheduler and
//! have about a millisecond.
#![forbid(unsafe_code)]

mod arguments;
mod clock;
mod fault;
mod guest;
mod host;
mod pool;
mod queue;
mod session;
mod terms;
mod ticker;
mod waiter;

use fault::Fault;
use guest::Guest;
use host::{Call, Host};
use rustler::{Binary, Env, NifResult, Resource, ResourceArc, Term, schedule::consume_timeslice};
use rustyjson_core::abi::DecodeFailure;

/// Ticks of a call on the caller's scheduler: at least one whole millisecond.
const SHORT_TICKS: u64 = 2;
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

/// Decodes on the caller's scheduler: the term, or `:later` when that takes too long.
#[rustler::nif]
fn decode<'a>(
    env: Env<'a>,
    host: HostArc,
    json: Binary,
    packed: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = short(arguments::limits(limits, ticket)?);
    charge(env, json.len());
    run_decode(env, &host.0, &json, packed, &call)
}

/// Decodes on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn decode_dirty<'a>(
    env: Env<'a>,
    host: HostArc,
    json: Binary,
    packed: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = arguments::limits(limits, ticket)?;
    run_decode(env, &host.0, &json, packed, &call)
}

/// Encodes on the caller's scheduler a term in External Term Format, as the runtime writes it. `extra` is empty or the
/// term `{pretty, plans}` in the same format.
#[rustler::nif]
fn encode<'a>(
    env: Env<'a>,
    host: HostArc,
    etf: Binary,
    extra: Binary,
    packed: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = short(arguments::limits(limits, ticket)?);
    charge(env, etf.len());
    run_encode(env, &host.0, [&extra, &etf], packed, &call)
}

/// Encodes on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn encode_dirty<'a>(
    env: Env<'a>,
    host: HostArc,
    etf: Binary,
    extra: Binary,
    packed: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = arguments::limits(limits, ticket)?;
    run_encode(env, &host.0, [&extra, &etf], packed, &call)
}

/// Compresses a text or lays it out on the caller's scheduler.
#[rustler::nif]
fn transform<'a>(
    env: Env<'a>,
    host: HostArc,
    text: Binary,
    extra: Binary,
    operation: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = short(arguments::limits(limits, ticket)?);
    charge(env, text.len());
    run_transform(env, &host.0, [&extra, &text], operation, &call)
}

/// Compresses a text or lays it out on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn transform_dirty<'a>(
    env: Env<'a>,
    host: HostArc,
    text: Binary,
    extra: Binary,
    operation: Term,
    limits: Term,
    ticket: u64,
) -> NifResult<Term<'a>> {
    let call = arguments::limits(limits, ticket)?;
    run_transform(env, &host.0, [&extra, &text], operation, &call)
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

fn run_decode<'a>(env: Env<'a>, host: &Host, json: &[u8], packed: Term, call: &Call) -> NifResult<Term<'a>> {
    let options = arguments::Decode::new(packed)?;
    let answer = host.run(call, |guest| decode_in(env, guest, json, &options, host.seed));
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short)))
}

fn decode_in<'a>(
    env: Env<'a>,
    guest: &mut Guest,
    json: &[u8],
    options: &arguments::Decode,
    seed: u64,
) -> Result<Term<'a>, Fault> {
    let unknown_atom = |guest: &mut Guest| match options.existing_atoms_only() {
        true => session::unknown_atom(guest, json.len(), options, |name| terms::is_atom(env, name)),
        false => Ok(None),
    };
    match session::decode(guest, json, options, seed)? {
        // An unknown atom may stand before the error.
        Err(error) => Ok(terms::decode_error(env, &unknown_atom(guest)?.unwrap_or(error))),
        // A caller's `binary_to_term` of a large term would hold its scheduler for milliseconds at a time.
        Ok(etf) => match terms::term(env, &guest.memory()[etf.clone()]) {
            Some(term) => Ok(term),
            None => refused(env, guest, etf, unknown_atom),
        },
    }
}

/// Judged bytes of which the runtime makes no term without making atoms.
fn refused<'a>(
    env: Env<'a>,
    guest: &mut Guest,
    etf: std::ops::Range<usize>,
    unknown_atom: impl Fn(&mut Guest) -> Result<Option<DecodeFailure<'static>>, Fault>,
) -> Result<Term<'a>, Fault> {
    let bytes = terms::etf(env, &guest.memory()[etf]);
    Ok(unknown_atom(guest)?.map_or(bytes, |error| terms::decode_error(env, &error)))
}

fn run_encode<'a>(env: Env<'a>, host: &Host, input: [&[u8]; 2], packed: Term, call: &Call) -> NifResult<Term<'a>> {
    let options = arguments::Encode::new(packed)?;
    let answer = host.run(call, |guest| {
        Ok(match session::encode(guest, input, &options)? {
            session::Encoded::Text(json) => terms::text(env, json),
            session::Encoded::Partial(found) => terms::partial(env, &found),
            session::Encoded::Failure(failure) => terms::encode_error(env, &failure),
        })
    });
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short)))
}

fn run_transform<'a>(
    env: Env<'a>,
    host: &Host,
    input: [&[u8]; 2],
    operation: Term,
    call: &Call,
) -> NifResult<Term<'a>> {
    let operation = arguments::operation(operation)?;
    let answer = host.run(call, |guest| {
        Ok(match session::transform(guest, input, &operation)? {
            Ok(text) => terms::text(env, text),
            Err(error) => terms::decode_error(env, &error),
        })
    });
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short)))
}

/// The call's limits on the caller's scheduler, and whether exceeding them is not yet final.
fn short(call: Call) -> Call {
    Call { ticks: call.ticks.min(SHORT_TICKS), short: call.ticks > SHORT_TICKS, start_by: u64::MAX, ..call }
}

/// Takes the work from the caller's turn, so that the scheduler stays fair.
fn charge(env: Env, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        consume_timeslice(env, percent.min(100) as i32);
    }
}

rustler::init!("Elixir.RustyJson.Wasm.Host.Wasmtime.Nif");
