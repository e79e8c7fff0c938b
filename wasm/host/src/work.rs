//! What a call does in the instance that it got, and its answer as a term.

use crate::atoms;
use crate::built;
use crate::call::{Call, Input, Operation};
use crate::fault::Fault;
use crate::feed::{self, Stream};
use crate::guest::{Guest, Lengths};
use crate::host::{self, seed};
use crate::kept::{Keep, Whole};
use crate::many::{self, Documents};
use crate::session::{self, Document};
use crate::terms;
use rustler::Env;
use rustler::sys::ErlNifTerm;
use rustler::types::atom::true_;
use rustyjson_core::DecodeOptions;
use rustyjson_core::abi::Undecoded;
use rustyjson_core::options::Keys;
use rustyjson_terms::judged::Structs;
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::make::Maker;
use std::ops::Range;

/// Runs a call.
#[inline(always)]
pub fn run<'a>(env: Env<'a>, operation: Operation, input: &Input<'a>, call: &Call) -> Returned {
    let (options, body) = (input.options, input.body.as_slice());
    let answer = match operation {
        Operation::Decode => {
            let read = DecodeOptions::from_bytes(options, seed()).ok_or(BadArg)?;
            let Some(document) = Document::new(options, &read, body) else { return Err(BadArg) };
            let structs = input.templates.map(|templates| document.structs(templates, input.body).ok_or(BadArg));
            let structs = structs.transpose()?;
            let wanted = Wanted { document: &document, structs: structs.as_ref() };
            host::run(call, |guest| decode(env, guest, wanted))
        }
        Operation::Feed => {
            let stream = Stream::new(options, body, seed()).ok_or(BadArg)?;
            host::run(call, |guest| Ok(feed::run(env, guest, &stream)?.as_c_arg()))
        }
        Operation::Many => {
            let documents = Documents::new(options, body, seed()).ok_or(BadArg)?;
            host::run(call, |guest| Ok(many::run(env, guest, &documents)?.as_c_arg()))
        }
        Operation::Gzip | Operation::Format | Operation::Canonicalize => host::run(call, |guest| {
            let answer = match session::transform(guest, operation, options, body, seed())? {
                Ok(text) => terms::text(env, text)?,
                Err(error) => terms::decode_error(env, &error),
            };
            Ok(answer.as_c_arg())
        }),
    };
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short).as_c_arg()))
}

/// Decodes a document in a call that is kept.
#[inline(always)]
pub fn decode_kept<'a>(env: Env<'a>, keep: &'static Keep<Whole>, json: &'a [u8]) -> ErlNifTerm {
    let document = Document::kept(keep, json);
    let wanted = Wanted { document: &document, structs: None };
    let call = Call::here(env, &keep.limits);
    let answer = host::run(&call, |guest| decode(env, guest, wanted));
    answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short).as_c_arg())
}

/// A document, and the type of its value, if that is built here.
#[derive(Clone, Copy)]
struct Wanted<'w, 'a> {
    document: &'w Document<'a, 'w>,
    structs: Option<&'w Structs<'a>>,
}

fn decode<'a>(env: Env<'a>, guest: &mut Guest, wanted: Wanted<'_, 'a>) -> Result<ErlNifTerm, Fault> {
    let document = wanted.document;
    let (result, lengths) = session::decode(guest, document)?;
    match result {
        // An unknown atom may come before the error.
        Err(error) => {
            let error = unknown_atom(env, guest, document, lengths)?.unwrap_or(error);
            Ok(terms::undecoded(env, &error).as_c_arg())
        }
        Ok(etf) if document.is_right(&guest.memory()[etf.clone()]) => {
            guest.in_time()?;
            Ok(Maker::new(env).tuple(&[atoms::ok().as_c_arg(), true_().as_c_arg()]))
        }
        // Here, because a caller's `binary_to_term` of a large term would hold its scheduler for milliseconds at a time.
        Ok(etf) => match term(env, guest, wanted, etf)? {
            Some(term) => Ok(term),
            None => refused(env, guest, wanted, lengths),
        },
    }
}

/// `{:ok, term}` with what the guest wrote there.
fn term<'a>(
    env: Env<'a>,
    guest: &Guest,
    Wanted { document, structs }: Wanted<'_, 'a>,
    etf: Range<usize>,
) -> Result<Option<ErlNifTerm>, Fault> {
    let (etf, options) = (&guest.memory()[etf], document.options);
    let term = match structs {
        Some(structs) => built::structs(env, guest, etf, structs, options)?,
        None => built::term(env, guest, etf, &mut document.policy(), options, document.json.len(), true)?,
    };
    guest.in_time()?;
    Ok(term)
}

fn unknown_atom(
    env: Env,
    guest: &mut Guest,
    document: &Document,
    lengths: Lengths,
) -> Result<Option<Undecoded<'static>>, Fault> {
    match document.options.keys {
        Keys::ExistingAtoms => session::unknown_atom(guest, lengths, document, |name| terms::is_atom(env, name)),
        _ => Ok(None),
    }
}

/// The runtime makes no term of what was decoded: a key is an atom that does not exist, or a map has a key twice.
fn refused<'a>(env: Env<'a>, guest: &mut Guest, wanted: Wanted<'_, 'a>, lengths: Lengths) -> Result<ErlNifTerm, Fault> {
    let document = wanted.document;
    if let Some(error) = unknown_atom(env, guest, document, lengths)? {
        return Ok(terms::undecoded(env, &error).as_c_arg());
    }
    let etf = session::resolve(guest, document, lengths)?;
    term(env, guest, wanted, etf)?.ok_or_else(|| Fault::invalid("the runtime makes no term of it"))
}
