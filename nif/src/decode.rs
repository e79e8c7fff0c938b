//! `decode/2` and `decode_dirty/2`.

use crate::atoms;
use crate::builder::{Stacks, Terms};
use rustler::schedule::consume_timeslice;
use rustler::{Binary, Encoder, Env, NifResult, Term};
use rustyjson_core::locate::locate;
use rustyjson_core::{DecodeOptions, Error, Scratch, decode as decode_json};
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};

/// Options as [`DecodeOptions::from_bits`] takes them, and the size from which Elixir calls the dirty entry.
type Packed = (u32, u32, u32, u64, u64);

/// Bytes decoded in about a hundredth of a time slice of one millisecond.
const BYTES_PER_PERCENT: usize = 4096;

/// What one scheduler thread keeps between calls: two allocations are the main cost of a small document.
#[derive(Default)]
struct State {
    scratch: Scratch,
    stacks: Stacks,
    seeds: RandomState,
    calls: u64,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Decodes on the scheduler that calls, and charges the time to the process.
#[rustler::nif]
fn decode<'a>(env: Env<'a>, json: Binary<'a>, packed: Packed) -> NifResult<Term<'a>> {
    let percent = (json.len() / BYTES_PER_PERCENT).min(100) as i32;
    let result = run(env, json, packed);
    if percent > 0 {
        consume_timeslice(env, percent);
    }
    result
}

/// Decodes on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn decode_dirty<'a>(env: Env<'a>, json: Binary<'a>, packed: Packed) -> NifResult<Term<'a>> {
    run(env, json, packed)
}

fn run<'a>(env: Env<'a>, json: Binary<'a>, packed: Packed) -> NifResult<Term<'a>> {
    let (flags, max_depth, digit_limit, max_nodes, _) = packed;
    let bytes = json.as_slice();
    STATE.with_borrow_mut(|state| {
        state.calls = state.calls.wrapping_add(1);
        let seed = state.seeds.hash_one(state.calls);
        let options = DecodeOptions::from_bits(flags, max_depth, digit_limit, max_nodes, seed);
        let mut terms = Terms::new(env, json, options, &mut state.stacks);
        let result = match decode_json(bytes, &options, &mut state.scratch, &mut terms) {
            Ok(()) => terms.finish().map(|term| (atoms::ok(), term).encode(env)).ok_or(rustler::Error::BadArg),
            Err(error) => Ok(failure(env, bytes, error)),
        };
        state.scratch.shrink();
        state.stacks.shrink();
        result
    })
}

#[cold]
pub fn failure<'a>(env: Env<'a>, json: &[u8], error: Error) -> Term<'a> {
    let place = locate(json, error.offset);
    let details = (error.kind as u8, error.offset as u64, place.line, place.column, place.path);
    (atoms::error(), details).encode(env)
}
