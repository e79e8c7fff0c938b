//! Functions on text without terms: `format/2`, `format_dirty/3`, `canonicalize/2`, `canonicalize_dirty/2`, `gzip/2`; and `info/0`.

use crate::decode::{failure, with_state};
use crate::{allocator, atoms, encode};
use rustler::{Binary, Encoder, Env, NifResult, Term};
use rustyjson_core::canonical::canonicalize as canonicalize_json;
use rustyjson_core::encode::EncodeError;
use rustyjson_core::format::{Last, Layout, Place, format_slice};
use rustyjson_core::{DecodeOptions, EncodeOptions, Error, ErrorKind, Output, gzip as gz, simd};
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::make::Maker;
use rustyjson_terms::raw::trial::layout;
use rustyjson_terms::turn::Turn;

/// Bytes written on a normal scheduler. Most texts of the length that comes here need less; the slowest (tokens of one
/// byte) take about half a millisecond.
const BUDGET: usize = 320 * 1024;

/// A place as Elixir keeps it: offset, depth and the last token.
type Reached = (usize, u32, u8);

/// Lays out JSON text on the caller's scheduler, within a budget of output; Elixir sends long texts to the dirty entry.
/// `{:suspended, written, place}` for [`format_dirty`] when the budget is used up.
#[rustler::nif]
fn format<'a>(env: Env<'a>, text: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    let layout = Layout::new(&read(&options)?);
    // Few brackets can be much text.
    let turn = Turn::begin_timed();
    let mut out = Output::new(Vec::new());
    let result = format_slice(&text, &layout, layout.first_place(), 0, BUDGET, &mut out);
    let answer = match result {
        Ok(None) => binary(env, out.written()).unwrap_or_else(|| failure(env, &text, NO_MEMORY)),
        Ok(Some(Place { offset, depth, last })) => {
            let reached: Reached = (offset, depth, last.number());
            let suspended = |written| (atoms::suspended(), written, reached).encode(env);
            binary(env, out.written()).map_or_else(|| failure(env, &text, NO_MEMORY), suspended)
        }
        Err(error) => failure(env, &text, error),
    };
    turn.end(env);
    Ok(answer)
}

/// There is no memory for the result.
const NO_MEMORY: Error = Error::new(ErrorKind::OutOfMemory, 0);

/// Lays out JSON text on a dirty scheduler: from the start, or, with what [`format`] wrote and its place, from there.
#[rustler::nif(schedule = "DirtyCpu")]
fn format_dirty<'a>(
    env: Env<'a>,
    text: Binary<'a>,
    options: Binary<'a>,
    suspended: Option<(rustler::Atom, Binary<'a>, Reached)>,
) -> NifResult<Term<'a>> {
    let layout = Layout::new(&read(&options)?);
    let mut out = Output::new(Vec::new());
    let mut place = layout.first_place();
    if let Some((_, written, (offset, depth, last))) = suspended {
        out.slice(&written);
        place = Place { offset, depth, last: Last::from_number(last).ok_or(BadArg)? };
    }
    match format_slice(&text, &layout, place, 0, usize::MAX, &mut out) {
        Ok(_) => Ok(binary(env, out.written()).unwrap_or_else(|| failure(env, &text, NO_MEMORY))),
        Err(error) => Ok(failure(env, &text, error)),
    }
}

/// Writes a text in canonical form on the caller's scheduler; Elixir sends long texts to the dirty entry. Behind the options of
/// decoding stands the length of the longest output (`u64`, 0 for no limit).
#[rustler::nif]
fn canonicalize<'a>(env: Env<'a>, text: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    let turn = Turn::begin(text.len());
    let answer = canonical(env, &text, &options)?;
    turn.end(env);
    Ok(answer)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn canonicalize_dirty<'a>(env: Env<'a>, text: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    Ok(canonical(env, &text, &options)?)
}

fn canonical<'a>(env: Env<'a>, text: &[u8], options: &[u8]) -> Returned<Term<'a>> {
    let (options, most) = options.split_last_chunk().ok_or(BadArg)?;
    with_state(
        |seed| DecodeOptions::from_bytes(options, seed),
        u64::MAX,
        |options, _, scratch, _| {
            let mut out = Output::new(Vec::new());
            Ok(match canonicalize_json(text, options, u64::from_le_bytes(*most), scratch, &mut out) {
                Ok(()) => binary(env, out.written()).unwrap_or_else(|| failure(env, text, NO_MEMORY)),
                Err(error) => failure(env, text, error),
            })
        },
    )
}

fn read(options: &[u8]) -> Returned<EncodeOptions<'_>> {
    EncodeOptions::from_bytes(options).map(|(options, _)| options).ok_or(BadArg)
}

fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Option<Term<'a>> {
    let make = Maker::new(env);
    make.binary(bytes).map(|binary| make.term(binary))
}

/// Compresses. `{:error, {code, path, payload}}`, as from encode: there was no memory. Level 1 takes ten times as long as
/// writing the text, so this is never short work.
#[rustler::nif(schedule = "DirtyCpu")]
fn gzip<'a>(env: Env<'a>, bytes: Binary<'a>, options: Binary<'a>) -> NifResult<Term<'a>> {
    let level = read(&options)?.compress.ok_or(BadArg)?;
    let mut out = Vec::new();
    let compressed = gz::compress(&bytes, level.into(), &mut out).then(|| binary(env, &out)).flatten();
    Ok(compressed.unwrap_or_else(|| encode::failure(env, &EncodeError::out_of_memory())))
}

/// What the library was built with.
#[rustler::nif]
fn info(env: Env<'_>) -> NifResult<Term<'_>> {
    let keys = [atoms::simd(), atoms::version(), atoms::allocator(), atoms::in_place()];
    let texts = [simd::level(), env!("CARGO_PKG_VERSION"), allocator::NAME].map(|text| text.encode(env));
    let [simd, version, allocator] = texts;
    Term::map_from_arrays(env, &keys, &[simd, version, allocator, layout(env).is_some().encode(env)])
}

/// What the library was built for: [`rustyjson_core::abi::VERSION`].
#[rustler::nif]
fn abi_version() -> u32 {
    rustyjson_core::abi::VERSION
}
