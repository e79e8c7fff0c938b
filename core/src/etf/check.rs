//! Checks External Term Format from an untrusted guest before the runtime makes terms of it.
//!
//! `binary_to_term` with `safe` does not protect: it builds pids, references and external functions, and inflates compressed
//! terms. So the bytes are walked, once, without recursion, and only a JSON-shaped term passes: the tags
//! [`writer`](super::writer) emits, in the places where it emits them. A builder can make the terms in the same walk, which takes
//! less time than `binary_to_term` alone, because it shares keys.
//!
//! What passes can still be wrong, such as strings with invalid UTF-8, because a guest under attack can return anything. But it
//! is plain data, at most as deep, with at most as many values and not much larger than an honest result for the same input.
//! Whoever builds the term refuses repeated map keys.

pub use super::judge::Open;

use super::judge::Judge;
use crate::builder::{Nothing, TermBuilder};
use crate::options::DecodeOptions;

pub use super::policy::{Fault, Policy, Refused};

/// Passes bytes that are exactly one JSON-shaped term within the policy.
pub fn check(etf: &[u8], policy: &Policy) -> Result<(), Refused> {
    build(etf, policy, &mut Open::default(), &mut Nothing)
}

/// Passes bytes that are exactly one list of JSON-shaped terms: as many as there are policies, each within its own.
pub fn check_list(etf: &[u8], policies: impl IntoIterator<Item = Policy>) -> Result<(), Refused> {
    build_list(etf, policies, &mut Open::default(), &mut Nothing)
}

/// Whether a whole term that passes is built in the walk: not if it can have parts of the text or decimals. (Within a type both are.)
pub const fn can_build(policy: &Policy) -> bool {
    !policy.raw && !policy.decimals
}

/// Passes bytes as [`check`] does, and builds each part of the term once it has passed. Parts of the text pass but are not built, so
/// [`can_build`] says whether to ask for this.
#[inline(always)]
pub fn build(etf: &[u8], policy: &Policy, open: &mut Open, builder: &mut impl TermBuilder) -> Result<(), Refused> {
    if etf.len() > policy.max_len {
        return Err(Refused { fault: Fault::Terms, offset: policy.max_len });
    }
    let mut judge = Judge::new(etf, policy, open, builder);
    judge.document().map_err(|fault| Refused { fault, offset: judge.at })
}

/// The same for a list, as [`check_list`] does.
pub fn build_list(
    etf: &[u8],
    policies: impl IntoIterator<Item = Policy>,
    open: &mut Open,
    builder: &mut impl TermBuilder,
) -> Result<(), Refused> {
    // This policy is never asked.
    let policy = Policy::new(&DecodeOptions::DEFAULT, 0);
    let mut judge = Judge::new(etf, &policy, open, builder);
    judge.documents(policies.into_iter()).map_err(|fault| Refused { fault, offset: judge.at })
}
