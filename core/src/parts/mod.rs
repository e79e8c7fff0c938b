//! Parts of a document: only what is wanted becomes terms.

mod answer;
mod check;
mod checked;
mod fragments;
mod judge;
mod moment;
mod numbers;
mod pattern;
mod plan;
mod raw;
mod select;
mod shape;
mod typed;

pub use answer::{Answer, Plain};
pub use check::check;
pub use judge::{judge, judge_only};
pub use moment::{Moment, Reading};
pub use plan::Plan;
pub use raw::{Raw, with_raw};
pub use select::select;
pub(crate) use select::select_at;
pub use shape::Shape;
pub use typed::{Failed, Found, Wrong, typed};

use crate::builder::Rewind;
use crate::decode::Scratch;
use crate::error::Error;
use crate::etf::check::Policy;
use crate::options::DecodeOptions;

/// What is wanted of a document.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// The values at some pointers.
    Select(Plan<'a>),
    /// A value of a type.
    Typed(Shape<'a>),
    /// All of it, but the values at some places as text.
    Raw(Raw<'a>),
    /// Whether it is right: the answer is `true`.
    Check,
}

impl<'a> Parts<'a> {
    /// The answer to [`Parts::Check`] for a document that is right, in External Term Format.
    pub const RIGHT: [u8; 7] = *b"\x83w\x04true";

    /// Reads what Elixir wrote behind the options. `None`: the bytes are something else.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        if Self::asks_only(bytes) {
            return Some(Self::Check);
        }
        let typed = || Shape::read(bytes).map(Self::Typed);
        Plan::read(bytes).map(Self::Select).or_else(typed).or_else(|| Raw::read(bytes).map(Self::Raw))
    }

    /// Whether what Elixir wrote asks only if the document is right.
    #[inline(always)]
    pub fn asks_only(bytes: &[u8]) -> bool {
        bytes == check::PLAN
    }

    /// Decodes them. `false`: more than `most_nodes` values and keys would have to be built (0 is no limit).
    ///
    /// # Errors
    /// Those of the text, and of the type.
    pub fn decode<B: Rewind>(
        &self,
        json: &[u8],
        options: &DecodeOptions,
        most_nodes: u64,
        scratch: &mut Scratch,
        builder: &mut B,
    ) -> Result<bool, Failed> {
        match self {
            Self::Select(plan) => Ok(select(json, plan, options, most_nodes, scratch, builder)?),
            Self::Typed(shape) => typed(json, shape, options, most_nodes, scratch, &mut Plain(builder)),
            Self::Raw(raw) => Ok(with_raw(json, raw, options, most_nodes, scratch, builder)?),
            Self::Check => {
                check(json, options, scratch)?;
                builder.boolean(true).map_err(|kind| Error::new(kind, 0))?;
                Ok(true)
            }
        }
    }

    /// What an honest answer about a document of this length can look like.
    pub fn policy(&self, options: &DecodeOptions, json_len: usize) -> Policy {
        match self {
            Self::Select(plan) => plan.policy(options, json_len),
            Self::Typed(shape) => shape.policy(options, json_len),
            Self::Raw(_) => Raw::policy(options, json_len),
            Self::Check => Policy::new(options, json_len),
        }
    }
}
