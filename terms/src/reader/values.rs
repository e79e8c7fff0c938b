//! What a term is: read in place where the layout of the VM is known, and otherwise by asking the VM.

use super::{Map, Terms};
use crate::atoms;
use crate::known::{Names, names};
use crate::raw::layout::Layout;
use crate::raw::read::{Raw, SmallMap};
use crate::tags::{Kind, kind};
use rustler::Env;
use rustler::types::atom;
use rustyjson_core::encode::{Known, Value};
use std::sync::OnceLock;

/// Words that are told from those of other atoms.
pub(super) struct Words {
    pub(super) names: &'static Names,
    pub(super) nil: usize,
    yes: usize,
    no: usize,
}

static WORDS: OnceLock<Words> = OnceLock::new();

pub(super) fn words(env: Env<'_>) -> &'static Words {
    WORDS.get_or_init(|| Words {
        names: names(env),
        nil: Raw::atom(atoms::nil()).word(),
        yes: Raw::atom(atom::true_()).word(),
        no: Raw::atom(atom::false_()).word(),
    })
}

impl<'a> Terms<'a, '_> {
    #[inline(always)]
    pub(super) fn atom_value(&self, word: usize) -> Value<'a, Self> {
        if word == self.words.nil {
            Value::Nil
        } else if word == self.words.yes {
            Value::True
        } else if word == self.words.no {
            Value::False
        } else {
            Value::Atom
        }
    }

    /// Reads a boxed term: in place if possible, and otherwise the likely kinds first.
    #[inline(always)]
    pub(super) fn boxed_in_place(&mut self, layout: &Layout, term: Raw<'a>) -> Value<'a, Self> {
        if let Some(bytes) = layout.binary(term) {
            return Value::Binary(bytes);
        }
        if let Some(value) = layout.float(term) {
            return Value::Float(value);
        }
        if let Some(members) = layout.small_map(term) {
            return Value::Map(Map { map: term, size: members.keys.len(), members: Some(members) });
        }
        match self.look.binary(term) {
            Some(bytes) => Value::Binary(bytes),
            None => self.boxed(term),
        }
    }

    /// Reads a boxed term by asking the VM for one kind after the other, the likely ones first. Each question reads a header.
    #[inline(never)]
    pub(super) fn boxed(&mut self, term: Raw<'a>) -> Value<'a, Self> {
        if self.floats
            && let Some(value) = self.look.float(term)
        {
            return Value::Float(value);
        }
        if let Some(bytes) = self.look.binary(term) {
            self.floats = false;
            return Value::Binary(bytes);
        }
        if let Some(size) = self.look.map_size(term) {
            return Value::Map(Map { map: term, size, members: None });
        }
        self.rarely_boxed(term)
    }

    #[inline(never)]
    fn rarely_boxed(&mut self, term: Raw<'a>) -> Value<'a, Self> {
        if let Some(value) = self.look.float(term) {
            self.floats = true;
            return Value::Float(value);
        }
        if let Some(elements) = self.look.tuple(term) {
            return Value::Tuple(elements);
        }
        if let Some(value) = self.look.integer(term) {
            return Value::Integer(value);
        }
        if self.look.is_number(term) { Value::Big } else { Value::Other }
    }

    /// Reads every other term, and all terms if the tags are not the known ones.
    #[cold]
    #[inline(never)]
    pub(super) fn unknown(&mut self, term: Raw<'a>) -> Value<'a, Self> {
        if self.look.is_list(term) {
            return Value::List(term);
        }
        if self.look.is_atom(term) {
            return self.atom_value(term.word());
        }
        self.boxed(term)
    }

    /// The value of a key that is an atom: in a small map, that of the same word.
    #[inline(always)]
    pub(super) fn value_of(&self, map: &Map<'a>, key: Raw<'a>) -> Option<Raw<'a>> {
        match map.members {
            Some(SmallMap { keys, values }) => {
                let place = keys.iter().position(|other| other.word() == key.word())?;
                values.get(place).copied()
            }
            None => self.look.map_get(map.map, key),
        }
    }

    /// Whether this term may be a struct.
    pub(super) fn may_be_struct(&self, layout: &Layout, term: Raw<'a>) -> bool {
        if kind(term.word()) != Kind::Boxed || layout.binary(term).is_some() || layout.float(term).is_some() {
            return false;
        }
        let Some(members) = layout.small_map(term) else { return true };
        let name = self.known_term(Known::Struct).word();
        members.keys.iter().any(|key| key.word() == name)
    }

    /// Whether it is an atom. The VM is asked only where its tags are not the known ones.
    #[inline(always)]
    pub(super) fn is_atom(&self, term: Raw<'a>) -> bool {
        if self.layout.is_some() { kind(term.word()) == Kind::Atom } else { self.look.is_atom(term) }
    }

    #[inline(always)]
    pub(super) fn known_term(&self, known: Known) -> Raw<'static> {
        self.words.names.term(known)
    }
}
