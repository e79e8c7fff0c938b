//! `decode/2` and `decode_dirty/2`.

use crate::{atoms, kept};
use rustler::{Binary, Encoder, Env, NifResult, Term};
use rustyjson_core::abi::{DecodeFailure, DecodeFailures, Undecoded};
use rustyjson_core::parts::{Failed, Parts, check, typed};
use rustyjson_core::{DecodeOptions, Error, ErrorKind, Scratch, decode as decode_json};
use rustyjson_terms::builder::{MOST_NODES, Stacks, Structs, Terms};
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::make::Maker;
use rustyjson_terms::raw::read::{Look, Raw};
use rustyjson_terms::turn::Turn;
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};

/// What one scheduler thread keeps between calls: two allocations are the main cost of a small document.
#[derive(Default)]
struct State {
    scratch: Scratch,
    stacks: Stacks,
    seed: Seed,
}

/// A secret of the thread and a count: no two calls hash keys alike, and nobody outside can tell how one does.
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0
    }
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs with what the scheduler thread keeps and with the call's options, which get a seed and are `cut` to fewer values and keys on a
/// normal scheduler.
#[inline(always)]
pub fn with_state<T>(
    read: impl FnOnce(u64) -> Option<DecodeOptions>,
    most_nodes: u64,
    run: impl for<'s> FnOnce(&'s DecodeOptions, bool, &'s mut Scratch, &'s mut Stacks) -> Returned<T>,
) -> Returned<T> {
    STATE.with_borrow_mut(|state| {
        let mut options = read(state.seed.next()).ok_or(BadArg)?;
        // 0 is no limit.
        let cut = options.dirty && most_nodes < u64::MAX && options.max_nodes.wrapping_sub(1) >= most_nodes;
        if cut {
            options.max_nodes = most_nodes;
        }
        let result = run(&options, cut, &mut state.scratch, &mut state.stacks);
        state.scratch.shrink();
        state.stacks.shrink();
        result
    })
}

/// Decodes on the caller's scheduler and charges the time to the process. `:dirty`: the text is more work than its length
/// suggests, so start over on a dirty scheduler. The options are their bytes, those with the templates of a type, or a number of
/// `keep_options/2`.
#[inline(always)]
pub fn decode<'a>(env: Env<'a>, json: Raw<'a>, options: Raw<'a>) -> Returned {
    let json = Binary::from_term(json.term(env))?;
    let turn = Turn::begin(json.len());
    let result = run(env, json, options, MOST_NODES);
    turn.end(env);
    result
}

/// Decodes on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn decode_dirty<'a>(env: Env<'a>, json: Binary<'a>, options: Term<'a>) -> NifResult<Term<'a>> {
    let term = run(env, json, Raw::of(options), u64::MAX)?;
    Ok(Maker::new(env).term(term))
}

#[inline(always)]
fn run<'a>(env: Env<'a>, json: Binary<'a>, options: Raw<'a>, most_nodes: u64) -> Returned {
    let (bytes, look) = (json.as_slice(), Look::new(env));
    if let Some(number) = kept::number(env, options) {
        return match kept::DECODE.find(number) {
            Some(options) => run_whole(env, json, |seed| Some(DecodeOptions { seed, ..*options }), most_nodes),
            // One of an older instance of the library: Elixir has the bytes.
            None => Ok(atoms::dirty().as_c_arg()),
        };
    }
    let Some(options) = look.binary(options) else { return run_structs(json, look, options, most_nodes) };
    let parts = options.get(DecodeOptions::LEN..).unwrap_or_default();
    if let Some(Parts::Check) = Parts::read(parts) {
        return run_check(env, bytes, options);
    }
    if !parts.is_empty() {
        return run_parts(env, json, options, most_nodes, |parts, options, most_nodes, scratch, terms| {
            parts.decode(bytes, options, most_nodes, scratch, terms)
        });
    }
    run_whole(env, json, |seed| DecodeOptions::from_bytes(options, seed), most_nodes)
}

/// Decodes a document.
#[inline(always)]
fn run_whole<'a>(
    env: Env<'a>,
    json: Binary<'a>,
    read: impl FnOnce(u64) -> Option<DecodeOptions>,
    most_nodes: u64,
) -> Returned {
    let (bytes, ok) = (json.as_slice(), atoms::ok().as_c_arg());
    with_state(read, most_nodes, |options, cut, scratch, stacks| {
        let mut terms = Terms::new(env, json, options, stacks);
        match decode_json(bytes, options, scratch, &mut terms) {
            Ok(()) => terms.finish_pair(ok).ok_or(BadArg),
            Err(error) if cut && error.kind == ErrorKind::MaxNodes => Ok(atoms::dirty().as_c_arg()),
            Err(error) => Ok(failure(env, bytes, error).as_c_arg()),
        }
    })
}

/// Whether a document is right. It takes time in proportion to its length, and makes no terms.
fn run_check<'a>(env: Env<'a>, json: &[u8], options: &[u8]) -> Returned {
    with_state(
        |seed| DecodeOptions::from_bytes(options, seed),
        u64::MAX,
        |options, _, scratch, _| match check(json, options, scratch) {
            Ok(()) => Ok(Maker::new(env).tuple(&[atoms::ok().as_c_arg(), rustler::types::atom::true_().as_c_arg()])),
            Err(error) => Ok(failure(env, json, error).as_c_arg()),
        },
    )
}

/// `valid/2`: whether a document is right, for options that stay read. What is wrong is of no interest, so it is not looked for.
#[inline(always)]
pub fn valid<'a>(env: Env<'a>, json: Raw<'a>, options: Raw<'a>) -> Returned {
    let json = Binary::from_term(json.term(env))?;
    let Some(kept) = kept::number(env, options).and_then(|number| kept::DECODE.find(number)) else {
        return Ok(atoms::dirty().as_c_arg());
    };
    let read = |seed| Some(DecodeOptions { seed, ..*kept });
    let turn = Turn::begin(json.len());
    let valid =
        with_state(read, u64::MAX, |options, _, scratch, _| Ok(check(json.as_slice(), options, scratch).is_ok()))?;
    turn.end(env);
    Ok(if valid { rustler::types::atom::true_() } else { rustler::types::atom::false_() }.as_c_arg())
}

/// Bytes of a document that a few wanted values may take. More would be room for terms that nobody makes, and every call would fill
/// it.
const FEW: usize = 512;

/// Errors whose places are found on a normal scheduler: the longest path takes 0.1 ms.
const MANY_ERRORS: usize = 8;

/// Decodes into structs: the options are a tuple of their bytes and the templates of a type.
fn run_structs<'a>(json: Binary<'a>, look: Look<'a>, given: Raw<'a>, most_nodes: u64) -> Returned {
    let Some(&[options, templates]) = look.tuple(given) else { return Err(BadArg) };
    let (options, templates) = look.binary(options).zip(look.tuple(templates)).ok_or(BadArg)?;
    let bytes = json.as_slice();
    run_parts(look.env(), json, options, most_nodes, |parts, options, most_nodes, scratch, terms| {
        let Parts::Typed(shape) = parts else { return parts.decode(bytes, options, most_nodes, scratch, terms) };
        let mut structs = Structs::new(terms, look, templates, json);
        let done = typed(bytes, shape, options, most_nodes, scratch, &mut structs)?;
        structs.finish().map_err(|kind| Error::new(kind, 0))?;
        Ok(done)
    })
}

/// Decodes the wanted parts of a document. The plan follows the options.
#[inline(always)]
fn run_parts<'a>(
    env: Env<'a>,
    json: Binary<'a>,
    options: &'a [u8],
    most_nodes: u64,
    decode: impl FnOnce(&Parts<'a>, &DecodeOptions, u64, &mut Scratch, &mut Terms<'a, '_>) -> Result<bool, Failed>,
) -> Returned {
    let bytes = json.as_slice();
    let parts = options.get(DecodeOptions::LEN..).and_then(Parts::read).ok_or(BadArg)?;
    let ok = atoms::ok().as_c_arg();
    with_state(
        |seed| DecodeOptions::from_bytes(options, seed),
        u64::MAX,
        |options, cut, scratch, stacks| {
            let options = &DecodeOptions { max_nodes: if cut { 0 } else { options.max_nodes }, ..*options };
            // A few values of a large document are small.
            let len = if matches!(parts, Parts::Select(_)) { bytes.len().min(FEW) } else { bytes.len() };
            let mut terms = Terms::sized(env, json, len, options, stacks);
            let waited_for = options.dirty && most_nodes != u64::MAX;
            let most_nodes = if waited_for { most_nodes } else { 0 };
            match decode(&parts, options, most_nodes, scratch, &mut terms) {
                Ok(true) => terms.finish_pair(ok).ok_or(BadArg),
                Ok(false) => Ok(atoms::dirty().as_c_arg()),
                Err(Failed::All(found)) if waited_for && found.list.len() > MANY_ERRORS => {
                    Ok(atoms::dirty().as_c_arg())
                }
                Err(failed) => Ok(undecoded(env, &Undecoded::locate(bytes, &failed)).as_c_arg()),
            }
        },
    )
}

#[cold]
pub fn failure<'a>(env: Env<'a>, json: &[u8], error: Error) -> Term<'a> {
    located(env, &DecodeFailure::locate(json, error))
}

fn located<'a>(env: Env<'a>, failure: &DecodeFailure<'_>) -> Term<'a> {
    (atoms::error(), details(env, failure)).encode(env)
}

fn details<'a>(env: Env<'a>, failure: &DecodeFailure<'_>) -> Term<'a> {
    (failure.kind as u8, failure.offset, failure.line, failure.column, &*failure.path).encode(env)
}

/// `{:error, failure}` or `{:error, {total, left, failures}}`.
#[cold]
fn undecoded<'a>(env: Env<'a>, undecoded: &Undecoded<'_>) -> Term<'a> {
    match undecoded {
        Undecoded::First(failure) => located(env, failure),
        Undecoded::All(DecodeFailures { total, left, list }) => {
            let list: Vec<_> = list.iter().map(|failure| details(env, failure)).collect();
            (atoms::error(), (total, left, list)).encode(env)
        }
    }
}
