//! The keys of the objects that are open, to find repeated ones (compared after unescaping) when an object ends.
//!
//! Nearly all objects repeat no key, so a cheap test comes first: a few keys are compared pairwise by a 64-bit id, more of
//! them set bits in a bitmap. Large objects, and those where a bit was already set, use a hash table with a seed from the
//! shell, so that no document can choose keys that collide. The time is linear in the input.

use crate::builder::{Key, short_word};
use crate::error::{Error, ErrorKind};
use crate::options::Duplicates;
use crate::room::room;
use alloc::vec::Vec;

/// Up to this many keys the pairwise way is faster.
const PAIRWISE: usize = 12;
/// Up to this many keys the bitmap rarely has a bit set twice by different keys.
const SPARSE: usize = 64;

/// A key of an open object.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Its ends and its length mixed: different for different keys of up to 16 bytes, nearly always.
    id: u64,
    /// Offset of the opening quote in the input.
    quote: usize,
    /// Length of the text after unescaping.
    len: usize,
    /// Offset in the buffer of unescaped keys, or [`PLAIN`].
    unescaped: usize,
}

/// The text stands in the input as it is.
const PLAIN: usize = usize::MAX;

/// Reused buffers for the keys of open objects.
#[derive(Debug, Default)]
pub(super) struct Keys {
    records: Vec<Record>,
    table: Vec<u32>,
    /// Whether each key of the current object is dropped.
    marks: Vec<bool>,
    dropped: Vec<u32>,
}

/// What the texts of the records are read from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub input: &'a [u8],
    pub unescaped: &'a [u8],
}

impl Keys {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.records.clear();
    }

    /// Keys there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.records.capacity().max(self.table.capacity())
    }

    /// Remembers a key. `unescaped` is where its text starts in the buffer, if it had escapes.
    #[inline(always)]
    pub(super) fn push(&mut self, key: &Key<'_>, quote: usize, unescaped: Option<usize>) -> Result<(), Error> {
        let len = key.text.bytes().len();
        let id = key.head ^ key.tail.rotate_left(21) ^ (len as u64).rotate_right(8);
        room(&mut self.records, 1).map_err(|kind| Error::new(kind, quote))?;
        self.records.push(Record { id, quote, len, unescaped: unescaped.unwrap_or(PLAIN) });
        Ok(())
    }

    /// Takes the last `len` keys off and returns the numbers (ascending) of those that do not count.
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        len: usize,
        source: Source<'_>,
        duplicates: Duplicates,
        seed: u64,
    ) -> Result<&[u32], Error> {
        self.dropped.clear();
        let base = self.records.len() - len;
        let keys = &self.records[base..];
        let suspicious = if len <= PAIRWISE { some_equal(keys) } else { len > SPARSE || some_collide(keys) };
        if suspicious {
            self.search_table(base, source, duplicates, seed)?;
        }
        self.discard(len);
        Ok(&self.dropped)
    }

    /// Takes the last `len` keys off.
    #[inline(always)]
    pub(super) fn discard(&mut self, len: usize) {
        self.records.truncate(self.records.len() - len);
    }

    /// The ids serve as hashes, because they are already there. A document can choose keys with the same id, so when that takes too
    /// much work, the texts are hashed instead.
    #[inline(never)]
    fn search_table(
        &mut self,
        base: usize,
        source: Source<'_>,
        duplicates: Duplicates,
        seed: u64,
    ) -> Result<(), Error> {
        let most = 4 * (self.records.len() - base);
        let by_id = |keys: &Self, index: usize| fold(keys.records[index].id ^ seed, seed ^ MIX);
        if !self.fill_table(base, source, duplicates, most, by_id)? {
            self.fill_table(base, source, duplicates, usize::MAX, |keys, index| keys.hash(index, source, seed))?;
        }
        let marks = self.marks.iter().enumerate();
        self.dropped.extend(marks.filter(|(_, dropped)| **dropped).map(|(number, _)| number as u32));
        Ok(())
    }

    /// Open addressing with linear probing, at most half full; entries are numbers of keys plus one. Returns `false` when comparing
    /// different keys takes more work than `most`.
    #[inline(always)]
    fn fill_table(
        &mut self,
        base: usize,
        source: Source<'_>,
        duplicates: Duplicates,
        mut most: usize,
        hash: impl Fn(&Self, usize) -> u64,
    ) -> Result<bool, Error> {
        let count = self.records.len() - base;
        let size = (count * 2).next_power_of_two();
        self.make_room(size, count).map_err(|kind| Error::new(kind, self.records[base].quote))?;
        self.table.resize(size, 0);
        self.marks.resize(count, false);
        for new in 0..count {
            let mut slot = hash(self, base + new) as usize & (size - 1);
            loop {
                let old = self.table[slot] as usize;
                if old == 0 {
                    self.table[slot] = new as u32 + 1;
                    break;
                }
                if self.equal(base + old - 1, base + new, source) {
                    self.repeat(old - 1, new, base, duplicates)?;
                    if duplicates == Duplicates::Last {
                        self.table[slot] = new as u32 + 1;
                    }
                    break;
                }
                if most == 0 {
                    return Ok(false);
                }
                most = most.saturating_sub(self.work(base + old - 1, base + new));
                slot = (slot + 1) & (size - 1);
            }
        }
        Ok(true)
    }

    /// Empties the table, the marks and the list of what is dropped, with room for all that may come.
    fn make_room(&mut self, size: usize, count: usize) -> Result<(), ErrorKind> {
        self.table.clear();
        self.marks.clear();
        room(&mut self.table, size)?;
        room(&mut self.marks, count)?;
        room(&mut self.dropped, count)
    }

    #[cold]
    fn repeat(&mut self, old: usize, new: usize, base: usize, duplicates: Duplicates) -> Result<(), Error> {
        match duplicates {
            Duplicates::Last => self.marks[old] = true,
            Duplicates::First => self.marks[new] = true,
            Duplicates::Error => {
                return Err(Error::new(ErrorKind::DuplicateKey, self.records[base + new].quote));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn equal(&self, a: usize, b: usize, source: Source<'_>) -> bool {
        let (x, y) = (&self.records[a], &self.records[b]);
        x.id == y.id && x.len == y.len && text(x, source) == text(y, source)
    }

    /// What [`Keys::equal`] costs: long keys that share an id and much of their text take long to tell apart.
    #[inline(always)]
    fn work(&self, a: usize, b: usize) -> usize {
        let (x, y) = (&self.records[a], &self.records[b]);
        if x.id == y.id && x.len == y.len { 1 + x.len / 16 } else { 1 }
    }

    #[inline(always)]
    fn hash(&self, index: usize, source: Source<'_>, seed: u64) -> u64 {
        let record = &self.records[index];
        let mut state = record.len as u64 ^ seed;
        let (words, rest) = text(record, source).as_chunks();
        for word in words {
            state = fold(state ^ u64::from_le_bytes(*word), seed ^ MIX);
        }
        fold(state ^ short_word(rest), seed ^ MIX)
    }
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Both halves of the product, folded.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let (low, high) = super::float::multiply(a, b);
    low ^ high
}

fn text<'a>(record: &Record, source: Source<'a>) -> &'a [u8] {
    let (from, start) =
        if record.unescaped == PLAIN { (source.input, record.quote + 1) } else { (source.unescaped, record.unescaped) };
    &from[start..start + record.len]
}

/// Whether two ids are the same, without a branch per pair.
#[inline(always)]
fn some_equal(keys: &[Record]) -> bool {
    let mut found = false;
    for (i, key) in keys.iter().enumerate() {
        for other in &keys[..i] {
            found |= key.id == other.id;
        }
    }
    found
}

/// Whether two ids fall on the same of 4,096 bits.
#[inline(always)]
fn some_collide(keys: &[Record]) -> bool {
    let mut bits = [0u64; 64];
    let mut found = 0;
    for key in keys {
        let hash = key.id.wrapping_mul(MIX) >> 52;
        let (word, bit) = (&mut bits[(hash >> 6) as usize & 63], 1 << (hash & 63));
        found |= *word & bit;
        *word |= bit;
    }
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Nothing;
    use crate::{DecodeOptions, Scratch, decode};
    use alloc::format;
    use alloc::string::String;

    fn check(json: &str) -> Result<(), Error> {
        let options = DecodeOptions { duplicates: Duplicates::Error, seed: 7, ..DecodeOptions::default() };
        decode(json.as_bytes(), &options, &mut Scratch::default(), &mut Nothing)
    }

    fn object(keys: impl Iterator<Item = String>) -> String {
        let members: Vec<_> = keys.map(|key| format!("\"{key}\":0")).collect();
        format!("{{{}}}", members.join(","))
    }

    /// The middle of a long key is not part of its id: all of these have the same.
    #[test]
    fn keys_with_one_id_are_told_apart() {
        let key = |n: usize| format!("aaaaaaaa{n:05}bbbbbbbb");
        for count in if cfg!(miri) { &[65, 200][..] } else { &[65, 1_000, 20_000] }.iter().copied() {
            assert_eq!(check(&object((0..count).map(key))), Ok(()));
            let repeated = object((0..count).map(key).chain([key(count / 2)]));
            let offset = repeated.rfind("\"aaaaaaaa").unwrap_or_default();
            assert_eq!(check(&repeated), Err(Error::new(ErrorKind::DuplicateKey, offset)));
        }
    }

    /// Few keys of the same id are compared often only if they are long.
    #[test]
    fn long_keys_with_one_id_are_not_compared_for_long() {
        let (long, len) = (20u8, 4096);
        let input: Vec<u8> =
            core::iter::once(b'"').chain((0..long).flat_map(|n| core::iter::repeat_n(n, len))).collect();
        let record = |id, quote, len| Record { id, quote, len, unescaped: PLAIN };
        let mut keys = Keys::default();
        keys.records.extend((1..=100).map(|id| record(id, 0, 1)));
        keys.records.extend((0..usize::from(long)).map(|n| record(0, n * len, len)));
        let source = Source { input: &input, unescaped: &[] };
        let by_id = |keys: &Keys, index: usize| fold(keys.records[index].id ^ 7, MIX);
        let most = 4 * keys.records.len();
        assert_eq!(keys.fill_table(0, source, Duplicates::Last, most, by_id), Ok(false));
        assert_eq!(keys.fill_table(0, source, Duplicates::Last, usize::MAX, by_id), Ok(true));
        assert!(!keys.marks.contains(&true));
    }

    #[test]
    fn keys_of_many_ids_are_told_apart() {
        for count in if cfg!(miri) { &[13, 65, 200][..] } else { &[13, 65, 5_000] }.iter().copied() {
            let key = |n: usize| format!("key_{n}");
            assert_eq!(check(&object((0..count).map(key))), Ok(()));
            let repeated = object((0..count).map(key).chain([key(count / 2)]));
            let offset = repeated.rfind("\"key_").unwrap_or_default();
            assert_eq!(check(&repeated), Err(Error::new(ErrorKind::DuplicateKey, offset)));
        }
    }
}
