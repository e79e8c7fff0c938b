//! The fields of the structs that are written as a text, for whoever can look them up.

use super::known::Known;
use super::notation::Notation;
use super::reader::{TermReader, Value};
use super::{calendar, decimal, duration};
use crate::output::Output;
use alloc::vec::Vec;

/// Looks up fields of a struct. `None`: it has no such field, or one of another type.
pub trait Fields<'t> {
    /// An integer of 64 bits.
    fn integer(&mut self, name: Known) -> Option<i64>;
    /// Sign and little-endian magnitude of a larger one: true when negative.
    fn big_integer(&mut self, name: Known) -> Option<(bool, &[u8])>;
    /// A well-known atom.
    fn atom(&mut self, name: Known) -> Option<Known>;
    /// A binary.
    fn binary(&mut self, name: Known) -> Option<&'t [u8]>;
    /// The first two elements of a tuple, integers of 64 bits.
    fn pair(&mut self, name: Known) -> Option<[i64; 2]>;
}

/// Writes the text of a struct of this module. `None`: it is not shaped as its module makes it, or the module is neither one of the
/// calendar's nor Decimal.
pub fn text_of_struct<'t>(
    module: Known,
    notation: Notation,
    fields: &mut impl Fields<'t>,
    text: &mut Output<Vec<u8>>,
) -> Option<()> {
    match module {
        Known::Date => calendar::date(fields, text),
        Known::Time => calendar::time(fields, text),
        Known::NaiveDateTime => calendar::naive(fields, notation, text),
        Known::DateTime => calendar::date_time(fields, notation, text),
        Known::Duration => duration::duration(fields, notation, text),
        Known::Decimal => decimal::decimal(fields, notation, text),
        _ => None,
    }
}

/// Fields by a reader.
pub(super) struct OfMap<'r, R, M> {
    pub reader: &'r mut R,
    pub map: &'r M,
}

impl<'t, R: TermReader<'t>> OfMap<'_, R, R::Map> {
    fn value(&mut self, name: Known) -> Option<Value<'t, R>> {
        let term = self.reader.field(self.map, name)?;
        Some(self.reader.read(term))
    }
}

impl<'t, R: TermReader<'t>> Fields<'t> for OfMap<'_, R, R::Map> {
    fn integer(&mut self, name: Known) -> Option<i64> {
        match self.value(name)? {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    fn big_integer(&mut self, name: Known) -> Option<(bool, &[u8])> {
        let term = self.reader.field(self.map, name)?;
        matches!(self.reader.read(term), Value::Big).then(|| self.reader.big_integer(term))
    }

    fn atom(&mut self, name: Known) -> Option<Known> {
        let term = self.reader.field(self.map, name)?;
        let is_atom = matches!(self.reader.read(term), Value::Atom);
        if is_atom { self.reader.known(term) } else { None }
    }

    fn binary(&mut self, name: Known) -> Option<&'t [u8]> {
        match self.value(name)? {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn pair(&mut self, name: Known) -> Option<[i64; 2]> {
        let Value::Tuple(mut tuple) = self.value(name)? else { return None };
        let mut next = || {
            let term = self.reader.next_element(&mut tuple)?;
            match self.reader.read(term) {
                Value::Integer(value) => Some(value),
                _ => None,
            }
        };
        let pair = [next()?, next()?];
        self.reader.next_element(&mut tuple).is_none().then_some(pair)
    }
}
