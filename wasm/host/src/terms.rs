//! Results as Elixir terms.

use crate::atoms;
use crate::fault::{Fault, Stop};
use rustler::{Encoder, Env, NewBinary, Term};
use rustyjson_core::abi::{DecodeFailure, DecodeFailures, EncodeFailure, Partial, Undecoded};
use rustyjson_core::encode::Hole;
use rustyjson_core::scan::{Answer, End, Trouble};
use rustyjson_terms::raw::make::Maker;
use rustyjson_terms::raw::read::Raw;

/// The version byte and the tags of an atom.
const VERSION: u8 = 131;
const ATOM: u8 = 118;

/// `{values, kept, state, end}`, as `RustyJson.Engine.fed` has it.
pub fn fed<'a>(env: Env<'a>, values: Term<'a>, answer: &Answer<'_>) -> Result<Term<'a>, Fault> {
    let end = match &answer.end {
        End::More => atoms::more().encode(env),
        End::Again => atoms::again().encode(env),
        End::Join => atoms::join().encode(env),
        End::Wrong(Trouble { kind, offset, line, column, path, value }) => {
            (*kind as u8, offset, line, column, path, value.0, value.1).encode(env)
        }
    };
    // The keys around the place where a piece ends are part of the state.
    Ok((values, answer.kept, long_binary(env, answer.state)?, end).encode(env))
}

/// `{:many, terms, [{number, {code, offset, line, column, path}}]}`.
pub fn many<'a>(env: Env<'a>, terms: Term<'a>, failures: &[(usize, DecodeFailure<'_>)]) -> Term<'a> {
    let failures: Vec<_> = failures.iter().map(|(number, it)| (*number, failure(env, it))).collect();
    (atoms::many(), terms, failures).encode(env)
}

/// `:refused`: the list has a map with a key twice, or an atom that does not exist.
pub fn refused(env: Env<'_>) -> Term<'_> {
    atoms::refused().encode(env)
}

/// `:later`: the call takes too long for the caller's scheduler.
pub fn later(env: Env<'_>) -> Term<'_> {
    atoms::later().encode(env)
}

/// `:unknown_atoms`: a key is not an existing atom.
pub fn unknown_atoms(env: Env<'_>) -> Term<'_> {
    atoms::unknown_atoms().encode(env)
}

/// `{:ok, binary}`.
pub fn text<'a>(env: Env<'a>, json: &[u8]) -> Result<Term<'a>, Fault> {
    Ok((atoms::ok(), long_binary(env, json)?).encode(env))
}

/// `{:planned, answer, modules}`.
pub fn planned<'a>(env: Env<'a>, answer: Term<'a>, modules: &[Raw<'a>]) -> Term<'a> {
    let modules: Vec<_> = modules.iter().map(|module| module.term(env)).collect();
    (atoms::planned(), answer, modules).encode(env)
}

/// `{:lost, answer, parts}`.
pub fn lost<'a>(env: Env<'a>, answer: Term<'a>, parts: u64) -> Term<'a> {
    (atoms::lost(), answer, parts).encode(env)
}

/// `{:partial, binary, [{offset, depth, term, :key | :value}]}`. The guest says where the holes are, and nothing else.
pub fn holed<'a>(env: Env<'a>, partial: &Partial<'_>, holes: &[Hole<Raw<'a>>]) -> Result<Term<'a>, Fault> {
    let json = long_binary(env, partial.text)?;
    let place = |key| if key { atoms::key() } else { atoms::value() };
    // Cell by cell: there may be as many holes as parts of the term.
    let holes = partial.claims().zip(holes).rev().fold(Term::list_new_empty(env), |list, (claim, hole)| {
        list.list_prepend((claim.offset, hole.depth, hole.term.term(env), place(hole.key)).encode(env))
    });
    Ok((atoms::partial(), json, holes).encode(env))
}

/// `{:error, {code, offset, line, column, path}}`.
pub fn decode_error<'a>(env: Env<'a>, failure: &DecodeFailure<'_>) -> Term<'a> {
    (atoms::error(), self::failure(env, failure)).encode(env)
}

/// The same, or `{:error, {total, left, failures}}`.
pub fn undecoded<'a>(env: Env<'a>, undecoded: &Undecoded<'_>) -> Term<'a> {
    match undecoded {
        Undecoded::First(failure) => decode_error(env, failure),
        Undecoded::All(DecodeFailures { total, left, list }) => {
            let list: Vec<_> = list.iter().map(|it| failure(env, it)).collect();
            (atoms::error(), (total, left, list)).encode(env)
        }
    }
}

fn failure<'a>(env: Env<'a>, failure: &DecodeFailure<'_>) -> Term<'a> {
    let path = binary(env, failure.path.as_bytes());
    (failure.kind as u8, failure.offset, failure.line, failure.column, path).encode(env)
}

/// `{:error, {code, path, payload}}`.
pub fn encode_error<'a>(env: Env<'a>, failure: &EncodeFailure<'_>) -> Term<'a> {
    let (path, payload) = (binary(env, failure.path.as_bytes()), binary(env, failure.payload));
    (atoms::error(), (failure.kind as u8, path, payload)).encode(env)
}

/// `:later`, `:busy` or `{:fault, reason, detail}`.
pub fn stop<'a>(env: Env<'a>, stop: Stop, short: bool) -> Term<'a> {
    match stop {
        Stop::Busy => atoms::busy().encode(env),
        // A call that is too long for the caller's scheduler is repeated on a dirty one.
        Stop::Fault(Fault::Timeout) if short => later(env),
        Stop::Fault(fault) => fault_term(env, &fault),
    }
}

/// `{:fault, reason, detail}`.
pub fn fault_term<'a>(env: Env<'a>, fault: &Fault) -> Term<'a> {
    let (reason, detail) = match fault {
        Fault::MemoryLimit => (atoms::memory_limit(), ""),
        Fault::Timeout => (atoms::timeout(), ""),
        Fault::Busy => (atoms::busy(), ""),
        Fault::Trap(trap) => (atoms::trap(), trap.text()),
        Fault::InvalidResult(detail) => (atoms::invalid_result(), &*detail.0),
        Fault::Unavailable(detail) => (atoms::unavailable(), &*detail.0),
    };
    (atoms::fault(), reason, detail).encode(env)
}

/// `[running: n, kept: n, waiting: n]`.
pub fn counts<'a>(env: Env<'a>, (running, kept, waiting): (usize, usize, usize)) -> Term<'a> {
    vec![(atoms::running(), running), (atoms::kept(), kept), (atoms::waiting(), waiting)].encode(env)
}

/// Whether there is an atom of this name. The runtime's function for it takes only Latin-1 before OTP 26; a term that must
/// not make atoms answers the same question.
pub fn is_atom(env: Env, name: &[u8]) -> bool {
    let Ok(len) = u16::try_from(name.len()) else { return false };
    let [high, low] = len.to_be_bytes();
    env.binary_to_term(&[&[VERSION, ATOM, high, low], name].concat()).is_some()
}

/// A binary of a few kilobytes at most.
fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    NewBinary::from_slice(env, bytes).into()
}

/// A binary of any length.
fn long_binary<'a>(env: Env<'a>, bytes: &[u8]) -> Result<Term<'a>, Fault> {
    let make = Maker::new(env);
    let binary = make.binary(bytes).ok_or_else(|| Fault::unavailable("no memory for the text"))?;
    Ok(make.term(binary))
}
