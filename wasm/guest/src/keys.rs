//! Collects the keys of a document, so that the host can look which of them are atoms.

use crate::record::DONE;
use rustyjson_core::builder::{Dropped, Key};
use rustyjson_core::{ErrorKind, TermBuilder, Text};

/// Most characters of an atom.
const ATOM_CHARACTERS: usize = 255;

/// A status byte, then each key as its length (u32) and its bytes.
pub struct KeyList {
    bytes: Vec<u8>,
    /// Keys that may still pass before one is an error.
    left: u64,
    failed: bool,
}

impl KeyList {
    /// An empty list in this buffer; key number `stop` is an error.
    pub fn new(mut bytes: Vec<u8>, stop: u64) -> Self {
        bytes.clear();
        bytes.push(DONE);
        Self { bytes, left: stop, failed: false }
    }

    /// The list; `None` when memory ran out.
    pub fn finish(self) -> Option<Vec<u8>> {
        (!self.failed).then_some(self.bytes)
    }
}

impl TermBuilder for KeyList {
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        let name = key.text.bytes();
        if name.len() > ATOM_CHARACTERS && characters(name) > ATOM_CHARACTERS {
            return Err(ErrorKind::AtomTooLong);
        }
        if self.left == 0 {
            return Err(ErrorKind::UnknownAtom);
        }
        self.left -= 1;
        if self.bytes.try_reserve(4 + name.len()).is_err() {
            self.failed = true;
            return Err(ErrorKind::OutOfMemory);
        }
        self.bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(name);
        Ok(())
    }

    fn null(&mut self) {}
    fn boolean(&mut self, _: bool) {}
    fn integer(&mut self, _: i64) {}
    fn big_integer(&mut self, _: bool, _: &[u8]) {}
    fn float(&mut self, _: f64) {}
    fn decimal(&mut self, _: bool, _: &[u8], _: i64) {}
    fn string(&mut self, _: Text<'_>) {}
    fn begin_array(&mut self) {}
    fn end_array(&mut self, _: usize) {}
    fn begin_object(&mut self) {}
    fn end_object(&mut self, _: usize, _: Dropped<'_>) {}
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
