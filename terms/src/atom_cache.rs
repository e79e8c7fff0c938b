//! The texts of atoms, kept by each scheduler thread. An atom has one word and one text as long as the VM runs, so
//! nothing here ever gets stale; the table has a fixed size.

use crate::raw::read::{Look, Raw};
use rustyjson_core::encode::{AtomText, Block, is_plain};

const SLOTS: usize = 512;

/// An atom and its text, as it is written where it is plain: `"text":`. One line of the processor's cache.
#[derive(Clone, Copy)]
struct Slot {
    word: usize,
    len: u8,
    plain: bool,
    block: Block,
}

/// A direct-mapped table; longer texts go through one buffer, one at a time.
#[derive(Default)]
pub struct AtomCache {
    slots: Vec<Slot>,
    long: Vec<u8>,
}

impl AtomCache {
    /// An empty one.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), long: Vec::new() }
    }

    /// The text of an atom.
    #[inline(always)]
    pub fn text<'a>(&mut self, look: Look<'a>, atom: Raw<'a>) -> AtomText<'_> {
        // The lowest six bits say "atom", the rest is its number.
        let index = (atom.word() >> 6) % SLOTS;
        if self.slots.get(index).is_none_or(|slot| slot.word != atom.word()) && !self.fill(look, atom, index) {
            return AtomText { bytes: &self.long, plain: None };
        }
        let Slot { len, plain, block, .. } = &self.slots[index];
        AtomText { bytes: block.get(1..1 + usize::from(*len)).unwrap_or_default(), plain: plain.then_some(block) }
    }

    /// Puts an atom into its slot. `false`: it is too long for a slot, and its text is in the buffer.
    #[cold]
    #[inline(never)]
    fn fill<'a>(&mut self, look: Look<'a>, atom: Raw<'a>, index: usize) -> bool {
        let empty = Slot { word: 0, len: 0, plain: false, block: [0; size_of::<Block>()] };
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, empty);
        }
        read_text(look, atom, &mut self.long);
        let text = &self.long[..];
        let mut slot =
            Slot { word: atom.word(), len: text.len() as u8, plain: text.iter().all(|b| is_plain(*b)), ..empty };
        let quoted = [b"\"", text, b"\":"].concat();
        let Some(block) = slot.block.get_mut(..quoted.len()) else { return false };
        block.copy_from_slice(&quoted);
        self.slots[index] = slot;
        true
    }
}

/// The text as UTF-8. The VM gives it in Latin-1 (in UTF-8 only from OTP 26 on); for atoms beyond Latin-1 it is taken out
/// of their external format: version, tag, length, text.
fn read_text<'a>(look: Look<'a>, atom: Raw<'a>, text: &mut Vec<u8>) {
    text.clear();
    let mut buffer = [0; 256];
    if let Some(latin) = look.latin_atom(atom, &mut buffer) {
        let mut utf8 = [0; 4];
        for byte in latin {
            text.extend_from_slice(char::from(*byte).encode_utf8(&mut utf8).as_bytes());
        }
        return;
    }
    let external = atom.term(look.env()).to_binary();
    let bytes = external.as_slice();
    let start = if matches!(bytes.get(1), Some(119 | 115)) { 3 } else { 4 };
    text.extend_from_slice(bytes.get(start..).unwrap_or_default());
}
