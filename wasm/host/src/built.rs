//! What the guest wrote, as terms.

use crate::fault::Fault;
use crate::guest::Guest;
use rustler::Env;
use rustler::sys::ErlNifTerm;
use rustyjson_core::etf::check::{self, Policy, Refused};
use rustyjson_core::{DecodeOptions, ErrorKind};
use rustyjson_terms::builder::Stacks;
use rustyjson_terms::judged::{self, Asked};
use std::cell::RefCell;

thread_local! {
    /// What a scheduler thread keeps between calls.
    static STACKS: RefCell<Option<Stacks>> = const { RefCell::new(None) };
}

/// The term of these bytes, which answer a text of `json_len` bytes, alone or in `{:ok, term}`. `None`: the guest has to be asked again.
#[inline(always)]
pub fn term<'a>(
    env: Env<'a>,
    guest: &Guest,
    etf: &[u8],
    policy: &mut Policy,
    options: &DecodeOptions,
    json_len: usize,
    in_pair: bool,
) -> Result<Option<ErlNifTerm>, Fault> {
    let most = guest.most_terms();
    let cut = most < policy.max_terms;
    if cut {
        policy.max_terms = most;
    }
    let clock = || guest.time_left();
    let asked = Asked { options, json_len, clock: &clock, in_pair };
    with_stacks(|stacks| match judged::term(env, etf, policy, asked, stacks) {
        Err(Refused { fault: check::Fault::Terms, .. }) if cut => Err(Fault::Timeout),
        result => result.map_err(fault),
    })
}

/// `{:ok, value}` with the value of a type that answers its text. `None`: as above.
pub fn structs<'a>(
    env: Env<'a>,
    guest: &Guest,
    etf: &[u8],
    structs: &judged::Structs<'a>,
    options: &DecodeOptions,
) -> Result<Option<ErlNifTerm>, Fault> {
    let asked = Asked { options, json_len: structs.json.len(), clock: &|| guest.time_left(), in_pair: true };
    with_stacks(|stacks| judged::structs(env, etf, structs, guest.most_terms(), asked, stacks).map_err(fault))
}

/// The list of these terms, alone, each with a policy of its own.
pub fn list<'a>(
    env: Env<'a>,
    guest: &Guest,
    etf: &[u8],
    policies: impl Iterator<Item = Policy> + Clone,
    options: &DecodeOptions,
    json_len: usize,
) -> Result<Option<ErlNifTerm>, Fault> {
    let asked = Asked { options, json_len, clock: &|| guest.time_left(), in_pair: false };
    with_stacks(|stacks| judged::list(env, etf, policies, asked, stacks).map_err(fault))
}

#[inline(always)]
fn with_stacks<T>(run: impl FnOnce(&mut Stacks) -> T) -> T {
    STACKS.with_borrow_mut(|stacks| {
        let stacks = stacks.get_or_insert_with(Stacks::new);
        let result = run(stacks);
        stacks.shrink();
        result
    })
}

#[cold]
fn fault(refused: Refused) -> Fault {
    match refused.fault {
        check::Fault::Work => Fault::Timeout,
        check::Fault::Builder(ErrorKind::OutOfMemory) => Fault::unavailable("no memory for the term"),
        _ => Fault::invalid(refused.text()),
    }
}
