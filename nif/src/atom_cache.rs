//! The texts of atoms, kept by each scheduler thread. An atom has one word and one text as long as the VM runs, so
//! nothing here ever gets stale; the table has a fixed size.

use crate::raw::read::{Look, Raw};
use rustyjson_core::encode::AtomText;

const SLOTS: usize = 512;
const LONGEST: usize = 54;

/// An atom and its text.
#[derive(Clone, Copy)]
struct Slot {
    word: usize,
    len: u8,
    plain: bool,
    text: [u8; LONGEST],
}

/// A direct-mapped table; longer texts go through one buffer, one at a time.
#[derive(Default)]
pub struct AtomCache {
    slots: Vec<Slot>,
    long: Vec<u8>,
}

impl AtomCache {
    /// The text of an atom.
    #[inline(always)]
    pub fn text<'a>(&mut self, look: Look<'a>, atom: Raw<'a>) -> AtomText<'_> {
        // The lowest six bits say "atom", the rest is its number.
        let index = (atom.word() >> 6) % SLOTS;
        if self.slots.get(index).is_none_or(|slot| slot.word != atom.word()) && !self.fill(look, atom, index) {
            return AtomText { bytes: &self.long, plain: false };
        }
        let slot = &self.slots[index];
        AtomText { bytes: slot.text.get(..usize::from(slot.len)).unwrap_or_default(), plain: slot.plain }
    }

    /// Puts an atom into its slot. `false`: it is too long for one and stands in the buffer.
    #[cold]
    #[inline(never)]
    fn fill<'a>(&mut self, look: Look<'a>, atom: Raw<'a>, index: usize) -> bool {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot { word: 0, len: 0, plain: false, text: [0; LONGEST] });
        }
        read_text(look, atom, &mut self.long);
        let mut text = [0; LONGEST];
        let Some(part) = text.get_mut(..self.long.len()) else { return false };
        part.copy_from_slice(&self.long);
        let plain = self.long.iter().all(|b| is_plain(*b));
        self.slots[index] = Slot { word: atom.word(), len: self.long.len() as u8, plain, text };
        true
    }
}

/// ASCII that no escape mode touches.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..0x80) && !matches!(byte, b'"' | b'\\' | b'/' | b'<')
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
