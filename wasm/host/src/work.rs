//! What a call does in the instance that it got, and its answer as a term.

use crate::built;
use crate::call::{Call, Operation};
use crate::fault::Fault;
use crate::feed::{self, Stream};
use crate::guest::{Guest, Lengths};
use crate::host::Host;
use crate::many::{self, Documents};
use crate::session::{self, Document, Encoded, Options};
use crate::terms;
use rustler::{Env, Error, NifResult, Term};
use rustyjson_core::abi::DecodeFailure;
use rustyjson_core::options::Keys;
use std::ops::Range;

/// Runs a call. The input is the options as Elixir wrote them, with what belongs to them, and a text or a term.
pub fn run<'a>(env: Env<'a>, host: &Host, operation: Operation, input: [&[u8]; 2], call: &Call) -> NifResult<Term<'a>> {
    let [options, body] = input;
    let answer = match operation {
        Operation::Decode => {
            let document = Document::new(options, body, host.seed).ok_or(Error::BadArg)?;
            host.run(call, |guest| decode(env, guest, &document))
        }
        Operation::Feed => {
            let stream = Stream::new(options, body, host.seed).ok_or(Error::BadArg)?;
            host.run(call, |guest| feed::run(env, guest, &stream))
        }
        Operation::Many => {
            let documents = Documents::new(options, body, host.seed).ok_or(Error::BadArg)?;
            host.run(call, |guest| many::run(env, guest, &documents))
        }
        Operation::Encode => {
            let call_options = Options::new(options).ok_or(Error::BadArg)?;
            host.run(call, |guest| encode(env, guest, input, &call_options))
        }
        Operation::Gzip | Operation::Format | Operation::Canonicalize => host.run(call, |guest| {
            Ok(match session::transform(guest, operation, options, body, host.seed)? {
                Ok(text) => terms::text(env, text),
                Err(error) => terms::decode_error(env, &error),
            })
        }),
    };
    Ok(answer.unwrap_or_else(|stop| terms::stop(env, stop, call.short)))
}

fn decode<'a>(env: Env<'a>, guest: &mut Guest, document: &Document) -> Result<Term<'a>, Fault> {
    let (result, lengths) = session::decode(guest, document)?;
    match result {
        // An unknown atom may come before the error.
        Err(error) => Ok(terms::decode_error(env, &unknown_atom(env, guest, document, lengths)?.unwrap_or(error))),
        // Here, because a caller's `binary_to_term` of a large term would hold its scheduler for milliseconds at a time.
        Ok(etf) => match term(env, guest, document, etf)? {
            Some(term) => Ok(term),
            None => refused(env, guest, document, lengths),
        },
    }
}

/// `{:ok, term}` with what the guest wrote there.
fn term<'a>(env: Env<'a>, guest: &Guest, document: &Document, etf: Range<usize>) -> Result<Option<Term<'a>>, Fault> {
    let (policy, options) = (document.policy(), &document.options);
    let term = built::term(env, &guest.memory()[etf], &policy, guest.most_terms(), options, document.json.len())?;
    guest.in_time()?;
    Ok(term.map(|term| terms::ok(env, term)))
}

fn unknown_atom(
    env: Env,
    guest: &mut Guest,
    document: &Document,
    lengths: Lengths,
) -> Result<Option<DecodeFailure<'static>>, Fault> {
    match document.options.keys {
        Keys::ExistingAtoms => {
            session::unknown_atom(guest, lengths, document.json.len(), |name| terms::is_atom(env, name))
        }
        _ => Ok(None),
    }
}

/// The runtime makes no term of what was decoded: a key is an atom that does not exist, or a map has a key twice.
fn refused<'a>(env: Env<'a>, guest: &mut Guest, document: &Document, lengths: Lengths) -> Result<Term<'a>, Fault> {
    if let Some(error) = unknown_atom(env, guest, document, lengths)? {
        return Ok(terms::decode_error(env, &error));
    }
    let etf = session::resolve(guest, document, lengths)?;
    term(env, guest, document, etf)?.ok_or_else(|| Fault::invalid("the runtime makes no term of it"))
}

fn encode<'a>(env: Env<'a>, guest: &mut Guest, input: [&[u8]; 2], options: &Options) -> Result<Term<'a>, Fault> {
    Ok(match session::encode(guest, input, options)? {
        Encoded::Text(json) => terms::text(env, json),
        Encoded::Partial(found) => terms::partial(env, &found),
        Encoded::Failure(failure) => terms::encode_error(env, &failure),
    })
}
