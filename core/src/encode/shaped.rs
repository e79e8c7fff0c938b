//! Maps of a call that redacts, renames or leaves out members. Most are written as they are, the others member by member. They are
//! gathered only where they are sorted or compared, too.

use super::driver::{Driver, Frame, Mark, Next, Walk};
use super::error::EncodeErrorKind;
use super::gather::LARGE;
use super::limits;
use super::reader::{TermReader, Value};
use super::repair::written_key;
use super::structs::plan_omits;
use super::writer::Writer;
use crate::options::shape::{End, Shape};
use crate::output::Output;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;
use core::cell::Cell;

impl<'a, 't, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'a, 't, K, R, W> {
    /// The call's shape, if members need not be gathered for it.
    #[inline(always)]
    fn in_passing(&self) -> Option<&'a Shape> {
        let gathers = self.options.sort_keys || self.options.strict_maps;
        self.shape.filter(|_| !gathers)
    }

    /// Whether the call's shape leaves this map unchanged. About keys that is decided once for all maps that share them.
    #[inline(never)]
    pub fn untouched(&mut self, map: &R::Map) -> bool {
        let Some(shape) = self.in_passing().filter(|_| self.scope == 0) else { return false };
        let Some(number) = self.reader.number_of_keys(map, None) else { return false };
        if shape.omits() && self.reader.may_omit(map, !shape.omitted.is_empty()) {
            return false;
        }
        !shape.minds_keys() || shape.decision(number).unwrap_or_else(|| self.look_at_keys(shape, map, number))
    }

    #[inline(never)]
    fn look_at_keys(&mut self, shape: &Shape, map: &R::Map, number: u64) -> bool {
        let work = self.work_of_keys(shape, map);
        // Where members are looked at one by one, the walk can stop.
        if self.in_slice() && work > limits::LONG_LOOK {
            return false;
        }
        self.charge(work);
        let repairs = self.options.replace_invalid;
        let unchanged = self.reader.keys_pass(map, |key, is_atom| {
            let renamed = if is_atom { shape.renames_key(key) } else { repairs && core::str::from_utf8(key).is_err() };
            !(renamed || shape.is_redacted(key))
        });
        shape.decide(number, unchanged);
        unchanged
    }

    /// The work of the looks at all keys of a map.
    fn work_of_keys(&mut self, shape: &Shape, map: &R::Map) -> usize {
        let bytes = Cell::new(0_usize);
        if !shape.words.is_empty() {
            self.reader.keys_pass(map, |key, _| {
                bytes.set(bytes.get().saturating_add(key.len()));
                true
            });
        }
        limits::work_of_look(shape, bytes.get())
    }

    /// The same for a struct with a plan.
    #[inline(never)]
    pub fn untouched_fields(&mut self, map: &R::Map, plan: R::Plan) -> bool {
        let Some(shape) = self.in_passing().filter(|_| self.scope == 0) else { return false };
        let Some(number) = self.reader.number_of_keys(map, Some(&plan)) else { return false };
        let rules = self.reader.plan_rules(&plan);
        let unchanged = match shape.decision(number) {
            Some(decision) => decision,
            None => self.look_at_fields(shape, map, plan, number),
        };
        // What its derivation leaves out is seen to later.
        unchanged && (rules.omits || !shape.omits() || !self.reader.may_omit(map, !shape.omitted.is_empty()))
    }

    #[cold]
    #[inline(never)]
    fn look_at_fields(&mut self, shape: &Shape, map: &R::Map, mut plan: R::Plan, number: u64) -> bool {
        let rules = self.reader.plan_rules(&plan);
        let (mut unchanged, mut bytes) = (true, 0);
        while unchanged && let Some((field, _)) = self.reader.next_planned(&mut plan, map) {
            let name = self.reader.own_field_text(field).bytes;
            bytes += name.len();
            unchanged = !shape.is_redacted(name) && (rules.renames || !shape.renames_key(name));
            unchanged &= !rules.renames || !self.is_redacted_by_name(shape, field);
        }
        self.charge(limits::work_of_look(shape, bytes));
        shape.decide(number, unchanged);
        unchanged
    }

    /// Opens a map that the call's shape may change.
    #[inline(never)]
    pub fn shaped_map(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        if self.in_passing().is_none() {
            return self.gather_map(term, map, false);
        }
        // Members that are left out are not counted as work.
        if self.in_slice() && self.reader.map_size(&map) > LARGE {
            return Err(EncodeErrorKind::Budget);
        }
        if R::SHARES && self.has_odd_key(&map)? {
            return self.left_to_shell(term);
        }
        limits::room(self.marks, 1)?;
        self.marks.push(Mark { term, start: self.out.length(), holes: self.holes.len() });
        let entries =
            self.reader.entries(&map, self.options.reverse_large_maps, false).ok_or(EncodeErrorKind::OutOfMemory)?;
        self.stack.push(Frame::Shaped(entries, self.scope));
        self.next_shaped(true)
    }

    /// Whether only the shell knows the text of a key, and so whether the value is redacted: the map is left to it, see
    /// [`Driver::is_improper`].
    #[inline(always)]
    fn has_odd_key(&mut self, map: &R::Map) -> Walk<bool> {
        if self.reader.keys_pass(map, |_, _| true) { Ok(false) } else { self.look_for_odd_key(map) }
    }

    #[inline(never)]
    fn look_for_odd_key(&mut self, map: &R::Map) -> Walk<bool> {
        let (mut looked, mut found) = (0, false);
        let mut entries = self.reader.entries(map, false, true).ok_or(EncodeErrorKind::OutOfMemory)?;
        while !found && let Some((key, _)) = self.reader.next_entry(&mut entries) {
            self.spend(limits::OMITTED)?;
            looked += 1;
            found = self.is_odd_key(key);
        }
        self.reader.end_entries();
        if found {
            self.lost(looked)?;
        }
        Ok(found)
    }

    /// A key that is an error is one where it stands.
    fn is_odd_key(&mut self, key: R::Term) -> bool {
        let look = self.reader.read(key);
        let may_be = matches!(look, Value::List(_) | Value::Map(_) | Value::Tuple(_) | Value::Other);
        may_be && matches!(self.key_text(key, look, &mut Output::new(Vec::new())), Ok(false))
    }

    /// Its next member that is not left out. `first`: none is written yet, nor the bracket.
    #[inline(never)]
    pub fn next_shaped(&mut self, first: bool) -> Walk<Next<R::Term>> {
        self.kernel.vectorize(
            #[inline(always)]
            || self.shaped_member(first),
        )
    }

    #[inline(always)]
    fn shaped_member(&mut self, first: bool) -> Walk<Next<R::Term>> {
        let Some(shape) = self.shape else { return Ok(Next::Done) };
        while let Some(Frame::Shaped(entries, scope)) = self.stack.last_mut() {
            let scope = *scope;
            let Some((key, value)) = self.reader.next_entry(entries) else {
                self.reader.end_entries();
                return self.end_shaped(first);
            };
            let look = self.reader.read(key);
            self.look(shape, scope, if let Value::Binary(bytes) = look { bytes.len() } else { 0 })?;
            let mut end = match look {
                Value::Binary(bytes) if self.options.replace_invalid => {
                    (self.is_redacted_repaired(shape, bytes)?, None)
                }
                Value::Binary(bytes) => (shape.is_redacted(bytes), None),
                Value::Atom | Value::Nil | Value::True | Value::False => self.end_of_atom(shape, key),
                _ => match self.odd_member(first, key, value, scope)? {
                    Some(next) => return Ok(next),
                    None => continue,
                },
            };
            if scope != 0 {
                end.0 |= match look {
                    Value::Binary(bytes) => self.leads_to(shape, scope, bytes)?,
                    _ => self.leads_to_atom(shape, scope, key),
                };
            }
            if !end.0 && shape.omits() && self.omits(shape, value) {
                self.reader.pass(value);
                self.omitted(0)?;
                continue;
            }
            self.separate(first);
            match (look, end.1) {
                (Value::Binary(bytes), _) => self.string_key(bytes)?,
                (_, Some(end)) => self.out.plain_key(&end.block, usize::from(end.len) - 3),
                _ => self.shaped_name(shape, key)?,
            }
            return self.shaped_value(value, end.0);
        }
        Ok(Next::Done)
    }

    /// Follows the pointers of a scope to the member with this key. Whether one of them ends there, so that the value is redacted.
    #[inline(never)]
    fn leads_to(&mut self, shape: &Shape, scope: u64, key: &[u8]) -> Walk<bool> {
        let written = written_key(key, self.most_repaired())?;
        let inner = shape.descend_as(scope, self.stack.len() - 1, key, &written);
        self.scope = inner.unwrap_or_default();
        Ok(inner.is_none())
    }

    /// Whether the value under this string is redacted, which may be written with its invalid bytes replaced.
    #[inline(never)]
    fn is_redacted_repaired(&self, shape: &Shape, key: &[u8]) -> Walk<bool> {
        Ok(shape.is_redacted_as(key, &written_key(key, self.most_repaired())?))
    }

    #[inline(never)]
    fn leads_to_atom(&mut self, shape: &Shape, scope: u64, key: R::Term) -> bool {
        let name = self.reader.atom_text(key).bytes;
        let inner = shape.descend_as(scope, self.stack.len() - 1, name, &shape.new_name(name));
        self.scope = inner.unwrap_or_default();
        inner.is_none()
    }

    /// Whether the value under this atom is redacted, and the name as it is written, where that is known.
    #[inline(always)]
    fn end_of_atom(&mut self, shape: &'a Shape, key: R::Term) -> (bool, Option<&'a End>) {
        let number = self.reader.number_of_atom(key);
        let known = number.and_then(|number| shape.end(number));
        let end = known.or_else(|| {
            let bytes = self.reader.atom_text(key).bytes.len();
            self.charge(limits::work_of_look(shape, bytes));
            shape.find_end(number?, self.reader.atom_text(key).bytes)
        });
        if let Some(end) = end {
            return (end.hidden, Some(end).filter(|_| end.len > 0 && self.options.pretty.is_none()));
        }
        let name = self.reader.atom_text(key).bytes;
        (shape.is_redacted_as(name, &shape.new_name(name)), None)
    }

    /// Writes a member whose key is neither a string nor an atom. `None`: the member is left out.
    #[inline(never)]
    fn odd_member(&mut self, first: bool, key: R::Term, value: R::Term, scope: u64) -> Walk<Option<Next<R::Term>>> {
        self.charge(limits::KEY);
        let look = self.reader.read(key);
        let is_big = matches!(look, Value::Big);
        let mut text = Output::new(Vec::new());
        if !self.key_text(key, look, &mut text)? {
            // Only the shell knows the key, and so whether it is redacted.
            self.reader.end_entries();
            let Some(term) = self.take_back()? else { return Ok(Some(Next::Done)) };
            return self.left_to_shell(term).map(Some);
        }
        if text.failed() {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        let Some(shape) = self.shape else { return Ok(Some(Next::Done)) };
        self.look(shape, 0, text.len())?;
        let redacted =
            shape.is_redacted(text.written()) | (scope != 0 && self.leads_to(shape, scope, text.written())?);
        if !redacted && shape.omits() && self.omits(shape, value) {
            self.reader.pass(value);
            self.omitted(text.written().len())?;
            if is_big {
                self.lost_digits(text.written().len())?;
            }
            return Ok(None);
        }
        self.separate(first);
        self.rare_string_key(text.written())?;
        self.shaped_value(value, redacted).map(Some)
    }

    /// Writes what stands in front of a member: a comma, or the bracket.
    #[inline(always)]
    pub fn separate(&mut self, first: bool) {
        if !first {
            return self.comma();
        }
        self.out.open(b'{');
        if self.options.pretty.is_some() {
            self.line();
        }
    }

    /// Writes the key of a member that is an atom.
    #[inline(always)]
    fn shaped_name(&mut self, shape: &Shape, key: R::Term) -> Walk<()> {
        if !shape.renames() || !shape.renames_key(self.reader.atom_text(key).bytes) {
            self.atom_key(key);
            return Ok(());
        }
        let name = self.reader.atom_text(key).bytes;
        let mut renamed = core::mem::take(&mut self.payload);
        shape.rename(name, &mut renamed);
        self.renamed(renamed)
    }

    /// Writes a new name. Its memory serves for the next one.
    fn renamed(&mut self, mut name: Vec<u8>) -> Walk<()> {
        self.rare_string_key(&name)?;
        name.clear();
        self.payload = name;
        Ok(())
    }

    /// Opens a struct with a plan that the call's shape may change.
    #[inline(never)]
    pub fn shaped_plan(&mut self, term: R::Term, map: R::Map, plan: R::Plan) -> Walk<Next<R::Term>> {
        if self.in_passing().is_none() {
            return self.gather_planned(term, map, plan);
        }
        limits::room(self.marks, 1)?;
        self.marks.push(Mark { term, start: self.out.length(), holes: self.holes.len() });
        self.stack.push(Frame::ShapedPlan(plan, map, self.scope));
        self.next_shaped_field(true)
    }

    /// Its next field that is not left out. Its derivation beats the call.
    #[inline(never)]
    pub fn next_shaped_field(&mut self, first: bool) -> Walk<Next<R::Term>> {
        let (Some(Frame::ShapedPlan(plan, map, scope)), Some(shape)) = (self.stack.last(), self.shape) else {
            return Ok(Next::Done);
        };
        let (mut plan, map, scope) = (*plan, *map, *scope);
        let rules = self.reader.plan_rules(&plan);
        while let Some(member) = self.reader.next_planned(&mut plan, &map) {
            let (field, Some(value)) = member else { return self.lost_field() };
            let (mut redacted, renamed, end) = self.end_of_field(shape, field, rules.renames);
            if scope != 0 {
                redacted |= self.leads_to_field(shape, scope, field, rules.renames);
            }
            let omits = if rules.omits {
                plan_omits(self.reader, &plan, value)
            } else {
                shape.omits() && self.omits(shape, value)
            };
            if omits && !redacted {
                self.omitted(0)?;
                continue;
            }
            if let Some(Frame::ShapedPlan(place, ..)) = self.stack.last_mut() {
                *place = plan;
            }
            if let Some(end) = end {
                self.separate(first);
                self.out.plain_key(&end.block, usize::from(end.len) - 3);
            } else if renamed {
                self.separate(first);
                let mut name = core::mem::take(&mut self.payload);
                shape.rename(self.reader.own_field_text(field).bytes, &mut name);
                self.renamed(name)?;
            } else {
                if first {
                    self.separate(true);
                }
                self.planned_member(first, member)?;
            }
            return if redacted { self.redacted() } else { Ok(Next::Value(value)) };
        }
        self.reader.leave(&map);
        self.end_shaped(first)
    }

    #[inline(never)]
    fn leads_to_field(&mut self, shape: &Shape, scope: u64, field: R::Field, named: bool) -> bool {
        let depth = self.stack.len() - 1;
        let name = self.reader.own_field_text(field).bytes;
        let mut inner = if named {
            shape.descend(scope, depth, name)
        } else {
            shape.descend_as(scope, depth, name, &shape.new_name(name))
        };
        if named && let Some(of_name) = inner {
            inner = shape.descend(scope, depth, self.reader.field_text(field).bytes).map(|inner| inner | of_name);
        }
        self.scope = inner.unwrap_or_default();
        inner.is_none()
    }

    /// Whether a field is redacted, whether it gets another name, and that name as it is written, where that is known. `named`: its
    /// derivation names it.
    #[inline(always)]
    fn end_of_field(&mut self, shape: &'a Shape, field: R::Field, named: bool) -> (bool, bool, Option<&'a End>) {
        let number = self.reader.number_of_field(field);
        let known = number.and_then(|number| shape.end(number));
        let end = known.or_else(|| {
            let bytes = self.reader.own_field_text(field).bytes.len();
            self.charge(limits::work_of_look(shape, bytes));
            shape.find_end(number?, self.reader.own_field_text(field).bytes)
        });
        if let Some(end) = end {
            let written = !named && end.len > 0 && self.options.pretty.is_none();
            let redacted = if named { end.redacted || self.is_redacted_by_name(shape, field) } else { end.hidden };
            return (redacted, !named && end.renamed, Some(end).filter(|_| written));
        }
        let name = self.reader.own_field_text(field).bytes;
        if named {
            let redacted = shape.is_redacted(name) || self.is_redacted_by_name(shape, field);
            return (redacted, false, None);
        }
        (shape.is_redacted_as(name, &shape.new_name(name)), shape.renames_key(name), None)
    }

    /// Whether a field is redacted under the name that its derivation gives it.
    fn is_redacted_by_name(&mut self, shape: &Shape, field: R::Field) -> bool {
        shape.is_redacted(self.reader.field_text(field).bytes)
    }

    #[inline(always)]
    fn shaped_value(&mut self, value: R::Term, redacted: bool) -> Walk<Next<R::Term>> {
        if !redacted {
            return Ok(Next::Value(value));
        }
        self.reader.pass(value);
        self.redacted()
    }

    /// Closes an object that has a mark.
    pub fn end_shaped(&mut self, first: bool) -> Walk<Next<R::Term>> {
        self.marks.pop();
        if !first {
            return self.close(b'}');
        }
        self.stack.pop();
        self.out.empty(*b"{}");
        Ok(Next::Done)
    }
}
