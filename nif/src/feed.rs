//! `feed/3` and `feed_dirty/3`: a piece of a stream.

use crate::atoms;
use crate::decode::with_state;
use rustler::{Binary, Encoder, Env, NewBinary, NifResult, Term};
use rustyjson_core::scan::{End, Piece, Plan, State, Trouble, feed as feed_json};
use rustyjson_core::{DecodeOptions, ErrorKind};
use rustyjson_terms::builder::{MOST_NODES, Terms};
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::turn::Turn;

/// Most parts of a value that lie in each other, each of which is built, in a call on a normal scheduler.
const MOST_OVERLAP: usize = 4;
/// Most bytes of a plan, all of which a call copies, in a call on a normal scheduler.
const MOST_PLAN: usize = 1 << 18;
/// Bytes of a usual state.
const STATE: usize = 64;

/// `{before, held, last, stop, plan, state}`. Only the WebAssembly module needs the first and the fourth.
type Question<'a> = (Term<'a>, u64, bool, Term<'a>, Binary<'a>, Binary<'a>);

/// Decodes the values that a piece of a stream completes: `{values, kept, state, end}`, where `kept` is the number of
/// bytes done. `:dirty`: the piece is more work than its length suggests.
#[rustler::nif]
fn feed<'a>(env: Env<'a>, question: Question<'a>, piece: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    // A short piece can give long rows.
    let turn = Turn::begin_timed();
    let answer = run(env, question, piece, &options, MOST_NODES)?;
    turn.end(env);
    Ok(answer)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn feed_dirty<'a>(env: Env<'a>, question: Question<'a>, piece: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    Ok(run(env, question, piece, &options, u64::MAX)?)
}

fn run<'a>(
    env: Env<'a>,
    question: Question<'a>,
    piece: Binary<'a>,
    options: &[u8],
    most_nodes: u64,
) -> Returned<Term<'a>> {
    let bytes = piece.as_slice();
    let (_, held, last, _, plan, state) = question;
    let normal = most_nodes == MOST_NODES;
    if normal && plan.len() > MOST_PLAN {
        return Ok(atoms::dirty().encode(env));
    }
    let plan = Plan::read(&plan).ok_or(BadArg)?;
    let mut state = State::read(&state).ok_or(BadArg)?;
    // As much work as a longer piece.
    if normal && plan.overlap() > MOST_OVERLAP {
        return Ok(atoms::dirty().encode(env));
    }
    with_state(
        |seed| DecodeOptions::from_bytes(options, seed),
        most_nodes,
        |options, cut, scratch, stacks| {
            let mut terms = Terms::new(env, piece, options, stacks);
            let fed = feed_json(Piece { bytes, held, last }, &mut state, &plan, options, scratch, &mut terms);
            if let End::Wrong(Trouble { kind: ErrorKind::MaxNodes, .. }) = fed.end
                && cut
            {
                return Ok(atoms::dirty().encode(env));
            }
            let mut next = Vec::with_capacity(STATE);
            state.write(&mut next);
            // There was no memory for the list.
            let values =
                terms.finish().filter(|values| values.is_list()).unwrap_or_else(|| Vec::<Term>::new().encode(env));
            Ok((values, fed.kept, binary(env, &next), end(env, fed.end)).encode(env))
        },
    )
}

fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    NewBinary::from_slice(env, bytes).into()
}

/// `:more`, `:again`, `:join` or `{code, offset, line, column, path, start, stop}`.
fn end(env: Env<'_>, end: End) -> Term<'_> {
    match end {
        End::More => atoms::more().encode(env),
        End::Again => atoms::again().encode(env),
        End::Join => atoms::join().encode(env),
        End::Wrong(Trouble { kind, offset, line, column, path, value }) => {
            (kind as u8, offset, line, column, path, value.0, value.1).encode(env)
        }
    }
}
