//! Kinds of maps on a tape: structs that the core makes a text of, and objects whose members are not written as they stand.

use super::objects::Object;
use super::{Frame, Seen, Shape, Sink, Untaped, Writer, Written};
use crate::known::Names;
use crate::raw::layout::Layout;
use crate::raw::read::{Look, Raw, SmallMap};
use crate::tags::{Kind as Tag, kind, small};
use rustyjson_core::encode::{Fields, Known, Notation, text_of_struct};
use rustyjson_core::tape::Kind;

/// Kinds of maps in a term. They are searched one by one.
const MOST_KINDS: usize = 256;

/// Maps that have the same keys, and the same module if they are structs.
pub(super) struct Alike<'a> {
    /// The module, and where it stands among the values.
    module: Option<(Raw<'a>, usize)>,
    /// How many keys there are.
    keys: usize,
    form: Form<'a>,
}

enum Form<'a> {
    /// A text that the core makes.
    Text(Known),
    Object(Object<'a>),
}

impl<'a> Alike<'a> {
    /// Whether a map is one of these.
    fn has(&self, SmallMap { keys, values }: SmallMap<'a>) -> bool {
        keys.len() == self.keys
            && self.module.is_none_or(|(module, place)| values.get(place) == Some(&module))
            && match &self.form {
                Form::Text(_) => true,
                Form::Object(object) => object.has(keys),
            }
    }
}

impl<'a, S: Sink> Writer<'a, '_, S> {
    /// Writes a map with keys that were not seen before. `place`: of the module of a struct.
    #[inline(never)]
    pub(super) fn new_kind(&mut self, members: SmallMap<'a>, place: Option<usize>) -> Written<Option<Frame<'a>>, S> {
        let number = match self.kinds.iter().position(|kind| kind.has(members)) {
            Some(number) => number,
            None => {
                let alike = self.learn(members, place).ok_or(Untaped::Other)?;
                self.kinds.push(alike);
                self.kinds.len() - 1
            }
        } as u32;
        let keys = members.keys.as_ptr() as usize;
        *self.slot(keys) = Shape { keys, call: self.call, seen: Seen::Kind(number) };
        self.of_kind(members, number)
    }

    /// How such a map is written. `None`: not on a tape.
    fn learn(&mut self, SmallMap { keys, values }: SmallMap<'a>, place: Option<usize>) -> Option<Alike<'a>> {
        if self.kinds.len() == MOST_KINDS {
            return None;
        }
        let Some(place) = place else {
            return Some(Alike { module: None, keys: keys.len(), form: Form::Object(self.object(keys)?) });
        };
        let module = *values.get(place).filter(|module| kind(module.word()) == Tag::Atom)?;
        let known = Some(module).filter(|module| self.names.may_have(*module)).and_then(|name| self.names.find(name));
        let form = match known {
            Some(known @ (Known::Date | Known::Time | Known::NaiveDateTime | Known::DateTime | Known::Decimal))
                if !self.lean =>
            {
                Form::Text(known)
            }
            Some(_) => return None,
            None if self.plain_structs => return None,
            None => Form::Object(self.planned(keys, module)?),
        };
        Some(Alike { module: Some((module, place)), keys: keys.len(), form })
    }

    /// Writes a map whose keys are those of this kind.
    #[inline(never)]
    pub(super) fn of_kind(&mut self, members: SmallMap<'a>, number: u32) -> Written<Option<Frame<'a>>, S> {
        let Some(Alike { module, form, .. }) = self.kinds.get(number as usize) else {
            return Err(Untaped::Other);
        };
        // Structs of other modules may share the keys.
        if let Some((module, place)) = module
            && members.values.get(*place) != Some(module)
        {
            return self.new_kind(members, Some(*place));
        }
        match form {
            Form::Text(known) => self.text_of(members, *known),
            Form::Object(_) => self.open(members.values, number),
        }
    }

    #[inline(always)]
    pub(super) fn object_of(&self, number: u32) -> Option<&Object<'a>> {
        match &self.kinds.get(number as usize)?.form {
            Form::Object(object) => Some(object),
            Form::Text(_) => None,
        }
    }

    pub(super) fn object_of_mut(&mut self, number: u32) -> Option<&mut Object<'a>> {
        match &mut self.kinds.get_mut(number as usize)?.form {
            Form::Object(object) => Some(object),
            Form::Text(_) => None,
        }
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

    /// Larger integers go by External Term Format.
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
