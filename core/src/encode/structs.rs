//! Structs: the well-known ones, those with a plan, and the rest.

use super::driver::{Driver, Frame, LONG_INTEGER, LONG_STRING, Mark, NOTABLE_STRING, Next, Walk};
use super::error::EncodeErrorKind;
use super::fields::{OfMap, text_of_struct};
use super::known::Known;
use super::notation::Notation;
use super::reader::{Member, Step, TermReader, Value};
use super::writer::{Role, Writer};
use super::{limits, uri};
use crate::output::Output;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Opens or writes a struct.
    #[inline(never)]
    pub fn structure(&mut self, term: R::Term, map: R::Map, module: R::Term) -> Walk<Next<R::Term>> {
        self.charge(limits::STRUCT);
        let known = self.reader.known(module);
        match known {
            Some(Known::Fragment) => return self.fragment(term, map),
            Some(Known::OrderedObject) => return self.ordered_object(term, map),
            Some(name) if !self.options.lean && (name as usize) < Known::MODULES => {
                if self.own_encoder(name, module) {
                    return self.left_to_shell(term);
                }
                return self.well_known(term, map, name);
            }
            _ => {}
        }
        if self.options.plain_structs || self.options.lean && known.is_some() {
            return self.plain_struct(term, map);
        }
        match self.reader.plan(module) {
            Some(plan) => self.planned(term, map, plan),
            None => self.left_to_shell(term),
        }
    }

    /// Whether the application has its own encoder for a type that Jason leaves to applications: the shell's plans have it, or
    /// the call leaves all of these types to the shell.
    fn own_encoder(&mut self, name: Known, module: R::Term) -> bool {
        matches!(name, Known::MapSet | Known::Range | Known::Uri | Known::Duration)
            && (self.options.leave_extras || !self.options.plain_structs && self.reader.plan(module).is_some())
    }

    pub fn left_to_shell(&mut self, term: R::Term) -> Walk<Next<R::Term>> {
        self.hole(term, false)?;
        Ok(Next::Done)
    }

    fn well_known(&mut self, term: R::Term, map: R::Map, module: Known) -> Walk<Next<R::Term>> {
        match module {
            Known::MapSet => return self.set(term, map),
            Known::Range => return self.range(term, map),
            _ => {}
        }
        let mut text = Output::new(Vec::new());
        if !self.struct_text(&map, module, Notation::Value, &mut text)? {
            return self.left_to_shell(term);
        }
        self.rare_string(text.written())?;
        self.reader.leave(&map);
        Ok(Next::Done)
    }

    /// The text of a struct that is one. `false`: it is not shaped as its module makes it, or the module is another.
    fn struct_text(
        &mut self,
        map: &R::Map,
        module: Known,
        notation: Notation,
        text: &mut Output<Vec<u8>>,
    ) -> Walk<bool> {
        self.charge(limits::STRUCT_TEXT);
        match module {
            Known::DateTime => self.short_zone(map, notation)?,
            Known::Decimal => self.short_coefficient(map)?,
            _ => {}
        }
        let written = match module {
            Known::Uri => match uri::Uri::read(self.reader, map) {
                Some(uri) => {
                    if uri.len() > NOTABLE_STRING {
                        self.long(uri.len())?;
                    }
                    uri.write(text);
                    Some(())
                }
                None => None,
            },
            _ => text_of_struct(module, notation, &mut OfMap { reader: self.reader, map }, text),
        };
        if text.failed() { Err(EncodeErrorKind::OutOfMemory) } else { Ok(written.is_some()) }
    }

    /// Checks that the output has room for a decimal's coefficient, and a short slice time.
    fn short_coefficient(&mut self, map: &R::Map) -> Walk<()> {
        let Some(coefficient) = self.reader.field(map, Known::Coef) else { return Ok(()) };
        if !matches!(self.reader.read(coefficient), Value::Big) {
            return Ok(());
        }
        let room = self.room();
        let magnitude = self.reader.big_integer(coefficient).1;
        limits::digits_fit(magnitude, room)?;
        let len = magnitude.len();
        if self.in_slice() && len > LONG_INTEGER {
            return Err(EncodeErrorKind::Budget);
        }
        self.spend(limits::work_of_digits(len))
    }

    /// The same for the name of a time zone, which is part of a key.
    fn short_zone(&mut self, map: &R::Map, notation: Notation) -> Walk<()> {
        if notation == Notation::Value || !self.in_slice() {
            return Ok(());
        }
        for name in [Known::TimeZone, Known::ZoneAbbr] {
            if let Some(Value::Binary(bytes)) = self.field(map, name)
                && bytes.len() > LONG_STRING
            {
                return Err(EncodeErrorKind::Budget);
            }
        }
        Ok(())
    }

    /// A struct in key position. `false`: only the shell knows.
    pub fn struct_key(&mut self, map: R::Map, text: &mut Output<Vec<u8>>) -> Walk<bool> {
        let Some(module) = self.reader.module(&map) else { return self.odd_key() };
        let known = self.reader.known(module);
        let written = match known {
            Some(module) => self.struct_text(&map, module, Notation::Key, text)?,
            None => false,
        };
        if written {
            self.reader.leave(&map);
        }
        Ok(written)
    }

    /// A set as an array of its elements, in the order of its map.
    fn set(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        let Some(Value::Map(inner)) = self.field(&map, Known::Map) else { return self.left_to_shell(term) };
        self.deeper()?;
        let mut entries =
            self.reader.entries(&inner, self.options.reverse_large_maps, false).ok_or(EncodeErrorKind::OutOfMemory)?;
        let Some((first, value)) = self.reader.next_entry(&mut entries) else {
            self.reader.end_entries();
            self.reader.leave(&map);
            self.out.empty(*b"[]");
            return Ok(Next::Done);
        };
        self.rare_open(b'[', Frame::Set(entries, value, map));
        self.enter_items()?;
        self.item(first)
    }

    pub fn next_in_set(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::Set(entries, last, map)) = self.stack.last_mut() else { return Ok(Next::Done) };
        self.reader.pass(*last);
        let Some((key, value)) = self.reader.next_entry(entries) else {
            self.reader.end_entries();
            self.reader.leave(map);
            self.places.pop();
            return self.rare_close(b']');
        };
        *last = value;
        self.rare_comma();
        self.item(key)
    }

    /// `{"first":1,"last":10}` and the step when it is not 1. Ranges from before Elixir 1.12 have none.
    fn range(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        let (Some(Value::Integer(first)), Some(Value::Integer(last))) =
            (self.field(&map, Known::First), self.field(&map, Known::Last))
        else {
            return self.left_to_shell(term);
        };
        let step = match self.field(&map, Known::Step) {
            None => 1,
            Some(Value::Integer(step)) => step,
            Some(_) => return self.left_to_shell(term),
        };
        self.deeper()?;
        self.write_range(first, last, step)?;
        self.reader.leave(&map);
        Ok(Next::Done)
    }

    fn write_range(&mut self, first: i64, last: i64, step: i64) -> Walk<()> {
        let mut members = [("first", first), ("last", last), ("step", step)];
        let members = &mut members[..if step == 1 { 2 } else { 3 }];
        self.order_renamed(members)?;
        for (i, (name, value)) in members.iter().enumerate() {
            if i == 0 {
                self.out.open(b'{')
            } else {
                self.out.comma()
            }
            self.inner_line(1);
            if self.range_member(name.as_bytes())? {
                self.out.integer(*value, self.options.safe_integers);
            }
            if self.over_limit() {
                self.over()?;
            }
        }
        self.inner_line(0);
        self.out.close(b'}');
        Ok(())
    }

    /// The names of a range are in order and differ. Those that the call gives them need not.
    fn order_renamed(&mut self, members: &mut [(&'static str, i64)]) -> Walk<()> {
        let Some(shape) = self.shape else { return Ok(()) };
        let name = |(name, _): &(&'static str, i64)| shape.new_name(name.as_bytes());
        if self.options.strict_maps {
            let twice = |(number, member)| members[..number].iter().any(|before| name(before) == name(member));
            if let Some((_, member)) = members.iter().enumerate().find(|&each| twice(each)) {
                return self.duplicate(&name(member));
            }
        }
        if self.options.sort_keys {
            members.sort_by(|a, b| name(a).cmp(&name(b)));
        }
        Ok(())
    }

    /// Starts a line this much deeper than the place reached.
    fn inner_line(&mut self, levels: usize) {
        if let Some(pretty) = self.options.pretty {
            self.out.line(&pretty, self.depth() as usize + levels);
        }
    }

    fn ordered_object(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        let Some(Value::List(mut list)) = self.field(&map, Known::Values) else { return self.left_to_shell(term) };
        self.deeper()?;
        if self.options.gathers() || self.options.leave_unsupported {
            return self.gather_pairs(term, map, list);
        }
        let start = list;
        if matches!(self.reader.next_item(&mut list), Step::End) {
            self.reader.leave(&map);
            self.out.empty(*b"{}");
            return Ok(Next::Done);
        }
        self.rare_open(b'{', Frame::Pairs(start, map));
        self.next_pair(true)
    }

    fn planned(&mut self, term: R::Term, map: R::Map, mut plan: R::Plan) -> Walk<Next<R::Term>> {
        self.deeper()?;
        let rules = self.reader.plan_rules(&plan);
        if self.options.sort_keys || self.options.strict_maps && (rules.renames || self.shape.is_some()) {
            return self.gather_planned(term, map, plan);
        }
        if self.shape.is_some() && !self.untouched_fields(&map, plan) {
            return self.shaped_plan(term, map, plan);
        }
        if W::SHAPES
            && !rules.omits
            && let Some(next) = self.known_fields(map, plan)
        {
            return Ok(next);
        }
        let mut left_out = 0;
        let member = next_kept(self.reader, &mut plan, &map, &mut left_out);
        self.left_out(left_out)?;
        let Some(member) = member else {
            self.reader.leave(&map);
            self.out.empty(*b"{}");
            return Ok(Next::Done);
        };
        limits::room(self.marks, 1)?;
        self.marks.push(Mark { term, start: self.out.length(), holes: self.holes.len() });
        self.rare_open(b'{', Frame::Planned(plan, map));
        self.planned_member(true, member)
    }

    /// The next field of a plan.
    #[inline(always)]
    pub fn next_planned(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::Planned(plan, map)) = self.stack.last_mut() else { return Ok(Next::Done) };
        let (map, mut left_out) = (*map, 0);
        let member = next_kept(self.reader, plan, &map, &mut left_out);
        self.left_out(left_out)?;
        if let Some(member) = member {
            return self.planned_member(false, member);
        }
        self.reader.leave(&map);
        self.marks.pop();
        self.close(b'}')
    }

    /// Where the struct lost a field, all of it is left to the shell.
    #[inline(always)]
    pub fn planned_member(&mut self, first: bool, member: Member<R::Field, R::Term>) -> Walk<Next<R::Term>> {
        let (field, Some(value)) = member else { return self.lost_field() };
        let text = self.reader.field_text(field);
        if let (Some(block), None) = (text.plain, self.options.pretty) {
            if !first {
                self.out.comma();
            }
            self.out.plain_key(block, text.bytes.len());
            return Ok(Next::Value(value));
        }
        self.field_name(first, field);
        Ok(Next::Value(value))
    }

    #[inline(never)]
    pub fn field_name(&mut self, first: bool, field: R::Field) {
        if !first {
            self.comma();
        }
        let text = self.reader.field_text(field);
        // Names are UTF-8.
        let _ = self.out.rare_string(self.kernel, Role::Key, self.options, text.bytes);
        self.out.colon(self.options);
    }

    #[cold]
    #[inline(never)]
    pub fn lost_field(&mut self) -> Walk<Next<R::Term>> {
        match self.take_back()? {
            Some(term) => self.left_to_shell(term),
            None => Ok(Next::Done),
        }
    }

    /// The value of a field, looked at.
    pub fn field(&mut self, map: &R::Map, name: Known) -> Option<Value<'t, R>> {
        let term = self.reader.field(map, name)?;
        Some(self.reader.read(term))
    }
}

/// The next field of a plan that the derivation does not leave out, and how many it does before.
#[inline(always)]
fn next_kept<'t, R: TermReader<'t>>(
    reader: &mut R,
    plan: &mut R::Plan,
    map: &R::Map,
    left_out: &mut usize,
) -> Option<Member<R::Field, R::Term>> {
    loop {
        let member = reader.next_planned(plan, map)?;
        match member.1 {
            Some(value) if plan_omits(reader, plan, value) => *left_out += 1,
            _ => return Some(member),
        }
    }
}

/// Whether the derivation of a struct leaves out fields with this value.
#[inline(always)]
pub fn plan_omits<'t, R: TermReader<'t>>(reader: &mut R, plan: &R::Plan, value: R::Term) -> bool {
    let rules = reader.plan_rules(plan);
    rules.omits_nil && reader.is_nil(value) || rules.omits_structs && plan_omits_struct(reader, plan, value)
}

#[inline(never)]
fn plan_omits_struct<'t, R: TermReader<'t>>(reader: &mut R, plan: &R::Plan, value: R::Term) -> bool {
    let Value::Map(map) = reader.read(value) else { return false };
    reader.module(&map).is_some_and(|module| reader.plan_omits(plan, module))
}
