//! Structs on a tape: those with a plan as maps with a shape, dates, times and decimals as their texts.

use super::{Frame, Seen, Shape, Sink, Untaped, Writer, Written};
use crate::known::Names;
use crate::plan::Plan;
use crate::raw::layout::Layout;
use crate::raw::read::{Look, Raw, SmallMap};
use crate::tags::{Kind as Tag, kind, small};
use rustyjson_core::encode::{Fields, Known, Notation, text_of_struct};
use rustyjson_core::tape::{Kind, MOST};

/// Kinds of structs in a term. They are searched one by one.
const MOST_KINDS: usize = 256;

/// Structs of a module that have the same keys.
pub(super) struct Structs<'a> {
    module: Raw<'a>,
    /// Where the module stands among the values.
    place: usize,
    /// How many keys there are.
    keys: usize,
    form: Form<'a>,
}

enum Form<'a> {
    /// A text that the core makes.
    Text(Known),
    /// An object.
    Object(Object<'a>),
}

struct Object<'a> {
    members: Vec<Member<'a>>,
    /// Fields with these values are left out.
    omitted: &'a [Raw<'a>],
    /// The number of the shape on the tape, and the bytes that its keys would take.
    shape: Option<(u32, u32)>,
}

/// A field, the name under which it is written, and where its value stands.
struct Member<'a> {
    field: Raw<'a>,
    name: Raw<'a>,
    place: usize,
}

/// An open struct.
pub(super) struct Struct<'a> {
    values: &'a [Raw<'a>],
    /// The number of its kind.
    number: u32,
    next: u32,
    /// It has no shape, as fields are left out.
    sparse: bool,
}

impl<'a> Structs<'a> {
    /// Whether a struct is one of these.
    fn has(&self, SmallMap { keys, values }: SmallMap<'a>) -> bool {
        let is = |terms: &[Raw<'a>], place: usize, term: Raw<'a>| terms.get(place) == Some(&term);
        keys.len() == self.keys
            && is(values, self.place, self.module)
            && match &self.form {
                Form::Text(_) => true,
                Form::Object(Object { members, .. }) => members.iter().all(|at| is(keys, at.place, at.field)),
            }
    }
}

impl<'a, S: Sink> Writer<'a, '_, S> {
    /// Writes a struct with keys that were not seen before. `place`: of its module.
    #[inline(never)]
    pub(super) fn new_struct(&mut self, members: SmallMap<'a>, place: usize) -> Written<Option<Frame<'a>>, S> {
        let number = match self.structs.iter().position(|structs| structs.has(members)) {
            Some(number) => number,
            None => {
                let structs = self.learn(members, place).ok_or(Untaped::Other)?;
                self.structs.push(structs);
                self.structs.len() - 1
            }
        } as u32;
        let keys = members.keys.as_ptr() as usize;
        *self.slot(keys) = Shape { keys, call: self.call, seen: Seen::Struct(number) };
        self.structure(members, number)
    }

    /// How such a struct is written. `None`: not on a tape.
    fn learn(&mut self, SmallMap { keys, values }: SmallMap<'a>, place: usize) -> Option<Structs<'a>> {
        let module = *values.get(place).filter(|module| kind(module.word()) == Tag::Atom)?;
        let known = Some(module).filter(|module| self.names.may_have(*module)).and_then(|name| self.names.find(name));
        let form = match known {
            Some(Known::Date | Known::Time | Known::NaiveDateTime | Known::DateTime | Known::Decimal) if !self.lean => {
                Form::Text(known?)
            }
            Some(_) => return None,
            None if self.plain_structs => return None,
            None => Form::Object(self.object(keys, module)?),
        };
        (self.structs.len() < MOST_KINDS).then_some(Structs { module, place, keys: keys.len(), form })
    }

    /// The object that the plan of a module makes of structs with these keys.
    fn object(&mut self, keys: &[Raw<'a>], module: Raw<'a>) -> Option<Object<'a>> {
        let plan = Plan::find(self.look, self.plans?, module)?;
        if self.strict && plan.rules.renames {
            return None;
        }
        let member = |(field, name): (&Raw<'a>, &Raw<'a>)| {
            let place = keys.iter().position(|key| key == field)?;
            Some(Member { field: *field, name: *name, place })
        };
        let members = plan.fields.iter().zip(plan.names).map(member).collect::<Option<_>>()?;
        if !self.used.contains(&module) {
            self.used.push(module);
        }
        Some(Object { members, omitted: plan.omitted, shape: None })
    }

    /// Writes a struct whose keys are those of this kind.
    #[inline(never)]
    pub(super) fn structure(&mut self, members: SmallMap<'a>, number: u32) -> Written<Option<Frame<'a>>, S> {
        let Some(Structs { module, place, form, .. }) = self.structs.get(number as usize) else {
            return Err(Untaped::Other);
        };
        // Structs of other modules may share the keys.
        if members.values.get(*place) != Some(module) {
            return self.new_struct(members, *place);
        }
        let object = match form {
            Form::Text(known) => return self.text_of(members, *known),
            Form::Object(object) => object,
        };
        let omits = |member: &Member<'a>| self.omits(object.omitted, members.values, member.place);
        let left = match object.omitted {
            [] => object.members.len(),
            _ => object.members.iter().filter(|member| !omits(member)).count(),
        };
        let sparse = left < object.members.len();
        let shape = object.shape;
        match shape {
            _ if left == 0 => {
                self.token(Kind::EmptyMap, 0)?;
                return Ok(None);
            }
            _ if sparse => self.token(Kind::Map, 0)?,
            None => self.struct_shape(number)?,
            Some((shape, more)) => {
                self.taped.more += u64::from(more);
                self.token(Kind::Shaped, shape as usize)?;
            }
        }
        Ok(Some(Frame::Struct(Struct { values: members.values, number, next: 0, sparse })))
    }

    /// Writes the keys of such structs.
    #[inline(never)]
    fn struct_shape(&mut self, number: u32) -> Written<(), S> {
        let (shape, before) = (self.known, self.written());
        let names: Vec<_> =
            self.object_of(number).iter().flat_map(|object| &object.members).map(|at| at.name).collect();
        self.token(Kind::Shape, names.len())?;
        for name in names {
            self.key(name)?;
        }
        let more = u32::try_from(self.written() - before).map_err(|_| Untaped::Other)?;
        if shape as usize >= MOST {
            return Err(Untaped::Other);
        }
        self.known += 1;
        if let Some(Structs { form: Form::Object(object), .. }) = self.structs.get_mut(number as usize) {
            object.shape = Some((shape, more));
        }
        Ok(())
    }

    #[inline(always)]
    fn object_of(&self, number: u32) -> Option<&Object<'a>> {
        match &self.structs.get(number as usize)?.form {
            Form::Object(object) => Some(object),
            Form::Text(_) => None,
        }
    }

    /// The values of a struct up to one with parts.
    #[inline(always)]
    pub(super) fn fields(&mut self, open: &mut Struct<'a>) -> Written<Option<Frame<'a>>, S> {
        let Struct { values, number, sparse, .. } = *open;
        while let Some(object) = self.object_of(number)
            && let Some(Member { name, place, .. }) = object.members.get(open.next as usize)
        {
            open.next += 1;
            let Some(value) = values.get(*place) else { return Err(Untaped::Other) };
            if sparse {
                let name = *name;
                if self.omits(object.omitted, values, *place) {
                    continue;
                }
                self.key(name)?;
            }
            if let Some(frame) = self.value(*value)? {
                return Ok(Some(frame));
            }
        }
        if sparse {
            self.token(Kind::EndMap, 0)?;
        }
        Ok(None)
    }

    /// Whether the value at this place is one that is left out.
    fn omits(&self, omitted: &[Raw<'a>], values: &[Raw<'a>], place: usize) -> bool {
        let Some(value) = values.get(place) else { return false };
        if value.word() == self.words.nil {
            return omitted.contains(value);
        }
        if kind(value.word()) != Tag::Boxed || self.look.map_size(*value).is_none() {
            return false;
        }
        let module = self.look.map_get(*value, self.names.term(Known::Struct));
        module.is_some_and(|module| omitted.contains(&module))
    }

    /// Writes a struct as its text.
    #[inline(never)]
    fn text_of(&mut self, members: SmallMap<'a>, known: Known) -> Written<Option<Frame<'a>>, S> {
        let mut text = std::mem::take(self.text);
        text.restart();
        let mut fields = OfStruct { look: self.look, layout: self.layout, names: self.names, members };
        let written = text_of_struct(known, Notation::Value, &mut fields, &mut text);
        let result = match written {
            Some(()) if !text.failed() => self.string(Kind::String, text.written()),
            _ => Err(Untaped::Other),
        };
        *self.text = text;
        result.map(|()| None)
    }
}

/// Fields by their names.
struct OfStruct<'a, 'w> {
    look: Look<'a>,
    layout: &'w Layout,
    names: &'w Names,
    members: SmallMap<'a>,
}

impl<'a> OfStruct<'a, '_> {
    fn value(&self, name: Known) -> Option<Raw<'a>> {
        let name = self.names.term(name).word();
        let place = self.members.keys.iter().position(|key| key.word() == name)?;
        self.members.values.get(place).copied()
    }

    fn read(&self, term: Raw<'a>) -> Option<i64> {
        let word = term.word();
        if kind(word) == Tag::Small { Some(small(word)) } else { self.look.integer(term) }
    }
}

impl<'a> Fields<'a> for OfStruct<'a, '_> {
    fn integer(&mut self, name: Known) -> Option<i64> {
        self.read(self.value(name)?)
    }

    /// External Term Format has them.
    fn big_integer(&mut self, _name: Known) -> Option<(bool, &[u8])> {
        None
    }

    fn atom(&mut self, name: Known) -> Option<Known> {
        self.names.find(self.value(name)?)
    }

    fn binary(&mut self, name: Known) -> Option<&'a [u8]> {
        let term = self.value(name).filter(|term| kind(term.word()) == Tag::Boxed)?;
        self.layout.binary(term).or_else(|| self.look.binary(term))
    }

    fn pair(&mut self, name: Known) -> Option<[i64; 2]> {
        let [first, second, ..] = self.look.tuple(self.value(name)?)? else { return None };
        Some([self.read(*first)?, self.read(*second)?])
    }
}
