//! Turns a byte offset into line, column and JSON Pointer (RFC 6901).
//!
//! Errors carry only an offset; this runs once, when one is shown. It reads the text before the offset as structure
//! and nothing more, so it also serves the encoder, whose output so far may have holes.
//!
//! A path is bounded whatever the text is: [`MAX_KEY`] and [`MAX_PATH`] say how. The memory used here does not depend on the
//! text either, and when it is denied the path is empty.

mod frames;
mod pointer;
#[cfg(test)]
mod tests;

pub(crate) use pointer::{around, member};

use crate::room::room;
use alloc::string::String;
use alloc::vec::Vec;
use frames::{Frame, Open, Step, step};
use pointer::joined;

/// Bytes of a key that a path shows; what is cut ends in [`CUT`].
pub const MAX_KEY: usize = 128;
/// Bytes of a whole path. A longer one keeps its beginning and its end, with a segment [`CUT`] between them.
pub const MAX_PATH: usize = 4096;
/// Open containers that a path names: half of them the outermost, half the innermost.
pub const MAX_FRAMES: usize = 128;
/// Marks what was left out.
pub const CUT: &str = "…";

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1; `\n` ends a line.
    pub line: u64,
    /// Column, from 1, in Unicode code points.
    pub column: u64,
    /// JSON Pointer of the value or key reached.
    pub path: String,
    /// The bracket of the innermost array or object that is open.
    pub open: Option<u8>,
}

/// Locates `offset` (or the end of the text, when it is beyond) in `json`.
///
/// Looks only at what stands before the offset, so the text may be cut or wrong from there on.
pub fn locate(json: &[u8], offset: usize) -> Location {
    let before = &json[..offset.min(json.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let newlines = before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    let characters = before[line_start..].iter().filter(|&&byte| !is_continuation(byte)).count();
    let (path, open) = path(before);
    Location { line: newlines as u64 + 1, column: characters as u64 + 1, path, open }
}

/// Locates offsets, which ascend, in one walk over the text.
pub(crate) fn locate_all(json: &[u8], offsets: impl Iterator<Item = usize>, mut found: impl FnMut(usize, Location)) {
    let mut walk = Walk { line: 1, column: 1, counted: 0, at: 0, frames: Vec::new(), lost: false };
    let mut last: Option<(usize, Location)> = None;
    for offset in offsets {
        // Members that are missing in one object have one place.
        if let Some((_, place)) = last.as_ref().filter(|(same, _)| *same == offset) {
            found(offset, place.clone());
            continue;
        }
        let before = &json[..offset.min(json.len())];
        walk.count(before);
        walk.open(before);
        let open = walk.frames.last().map(|frame| frame.bracket());
        let place = Location { line: walk.line, column: walk.column, path: walk.path(before), open };
        last = Some((offset, place.clone()));
        found(offset, place);
    }
}

/// How far [`locate_all`] is.
struct Walk {
    line: u64,
    column: u64,
    /// The offset that line and column are those of.
    counted: usize,
    /// The offset up to which brackets and keys were read.
    at: usize,
    /// All open containers: as many as the decoder, which has read the same text, keeps.
    frames: Vec<Frame>,
    /// There was no memory for them.
    lost: bool,
}

impl Walk {
    fn count(&mut self, before: &[u8]) {
        for &byte in before.get(self.counted..).unwrap_or_default() {
            if byte == b'\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else if !is_continuation(byte) {
                self.column += 1;
            }
        }
        self.counted = before.len();
    }

    fn open(&mut self, before: &[u8]) {
        while let Some((next, step)) = step(before, self.at) {
            match step {
                Step::Enter(frame) => match room(&mut self.frames, 1) {
                    Ok(()) => self.frames.push(frame),
                    Err(_) => self.lost = true,
                },
                Step::Leave => drop(self.frames.pop()),
                step => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.take(&step, self.at);
                    }
                }
            }
            self.at = next;
        }
    }

    fn path(&self, before: &[u8]) -> String {
        let (half, depth) = (MAX_FRAMES / 2, self.frames.len());
        match depth {
            _ if self.lost => String::new(),
            0..=MAX_FRAMES => joined(before, &self.frames, &[]),
            _ => joined(before, &self.frames[..half], &self.frames[depth - half..]),
        }
    }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The path of the end of a text, and the bracket that is open there.
fn path(before: &[u8]) -> (String, Option<u8>) {
    let mut outer = Open::at_end(before, 0);
    if outer.depth <= MAX_FRAMES {
        let open = outer.innermost().map(|frame| frame.bracket());
        return (joined(before, &outer.frames[..outer.depth], &[]), open);
    }
    let half = MAX_FRAMES / 2;
    // Which containers are the innermost is known only now.
    let mut inner = Open::at_end(before, outer.depth - half);
    let open = inner.innermost().map(|frame| frame.bracket());
    (joined(before, &outer.frames[..half], &inner.frames[..half]), open)
}
