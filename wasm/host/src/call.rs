//! What a call may take, and what it is about.

use crate::atoms;
use rustler::{Binary, Env};
use rustyjson_terms::raw::entry::{BadArg, Returned};
use rustyjson_terms::raw::read::{Look, Raw};

/// Nanoseconds in a millisecond, which is what a call on the caller's scheduler may take.
const MILLISECOND: u64 = 1_000_000;

/// Limits of one call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Of the calling process.
    pub env: Env<'a>,
    /// Instances at once.
    pub pool_size: usize,
    /// Bytes of linear memory.
    pub max_memory: usize,
    /// Nanoseconds until the deadline.
    pub timeout: u64,
    /// Running out of time is not final: the call is repeated elsewhere.
    pub short: bool,
    /// It runs on a dirty scheduler, of which such calls have a share.
    pub dirty: bool,
    /// A new instance for this call alone.
    pub fresh: bool,
    /// The ticket of a caller that queued and was woken; 0 for none.
    pub ticket: u64,
    /// When the clock has passed this, it is too late to begin: dirty schedulers have a queue of their own.
    pub start_by: u64,
}

/// What calls on the caller's scheduler may take, where exceeding it is not yet final.
#[derive(Clone, Copy)]
pub struct Limits {
    max_memory: usize,
    timeout: u64,
    short: bool,
    fresh: bool,
}

impl Limits {
    /// Reads what [`Call::read`] does.
    pub fn read<'a>(env: Env<'a>, limits: Raw<'a>) -> Returned<Self> {
        let Call { max_memory, timeout, short, fresh, .. } = Call::of(env, limits, 0, false)?;
        Ok(Self { max_memory, timeout, short, fresh })
    }

    /// What tells them apart.
    pub fn key(&self) -> Vec<u8> {
        let Self { max_memory, timeout, short, fresh } = *self;
        [max_memory as u64, timeout, short.into(), fresh.into()].map(u64::to_le_bytes).concat()
    }
}

impl<'a> Call<'a> {
    /// One within these limits.
    #[inline(always)]
    pub const fn here(env: Env<'a>, limits: &Limits) -> Self {
        let Limits { max_memory, timeout, short, fresh } = *limits;
        Self { env, pool_size: 0, max_memory, timeout, short, dirty: false, fresh, ticket: 0, start_by: u64::MAX }
    }

    /// Reads `{pool_size, max_memory, timeout, fresh, start_by}`, for a call on a dirty scheduler, or on the caller's, where exceeding
    /// these limits is not yet final.
    // Made where it stays: a copy of what was just written waits for the writing, which takes longer than all else here.
    #[inline(always)]
    pub fn read(env: Env<'a>, limits: Raw<'a>, ticket: Raw<'a>, dirty: bool) -> Returned<Self> {
        let ticket = Look::new(env).integer(ticket).and_then(|it| u64::try_from(it).ok()).ok_or(BadArg)?;
        Self::of(env, limits, ticket, dirty)
    }

    #[inline(always)]
    fn of(env: Env<'a>, limits: Raw<'a>, ticket: u64, dirty: bool) -> Returned<Self> {
        let look = Look::new(env);
        let number = |term| look.integer(term).and_then(|it| u64::try_from(it).ok()).ok_or(BadArg);
        let Some(&[pool_size, max_memory, timeout, fresh, start_by]) = look.tuple(limits) else {
            return Err(BadArg);
        };
        let timeout = number(timeout)?.saturating_mul(MILLISECOND);
        Ok(Self {
            env,
            pool_size: number(pool_size)? as usize,
            max_memory: number(max_memory)? as usize,
            timeout: if dirty { timeout } else { timeout.min(MILLISECOND) },
            short: !dirty && timeout > MILLISECOND,
            dirty,
            fresh: fresh == Raw::atom(rustler::types::atom::true_()),
            ticket,
            start_by: if dirty { number(start_by)? } else { u64::MAX },
        })
    }
}

/// What a call is about.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The options as Elixir wrote them, with what belongs to them.
    pub options: &'a [u8],
    /// What the values of a type are built of.
    pub templates: Option<&'a [Raw<'a>]>,
    /// A text or a term.
    pub body: Binary<'a>,
}

impl<'a> Input<'a> {
    /// Reads options, alone or with templates: `{options, templates}`.
    #[inline(always)]
    pub fn new(env: Env<'a>, given: Raw<'a>, body: Raw<'a>) -> Returned<Self> {
        let (look, body) = (Look::new(env), Binary::from_term(body.term(env))?);
        if let Some(options) = look.binary(given) {
            return Ok(Self { options, templates: None, body });
        }
        let Some(&[options, templates]) = look.tuple(given) else { return Err(BadArg) };
        let (options, templates) = look.binary(options).zip(look.tuple(templates)).ok_or(BadArg)?;
        Ok(Self { options, templates: Some(templates), body })
    }
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// JSON text to a term.
    Decode,
    /// A piece of a stream to the values that it completes.
    Feed,
    /// Many texts to terms.
    Many,
    /// Compression of a text.
    Gzip,
    /// JSON text laid out anew.
    Format,
    /// JSON text in canonical form.
    Canonicalize,
}

impl Operation {
    /// Reads its name.
    #[inline(always)]
    pub fn new(name: Raw<'_>) -> Returned<Self> {
        if name == Raw::atom(atoms::decode()) { Ok(Self::Decode) } else { Self::other(name) }
    }

    #[inline(never)]
    fn other(name: Raw<'_>) -> Returned<Self> {
        let operations = [
            (atoms::feed(), Self::Feed),
            (atoms::many(), Self::Many),
            (atoms::gzip(), Self::Gzip),
            (atoms::format(), Self::Format),
            (atoms::canonicalize(), Self::Canonicalize),
        ];
        operations
            .into_iter()
            .find(|(known, _)| Raw::atom(*known) == name)
            .map(|(_, operation)| operation)
            .ok_or(BadArg)
    }
}
