//! The positions of the maps in a term, for maps that cannot be read in order: structs (whose module and fields must be known
//! first), large maps that are walked backwards, and sorted keys. One linear pass, made at the first such map.

use super::tags::{LIST, NIL};
use alloc::vec::Vec;

/// Where a map is.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Offset of its tag.
    pub at: usize,
    /// Offset behind its last value.
    pub end: usize,
    /// Its first entry in [`Index::entries`].
    pub first: usize,
    /// Number of entries.
    pub len: usize,
    /// The entry whose key is `__struct__`, counted from `first`.
    pub module: Option<usize>,
}

/// All maps of a term, in the order of their offsets.
#[derive(Debug, Default)]
pub struct Index {
    records: Vec<Record>,
    entries: Vec<(usize, usize)>,
    /// Offsets of the tags of improper lists, the smallest first.
    improper: Vec<usize>,
    /// The record looked up last: the next lookup is mostly for the one behind it.
    last: usize,
}

/// In place of the offset of a list that ends as it should.
const PROPER: usize = usize::MAX;

/// A container that the pass is in.
struct Open {
    /// Terms still to come.
    left: usize,
    /// The number among the lists, for a list.
    list: Option<usize>,
    /// The record, for a map.
    record: Option<usize>,
    /// Offset of the key whose value comes next.
    key: usize,
}

impl Index {
    /// Makes the index of the term at `start`; `None` if the bytes are not a term.
    pub fn build(bytes: &[u8], start: usize) -> Option<Self> {
        let mut this = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut pos = start;
        // Terms that open containers still wait for: never more than bytes left, so that counts cannot lie.
        let mut promised = 0_usize;
        loop {
            let at = pos;
            let head = super::head::head(bytes, at)?;
            pos = head.body;
            if let Some(container) = open.last_mut() {
                promised -= 1;
                container.left -= 1;
                this.note(bytes, container, at);
                if let Some(list) = container.list
                    && container.left == 0
                    && bytes[at] == NIL
                {
                    this.improper[list] = PROPER;
                }
            }
            if head.terms > 0 || head.is_map {
                promised += head.terms;
                if promised > bytes.len().checked_sub(pos)? {
                    return None;
                }
                let record = head.is_map.then(|| this.add(at, head.terms / 2));
                let list = (bytes[at] == LIST).then(|| this.list(at));
                open.push(Open { left: head.terms, list, record, key: 0 });
            }
            while open.last().is_some_and(|container| container.left == 0) {
                if let Some(record) = open.pop()?.record {
                    this.records[record].end = pos;
                }
            }
            if open.is_empty() {
                this.improper.retain(|&at| at != PROPER);
                return Some(this);
            }
        }
    }

    /// A list counts as improper until its end. So they are in the order of their tags.
    fn list(&mut self, at: usize) -> usize {
        self.improper.push(at);
        self.improper.len() - 1
    }

    fn add(&mut self, at: usize, len: usize) -> usize {
        let first = self.entries.len();
        self.records.push(Record { at, end: 0, first, len, module: None });
        self.entries.resize(first + len, (0, 0));
        self.records.len() - 1
    }

    /// A term in a map: a key and a value by turns.
    fn note(&mut self, bytes: &[u8], container: &mut Open, at: usize) {
        let Some(record) = container.record.map(|record| &mut self.records[record]) else { return };
        if container.left % 2 == 1 {
            container.key = at;
            return;
        }
        let entry = record.len - 1 - container.left / 2;
        self.entries[record.first + entry] = (container.key, at);
        if super::head::atom_at(bytes, container.key) == Some(b"__struct__") {
            record.module = Some(entry);
        }
    }

    /// The record of the map at this offset.
    #[inline(always)]
    pub fn find(&mut self, at: usize) -> Option<Record> {
        for guess in [self.last + 1, self.last] {
            if let Some(record) = self.records.get(guess).filter(|record| record.at == at) {
                self.last = guess;
                return Some(*record);
            }
        }
        self.last = self.records.binary_search_by_key(&at, |record| record.at).ok()?;
        Some(self.records[self.last])
    }

    /// Whether there is an improper list at this offset.
    pub fn is_improper(&self, at: usize) -> bool {
        self.improper.binary_search(&at).is_ok()
    }

    /// Number of the record that was found last.
    pub fn found(&self) -> usize {
        self.last
    }

    /// The record of this number.
    #[inline(always)]
    pub fn record(&self, number: usize) -> Option<&Record> {
        self.records.get(number)
    }

    /// Offsets of key and value of an entry.
    #[inline(always)]
    pub fn entry(&self, number: usize) -> Option<(usize, usize)> {
        self.entries.get(number).copied()
    }
}
