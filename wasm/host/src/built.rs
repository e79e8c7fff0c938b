//! Terms from what the guest wrote: judged and built in one walk, so nothing is built that has not been judged.

use crate::fault::Fault;
use rustler::{Env, Term};
use rustyjson_core::etf::check::{self, Policy, Refused, build, build_list, can_build, check, check_list};
use rustyjson_core::{DecodeOptions, ErrorKind};
use rustyjson_terms::builder::{Stacks, Terms};
use std::cell::RefCell;

thread_local! {
    /// What a scheduler thread keeps between calls.
    static STACKS: RefCell<Stacks> = RefCell::default();
}

/// The term of these bytes, which answer a text of `json_len` bytes. `None`: they have a map with a key twice, or an atom that does
/// not exist.
pub fn term<'a>(
    env: Env<'a>,
    etf: &[u8],
    policy: &Policy,
    options: &DecodeOptions,
    json_len: usize,
) -> Result<Option<Term<'a>>, Fault> {
    if !can_build(policy) {
        check(etf, policy).map_err(|refused| Fault::invalid(refused.text()))?;
        return Ok(runtime(env, etf));
    }
    with_terms(env, etf, options, json_len, |terms| build(etf, policy, terms))
}

/// The same for a list of terms, each with a policy of its own.
pub fn list<'a>(
    env: Env<'a>,
    etf: &[u8],
    policies: impl Iterator<Item = Policy>,
    options: &DecodeOptions,
    json_len: usize,
) -> Result<Option<Term<'a>>, Fault> {
    if !can_build(&Policy::new(options, 0)) {
        check_list(etf, policies).map_err(|refused| Fault::invalid(refused.text()))?;
        return Ok(runtime(env, etf));
    }
    with_terms(env, etf, options, json_len, |terms| build_list(etf, policies, terms))
}

/// What the builder has no form for.
fn runtime<'a>(env: Env<'a>, etf: &[u8]) -> Option<Term<'a>> {
    env.binary_to_term(etf).map(|(term, _)| term)
}

fn with_terms<'a>(
    env: Env<'a>,
    etf: &[u8],
    options: &DecodeOptions,
    json_len: usize,
    build: impl FnOnce(&mut Terms) -> Result<(), Refused>,
) -> Result<Option<Term<'a>>, Fault> {
    STACKS.with_borrow_mut(|stacks| {
        let mut terms = Terms::copied(env, etf, json_len, *options, stacks);
        let result = match build(&mut terms) {
            Ok(()) => Ok(terms.finish()),
            Err(refused) => unbuilt(refused).map(|()| None),
        };
        stacks.shrink();
        result
    })
}

/// `Ok`: the guest has to be asked again.
#[cold]
fn unbuilt(refused: Refused) -> Result<(), Fault> {
    match refused.fault {
        check::Fault::Repeated | check::Fault::Builder(ErrorKind::UnknownAtom) => Ok(()),
        check::Fault::Builder(ErrorKind::OutOfMemory) => Err(Fault::Unavailable("no memory for the term".into())),
        _ => Err(Fault::invalid(refused.text())),
    }
}
