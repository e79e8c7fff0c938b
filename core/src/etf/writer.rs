//! Writes terms as External Term Format in the order they arrive: counts are reserved, and patched when a container ends.

use super::tags::*;
use crate::builder::{Dropped, Key, Rewind, TermBuilder, Text};
use crate::error::ErrorKind;
use crate::options::{DecodeOptions, Keys, Null};
use crate::output::{Buffer, Output};
use alloc::vec::Vec;
use core::borrow::BorrowMut;

/// Most characters an atom can have.
const ATOM_CHARACTERS: usize = 255;
/// Short strings are copied as one block of this size.
const BLOCK: usize = 16;

/// Writes one term into an [`Output`]. Buffer and memory can be borrowed: to move them in and out takes 20 ns of the 190 of a short
/// document in the WebAssembly module.
#[derive(Debug)]
pub struct Writer<'a, B, M = Memory> {
    input: &'a [u8],
    out: Output<B>,
    keys: Keys,
    ordered: bool,
    null: Null,
    memory: M,
    /// For a shell that must know which keys there are.
    names: Option<Names>,
    /// Maps may have repeated keys.
    repeats: bool,
    /// Keys are binaries of which nothing is remembered: all are written alike.
    plain: bool,
}

/// Memory of a writer, which the next one can use again.
#[derive(Debug, Default)]
pub struct Memory {
    /// Where the open containers start.
    starts: Vec<usize>,
    /// Where the members of the open objects start.
    members: Vec<usize>,
}

/// The names of all keys that are atoms, in the order of the text.
#[derive(Debug)]
pub struct Names {
    /// The names as [`abi::Names`](crate::abi::Names) has them, behind what was there before.
    pub bytes: Vec<u8>,
    /// Keys that may still come before one is reported as [`ErrorKind::UnknownAtom`].
    pub left: u64,
}

impl Names {
    #[cold]
    fn add(&mut self, name: &[u8]) -> Result<(), ErrorKind> {
        self.left = self.left.checked_sub(1).ok_or(ErrorKind::UnknownAtom)?;
        if crate::abi::Names::write(name, &mut self.bytes) { Ok(()) } else { Err(ErrorKind::OutOfMemory) }
    }
}

impl<'a, B: Buffer> Writer<'a, B> {
    /// A writer into this memory, for strings that stand in `input`.
    pub fn new(input: &'a [u8], buffer: B, options: &DecodeOptions) -> Self {
        Self::behind([], input, buffer, Memory::default(), options)
    }
}

impl<'a, B: Buffer, M: BorrowMut<Memory>> Writer<'a, B, M> {
    /// A writer behind these bytes, which count as a part of the term's length. The input may have more bytes than the text that is
    /// decoded: with 16 of them, all short strings are copied as blocks.
    #[inline(always)]
    pub fn behind<const N: usize>(
        head: [u8; N],
        input: &'a [u8],
        buffer: B,
        mut memory: M,
        options: &DecodeOptions,
    ) -> Self {
        let Memory { starts, members } = memory.borrow_mut();
        starts.clear();
        members.clear();
        let mut out = Output::new(buffer);
        out.array(head);
        out.array([VERSION]);
        let (keys, ordered, null) = (options.keys, options.ordered_objects, options.null);
        Self { input, out, keys, ordered, null, memory, names: None, repeats: false, plain: false }
    }

    /// Also collects the names of keys, which have to be atoms.
    pub fn collect(&mut self, names: Names) {
        self.names = Some(names);
    }

    /// The names collected.
    pub const fn take_names(&mut self) -> Option<Names> {
        self.names.take()
    }

    /// Writes maps with their repeated keys, which the runtime refuses: most documents have none, and looking for them takes
    /// a fifth of the time.
    #[inline(always)]
    pub fn keep_repeats(&mut self) {
        self.repeats = true;
        self.plain = !self.ordered && self.keys != Keys::ExistingAtoms;
    }

    #[inline(always)]
    fn memory(&mut self) -> &mut Memory {
        self.memory.borrow_mut()
    }

    /// A container starts here.
    #[inline(always)]
    fn start(&mut self) {
        let start = self.out.len();
        self.memory().starts.push(start);
    }

    /// The buffer and the length of the term in it; `None` when memory ran out.
    #[inline(always)]
    pub fn into_parts(self) -> Option<(B, usize)> {
        (!self.out.failed()).then(|| self.out.into_parts())
    }

    /// Puts a list's or map's count into the header at `at`.
    #[inline(always)]
    fn patch(&mut self, at: usize, count: usize) {
        self.out.overwrite(at, (count as u32).to_be_bytes());
    }

    #[inline(always)]
    fn binary(&mut self, text: Text<'_>) {
        let bytes = text.bytes();
        // The tag and the length in one word, whose last bytes the text takes.
        let head = u64::from(BINARY) | u64::from((bytes.len() as u32).swap_bytes()) << 8;
        let needed = 5 + BLOCK.max(bytes.len());
        // Cut to what is needed, one comparison stands for those of each write.
        let Some(room) = self.out.room(needed).and_then(|room| room.get_mut(..needed)) else { return };
        room[..8].copy_from_slice(&head.to_le_bytes());
        let block = match text {
            Text::Input(start, _) if bytes.len() <= BLOCK => {
                self.input.get(start..).and_then(|rest| rest.first_chunk())
            }
            _ => None,
        };
        match block {
            // A block of fixed size is one load and one store; a call to copy 9 bytes costs more than 16.
            Some(block) => room[5..5 + BLOCK].copy_from_slice(block as &[u8; BLOCK]),
            None => room[5..5 + bytes.len()].copy_from_slice(bytes),
        }
        self.out.advance(5 + bytes.len());
    }

    /// A key that is remembered, an atom, or a part of an ordered object.
    #[inline(never)]
    fn other_key(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        if !self.repeats {
            let start = self.out.len();
            self.memory().members.push(start);
        }
        if self.ordered {
            self.out.array([SMALL_TUPLE, 2]);
        }
        if !matches!(self.keys, Keys::ExistingAtoms) {
            self.binary(text);
            return Ok(());
        }
        let name = text.bytes();
        if name.len() > ATOM_CHARACTERS && characters(name) > ATOM_CHARACTERS {
            return Err(ErrorKind::AtomTooLong);
        }
        if let Some(names) = &mut self.names {
            names.add(name)?;
        }
        self.atom(name);
        Ok(())
    }

    fn atom(&mut self, name: &[u8]) {
        match u8::try_from(name.len()) {
            Ok(len) => self.out.array([SMALL_ATOM_UTF8, len]),
            Err(_) => {
                let len = (name.len() as u16).to_be_bytes();
                self.out.array([ATOM_UTF8, len[0], len[1]]);
            }
        }
        self.out.slice(name);
    }

    fn big(&mut self, negative: bool, magnitude: &[u8]) {
        match u8::try_from(magnitude.len()) {
            Ok(len) => self.out.array([SMALL_BIG, len, u8::from(negative)]),
            Err(_) => {
                let len = (magnitude.len() as u32).to_be_bytes();
                self.out.array([LARGE_BIG, len[0], len[1], len[2], len[3], u8::from(negative)]);
            }
        }
        self.out.slice(magnitude);
    }

    /// Closes up over the members that do not count; they start at `members` and end with the output.
    #[cold]
    fn drop_members(&mut self, members: &[usize], dropped: Dropped<'_>) {
        let end = self.out.len();
        let bounds = |i: usize| (members[i], members.get(i + 1).copied().unwrap_or(end));
        let mut to = members[dropped[0] as usize];
        let mut dropped = dropped.iter().peekable();
        for i in *dropped.peek().map_or(&0, |first| *first) as usize..members.len() {
            if dropped.next_if(|&&number| number as usize == i).is_some() {
                continue;
            }
            let (from, until) = bounds(i);
            self.out.written().copy_within(from..until, to);
            to += until - from;
        }
        self.out.truncate(to);
    }
}

impl Writer<'_, Vec<u8>> {
    /// The term; `None` when memory ran out.
    pub fn finish(self) -> Option<Vec<u8>> {
        let (mut bytes, len) = self.into_parts()?;
        bytes.truncate(len);
        Some(bytes)
    }
}

impl<B: Buffer, M: BorrowMut<Memory>> TermBuilder for Writer<'_, B, M> {
    const WORDS: bool = false;

    #[inline(always)]
    fn null(&mut self) -> Result<(), ErrorKind> {
        match self.null {
            Null::Nil => self.out.array(*b"\x77\x03nil"),
            Null::Null => self.out.array(*b"\x77\x04null"),
            Null::Undefined => self.out.array(*b"\x77\x09undefined"),
        }
        Ok(())
    }

    #[inline(always)]
    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        if value {
            self.out.array(*b"\x77\x04true")
        } else {
            self.out.array(*b"\x77\x05false")
        }
        Ok(())
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        if let Ok(small) = u8::try_from(value) {
            self.out.array([SMALL_INTEGER, small]);
        } else if let Ok(medium) = i32::try_from(value) {
            let b = medium.to_be_bytes();
            self.out.array([INTEGER, b[0], b[1], b[2], b[3]]);
        } else {
            let magnitude = value.unsigned_abs();
            let len = 8 - magnitude.leading_zeros() as usize / 8;
            self.big(value < 0, &magnitude.to_le_bytes()[..len]);
        }
        Ok(())
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        self.big(negative, magnitude);
        Ok(())
    }

    #[inline(always)]
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        let b = value.to_be_bytes();
        self.out.array([NEW_FLOAT, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
        Ok(())
    }

    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        self.out.array([MAP, 0, 0, 0, 4]);
        self.atom(b"__struct__");
        self.atom(b"Elixir.Decimal");
        self.atom(b"sign");
        self.integer(if negative { -1 } else { 1 })?;
        self.atom(b"coef");
        match coefficient.len() {
            0 => self.integer(0),
            1 => self.integer(i64::from(coefficient[0])),
            2..=7 => {
                let value = coefficient.iter().rev().fold(0, |value, &byte| value << 8 | i64::from(byte));
                self.integer(value)
            }
            _ => self.big_integer(false, coefficient),
        }?;
        self.atom(b"exp");
        self.integer(exponent)
    }

    #[inline(always)]
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.binary(text);
        Ok(())
    }

    fn fragment(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        let Text::Input(start, bytes) = text else { return self.string(text) };
        self.out.array([SMALL_TUPLE, 2]);
        self.integer(start as i64)?;
        self.integer(bytes.len() as i64)
    }

    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        if self.plain {
            self.binary(key.text);
            return Ok(());
        }
        self.other_key(key.text)
    }

    #[inline(always)]
    fn begin_array(&mut self) {
        self.start();
        self.out.block(&[LIST, 0, 0, 0, 0, 0, 0, 0], 5);
    }

    #[inline(always)]
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        let Some(start) = self.memory().starts.pop() else { return Ok(()) };
        if len == 0 {
            self.out.truncate(start);
        } else {
            self.patch(start + 1, len);
        }
        self.out.array([NIL]);
        Ok(())
    }

    #[inline(always)]
    fn begin_object(&mut self) {
        if self.ordered {
            self.out.array([MAP, 0, 0, 0, 2]);
            self.atom(b"__struct__");
            self.atom(b"Elixir.RustyJson.OrderedObject");
            self.atom(b"values");
            self.begin_array();
        } else {
            self.start();
            self.out.block(&[MAP, 0, 0, 0, 0, 0, 0, 0], 5);
        }
    }

    #[inline(always)]
    fn keeps_repeats(&self) -> bool {
        self.repeats
    }

    #[inline(always)]
    fn end_object(&mut self, len: usize, dropped: Dropped<'_>) -> Result<(), ErrorKind> {
        if !self.repeats {
            let base = self.memory().members.len() - len;
            if !dropped.is_empty() {
                let members = self.memory().members.split_off(base);
                self.drop_members(&members, dropped);
            }
            self.memory().members.truncate(base);
        }
        let kept = len - dropped.len();
        if self.ordered {
            return self.end_array(kept);
        }
        if let Some(start) = self.memory().starts.pop() {
            self.patch(start + 1, kept);
        }
        Ok(())
    }
}

impl<B: Buffer, M: BorrowMut<Memory>> Rewind for Writer<'_, B, M> {
    /// Length of the output, open containers, members of open objects, and keys that may still come.
    type Mark = (usize, usize, usize, Option<u64>);

    fn mark(&self) -> Self::Mark {
        let (left, memory) = (self.names.as_ref().map(|names| names.left), self.memory.borrow());
        (self.out.len(), memory.starts.len(), memory.members.len(), left)
    }

    fn rewind(&mut self, (len, starts, members, left): Self::Mark) {
        self.out.truncate(len);
        self.memory().starts.truncate(starts);
        self.memory().members.truncate(members);
        if let (Some(names), Some(left)) = (&mut self.names, left) {
            names.left = left;
        }
    }
}

/// Characters of a UTF-8 text.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
