//! Patterns of texts, as automata that Elixir made of them (`lib/rustyjson/schema/pattern.ex`).
//!
//! A text is read once, a byte at a time, and each byte costs one look at a table, whatever the pattern and the text are.

use crate::scan::wire::Reader;

/// No text that starts like this one matches.
const NEVER: usize = 0;
/// Every text that starts like this one matches.
const ALWAYS: usize = 1;

/// An automaton: the class of each byte (256 of `u8`), the number of classes and the first state (`u16` each), then a row for each state:
/// whether a text that ends there matches, and the next state for each class (`u16` each).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern<'a> {
    classes: &'a [u8; 256],
    width: usize,
    first: usize,
    rows: &'a [[u8; 2]],
}

impl<'a> Pattern<'a> {
    /// Reads an automaton. `None`: these bytes are none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (classes, rest) = bytes.split_first_chunk()?;
        let mut reader = Reader(rest);
        let (count, first) = (reader.u16()?, reader.u16()?);
        let (rows, _) = reader.0.as_chunks();
        Some(Self { classes, width: 1 + usize::from(count), first: first.into(), rows })
    }

    fn entry(&self, state: usize, column: usize) -> usize {
        let entry = self.rows.get(state * self.width + column);
        entry.map_or(NEVER, |bytes| u16::from_le_bytes(*bytes).into())
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        let mut state = self.first;
        for &byte in text {
            if state <= ALWAYS {
                break;
            }
            state = self.entry(state, 1 + usize::from(self.classes[usize::from(byte)]));
        }
        state == ALWAYS || self.entry(state, 0) != 0
    }
}
