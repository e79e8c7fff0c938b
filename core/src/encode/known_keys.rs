//! What a tape makes quick: of maps whose keys stand on it already only the values are written, and nothing stands between two values.

use super::driver::{Driver, Frame, NOTABLE_STRING, Next, Walk};
use super::error::EncodeErrorKind;
use super::known::Known;
use super::reader::{Step, TermReader, Value};
use super::writer::{Keys, Writer};
use crate::simd::copy::CopyKernel;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Opens a map that is written as it stands, if its keys are or become known.
    #[inline(always)]
    pub fn known_map(&mut self, map: &R::Map) -> Walk<Option<Next<R::Term>>> {
        let Some(number) = self.reader.number_of_equal_keys(map, None) else { return Ok(None) };
        let size = self.reader.map_size(map);
        if size == 0 {
            return Ok(None);
        }
        match self.out.keys(number) {
            Keys::Unknown => return Ok(None),
            Keys::Wanted if !self.write_keys(map, number, size)? => return Ok(None),
            Keys::Wanted | Keys::Known => {}
        }
        Ok(Some(self.open_values(map)))
    }

    /// The same of one whose keys are known already, before anything else is asked about it: it is no struct, and is written as it stands.
    #[inline(always)]
    pub fn known_already(&mut self, map: &R::Map) -> Option<Next<R::Term>> {
        let shared = self.reader.number_of_keys(map, None)?;
        let known = self.out.known_keys(shared) || {
            let equal = self.reader.number_of_equal_keys(map, None)?;
            equal != shared && self.out.known_keys(equal)
        };
        if known { Some(self.open_values(map)) } else { None }
    }

    /// The walk goes on with the values, of which there are some.
    #[inline(always)]
    fn open_values(&mut self, map: &R::Map) -> Next<R::Term> {
        let values = self.reader.values(map);
        self.stack.push(Frame::Values(values));
        Next::Done
    }

    /// Writes the keys of a map. `false`, with nothing written: some are neither strings nor atoms, or are checked against the limits.
    #[inline(never)]
    fn write_keys(&mut self, map: &R::Map, number: u64, size: usize) -> Walk<bool> {
        // Another map with a module under the same keys is a struct.
        let module = Known::Struct.text().as_bytes();
        if !self.reader.keys_pass(map, |key, _| key.len() <= NOTABLE_STRING && key != module) {
            return Ok(false);
        }
        self.out.start_keys(size);
        // Their values come later.
        let mut entries = self.reader.entries(map, false, true).ok_or(EncodeErrorKind::OutOfMemory)?;
        while let Some((key, _)) = self.reader.next_entry(&mut entries) {
            self.key(key)?;
        }
        self.reader.end_entries();
        self.out.end_keys(number);
        Ok(true)
    }

    /// The values of such a map up to one that is neither a string nor a number.
    #[inline(always)]
    pub fn next_value(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::Values(values)) = self.stack.last_mut() else { return Ok(Next::Done) };
        let mut place = *values;
        let found = self.plain_values(&mut place, |reader, place| reader.next_value(place))?;
        let Some(value) = found else {
            self.stack.pop();
            return Ok(Next::Done);
        };
        if let Some(Frame::Values(values)) = self.stack.last_mut() {
            *values = place;
        }
        Ok(Next::Value(value))
    }

    /// The same of a list.
    #[inline(always)]
    pub fn next_items(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::List(list)) = self.stack.last_mut() else { return Ok(Next::Done) };
        let mut place = *list;
        let found = self.plain_values(&mut place, |reader, place| match reader.next_item(place) {
            Step::Item(item) => Some(item),
            Step::End | Step::Tail(_) => None,
        })?;
        if let Some(Frame::List(list)) = self.stack.last_mut() {
            *list = place;
        }
        match found {
            Some(item) => {
                self.out.comma();
                Ok(Next::Value(item))
            }
            // A list that is asked again still ends.
            None => match self.reader.next_item(&mut place) {
                Step::Item(item) => Ok(Next::Value(item)),
                Step::End => self.close(b']'),
                Step::Tail(_) => Err(EncodeErrorKind::ImproperList),
            },
        }
    }

    /// Writes strings and numbers up to another term, without a turn of the walk's loop for each. `next` gives them.
    #[inline(always)]
    fn plain_values<P>(
        &mut self,
        place: &mut P,
        next: impl Fn(&mut R, &mut P) -> Option<R::Term>,
    ) -> Walk<Option<R::Term>> {
        while let Some(term) = next(self.reader, place) {
            match self.reader.read(term) {
                Value::Binary(bytes) => self.string(bytes)?,
                Value::Integer(value) => self.out.integer(value, self.options.safe_integers),
                Value::Float(value) => self.out.float(self.kernel, value),
                _ => return Ok(Some(term)),
            }
            // Whoever gets the term looks at the limits.
            if self.over_limit() {
                return Ok(next(self.reader, place));
            }
        }
        Ok(None)
    }

    /// Opens a struct of which every field of its plan is written, in the same way.
    #[inline(always)]
    pub fn known_fields(&mut self, map: R::Map, mut plan: R::Plan) -> Option<Next<R::Term>> {
        let number = self.reader.number_of_equal_keys(&map, Some(&plan))?;
        match self.out.keys(number) {
            Keys::Unknown => return None,
            Keys::Wanted => self.write_fields(&map, plan, number)?,
            Keys::Known => {}
        }
        let first = self.reader.next_planned(&mut plan, &map);
        self.stack.push(Frame::Fields(plan, map));
        Some(first.and_then(|(_, value)| value).map_or(Next::Done, Next::Value))
    }

    /// Writes the names of a plan's fields. `None`, with nothing written: there are none, or the struct lacks one.
    #[inline(never)]
    fn write_fields(&mut self, map: &R::Map, plan: R::Plan, number: u64) -> Option<()> {
        let (mut count, mut fields) = (0, plan);
        while let Some((_, value)) = self.reader.next_planned(&mut fields, map) {
            value?;
            count += 1;
        }
        if count == 0 {
            return None;
        }
        self.out.start_keys(count);
        fields = plan;
        while let Some((field, _)) = self.reader.next_planned(&mut fields, map) {
            self.field_name(true, field);
        }
        self.out.end_keys(number);
        Some(())
    }

    /// The next field of such a struct.
    #[inline(always)]
    pub fn next_field(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::Fields(plan, map)) = self.stack.last_mut() else { return Ok(Next::Done) };
        // Structs with the same keys have the same fields.
        if let Some((_, Some(value))) = self.reader.next_planned(plan, map) {
            return Ok(Next::Value(value));
        }
        self.reader.leave(map);
        self.stack.pop();
        Ok(Next::Done)
    }
}
