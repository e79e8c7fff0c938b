//! Which members an object gets, and under which names. Shells hand it over as bytes: flags, then lists of texts (names, modules,
//! keys, words, pointers), then what stands for a redacted value. A list is its length and its texts; a text is its length and its bytes. Lengths are `u32`.
//! All but the words and pointers are sorted.

use crate::encode::{Block, is_plain};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

/// Atom keys become camel case.
const CAMEL: u8 = 1;
/// Members whose value is `nil` are left out.
const OMIT_NIL: u8 = 2;

/// Most pointers: one bit each says whether a place may lead to one.
pub const MOST_POINTERS: usize = 64;

/// Bytes of a shape that takes too long to read where others wait: each call reads one that is not kept.
pub const LONG_SHAPE: usize = 64 * 1024;

/// Decisions about the keys of a map that are remembered.
const DECISIONS: usize = 16;

/// Atoms whose ends are remembered.
const ATOMS: usize = 128;

/// A shape, read. It has its own memory, so that a shell can keep it: reading it takes longer than a small document.
#[derive(Debug, Default)]
pub struct Shape {
    /// What it was read from.
    bytes: Vec<u8>,
    /// The number of the options that had it, for a shell that keeps them.
    kept: u32,
    /// Atom keys become camel case.
    pub camel: bool,
    /// Members whose value is `nil` are left out.
    pub omit_nil: bool,
    /// New names of atom keys, sorted by the old ones.
    pub names: Vec<[Vec<u8>; 2]>,
    /// Members whose value is a struct of these modules, which are sorted, are left out.
    pub omitted: Vec<Vec<u8>>,
    /// Values under these keys, which are sorted, are redacted.
    pub keys: Vec<Vec<u8>>,
    /// So are those under keys that contain one of these words.
    pub words: Vec<Vec<u8>>,
    /// So are those at these places.
    pub pointers: Vec<Vec<Vec<u8>>>,
    /// What stands for a redacted value.
    pub redacted: Vec<u8>,
    /// Which keys and names are worth a search.
    redacts: Filter,
    named: Filter,
    /// The bytes that words start with.
    starts: Filter,
    /// The most work for a byte of a key, each 4 ns: a word that starts with it is compared, and of eight others the first byte is.
    pub work: usize,
    /// What was decided about the keys of maps, by the numbers of the keys.
    decided: [Cell<u64>; DECISIONS],
    /// Whether there are any.
    decisions: Cell<bool>,
    /// What becomes of atoms as keys, by the numbers of the atoms.
    ends: Vec<OnceCell<End>>,
}

/// Shapes kept.
const SHAPES: usize = 4;

/// The shapes of the last calls that had one, the last one first. To read a shape takes longer than to write a small document. In one piece
/// of memory, because shells move it in each call.
#[derive(Debug, Default)]
pub struct Shapes(Vec<Shape>);

impl Shapes {
    /// Bytes of a shape that is kept.
    const LONGEST: usize = 4096;

    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the shape that these bytes describe, and reads them only if no earlier call did. Returns `None` for no bytes. If the shell
    /// keeps the options under a number, `kept` is this number: comparing it takes less time than comparing bytes. Otherwise it is 0.
    #[inline(always)]
    pub fn find(&mut self, bytes: &[u8], kept: u32) -> Option<&Shape> {
        if bytes.is_empty() {
            return None;
        }
        let same = |shape: &Shape| if kept == 0 { shape.bytes == bytes } else { shape.kept == kept };
        if !self.0.first().is_some_and(same) {
            self.bring(bytes, kept);
        }
        let shape = self.0.first();
        shape.inspect(|shape| shape.forget())
    }

    /// Puts it in front.
    #[cold]
    #[inline(never)]
    fn bring(&mut self, bytes: &[u8], kept: u32) {
        match self.0.iter().position(|shape| shape.bytes == bytes) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.truncate(SHAPES - 1);
                self.0.insert(0, read(bytes));
            }
        }
        if let Some(shape) = self.0.first_mut() {
            shape.kept = kept;
        }
    }

    /// Drops the shape of the last call if it is long.
    #[inline(always)]
    pub fn trim(&mut self, bytes: usize) {
        if bytes > Self::LONGEST {
            self.0.retain(|shape| shape.bytes.len() <= Self::LONGEST);
        }
    }
}

fn read(bytes: &[u8]) -> Shape {
    let mut shape = Shape::read(bytes).unwrap_or_else(|| Shape { bytes: bytes.to_vec(), ..Shape::default() });
    if !cfg!(target_arch = "wasm32") {
        shape.remember_atoms();
    }
    shape
}

/// What becomes of an atom as a key.
#[derive(Debug)]
pub struct End {
    number: u64,
    /// The value is redacted under the atom's own name.
    pub redacted: bool,
    /// The value is redacted under this name or the new one.
    pub hidden: bool,
    /// It gets another name.
    pub renamed: bool,
    /// The length of the name with its quotes and the colon, as it is written; 0 where that takes a longer look.
    pub len: u8,
    /// The name, as it is written.
    pub block: Block,
}

/// A set of texts, in part: what it does not have is not among them. Or a set of bytes.
#[derive(Debug, Default)]
struct Filter([u64; 4]);

impl Filter {
    fn add(&mut self, text: &[u8]) {
        self.add_byte(Self::byte(text));
    }

    fn add_byte(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    #[inline(always)]
    fn may_have(&self, text: &[u8]) -> bool {
        self.has_byte(Self::byte(text))
    }

    #[inline(always)]
    const fn has_byte(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }

    /// By length, first and last byte.
    #[inline(always)]
    const fn byte(text: &[u8]) -> u8 {
        let [first, .., last] = text else { return text.len() as u8 };
        *first ^ last.rotate_left(3) ^ (text.len() as u8).wrapping_mul(37)
    }
}

impl Shape {
    /// Reads what Elixir wrote. `None`: it did not.
    #[cold]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (flags, mut rest) = bytes.split_first()?;
        let mut pairs = texts(&mut rest)?.into_iter();
        let names: Vec<_> = core::iter::from_fn(|| Some([pairs.next()?, pairs.next()?])).collect();
        let (omitted, keys, words) = (texts(&mut rest)?, texts(&mut rest)?, texts(&mut rest)?);
        let count = number(&mut rest)?.min(MOST_POINTERS);
        let pointers = (0..count).map(|_| texts(&mut rest)).collect::<Option<_>>()?;
        let (camel, omit_nil) = (flags & CAMEL != 0, flags & OMIT_NIL != 0);
        let [mut redacts, mut named, mut starts] = [(); 3].map(|()| Filter::default());
        keys.iter().for_each(|key| redacts.add(key));
        names.iter().for_each(|[name, _]| named.add(name));
        words.iter().flat_map(|word| word.first()).for_each(|first| starts.add_byte(*first));
        let alike = |word: &Vec<u8>| words.iter().filter(|other| other.first() == word.first()).count();
        let work = words.iter().map(alike).max().unwrap_or_default() + words.len() / 8;
        let redacted = text(&mut rest)?.to_vec();
        let read = Self {
            bytes: bytes.to_vec(),
            camel,
            omit_nil,
            names,
            omitted,
            keys,
            words,
            pointers,
            redacted,
            work,
            ..Self::default()
        };
        Some(Self { redacts, named, starts, ..read })
    }

    /// Forgets what was decided about maps, whose numbers hold for one walk.
    #[inline(always)]
    fn forget(&self) {
        if self.decisions.take() {
            self.decided.iter().for_each(|decided| decided.set(0));
        }
    }

    /// What becomes of the atom with this number, if that is remembered.
    #[inline(always)]
    pub fn end(&self, number: u64) -> Option<&End> {
        places(number).into_iter().find_map(|place| self.ends.get(place)?.get().filter(|end| end.number == number))
    }

    /// Computes how to write the key that is this atom, and stores it for later calls. Returns `None` if there is no free place.
    #[cold]
    #[inline(never)]
    pub fn find_end(&self, number: u64, name: &[u8]) -> Option<&End> {
        let free = |place: &usize| self.ends.get(*place).filter(|slot| slot.get().is_none());
        let slot = places(number).iter().find_map(free)?;
        Some(slot.get_or_init(|| self.new_end(number, name)))
    }

    fn new_end(&self, number: u64, name: &[u8]) -> End {
        let (redacted, renamed) = (self.is_redacted(name), self.renames_key(name));
        let written = self.new_name(name);
        let hidden = self.is_redacted_as(name, &written);
        let mut end = End { number, redacted, hidden, renamed, len: 0, block: [0; size_of::<Block>()] };
        let mut text = b"\"".to_vec();
        text.extend_from_slice(&written);
        let plain = text[1..].iter().all(|byte| is_plain(*byte));
        text.extend_from_slice(b"\":");
        if plain && let Some(block) = end.block.get_mut(..text.len()) {
            block.copy_from_slice(&text);
            end.len = text.len() as u8;
        }
        end
    }

    /// Makes room for what becomes of atoms.
    #[cold]
    fn remember_atoms(&mut self) {
        self.ends.resize_with(ATOMS, OnceCell::new);
    }

    /// All pointers, as bits.
    pub fn scope(&self) -> u64 {
        (0..self.pointers.len()).fold(0, |scope, number| scope | 1 << number)
    }

    /// Whether atom keys may get other names.
    pub const fn renames(&self) -> bool {
        self.camel || !self.names.is_empty()
    }

    /// Whether it depends on a key what becomes of a member.
    pub const fn minds_keys(&self) -> bool {
        !self.keys.is_empty() || !self.words.is_empty() || self.renames()
    }

    /// Whether members may be left out for their values.
    pub const fn omits(&self) -> bool {
        self.omit_nil || !self.omitted.is_empty()
    }

    /// Whether the value under this key is redacted.
    #[inline(always)]
    pub fn is_redacted(&self, key: &[u8]) -> bool {
        self.redacts.may_have(key) && self.finds(key) || !self.words.is_empty() && self.has_word(key)
    }

    /// Whether the value of a member is redacted that is called this, and written as that: `redact` may have either name.
    #[inline(always)]
    pub fn is_redacted_as(&self, name: &[u8], written: &[u8]) -> bool {
        self.is_redacted(name) || written != name && self.is_redacted(written)
    }

    #[cold]
    #[inline(never)]
    fn has_word(&self, key: &[u8]) -> bool {
        key.iter().enumerate().any(|(at, byte)| {
            let starts = |word: &Vec<u8>| word.first() == Some(byte) && key[at..].starts_with(word);
            self.starts.has_byte(*byte) && self.words.iter().any(starts)
        })
    }

    #[cold]
    #[inline(never)]
    fn finds(&self, key: &[u8]) -> bool {
        is_among(&self.keys, key)
    }

    /// Whether structs of this module are left out.
    #[inline(never)]
    pub fn omits_module(&self, module: &[u8]) -> bool {
        is_among(&self.omitted, module)
    }

    /// Whether this name of an atom key may become another one.
    #[inline(always)]
    pub fn renames_key(&self, name: &[u8]) -> bool {
        self.camel && has_underscore(name) || self.named.may_have(name)
    }

    /// What was decided about these keys, if that is known: whether they are written as they are. The number is even.
    #[inline(always)]
    pub fn decision(&self, number: u64) -> Option<bool> {
        let decided = self.decided[slot(number)].get();
        (decided & !1 == number).then_some(decided & 1 == 1)
    }

    /// Remembers it.
    pub fn decide(&self, number: u64, decision: bool) {
        self.decided[slot(number)].set(number | u64::from(decision));
        self.decisions.set(true);
    }

    /// The pointers of a scope that go on with this segment at this depth. `None`: one of them ends here.
    pub fn descend(&self, scope: u64, depth: usize, segment: &[u8]) -> Option<u64> {
        let mut inner = 0;
        for (number, pointer) in self.pointers.iter().enumerate().filter(|(number, _)| scope >> number & 1 == 1) {
            match pointer.get(depth) {
                Some(wanted) if wanted == b"*" || wanted == segment => {
                    if pointer.len() == depth + 1 {
                        return None;
                    }
                    inner |= 1 << number;
                }
                _ => {}
            }
        }
        Some(inner)
    }

    /// The same under the name of a member, and under that with which it is written.
    pub fn descend_as(&self, scope: u64, depth: usize, name: &[u8], written: &[u8]) -> Option<u64> {
        let inner = self.descend(scope, depth, name)?;
        if written == name { Some(inner) } else { Some(inner | self.descend(scope, depth, written)?) }
    }

    /// The pointers of a scope that may end inside a member with these names. `None`: it is redacted.
    pub fn scope_of(&self, scope: u64, depth: usize, name: &[u8], written: &[u8]) -> Option<u64> {
        if self.is_redacted_as(name, written) { None } else { self.descend_as(scope, depth, name, written) }
    }

    /// The name with which an atom key is written.
    pub fn new_name<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        if !self.renames_key(name) {
            return Cow::Borrowed(name);
        }
        let mut written = Vec::new();
        self.rename(name, &mut written);
        Cow::Owned(written)
    }

    /// Appends the name of an atom key.
    pub fn rename(&self, name: &[u8], to: &mut Vec<u8>) {
        match self.names.binary_search_by(|pair| pair[0].as_slice().cmp(name)) {
            Ok(found) => to.extend_from_slice(&self.names[found][1]),
            Err(_) if self.camel => camel(name, to),
            Err(_) => to.extend_from_slice(name),
        }
    }
}

/// Where what becomes of an atom may be remembered. The lowest bits of its number only say that it is one.
#[inline(always)]
const fn places(number: u64) -> [usize; 2] {
    let place = (number >> 6) as usize % ATOMS;
    [place, place ^ 1]
}

/// Where the decision about keys with this number is kept.
#[inline(always)]
const fn slot(number: u64) -> usize {
    (number >> 4 ^ number >> 9 ^ number >> 56) as usize % DECISIONS
}

/// Eight bytes at a time: in the WebAssembly module every turn of a loop costs a look at the deadline.
#[inline(always)]
fn has_underscore(name: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    let in_word = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'_'));
        word.wrapping_sub(ONES) & !word & ONES << 7 != 0
    };
    let (words, rest) = name.as_chunks::<8>();
    match name.last_chunk::<8>() {
        Some(last) => in_word(last) || words.iter().any(in_word),
        None => rest.contains(&b'_'),
    }
}

/// `_` goes, and a letter of ASCII behind it becomes a capital; those in front and at the end stay.
fn camel(name: &[u8], to: &mut Vec<u8>) {
    let start = name.iter().position(|byte| *byte != b'_').unwrap_or(name.len());
    to.extend_from_slice(&name[..start]);
    for (number, word) in name[start..].split(|byte| *byte == b'_').enumerate() {
        match word.split_first() {
            Some((first, rest)) if number > 0 => {
                to.push(first.to_ascii_uppercase());
                to.extend_from_slice(rest);
            }
            _ => to.extend_from_slice(word),
        }
    }
}

/// Whether a text is among these, which are sorted.
fn is_among(texts: &[Vec<u8>], text: &[u8]) -> bool {
    texts.binary_search_by(|other| other.as_slice().cmp(text)).is_ok()
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number) as usize)
}

fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = number(bytes)?;
    let (text, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(text)
}

fn texts(bytes: &mut &[u8]) -> Option<Vec<Vec<u8>>> {
    let count = number(bytes)?;
    (0..count).map(|_| text(bytes).map(<[u8]>::to_vec)).collect()
}

#[cfg(test)]
mod tests;
