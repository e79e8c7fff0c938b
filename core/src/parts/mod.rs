//! Parts of a document: only what is wanted becomes terms.

mod plan;
mod select;

pub use plan::Plan;
pub use select::select;
