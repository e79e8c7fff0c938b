//! The resumable scanner: validates one JSON value that arrives in pieces, without building terms, and says where it ends.
//!
//! A piece may end anywhere: inside a number, an escape or a character. What the scanner remembers between pieces is a few
//! words and one bit for each open bracket, and [`Scanner::write`] turns that into bytes that can wait outside. Every byte is
//! looked at once, so pieces of one byte take linear time. Errors are those of [`decode`](crate::decode()), of the same kind
//! at the same byte. Repeated keys and the number of values are left to `decode`, which sees the value whole.

mod call;
mod fed;
mod feed;
mod grammar;
mod number;
mod partial;
mod places;
mod plan;
mod records;
mod scanner;
mod state;
mod text;
mod token;
mod walk;
pub(crate) mod wire;

pub use call::{Answer, Most, Question, write_answer};
pub use fed::{End, Fed, Piece, Trouble};
pub use feed::feed;
pub use plan::Plan;
pub use scanner::{Failure, Progress, Scanner};
pub use state::State;
