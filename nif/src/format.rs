//! `format/3`, `format_dirty/3` and `gzip/2`: text to text.

use rustler::{Binary, Env, NewBinary, NifResult, Term};
use rustyjson_core::Output;
use rustyjson_core::format::{Layout, format as format_json};
use rustyjson_core::gzip;

/// Indent, line separator, record separator and what follows a colon.
type Separators<'a> = (Binary<'a>, Binary<'a>, Binary<'a>, Binary<'a>);

/// Lays out a text anew.
#[rustler::nif]
fn format<'a>(env: Env<'a>, text: Binary<'a>, separators: Separators<'a>, depth: usize) -> NifResult<Term<'a>> {
    run(env, text, separators, depth)
}

/// The same on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn format_dirty<'a>(env: Env<'a>, text: Binary<'a>, separators: Separators<'a>, depth: usize) -> NifResult<Term<'a>> {
    run(env, text, separators, depth)
}

/// Compresses to gzip.
#[rustler::nif(schedule = "DirtyCpu")]
fn gzip<'a>(env: Env<'a>, bytes: Binary<'a>, level: u32) -> NifResult<Term<'a>> {
    let mut out = Vec::new();
    if !gzip::compress(&bytes, level, &mut out) {
        return Err(out_of_memory());
    }
    Ok(NewBinary::from_slice(env, &out).into())
}

fn run<'a>(env: Env<'a>, text: Binary<'a>, separators: Separators<'a>, depth: usize) -> NifResult<Term<'a>> {
    let (indent, line, record, colon) = separators;
    let layout = Layout { indent: &indent, line: &line, record: &record, colon: &colon, depth };
    let mut out = Output::new(Vec::new());
    format_json(&text, &layout, &mut out);
    if out.failed() {
        return Err(out_of_memory());
    }
    Ok(NewBinary::from_slice(env, out.written()).into())
}

fn out_of_memory() -> rustler::Error {
    rustler::Error::RaiseAtom("out_of_memory")
}
