//! A piece of a stream: one call in an instance, which is not held until the next.

use crate::built;
use crate::fault::Fault;
use crate::guest::Guest;
use crate::terms;
use crate::translated::Export;
use rustler::{Env, Term};
use rustyjson_core::DecodeOptions;
use rustyjson_core::abi::{Status, open};
use rustyjson_core::etf::check::Policy;
use rustyjson_core::options::Keys;
use rustyjson_core::scan::{Most, Question};
use rustyjson_terms::raw::make::Maker;

/// A piece, what is asked about it, and how its values are decoded.
pub struct Stream<'a> {
    piece: &'a [u8],
    question: Question,
    options: DecodeOptions,
    /// The question and the options as Elixir wrote them.
    bytes: &'a [u8],
}

impl<'a> Stream<'a> {
    /// `None`: the question or the options are broken.
    pub fn new(bytes: &'a [u8], piece: &'a [u8], seed: u64) -> Option<Self> {
        let (question, options) = Question::read(bytes)?;
        Some(Self { piece, question, options: DecodeOptions::from_bytes(options, seed)?, bytes })
    }
}

/// Decodes what a piece completes. Whatever the guest says of the stream is held to what an honest one can say of this piece;
/// the state goes back to a guest, and nobody else reads it.
pub fn run<'a>(env: Env<'a>, guest: &mut Guest, stream: &Stream<'_>) -> Result<Term<'a>, Fault> {
    let Stream { piece, question, options, bytes } = stream;
    let lengths = guest.write(&[bytes, &options.seed.to_le_bytes()], piece)?;
    let record = guest.run(Export::Feed, lengths)?;
    let Some((Status::Done, body)) = open(&guest.memory()[record]) else {
        return Err(Fault::invalid("its result has no known status"));
    };
    let (list, answer) = question
        .open(body, piece.len(), options)
        .ok_or_else(|| Fault::invalid("its answer about a piece is broken"))?;
    let mut policy = policy(options, question, question.most(piece.len(), &answer));
    let values = built::term(env, guest, list, &mut policy, options, piece.len(), false)?;
    let values = values.map(|list| Maker::new(env).term(list));
    guest.in_time()?;
    match values {
        Some(values) if values.is_list() => terms::fed(env, values, &answer),
        None if options.keys == Keys::ExistingAtoms && question.stop == Question::UNASKED => {
            Ok(terms::unknown_atoms(env))
        }
        _ => Err(Fault::invalid("the runtime makes no list of it")),
    }
}

/// A list of values is a document one level deeper, a list of lists of parts two; how many values each has is not told apart.
fn policy(options: &DecodeOptions, question: &Question, most: Most) -> Policy {
    let max_depth = options.max_depth.saturating_add(question.lists());
    let options = DecodeOptions { max_depth, max_nodes: most.nodes, ..*options };
    Policy { max_keys: most.keys, ..Policy::new(&options, most.document) }
}
