//! Members that are redacted, renamed or left out. A key decides about redaction before its value is looked at, under its own name and
//! under the one with which it is written.

use super::driver::{Driver, Items, Next, Walk};
use super::error::EncodeErrorKind;
use super::gathered::Member;
use super::limits;
use super::reader::{TermReader, Value};
use super::repair::written_key;
use super::structs::plan_omits;
use super::writer::Writer;
use crate::options::shape::Shape;
use crate::simd::copy::CopyKernel;
use alloc::borrow::Cow;
use alloc::vec::Vec;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Writes what stands for a redacted value.
    #[cold]
    pub fn redacted(&mut self) -> Walk<Next<R::Term>> {
        let text = self.shape.map_or(&b""[..], |shape| &*shape.redacted);
        self.rare_string(text)?;
        Ok(Next::Done)
    }

    /// An array is open.
    #[inline(always)]
    pub fn enter_items(&mut self) -> Walk<()> {
        if self.shape.is_some_and(|shape| !shape.pointers.is_empty()) {
            limits::room(&mut self.places, 1)?;
            self.places.push(Items { scope: self.scope, next: 0 });
        }
        Ok(())
    }

    /// The next element of an array, which a pointer may redact.
    #[inline(always)]
    pub fn item(&mut self, item: R::Term) -> Walk<Next<R::Term>> {
        if self.places.is_empty() { Ok(Next::Value(item)) } else { self.item_at_place(item) }
    }

    #[cold]
    #[inline(never)]
    fn item_at_place(&mut self, item: R::Term) -> Walk<Next<R::Term>> {
        let (Some(shape), Some(place)) = (self.shape, self.places.last_mut()) else { return Ok(Next::Value(item)) };
        let mut number = itoa::Buffer::new();
        let (scope, number) = (place.scope, number.format(place.next).as_bytes());
        place.next += 1;
        self.charge(scope.count_ones() as usize);
        match shape.descend(scope, self.stack.len() - 1, number) {
            Some(scope) => {
                self.scope = scope;
                Ok(Next::Value(item))
            }
            None => {
                self.reader.pass(item);
                self.redacted()
            }
        }
    }

    /// Adds a member whose key is the end of the gathered text, in the form in which it is written.
    pub fn add_member(&mut self, start: usize, is_atom: bool, value: R::Term) -> Walk<()> {
        let Some(shape) = self.shape else { return self.push_member(start, Some(value), 0) };
        self.look(shape, self.scope, self.gathered.text.len() - start)?;
        let most = self.most_repaired();
        let key = &self.gathered.text.written()[start..];
        let written = if is_atom { shape.new_name(key) } else { written_key(key, most)? };
        let scope = shape.scope_of(self.scope, self.stack.len(), key, &written);
        let omitted = scope.is_some() && self.omits(shape, value);
        if omitted {
            self.omitted(self.gathered.text.len() - start)?;
            self.gathered.text.truncate(start);
        } else if is_atom {
            self.rename(shape, start);
        }
        if omitted { Ok(()) } else { self.push_member(start, scope.map(|_| value), scope.unwrap_or_default()) }
    }

    /// Takes the look at a key of this many bytes from the budget, before it is taken.
    #[inline(always)]
    pub fn look(&mut self, shape: &Shape, scope: u64, bytes: usize) -> Walk<()> {
        if scope == 0 && shape.words.is_empty() { Ok(()) } else { self.spend_look(shape, scope, bytes) }
    }

    #[inline(never)]
    fn spend_look(&mut self, shape: &Shape, scope: u64, bytes: usize) -> Walk<()> {
        let work = limits::work_of_look(shape, bytes);
        if self.in_slice() && work > limits::LONG_LOOK {
            return Err(EncodeErrorKind::Budget);
        }
        self.spend(scope.count_ones() as usize + work)
    }

    fn push_member(&mut self, start: usize, value: Option<R::Term>, scope: u64) -> Walk<()> {
        let end = self.repair_key(start)?;
        limits::room(&mut self.gathered.members, 1)?;
        self.gathered.members.push(Member { start, end, value, scope });
        Ok(())
    }

    fn rename(&mut self, shape: &Shape, start: usize) {
        let mut name = Vec::new();
        shape.rename(&self.gathered.text.written()[start..], &mut name);
        self.gathered.text.truncate(start);
        self.gathered.text.text(&name);
    }

    /// Whether the call leaves out members with this value.
    pub fn omits(&mut self, shape: &Shape, value: R::Term) -> bool {
        match self.reader.read(value) {
            Value::Nil => shape.omit_nil,
            Value::Map(map) if !shape.omitted.is_empty() => {
                let Some(module) = self.reader.module(&map) else { return false };
                let name = self.reader.atom_text(module).bytes;
                shape.omits_module(name)
            }
            _ => false,
        }
    }

    /// Adds a field of a struct with a plan, whose derivation beats the call.
    pub fn gather_field(&mut self, plan: &R::Plan, field: R::Field, value: R::Term) -> Walk<()> {
        let rules = self.reader.plan_rules(plan);
        let start = self.gathered.text.len();
        self.gathered.text.text(self.reader.own_field_text(field).bytes);
        let Some(shape) = self.shape else {
            if rules.omits && plan_omits(self.reader, plan, value) {
                self.gathered.text.truncate(start);
                return self.left_out(1);
            }
            self.write_field_name(start, field);
            return self.push_member(start, Some(value), 0);
        };
        self.look(shape, self.scope, self.gathered.text.len() - start)?;
        let scope = self.scope_of_field(shape, start, field, rules.renames);
        let omitted = scope.is_some()
            && if rules.omits { plan_omits(self.reader, plan, value) } else { self.omits(shape, value) };
        if omitted {
            self.gathered.text.truncate(start);
        } else if rules.renames {
            self.write_field_name(start, field);
        } else {
            self.rename(shape, start);
        }
        if omitted {
            return self.left_out(1);
        }
        self.push_member(start, scope.map(|_| value), scope.unwrap_or_default())
    }

    fn scope_of_field(&mut self, shape: &Shape, start: usize, field: R::Field, renamed: bool) -> Option<u64> {
        let name = &self.gathered.text.written()[start..];
        let written = if renamed { Cow::Borrowed(self.reader.field_text(field).bytes) } else { shape.new_name(name) };
        shape.scope_of(self.scope, self.stack.len(), name, &written)
    }

    fn write_field_name(&mut self, start: usize, field: R::Field) {
        self.gathered.text.truncate(start);
        self.gathered.text.text(self.reader.field_text(field).bytes);
    }

    /// Writes a name of a range, which is no atom in a map. `false`: it is redacted.
    pub fn range_member(&mut self, name: &[u8]) -> Walk<bool> {
        let Some(shape) = self.shape else {
            self.rare_string_key(name)?;
            return Ok(true);
        };
        let renamed = shape.new_name(name);
        let shown = shape.scope_of(self.scope, self.stack.len(), name, &renamed).is_some();
        self.rare_string_key(&renamed)?;
        if !shown {
            self.redacted()?;
        }
        Ok(shown)
    }
}
