//! Terms from what a WebAssembly module wrote, judged and built in one walk: nothing is built that has not been judged.

use crate::builder::{self, Stacks, Terms};
use crate::raw::make::Maker;
use crate::raw::read::{Look, Raw};
use rustler::sys::ErlNifTerm;
use rustler::{Binary, Env, OwnedBinary};
use rustyjson_core::etf::check::{Fault, Open, Policy, Refused, build, build_list, can_build, check, check_list};
use rustyjson_core::etf::foreseen::Foreseen;
use rustyjson_core::parts::{Shape, judge, judge_only};
use rustyjson_core::{DecodeOptions, ErrorKind};
use std::mem::take;

/// What terms are built for.
#[derive(Clone, Copy)]
pub struct Asked<'c> {
    /// How the text is decoded.
    pub options: &'c DecodeOptions,
    /// Bytes of the text.
    pub json_len: usize,
    /// Nanoseconds that are left for it.
    pub clock: &'c dyn Fn() -> u64,
    /// The answer is `{:ok, term}`, not the term.
    pub in_pair: bool,
}

/// The term of these bytes. `None`: they have a map with a key twice, or an atom that does not exist.
pub fn term<'a>(
    env: Env<'a>,
    etf: &[u8],
    policy: &Policy,
    asked: Asked<'_>,
    stacks: &mut Stacks,
) -> Result<Option<ErlNifTerm>, Refused> {
    if !can_build(policy) {
        return by_the_vm(env, etf, asked, |foreseen| build(etf, policy, &mut Open::default(), foreseen));
    }
    let built = with_terms(env, etf, asked, stacks, |terms, open| build(etf, policy, open, terms))?;
    // What the builder refuses it does not judge to the end.
    if built.is_none() { check(etf, policy).map(|()| None) } else { Ok(built) }
}

/// The same for a list of terms, each with a policy of its own.
pub fn list<'a>(
    env: Env<'a>,
    etf: &[u8],
    policies: impl Iterator<Item = Policy> + Clone,
    asked: Asked<'_>,
    stacks: &mut Stacks,
) -> Result<Option<ErlNifTerm>, Refused> {
    if !can_build(&Policy::new(asked.options, 0)) {
        return by_the_vm(env, etf, asked, |foreseen| build_list(etf, policies, &mut Open::default(), foreseen));
    }
    let built = with_terms(env, etf, asked, stacks, |terms, open| build_list(etf, policies.clone(), open, terms))?;
    if built.is_none() { check_list(etf, policies).map(|()| None) } else { Ok(built) }
}

/// A value of a type that answers a text.
#[derive(Clone, Copy)]
pub struct Structs<'a> {
    /// The type.
    pub shape: Shape<'a>,
    /// What its values are built of: see [`builder::Structs`].
    pub templates: &'a [Raw<'a>],
    /// The text.
    pub json: Binary<'a>,
}

/// The value that these bytes describe, as [`judge`] judges them. `None`: as for [`term`].
pub fn structs<'a>(
    env: Env<'a>,
    etf: &[u8],
    Structs { shape, templates, json }: &Structs<'a>,
    most: u64,
    asked: Asked<'_>,
    stacks: &mut Stacks,
) -> Result<Option<ErlNifTerm>, Refused> {
    let policy = Shape::exact_policy(asked.options, json.len());
    let built = with_terms(env, etf, asked, stacks, |terms, _| {
        let mut structs = builder::Structs::new(terms, Look::new(env), templates, *json);
        judge(etf, shape, &policy, json, most, &mut structs)?;
        structs.finish().map_err(|kind| Refused { fault: Fault::Builder(kind), offset: etf.len() })
    })?;
    if built.is_none() { judge_only(etf, shape, &policy, json).map(|()| None) } else { Ok(built) }
}

/// What the builder has no form for. The VM does not stop on its way, so there must be time and memory for the whole.
fn by_the_vm<'a>(
    env: Env<'a>,
    etf: &[u8],
    asked: Asked<'_>,
    check: impl FnOnce(&mut Foreseen) -> Result<(), Refused>,
) -> Result<Option<ErlNifTerm>, Refused> {
    let mut foreseen = Foreseen::new((asked.clock)(), etf.len());
    check(&mut foreseen)?;
    if foreseen.is_late() {
        return Err(Refused { fault: Fault::Work, offset: etf.len() });
    }
    // Without memory for the term the VM ends; for a binary it says so.
    if !OwnedBinary::new(0).realloc(foreseen.bytes()) {
        return Err(Refused { fault: Fault::Builder(ErrorKind::OutOfMemory), offset: etf.len() });
    }
    let term = env.binary_to_term(etf).map(|(term, _)| term.as_c_arg());
    Ok(if asked.in_pair { term.map(|term| Maker::new(env).tuple(&[ok(), term])) } else { term })
}

fn ok() -> ErlNifTerm {
    rustler::types::atom::ok().as_c_arg()
}

fn with_terms<'a>(
    env: Env<'a>,
    etf: &[u8],
    Asked { options, json_len, clock, in_pair }: Asked<'_>,
    stacks: &mut Stacks,
    build: impl FnOnce(&mut Terms<'a, '_>, &mut Open) -> Result<(), Refused>,
) -> Result<Option<ErlNifTerm>, Refused> {
    let mut open = take(&mut stacks.open);
    let mut terms = Terms::copied(env, etf, json_len, options, stacks);
    terms.end_within(clock);
    let result = build(&mut terms, &mut open);
    terms.put_open(open);
    match result {
        Ok(()) => Ok(if in_pair { terms.finish_pair(ok()) } else { terms.finish_raw() }),
        Err(Refused { fault: Fault::Repeated | Fault::Builder(ErrorKind::UnknownAtom), .. }) => Ok(None),
        Err(refused) => Err(refused),
    }
}
