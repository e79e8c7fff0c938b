//! `build_etf/3`, `build_list/3` and `check_holes/3`: judge what a WebAssembly module answers to a host that has no library of its own.

use crate::atoms;
use crate::decode::with_state;
use rustler::schedule::consume_timeslice;
use rustler::{Binary, Encoder, Env, Error, NifResult, Term};
use rustyjson_core::etf::check::{Fault, Policy, Refused};
use rustyjson_core::etf::{holes, plans};
use rustyjson_core::parts::{Parts, Raw};
use rustyjson_core::{DecodeOptions, EncodeOptions, ErrorKind};
use rustyjson_terms::judged::{self, Asked};

/// Bytes judged and built in about a hundredth of a time slice of one millisecond.
const BYTES_PER_PERCENT: usize = 4096;

/// Judges and builds a term that answers a document of this length: `{:ok, term}`, `:refused` when a key is twice in a map or an
/// atom does not exist, or `{:fault, :invalid_result, text}`.
#[rustler::nif]
fn build_etf<'a>(env: Env<'a>, etf: Binary<'a>, options: Binary<'a>, json_len: usize) -> NifResult<Term<'a>> {
    charge(env, etf.len());
    term(env, &etf, &options, json_len)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn build_etf_dirty<'a>(env: Env<'a>, etf: Binary<'a>, options: Binary<'a>, json_len: usize) -> NifResult<Term<'a>> {
    term(env, &etf, &options, json_len)
}

fn term<'a>(env: Env<'a>, etf: &[u8], options: &[u8], json_len: usize) -> NifResult<Term<'a>> {
    let parts = Parts::read(options.get(DecodeOptions::LEN..).unwrap_or_default());
    with_state(Some(options), u64::MAX, |options, _cut, _scratch, stacks| {
        let policy = match parts {
            Some(Parts::Raw(_)) => Raw::policy(&options, json_len),
            // The options and the length that Elixir passes already allow for what a type adds. Only floats are added here.
            Some(Parts::Typed(_)) => Policy { floats: true, ..Policy::new(&options, json_len) },
            _ => Policy::new(&options, json_len),
        };
        Ok(answer(env, judged::term(env, etf, &policy, Asked { options: &options, json_len, clock: &|| u64::MAX }, stacks)))
    })
}

/// Judges and builds a list of terms that answer documents of these lengths (`u32` each, little endian).
#[rustler::nif]
fn build_list<'a>(env: Env<'a>, etf: Binary<'a>, options: Binary<'a>, lengths: Binary<'a>) -> NifResult<Term<'a>> {
    charge(env, etf.len());
    list(env, &etf, &options, &lengths)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn build_list_dirty<'a>(
    env: Env<'a>,
    etf: Binary<'a>,
    options: Binary<'a>,
    lengths: Binary<'a>,
) -> NifResult<Term<'a>> {
    list(env, &etf, &options, &lengths)
}

fn list<'a>(env: Env<'a>, etf: &[u8], options: &[u8], lengths: &[u8]) -> NifResult<Term<'a>> {
    let lengths = lengths.as_chunks::<4>().0.iter().map(|len| u32::from_le_bytes(*len) as usize);
    with_state(Some(options), u64::MAX, |options, _cut, _scratch, stacks| {
        let policies = lengths.clone().map(|len| Policy::new(&options, len));
        Ok(answer(env, judged::list(env, etf, policies, Asked { options: &options, json_len: lengths.sum(), clock: &|| u64::MAX }, stacks)))
    })
}

fn answer<'a>(env: Env<'a>, built: Result<Option<Term<'a>>, Refused>) -> Term<'a> {
    match built {
        Ok(Some(term)) => (atoms::ok(), term).encode(env),
        Ok(None) => atoms::refused().encode(env),
        Err(Refused { fault: Fault::Builder(ErrorKind::OutOfMemory), .. }) => {
            (atoms::fault(), atoms::unavailable(), "no memory for the term").encode(env)
        }
        Err(refused) => fault(env, &refused.text()),
    }
}

/// Looks up the terms of holes in the term that was encoded, `{:partial, json, [{offset, depth, :key | :value, start, length}]}`.
/// The body of the record comes first, then the term and the options with the plans that the module was given.
#[rustler::nif]
fn check_holes<'a>(env: Env<'a>, body: Binary<'a>, etf: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    charge(env, body.len() + etf.len());
    find(env, body, &etf, &options)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn check_holes_dirty<'a>(env: Env<'a>, body: Binary<'a>, etf: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    find(env, body, &etf, &options)
}

fn find<'a>(env: Env<'a>, body: Binary<'a>, etf: &[u8], options: &[u8]) -> NifResult<Term<'a>> {
    let (options, plans) = EncodeOptions::from_bytes(options).ok_or(Error::BadArg)?;
    let plans = plans::parse(plans).ok_or(Error::BadArg)?;
    let (holes, json) = match holes::read(&body, etf, &options, &plans) {
        Ok(found) => found,
        Err(refused) => return Ok(fault(env, refused.text())),
    };
    let place = |key| if key { atoms::key() } else { atoms::value() };
    let holes: Vec<_> =
        holes.iter().map(|hole| (hole.offset, hole.depth, place(hole.key), hole.term.start, hole.term.len())).collect();
    let json = body.make_subbinary(body.len() - json.len(), json.len())?;
    Ok((atoms::partial(), json, holes).encode(env))
}

fn fault<'a>(env: Env<'a>, text: &str) -> Term<'a> {
    (atoms::fault(), atoms::invalid_result(), text).encode(env)
}

fn charge(env: Env<'_>, bytes: usize) {
    let percent = (bytes / BYTES_PER_PERCENT).min(100);
    if percent > 0 {
        consume_timeslice(env, percent as i32);
    }
}
