//! `decode_many/3`: as many documents of a list as fit into a fraction of a scheduler's turn.

use crate::atoms;
use crate::decode::{failure, with_state};
use rustler::{Binary, Encoder, Env, NifResult, Term};
use rustyjson_core::{DecodeOptions, ErrorKind, decode as decode_json};
use rustyjson_terms::builder::{MOST_NODES, Terms};
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::make::Maker;
use rustyjson_terms::raw::read::{Look, Raw};
use rustyjson_terms::turn::Turn;

/// Bytes of one call: with the smallest values, half of a millisecond, and a whole one where new memory takes its time.
const MOST_BYTES: usize = 32_768;
/// What a document takes beside its bytes, as a number of bytes that take as long.
const PER_DOCUMENT: usize = 64;

/// Decodes the first documents: `{results, rest, next}`. `next` is `:more` when the rest needs another call, and `:alone` when
/// its first document needs one for itself: it has at least `threshold` bytes, or is more work than that.
#[rustler::nif]
fn decode_many<'a>(env: Env<'a>, documents: Term<'a>, options: Term<'a>, threshold: usize) -> NifResult<Term<'a>> {
    let bytes = Look::new(env).binary(Raw::of(options)).ok_or(BadArg)?;
    let ok = atoms::ok().encode(env);
    let (mut rest, mut next, mut used) = (documents, atoms::more(), 0);
    let (mut results, turn) = (Vec::new(), Turn::begin_timed());
    while used < MOST_BYTES && !rest.is_empty_list() {
        let (document, tail) = rest.list_get_cell()?;
        let json = Binary::from_term(document)?;
        if json.len() >= threshold {
            next = atoms::alone();
            break;
        }
        used += json.len() + PER_DOCUMENT;
        let Some(result) = one(env, ok, json, bytes)? else {
            next = atoms::alone();
            break;
        };
        results.push(result.as_c_arg());
        rest = tail;
    }
    let make = Maker::new(env);
    let results = make.term(make.list(&results));
    turn.end(env);
    Ok((results, rest, next).encode(env))
}

/// `{:ok, term}` or `{:error, failure}`; `None` for more work than a normal scheduler should do.
#[inline(always)]
fn one<'a>(env: Env<'a>, ok: Term<'a>, json: Binary<'a>, options: &[u8]) -> Returned<Option<Term<'a>>> {
    let bytes = json.as_slice();
    with_state(
        |seed| DecodeOptions::from_bytes(options, seed),
        MOST_NODES,
        |options, cut, scratch, stacks| {
            let mut terms = Terms::new(env, json, options, stacks);
            match decode_json(bytes, options, scratch, &mut terms) {
                Ok(()) => terms.finish().map(|term| Some((ok, term).encode(env))).ok_or(BadArg),
                Err(error) if cut && error.kind == ErrorKind::MaxNodes => Ok(None),
                Err(error) => Ok(Some(failure(env, bytes, error))),
            }
        },
    )
}
