//! Many documents in one call: what the guest says of each is held to what an honest one can say of it.

use crate::built;
use crate::fault::Fault;
use crate::guest::Guest;
use crate::terms;
use crate::translated::Export;
use rustler::{Env, Term};
use rustyjson_core::DecodeOptions;
use rustyjson_core::abi::batch::{Batch, BatchAnswer};
use rustyjson_core::abi::{Status, open};
use rustyjson_core::etf::check::Policy;
use rustyjson_terms::raw::make::Maker;

/// Documents and how they are decoded.
pub struct Documents<'a> {
    batch: Batch<'a>,
    /// The batch as Elixir wrote it.
    body: &'a [u8],
    options: DecodeOptions,
    /// The options as Elixir wrote them.
    bytes: &'a [u8],
}

impl<'a> Documents<'a> {
    /// `None`: the batch or the options are broken.
    pub fn new(bytes: &'a [u8], body: &'a [u8], seed: u64) -> Option<Self> {
        let options = DecodeOptions::from_bytes(bytes, seed)?;
        Some(Self { batch: Batch::read(body)?, body, options, bytes })
    }
}

/// Decodes them: `{:many, terms, failures}`, or `:refused`.
pub fn run<'a>(env: Env<'a>, guest: &mut Guest, documents: &Documents<'_>) -> Result<Term<'a>, Fault> {
    let Documents { batch, body, options, bytes } = documents;
    let lengths = guest.write(&[bytes, &options.seed.to_le_bytes()], body)?;
    let record = guest.run(Export::Many, lengths)?;
    let Some((Status::Done, body)) = open(&guest.memory()[record]) else {
        return Err(Fault::invalid("its result has no known status"));
    };
    let answer =
        BatchAnswer::read(body, batch).ok_or_else(|| Fault::invalid("its answer about many documents is broken"))?;
    let policies = answer.decoded(batch).map(|json_len| Policy::new(options, json_len));
    let list = built::list(env, guest, answer.list, policies, options, documents.body.len())?;
    guest.in_time()?;
    Ok(list.map_or_else(|| terms::refused(env), |list| terms::many(env, Maker::new(env).term(list), &answer.failures)))
}
