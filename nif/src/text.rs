//! What is done to text without terms: `format/3`, `gzip/2`; and `info/0`.

use crate::raw::make::Maker;
use crate::raw::read::{Look, Raw};
use crate::{allocator, atoms};
use rustler::schedule::consume_timeslice;
use rustler::{Binary, Encoder, Env, NifResult, Term};
use rustyjson_core::format::{Layout, format as lay_out};
use rustyjson_core::locate::locate;
use rustyjson_core::{Output, gzip as gz, simd};

/// Bytes laid out in about a hundredth of a time slice of one millisecond.
const BYTES_PER_PERCENT: usize = 4096;

/// Lays out JSON text; Elixir sends what is long to the dirty entry.
#[rustler::nif]
fn format<'a>(env: Env<'a>, text: Binary<'a>, layout: Term<'a>, depths: (u32, u32)) -> NifResult<Term<'a>> {
    let percent = (text.len() / BYTES_PER_PERCENT).min(100) as i32;
    if percent > 0 {
        consume_timeslice(env, percent);
    }
    formatted(env, &text, layout, depths)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn format_dirty<'a>(env: Env<'a>, text: Binary<'a>, layout: Term<'a>, depths: (u32, u32)) -> NifResult<Term<'a>> {
    formatted(env, &text, layout, depths)
}

fn formatted<'a>(env: Env<'a>, text: &[u8], layout: Term<'a>, depths: (u32, u32)) -> NifResult<Term<'a>> {
    let layout = read_layout(Look::new(env), Raw::of(layout), depths).ok_or(rustler::Error::BadArg)?;
    let mut out = Output::new(Vec::new());
    match lay_out(text, &layout, &mut out) {
        Ok(()) => Ok(binary(env, out.written())),
        Err(error) => {
            let place = locate(text, error.offset);
            let details = (error.kind as u8, error.offset as u64, place.line, place.column, place.path);
            Ok((atoms::error(), details).encode(env))
        }
    }
}

/// `{indent, line_separator, record_separator, after_colon}`, and the depth to start from and the deepest.
fn read_layout<'a>(look: Look<'a>, term: Raw<'a>, depths: (u32, u32)) -> Option<Layout<'a>> {
    let [indent, line_separator, record_separator, after_colon] = look.tuple(term)? else { return None };
    let (base_depth, max_depth) = depths;
    Some(Layout {
        indent: look.binary(*indent)?,
        line_separator: look.binary(*line_separator)?,
        record_separator: look.binary(*record_separator)?,
        after_colon: look.binary(*after_colon)?,
        base_depth,
        max_depth,
    })
}

fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    let make = Maker::new(env);
    make.term(make.binary(bytes))
}

/// Compresses. Level 1 takes ten times as long as writing the text did, so it is never short work.
#[rustler::nif(schedule = "DirtyCpu")]
fn gzip<'a>(env: Env<'a>, bytes: Binary<'a>, level: u32) -> NifResult<Term<'a>> {
    let mut out = Vec::new();
    if gz::compress(&bytes, level, &mut out) { Ok(binary(env, &out)) } else { Err(rustler::Error::BadArg) }
}

/// What the library was built with.
#[rustler::nif]
fn info(env: Env<'_>) -> NifResult<Term<'_>> {
    let keys = [atoms::simd(), atoms::version(), atoms::allocator()];
    let values = [simd::level(), env!("CARGO_PKG_VERSION"), allocator::NAME];
    Term::map_from_arrays(env, &keys, &values)
}
