//! A piece of a stream: the whole values in it are decoded, all of them at once, and what is left says where to go on.
//!
//! A value that lies in one piece is decoded without being scanned before. One that does not is scanned from its start to the
//! end of the piece, and its bytes are kept outside; the next pieces are only scanned until it ends. Then its bytes are
//! joined, once, and the joined text comes as a piece. So every byte is looked at three times at most.

use super::fed::{End, Fed, Piece, Trouble};
use super::partial::Document;
use super::plan::{Format, Plan};
use super::records::Records;
use super::state::State;
use super::walk::{MOST_POINTERS, Walk};
use crate::Scratch;
use crate::builder::Rewind;
use crate::error::Error;
use crate::options::DecodeOptions;
use crate::with_kernel;
use alloc::vec::Vec;

/// Deals with a piece.
///
/// ```
/// use rustyjson_core::{DecodeOptions, Scratch, etf::writer::Writer};
/// use rustyjson_core::scan::{End, Piece, Plan, State, feed};
///
/// let plan = Plan::read(&[0; 12]).unwrap();
/// let (options, mut state) = (DecodeOptions::default(), State::default());
/// let mut out = Writer::new(b"1 [2", Vec::new(), &options);
/// let piece = Piece { bytes: b"1 [2", held: 0, last: false };
/// let fed = feed(piece, &mut state, &plan, &options, &mut Scratch::default(), &mut out);
/// assert_eq!((fed.items, fed.kept, fed.end), (1, 2, End::More));
/// assert_eq!(out.finish().unwrap(), [131, 108, 0, 0, 0, 1, 97, 1, 106]);
/// ```
pub fn feed<B: Rewind>(
    piece: Piece<'_>,
    state: &mut State,
    plan: &Plan,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Fed {
    builder.begin_array();
    let mut fed = match mark(piece, state, plan) {
        Some(fed) => fed,
        None => pieces(piece, state, plan, options, scratch, builder),
    };
    if let Err(kind) = builder.end_array(fed.items) {
        let error = Error::new(kind, 0);
        let trouble = state.trouble(piece.bytes, error, (0, piece.bytes.len()), false);
        fed = Fed { items: 0, kept: piece.bytes.len(), end: End::Wrong(trouble) };
    }
    (state.line, state.column) = state.behind(&piece.bytes[..fed.kept]);
    state.fresh &= fed.kept == 0;
    fed
}

#[inline(always)]
fn pieces<B: Rewind>(
    piece: Piece<'_>,
    state: &mut State,
    plan: &Plan,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Fed {
    match plan.format {
        Format::Lines | Format::Sequence => {
            let (items, room) = (0, plan.room(piece.bytes.len()));
            with_kernel!(kernel => Records { kernel, piece, state, plan, options, scratch, builder, items, room }.run())
        }
        Format::Values | Format::Path => {
            let pointers = piece.bytes.len() + MOST_POINTERS;
            let (items, room, key) = (0, plan.room(piece.bytes.len()), Vec::new());
            with_kernel!(kernel => {
                Walk { kernel, piece, state, plan, options, scratch, builder, items, pointers, room, key }.run()
            })
        }
        Format::Partial => {
            with_kernel!(kernel => Document::new(kernel, piece, state, plan, options, scratch, builder).run())
        }
    }
}

/// The byte order mark in front of a file from Windows.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Passes over a byte order mark at the start of a stream, which has no column. A part of one waits for the rest.
fn mark(piece: Piece<'_>, state: &mut State, plan: &Plan) -> Option<Fed> {
    let Piece { bytes, held, last } = piece;
    if !state.fresh || plan.format == Format::Partial {
        return None;
    }
    let (kept, end) = if held > 0 && state.scanner.is_none() {
        (0, End::Join)
    } else if held == 0 && bytes.starts_with(MARK) {
        state.column = state.column.saturating_sub(1);
        (MARK.len(), if bytes.len() > MARK.len() || last { End::Again } else { End::More })
    } else if held == 0 && !bytes.is_empty() && MARK.starts_with(bytes) && !last {
        (0, End::More)
    } else {
        return None;
    };
    Some(Fed { items: 0, kept, end })
}

impl State {
    /// An error in the value that starts at `value.0`, if `inside`, or in the text around the values that are wanted.
    #[cold]
    pub(super) fn trouble(&self, text: &[u8], error: Error, value: (usize, usize), inside: bool) -> Trouble {
        let Error { kind, offset } = error;
        let (line, column) = self.behind(&text[..offset]);
        let mut path = self.pointer();
        let mut open = self.levels.last().map(|level| if level.object { b'{' } else { b'[' });
        if inside {
            let place = crate::locate::locate(&text[value.0..], offset - value.0);
            path.push_str(&place.path);
            open = place.open.or(open);
        }
        Trouble { kind: kind.within(open), offset: offset as i64, line, column, path, value }
    }
}
