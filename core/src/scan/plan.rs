//! What a stream is cut into.

use super::wire::Reader;
use crate::parts;
use alloc::vec::Vec;

const SELECT: u8 = 8;
const TYPES: u8 = 16;
/// List cells of rows in one answer, beyond as many as the piece has bytes: two bytes can become a long row.
const MOST_CELLS: usize = 1 << 12;

/// The shape of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Values, one after the other.
    Values,
    /// A value on each line.
    Lines,
    /// Values that each start with a record separator (RFC 7464).
    Sequence,
    /// One document, of which the values at a path are wanted.
    Path,
    /// One document, which is looked at before it is complete.
    Partial,
}

/// A step of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Every element or member.
    Any,
    /// The member of this key, or the element of this index.
    Name(Vec<u8>, Option<u64>),
}

/// What a stream is cut into: how values are told apart, and which of them are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) format: Format,
    /// Empty for the whole document.
    pub(super) segments: Vec<Segment>,
    /// The document has to be an array.
    pub(super) array: bool,
    /// Each value comes behind its pointer.
    pub(super) pointers: bool,
    /// Values are only validated: each is a list of its offset, its length and its pointer for errors. The events of a partial
    /// document say where values stand, and what the short ones are.
    pub(super) places: bool,
    /// The shell decodes values into types, and applies the limits of their numbers.
    pub(super) types: bool,
    /// What is wanted of each value, a plan of parts; empty for all of it.
    pub(super) select: Vec<u8>,
    /// List cells of the row that is made of the answers to it.
    pub(super) cells: usize,
    /// A number that may go on is left out.
    pub(super) drop: bool,
    /// Most bytes of one value; of a partial document, most values and keys.
    pub(super) max_bytes: u64,
}

impl Plan {
    /// Reads a plan: format and flags (`u8` each), most bytes of one value (`u64`, 0 for no limit), the number of steps
    /// (`u16`), and for each step 0, or 1 and its name behind the name's length (`u32`). With flag 8, the list
    /// cells of a row (`u32`) follow, and a plan of parts behind its length (`u32`).
    ///
    /// Formats are 0 values, 1 lines, 2 RFC 7464, 3 path, 4 a partial document; flags 1 the document has to be an array, 2 with
    /// pointers, 4 places of values instead of values, 8 parts of each value, 16 (with 4) values of types. Of a partial document, the
    /// number is that of its values and keys, flag 1 leaves out unfinished numbers, and with flag 4 its events have places.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let format = [Format::Values, Format::Lines, Format::Sequence, Format::Path, Format::Partial];
        let format = *format.get(reader.byte()? as usize)?;
        let flags = reader.byte().filter(|flags| *flags < 32)?;
        let max_bytes = reader.u64()?;
        let mut segments = Vec::new();
        for _ in 0..reader.u16()? {
            segments.push(match reader.byte()? {
                0 => Segment::Any,
                1 => {
                    let name = reader.slice()?;
                    Segment::Name(name.to_vec(), index(name))
                }
                _ => return None,
            });
        }
        let (mut cells, mut select) = (0, Vec::new());
        if flags & SELECT != 0 {
            cells = reader.u32()? as usize;
            select = reader.slice()?.to_vec();
        }
        let max_bytes = if max_bytes == 0 { u64::MAX } else { max_bytes };
        let plan = Self {
            format,
            segments,
            array: flags & 1 != 0 && format == Format::Path,
            pointers: flags & 2 != 0,
            places: flags & 4 != 0,
            types: flags & TYPES != 0,
            select,
            cells,
            drop: flags & 1 != 0 && format == Format::Partial,
            max_bytes,
        };
        let possible = reader.0.is_empty()
            && (format == Format::Path || plan.segments.is_empty())
            && (plan.places || !plan.types)
            && (flags & SELECT == 0 || plan.selects() && !plan.places && format != Format::Partial);
        possible.then_some(plan)
    }

    fn selects(&self) -> bool {
        self.selected().is_some_and(|parts| !parts.raw && !parts.trusted)
    }

    /// What is wanted of each value.
    #[inline(always)]
    pub(super) fn selected(&self) -> Option<parts::Plan<'_>> {
        if self.select.is_empty() { None } else { parts::Plan::read(&self.select) }
    }

    /// List cells of rows in one answer to a piece of this length. The last row may take more.
    pub(super) const fn room(&self, piece: usize) -> usize {
        if self.select.is_empty() { usize::MAX } else { piece.saturating_add(MOST_CELLS) }
    }

    /// What is left of the room behind a value.
    pub(super) const fn without(&self, room: usize) -> usize {
        if self.select.is_empty() { room } else { room.saturating_sub(if self.cells > 0 { self.cells } else { 1 }) }
    }

    /// Most values in this many bytes of a piece, as far as one answer can have them.
    pub(super) fn most_values(&self, piece: usize, done: usize) -> usize {
        let values = match self.format {
            // Between `1` and `[]` stands nothing.
            Format::Values => done - done / 3,
            // A value and the byte that ends it, which the last one may lack.
            _ => done.div_ceil(2),
        };
        if self.select.is_empty() { values } else { values.min(self.room(piece) / self.cells.max(1) + 1) }
    }

    /// How many parts of a value can share a byte of it. Each is built by itself.
    pub fn overlap(&self) -> usize {
        self.selected().map_or(0, |parts| parts.overlap())
    }

    /// Whether values are told apart by a byte between them.
    pub(super) const fn has_records(&self) -> bool {
        matches!(self.format, Format::Lines | Format::Sequence)
    }

    /// Whether the element of this number, or the member of this name, is on the path at this level.
    pub(super) fn wants(&self, level: usize, number: u64, name: Option<&[u8]>) -> bool {
        match (self.segments.get(level), name) {
            (Some(Segment::Any), _) => true,
            (Some(Segment::Name(wanted, _)), Some(name)) => wanted == name,
            (Some(Segment::Name(_, index)), None) => *index == Some(number),
            (None, _) => false,
        }
    }
}

/// An array index as RFC 6901 section 4 writes it.
fn index(name: &[u8]) -> Option<u64> {
    if name.len() > 1 && name[0] == b'0' || name.is_empty() {
        return None;
    }
    name.iter().try_fold(0u64, |index, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        index.checked_mul(10)?.checked_add(digit)
    })
}
