//! Decides which terms the encoder leaves to the shell, without encoding them.
//!
//! The shell turns such a term into one that the encoder can write, except for smaller parts: a struct through its own encoder, a
//! built-in struct with invalid fields into text, a map with unusual keys into an object with string keys. None of the results is
//! accepted here again, so a call ends however often a lying guest asks for help. Where the encoder checks more details, such
//! as the fields of a date, this accepts every term that the shell turns into text or into smaller parts.

use super::head::{atom_at, end, head};
use super::reader::PlannedStruct;
use super::tags::*;
use crate::encode::Known;
use crate::options::{EncodeOptions, Records};
use alloc::vec::Vec;

/// What decides beside the term.
pub struct Unwritten<'a> {
    pub etf: &'a [u8],
    pub options: &'a EncodeOptions<'a>,
    pub plans: &'a [PlannedStruct<'a>],
}

/// Offsets of a map's keys and values.
type Entries = Vec<(usize, usize)>;

impl Unwritten<'_> {
    /// Whether the term at this offset may be a hole where a value stands.
    pub fn value(&self, at: usize) -> bool {
        match self.etf.get(at) {
            Some(&tag) if is_opaque(tag) => true,
            Some(&LIST) => self.options.leave_unsupported && self.is_improper(at),
            Some(&MAP) => self.entries(at).is_some_and(|entries| self.map(&entries)),
            _ => false,
        }
    }

    /// Whether the term at this offset may be a hole where a key stands: a charlist, or a struct; any compound term where those are
    /// left to the shell.
    pub fn key(&self, at: usize) -> bool {
        match self.etf.get(at) {
            Some(&tag) if is_list(tag) => true,
            Some(&tag) if self.options.leave_unsupported && (is_opaque(tag) || is_tuple(tag) || tag == MAP) => true,
            Some(&MAP) => self.entries(at).is_some_and(|entries| self.module(&entries).is_some()),
            _ => false,
        }
    }

    fn map(&self, entries: &Entries) -> bool {
        let Some(module) = self.module(entries) else { return self.is_gathered(entries) };
        match Known::find(module) {
            Some(Known::Fragment) => {
                // In a record it may have line breaks.
                let laid_out = self.options.pretty.is_some() || self.options.records != Records::None;
                laid_out || self.tag_of(entries, Known::Encode) != Some(BINARY)
            }
            Some(Known::OrderedObject) => self.ordered_object(entries),
            Some(known) if !self.options.lean && (known as usize) < Known::MODULES => {
                self.has_own_encoder(module) || self.is_odd(known, entries)
            }
            known if self.options.plain_structs || self.options.lean && known.is_some() => self.is_gathered(entries),
            _ => self.has_no_plan(module, entries),
        }
    }

    /// A type that the application encodes itself: of the well-known modules, only those have a plan.
    fn has_own_encoder(&self, module: &[u8]) -> bool {
        !self.options.plain_structs && self.plans.iter().any(|plan| plan.module == module)
    }

    /// A struct of another module: without a plan, or without a field that its plan has.
    fn has_no_plan(&self, module: &[u8], entries: &Entries) -> bool {
        let Some(plan) = self.plans.iter().find(|plan| plan.module == module) else { return true };
        plan.fields.iter().any(|field| self.field(entries, field).is_none())
    }

    /// A well-known struct that may not be what its module makes.
    fn is_odd(&self, known: Known, entries: &Entries) -> bool {
        match known {
            Known::MapSet => self.tag_of(entries, Known::Map) != Some(MAP),
            Known::Range => {
                let small = |name| self.field(entries, Known::text(name).as_bytes()).map(|at| self.is_small(at));
                let (first, last, step) = (small(Known::First), small(Known::Last), small(Known::Step));
                (first, last) != (Some(true), Some(true)) || step == Some(false)
            }
            // Their modules make texts of them, sound or not.
            _ => true,
        }
    }

    /// Whether an integer is sure to have 64 bits.
    fn is_small(&self, at: usize) -> bool {
        match self.etf.get(at) {
            Some(&(SMALL_INTEGER | INTEGER)) => true,
            Some(&SMALL_BIG) => self.etf.get(at + 1).is_some_and(|&len| len < 8),
            _ => false,
        }
    }

    fn ordered_object(&self, entries: &Entries) -> bool {
        let Some(values) = self.field(entries, Known::Values.text().as_bytes()) else { return true };
        match self.etf.get(values) {
            Some(&LIST) if self.options.leave_unsupported => self.pairs_are_odd(values).unwrap_or(true),
            Some(&LIST) => self.gathers() && self.pairs_have_odd_key(values).unwrap_or(false),
            Some(&STRING) => self.options.leave_unsupported,
            Some(&tag) => !is_list(tag),
            None => true,
        }
    }

    /// Whether the list at this offset is improper, or has an element that is not a pair or has an odd key.
    fn pairs_are_odd(&self, list: usize) -> Option<bool> {
        let head = head(self.etf, list)?;
        let mut at = head.body;
        for _ in 1..head.terms {
            if self.etf.get(at..at + 2) != Some(&[SMALL_TUPLE, 2]) || self.key(at + 2) {
                return Some(true);
            }
            at = end(self.etf, at)?;
        }
        Some(self.etf.get(at) != Some(&NIL))
    }

    /// Whether the list at this offset ends in anything but an empty one.
    fn is_improper(&self, list: usize) -> bool {
        let tail = head(self.etf, list).and_then(|head| (1..head.terms).try_fold(head.body, |at, _| end(self.etf, at)));
        tail.is_some_and(|tail| self.etf.get(tail) != Some(&NIL))
    }

    /// Whether a pair in the list at this offset has an odd key.
    fn pairs_have_odd_key(&self, list: usize) -> Option<bool> {
        let head = head(self.etf, list)?;
        let mut at = head.body;
        // The last part is the tail.
        for _ in 1..head.terms {
            if self.etf.get(at..at + 2) == Some(&[SMALL_TUPLE, 2]) && self.key(at + 2) {
                return Some(true);
            }
            at = end(self.etf, at)?;
        }
        Some(false)
    }

    /// Whether an object's members are looked at before one is written. A key that only the shell knows then leaves all of
    /// it to the shell.
    const fn gathers(&self) -> bool {
        self.options.gathers()
    }

    fn is_gathered(&self, entries: &Entries) -> bool {
        self.gathers() && entries.iter().any(|&(key, _)| self.key(key))
    }

    fn entries(&self, at: usize) -> Option<Entries> {
        let head = head(self.etf, at)?;
        let (mut entries, mut at) = (Vec::new(), head.body);
        for _ in 0..head.terms / 2 {
            let value = end(self.etf, at)?;
            entries.push((at, value));
            at = end(self.etf, value)?;
        }
        Some(entries)
    }

    fn field(&self, entries: &Entries, name: &[u8]) -> Option<usize> {
        entries.iter().find(|&&(key, _)| atom_at(self.etf, key) == Some(name)).map(|&(_, value)| value)
    }

    fn tag_of(&self, entries: &Entries, name: Known) -> Option<u8> {
        self.etf.get(self.field(entries, name.text().as_bytes())?).copied()
    }

    fn module(&self, entries: &Entries) -> Option<&[u8]> {
        atom_at(self.etf, self.field(entries, Known::Struct.text().as_bytes())?)
    }
}

const fn is_tuple(tag: u8) -> bool {
    matches!(tag, SMALL_TUPLE | LARGE_TUPLE)
}

const fn is_list(tag: u8) -> bool {
    matches!(tag, NIL | LIST | STRING)
}

/// Whether JSON has no form for a term with this tag.
const fn is_opaque(tag: u8) -> bool {
    let local = matches!(tag, NEW_PID | PID | NEW_PORT | PORT | V4_PORT | NEWER_REFERENCE | REFERENCE | NEW_REFERENCE);
    local || matches!(tag, NEW_FUN | EXPORT | NATIVE_RECORD | BIT_BINARY | FLOAT)
}
