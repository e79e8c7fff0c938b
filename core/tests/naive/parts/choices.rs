//! Bytes that choose pointers and types.

use super::pointers::Path;
use super::types::{Record, Type};

/// Bytes that choose.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn next(&mut self) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
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
        if depth == 0 || choice < 96 {
            return Type::Plain((choice % 12) as u8);
        }
        let mut inner = || Box::new(self.types(depth - 1));
        match choice % 9 {
            0 => Type::List(inner()),
            1 => Type::Many(inner()),
            2 => Type::Map(inner()),
            3 => Type::Nullable(Box::new(not_nullable(*inner()))),
            4 => Type::Enum((0..=self.next() % 3).map(|_| self.name()).collect()),
            5 => Type::Loaded(32 + (self.next() % 3) as u32),
            6 => {
                let key = self.name();
                let variants = (0..=self.next() % 2).map(|_| (self.name(), self.record(depth - 1, Some(&key))));
                Type::Tagged(key.clone(), variants.collect())
            }
            _ => Type::Struct(self.record(depth - 1, None)),
        }
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
