//! The values of a schema, built at once: structs in the place of their fields, and names in the place of texts.
//!
//! Elixir gives a template for each struct and each list of names of the schema. That of a struct is the struct with its
//! defaults. The values of its fields wait on the stack in their order: in that of the text as long as that is the same, with the
//! defaults of fields that are left out.

use super::{COPIED, Terms, push};
use crate::atoms;
use crate::raw::read::{Look, Raw};
use crate::raw::{Keys, word_of};
use rustler::sys::ErlNifTerm;
use rustler::{Binary, MapIterator, Term};
use rustyjson_core::builder::Key;
use rustyjson_core::options::Keys as KeyKind;
use rustyjson_core::parts::{Answer, Moment};
use rustyjson_core::{ErrorKind, TermBuilder, Text};
use std::borrow::Cow;
use std::collections::HashSet;

/// The templates of dates and times come first, in the order of their kinds, then these.
const DECIMAL: usize = 4;
const FRAGMENT: usize = 5;

/// A large struct of which at most one field in four differs from its default is made from its template, and shares the other fields with
/// it. A struct that has only defaults is the template itself. Otherwise `{}` for a struct of 200 fields takes 5 KB.
const SHARING: usize = 4;

/// Builds structs.
pub struct Structs<'t, 'a, 's> {
    terms: &'t mut Terms<'a, 's>,
    look: Look<'a>,
    /// The document, of which long texts are parts.
    json: Binary<'a>,
    /// `{struct, {field, ...}}` or `{name, ...}`, by number, as `lib/rustyjson/schema/shape.ex` has them.
    templates: &'a [Raw<'a>],
    /// The structs among them that were needed so far.
    known: Vec<Option<Template>>,
    open: Vec<Open>,
    /// There are values that Elixir has to load.
    left: bool,
    /// Values were dropped for others with the same key, and Elixir may have had to load some of them.
    dropped: bool,
}

/// A struct: its keys and values, first those that are no fields, then those of the fields in their order.
struct Template {
    /// For a struct that can be written in place: its keys, and which value comes at which place among them.
    ordered: Option<(Keys, Vec<u8>)>,
    keys: Vec<ErlNifTerm>,
    values: Vec<ErlNifTerm>,
    /// How many are no fields.
    fixed: usize,
}

impl Template {
    /// The values of the fields that a struct without them has.
    #[inline(always)]
    fn defaults(&self) -> &[ErlNifTerm] {
        &self.values[self.fixed..]
    }

    /// The keys and values of the fields among these that are not the defaults.
    fn changed(&self, given: &[ErlNifTerm]) -> Vec<(ErlNifTerm, ErlNifTerm)> {
        let fields = self.keys[self.fixed..].iter().zip(self.defaults()).zip(given);
        fields.filter(|((_, default), value)| default != value).map(|((key, _), value)| (*key, *value)).collect()
    }
}

/// A struct that has not ended: its template, where its values start on the stack, and how many of its fields are there.
struct Open {
    template: usize,
    base: usize,
    there: usize,
}

impl<'t, 'a, 's> Structs<'t, 'a, 's> {
    /// A builder of the structs and names of these templates.
    pub fn new(terms: &'t mut Terms<'a, 's>, look: Look<'a>, templates: &'a [Raw<'a>], json: Binary<'a>) -> Self {
        let known = templates.iter().map(|_| None).collect();
        Self { terms, look, json, templates, known, open: Vec::new(), left: false, dropped: false }
    }

    /// Marks the whole value if Elixir has to load some in it, and again if it also has to look at some that were dropped.
    pub fn finish(self) -> Result<(), ErrorKind> {
        for _ in 0..u8::from(self.left) + u8::from(self.dropped) {
            self.terms.wrap(atoms::left())?;
        }
        Ok(())
    }

    /// The elements of a template; none if it is something else.
    fn template(&self, number: usize) -> &'a [Raw<'a>] {
        self.templates.get(number).and_then(|template| self.look.tuple(*template)).unwrap_or_default()
    }

    #[inline(never)]
    fn learn(&mut self, number: usize) -> Option<()> {
        let &[map, fields] = self.template(number) else { return None };
        let fields = self.look.tuple(fields)?;
        let (tuple, keys, values) = match self.terms.heap.members(map) {
            Some((tuple, keys, values)) => (Some(tuple), Cow::Borrowed(keys), Cow::Borrowed(values)),
            None => {
                let raw = |term: Term<'_>| term.as_c_arg();
                let members = MapIterator::new(map.term(self.look.env()))?;
                let (keys, values): (Vec<_>, Vec<_>) = members.map(|(key, value)| (raw(key), raw(value))).unzip();
                (None, keys.into(), values.into())
            }
        };
        // Structs can have thousands of fields.
        let mut sorted: Vec<_> = keys.iter().enumerate().map(|(place, key)| (word_of(*key), place)).collect();
        sorted.sort_unstable();
        let mut of_fields = Vec::with_capacity(fields.len());
        let mut is_field = vec![false; keys.len()];
        for field in fields {
            let found = sorted.binary_search_by_key(&field.word(), |(word, _)| *word).ok()?;
            let (_, place) = sorted[found];
            is_field[place] = true;
            of_fields.push(place);
        }
        let mut places: Vec<_> = (0..keys.len()).filter(|place| !is_field[*place]).collect();
        let fixed = places.len();
        places.extend(of_fields);
        // Otherwise a field stands twice among them.
        if places.len() != keys.len() {
            return None;
        }
        let ordered = tuple.and_then(|tuple| {
            let order = (0..keys.len()).map(|place| places.iter().position(|at| *at == place).map(|at| at as u8));
            Some((tuple, order.collect::<Option<_>>()?))
        });
        let of = |terms: &[ErlNifTerm]| places.iter().map(|place| terms[*place]).collect();
        *self.known.get_mut(number)? = Some(Template { ordered, keys: of(&keys), values: of(&values), fixed });
        Some(())
    }

    /// The value on top is that of a field that does not come next.
    #[inline(never)]
    fn out_of_order(&mut self, number: usize) -> Option<()> {
        let Open { template, base, there } = self.open.last_mut()?;
        let template = self.known.get(*template)?.as_ref()?;
        let values = &mut self.terms.stacks.values;
        let value = values.pop()?;
        if number < *there {
            let old = values.get_mut(*base + template.fixed + number)?;
            self.dropped |= self.left && *old != template.defaults()[number];
            *old = value;
        } else {
            values.extend_from_slice(template.defaults().get(*there..number)?);
            values.push(value);
            *there = number + 1;
        }
        Some(())
    }

    /// A struct of Elixir's, such as a date, with these fields.
    #[inline(always)]
    fn built_in(
        &mut self,
        template: usize,
        fields: impl IntoIterator<Item = (usize, ErlNifTerm)>,
    ) -> Result<(), ErrorKind> {
        self.begin_struct(template)?;
        for (number, value) in fields {
            self.terms.push(value)?;
            self.end_field(number);
        }
        self.end_struct(0)
    }

    /// The last value is left to Elixir.
    #[inline(never)]
    fn leave(&mut self) -> Result<(), ErrorKind> {
        self.left = true;
        self.terms.wrap(atoms::load())
    }
}

/// A template that nobody wrote.
const BROKEN: ErrorKind = ErrorKind::OutOfMemory;

impl<'a, 's> Answer for Structs<'_, 'a, 's> {
    type Terms = Terms<'a, 's>;

    #[inline(always)]
    fn terms(&mut self) -> &mut Terms<'a, 's> {
        self.terms
    }

    #[inline(always)]
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.terms.push(self.terms.nil)
    }

    #[inline(always)]
    fn name(&mut self, template: usize, number: usize) -> Result<(), ErrorKind> {
        let name = self.template(template).get(number).ok_or(BROKEN)?;
        self.terms.push(name.raw())
    }

    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        let coefficient = self.terms.make_integer(false, coefficient)?;
        let (sign, exponent) = (if negative { -1 } else { 1 }, self.terms.heap.integer(exponent));
        let fields = [self.terms.heap.integer(sign), coefficient, exponent];
        self.built_in(DECIMAL, fields.into_iter().enumerate())
    }

    fn date(&mut self, kind: u8, text: Text<'_>, usual: Option<Moment>) -> Result<(), ErrorKind> {
        let Some(Moment { parts, fraction: (microseconds, digits) }) = usual else {
            self.terms.string(text)?;
            return self.leave();
        };
        let parts = parts.map(|part| self.terms.heap.integer(part.into()));
        let [microseconds, precision] =
            [i64::from(microseconds), digits.into()].map(|number| self.terms.heap.integer(number));
        let (parts, has_time) = match kind {
            Moment::DATE => (&parts[..3], false),
            Moment::TIME => (&parts[3..], true),
            _ => (&parts[..], true),
        };
        // Without a fraction the default is right.
        let fraction =
            (has_time && digits > 0).then(|| (parts.len(), self.terms.make.tuple(&[microseconds, precision])));
        self.built_in((kind - Moment::DATE).into(), parts.iter().copied().enumerate().chain(fraction))
    }

    fn loaded(&mut self) -> Result<(), ErrorKind> {
        self.leave()
    }

    fn raw(&mut self, start: usize, text: &[u8]) -> Result<(), ErrorKind> {
        let Terms { heap, wants, .. } = &mut *self.terms;
        let part = if text.len() <= COPIED || wants.copy_strings {
            heap.binary(text).ok_or(ErrorKind::OutOfMemory)?
        } else {
            heap.sub_binary(&self.json, start, text.len())
        };
        self.built_in(FRAGMENT, [(0, part)])
    }

    #[inline(always)]
    fn begin_map(&mut self) {}

    #[inline(always)]
    fn map_key(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.terms.string_key(text)
    }

    #[inline(always)]
    fn end_map(&mut self, len: usize) -> Result<(), ErrorKind> {
        let dropped = self.terms.end_string_map(len)?;
        self.dropped |= dropped && self.left;
        Ok(())
    }

    #[inline(always)]
    fn begin_variant(&mut self, _number: usize) -> Result<(), ErrorKind> {
        Ok(())
    }

    #[inline(always)]
    fn end_variant(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }

    #[inline(always)]
    fn begin_struct(&mut self, template: usize) -> Result<(), ErrorKind> {
        if !matches!(self.known.get(template), Some(Some(_))) {
            self.learn(template).ok_or(BROKEN)?;
        }
        let Some(Some(known)) = self.known.get(template) else { return Err(BROKEN) };
        let values = &mut self.terms.stacks.values;
        push(&mut self.open, Open { template, base: values.len(), there: 0 })?;
        // One value more is pushed before the oldest is popped.
        values.try_reserve(known.values.len() + 1).map_err(|_| ErrorKind::OutOfMemory)?;
        values.extend_from_slice(&known.values[..known.fixed]);
        Ok(())
    }

    #[inline(always)]
    fn begin_field(&mut self, _number: usize) -> Result<(), ErrorKind> {
        Ok(())
    }

    #[inline(always)]
    fn end_field(&mut self, number: usize) {
        match self.open.last_mut() {
            Some(open) if open.there == number => open.there += 1,
            _ => {
                self.out_of_order(number);
            }
        }
    }

    #[inline(always)]
    fn end_struct(&mut self, _len: usize) -> Result<(), ErrorKind> {
        let Some(Open { template: number, base, there }) = self.open.pop() else { return Err(BROKEN) };
        let Some(Some(template)) = self.known.get(number) else { return Err(BROKEN) };
        let given = &self.terms.stacks.values[base + template.fixed..];
        if given.is_empty() || template.ordered.is_none() {
            let changed = template.changed(given);
            if changed.len() * SHARING <= template.keys.len() {
                let map = self.template(number).first().ok_or(BROKEN)?.raw();
                let map = changed.iter().try_fold(map, |map, (key, value)| self.terms.make.put(map, *key, *value));
                self.terms.stacks.values.truncate(base);
                return self.terms.push(map.ok_or(BROKEN)?);
            }
        }
        let Terms { heap, stacks, .. } = &mut *self.terms;
        if let Some(rest @ [_, ..]) = template.defaults().get(there..) {
            stacks.values.extend_from_slice(rest);
        }
        let map = heap.filled(template.ordered.as_ref(), &template.keys, &stacks.values[base..]).ok_or(BROKEN)?;
        stacks.values.truncate(base);
        self.terms.push(map)
    }
}

impl Terms<'_, '_> {
    /// Puts the last value into a tuple behind this atom. No value of a document is a tuple.
    fn wrap(&mut self, atom: rustler::Atom) -> Result<(), ErrorKind> {
        let value = self.stacks.values.pop().unwrap_or(self.nil);
        self.push(self.make.tuple(&[atom.as_c_arg(), value]))
    }

    /// A key that is a string, whatever others are. Where those are atoms, the cache is theirs.
    #[inline(always)]
    fn string_key(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        let key = Key::new(text);
        if self.wants.keys != KeyKind::ExistingAtoms {
            return self.key(key);
        }
        let term = self.text(text, self.wants.copy_strings)?;
        push(&mut self.stacks.keys, term)?;
        push(&mut self.stacks.heads, key.head.swap_bytes())
    }

    /// Ends a map of so many members, whose keys are strings and may repeat. Whether some were dropped for that.
    #[inline(always)]
    fn end_string_map(&mut self, len: usize) -> Result<bool, ErrorKind> {
        let mut left = len;
        let map = match self.small_map(len) {
            Some(map) => map,
            None => {
                let dropped = self.repeated(len)?;
                self.drop_members(len, &dropped);
                left -= dropped.len();
                self.map(left).unwrap_or(self.nil)
            }
        };
        self.finish_object(left, map)?;
        Ok(left < len)
    }

    /// The numbers of the members that do not count, because another has the same key.
    #[cold]
    fn repeated(&self, len: usize) -> Result<Vec<u32>, ErrorKind> {
        let keys = &self.stacks.keys[self.stacks.keys.len() - len..];
        let look = Look::new(self.make.env());
        let (mut seen, mut dropped) = (HashSet::new(), Vec::new());
        seen.try_reserve(len).map_err(|_| ErrorKind::OutOfMemory)?;
        let mut look_at = |number: usize| {
            if !seen.insert(look.binary(Raw::of(self.make.term(keys[number])))) {
                dropped.push(number as u32);
            }
        };
        if self.wants.first_counts {
            (0..len).for_each(look_at);
        } else {
            (0..len).rev().for_each(&mut look_at);
            dropped.reverse();
        }
        Ok(dropped)
    }
}
