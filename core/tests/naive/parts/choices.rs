//! Bytes that choose pointers and types.

use super::pointers::Path;
use super::rules::{Automaton, Rules};
use super::types::{Record, Type};
use std::cell::OnceCell;
use std::rc::{Rc, Weak};

/// Bytes that choose.
pub struct Choices<'a> {
    bytes: &'a [u8],
    /// The types with a name around the current one.
    named: Vec<Weak<OnceCell<Type>>>,
}

impl<'a> Choices<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, named: Vec::new() }
    }

    pub fn next(&mut self) -> usize {
        let Some((byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*byte)
    }

    fn name(&mut self) -> String {
        NAMES[self.next() % NAMES.len()].into()
    }

    pub fn path(&mut self) -> Path {
        (0..self.next() % 4).map(|_| self.name()).collect()
    }

    pub fn types(&mut self, depth: usize) -> Type {
        let choice = self.next();
        if let (80..96, Some(named)) = (choice, self.named.get(choice % self.named.len().max(1))) {
            return Type::Again(named.clone());
        }
        if depth > 0 && (64..80).contains(&choice) {
            return self.named(depth);
        }
        if depth == 0 || choice < 96 {
            return Type::Plain((choice % 12) as u8);
        }
        let mut inner = || Box::new(self.types(depth - 1));
        match choice % 11 {
            0 => Type::List(inner()),
            1 => Type::Many(inner()),
            2 => Type::Map(inner()),
            3 => Type::Nullable(Box::new(not_nullable(*inner()))),
            4 => {
                let mut names: Vec<_> = (0..=self.next() % 3).map(|_| self.name()).collect();
                // No type has a name twice.
                names.sort();
                names.dedup();
                Type::Enum(names)
            }
            5 => Type::Loaded(32 + (self.next() % 3) as u32),
            6 => self.tagged(depth - 1),
            7 | 8 => {
                let inner = match self.next() % 8 {
                    0 => Type::List(Box::new(self.types(depth - 1))),
                    1 => Type::Map(Box::new(self.types(depth - 1))),
                    kind => Type::Plain([1, 1, 2, 3, 4, 6][kind - 2]),
                };
                let rules = self.rules(&inner);
                Type::Checked(Box::new(inner), rules)
            }
            _ => Type::Struct(self.record(depth - 1, None)),
        }
    }

    fn tagged(&mut self, depth: usize) -> Type {
        let key = self.name();
        let variants = (0..=self.next() % 2).map(|_| (self.name(), self.record(depth, Some(&key))));
        Type::Tagged(key.clone(), variants.collect())
    }

    /// A struct, or several, whose fields can be of the same type.
    fn named(&mut self, depth: usize) -> Type {
        let cell = Rc::new(OnceCell::new());
        self.named.push(Rc::downgrade(&cell));
        let tagged = self.next() & 1 == 0;
        let of = if tagged { self.tagged(depth - 1) } else { Type::Struct(self.record(depth - 1, None)) };
        self.named.pop();
        cell.set(of).expect("it is empty");
        Type::Named(cell)
    }

    fn automaton(&mut self) -> Automaton {
        let (modulus, classes) = (1 + self.next() as u8 % 7, 1 + self.next() % 3);
        // Some lead to states that are not there.
        let mut row = || (0..=classes).map(|_| self.next() as u16 % 7).collect();
        let rows = vec![vec![0; 1 + classes], [vec![1], vec![0; classes]].concat(), row(), row(), row()];
        Automaton { modulus, first: self.next() as u16 % 6, rows }
    }

    fn rules(&mut self, of: &Type) -> Rules {
        let mut limit = || match self.next() {
            choice if choice.is_multiple_of(3) => None,
            choice => Some(choice as i32 % 20 - 10),
        };
        let (least, most) = (limit(), limit());
        let number = matches!(of, Type::Plain(2..=6));
        let mut rules = Rules { least, most, shortest: 0, longest: u32::MAX, pattern: None, format: 0 };
        if !number {
            let (shortest, longest) = (self.next() as u32, self.next() as u32);
            (rules.least, rules.most) = (None, None);
            (rules.shortest, rules.longest) =
                (shortest % 3, if longest.is_multiple_of(2) { u32::MAX } else { longest % 5 });
        }
        if let Type::Plain(1) = of {
            rules.pattern = if self.next().is_multiple_of(3) { Some(self.automaton()) } else { None };
            rules.format = if self.next().is_multiple_of(4) { 7 + (self.next() % 4) as u8 } else { 0 };
        }
        rules
    }

    fn record(&mut self, depth: usize, tag: Option<&str>) -> Record {
        let (choice, mut fields) = (self.next(), Vec::<(String, bool, bool, Type)>::new());
        for _ in 0..choice % 5 {
            let key = self.name();
            if fields.iter().all(|field| field.0 != key) {
                fields.push((key, self.next() & 1 == 0, false, self.types(depth)));
            }
        }
        // As Elixir does for the tag, unless it is a field.
        if let Some(tag) = tag
            && fields.iter().all(|field| field.0 != tag)
        {
            fields.push((tag.into(), false, true, Type::Plain(0)));
        }
        Record { strict: choice & 32 != 0, fields }
    }
}

// The inside of a nullable type is never one.
fn not_nullable(of: Type) -> Type {
    if let Type::Nullable(inner) = of { *inner } else { of }
}

const NAMES: [&str; 13] =
    ["a", "b", "", "0", "1", "2", "01", "-", "é", "ab", "a name", "a longer name", "a name of more than sixteen bytes"];
