//! Maps whose members are not written as they stand: structs with a plan, and maps of calls that sort, rename, leave out or redact
//! members. How, is found once for all of the same kind, and then they have shapes like others.

use super::{Frame, Sink, Untaped, Writer, Written};
use crate::plan::Plan;
use crate::raw::read::Raw;
use crate::tags::{Kind as Tag, kind};
use rustyjson_core::encode::Known;
use rustyjson_core::tape::{Kind, MOST};
use std::rc::Rc;

/// How objects of a kind are written.
pub(super) struct Object<'a> {
    members: Vec<Member<'a>>,
    left_out: LeftOut<'a>,
    /// The number of the shape on the tape, and the bytes that its keys would take.
    shape: Option<(u32, u32)>,
}

/// A key of the map, where its value stands, and what is written for them.
struct Member<'a> {
    key: Raw<'a>,
    place: usize,
    name: Name<'a>,
    redacted: bool,
}

#[derive(Clone)]
enum Name<'a> {
    /// A string or an atom.
    Term(Raw<'a>),
    /// One that the call makes.
    Text(Rc<[u8]>),
}

/// Which values are left out.
#[derive(Clone, Copy)]
enum LeftOut<'a> {
    None,
    /// Those that the derivation names.
    Plan(&'a [Raw<'a>]),
    /// Those that the call names.
    Call,
}

/// An open object.
#[derive(Clone, Copy)]
pub(super) struct Open<'a> {
    values: &'a [Raw<'a>],
    /// The number of its kind.
    number: u32,
    next: u32,
    /// It has no shape, as members are left out.
    sparse: bool,
}

impl<'a> Object<'a> {
    /// Whether a map with as many keys has these.
    pub fn has(&self, keys: &[Raw<'a>]) -> bool {
        self.members.iter().all(|member| keys.get(member.place) == Some(&member.key))
    }
}

impl<'a, S: Sink> Writer<'a, '_, S> {
    /// How maps with these keys are written.
    pub(super) fn object(&mut self, keys: &[Raw<'a>]) -> Option<Object<'a>> {
        let members = keys.iter().map(|key| self.member(keys, *key, None)).collect::<Option<_>>()?;
        let omits = self.shape.is_some_and(|shape| shape.omits());
        self.arranged(members, if omits { LeftOut::Call } else { LeftOut::None })
    }

    /// How the plan of a module writes structs with these keys. The derivation beats the call.
    pub(super) fn planned(&mut self, keys: &[Raw<'a>], module: Raw<'a>) -> Option<Object<'a>> {
        let plan = Plan::find(self.look, self.plans?, module)?;
        let member =
            |(field, name): (&Raw<'a>, &Raw<'a>)| self.member(keys, *field, plan.rules.renames.then_some(*name));
        let members = plan.fields.iter().zip(plan.names).map(member).collect::<Option<_>>()?;
        if !self.used.contains(&module) {
            self.used.push(module);
        }
        let left_out = match self.shape {
            _ if plan.rules.omits => LeftOut::Plan(plan.omitted),
            Some(shape) if shape.omits() => LeftOut::Call,
            _ => LeftOut::None,
        };
        self.arranged(members, left_out)
    }

    fn member(&mut self, keys: &[Raw<'a>], key: Raw<'a>, named: Option<Raw<'a>>) -> Option<Member<'a>> {
        let place = keys.iter().position(|other| *other == key)?;
        let Some(shape) = self.shape else {
            return Some(Member { key, place, name: Name::Term(named.unwrap_or(key)), redacted: false });
        };
        let is_atom = kind(key.word()) == Tag::Atom;
        let text = self.text_of_key(key)?;
        let name = match named {
            None if is_atom && shape.renames_key(&text) => {
                let mut name = Vec::new();
                shape.rename(&text, &mut name);
                Name::Text(name.into())
            }
            named => Name::Term(named.unwrap_or(key)),
        };
        Some(Member { key, place, name, redacted: shape.is_redacted(&text) })
    }

    fn text_of_key(&mut self, key: Raw<'a>) -> Option<Vec<u8>> {
        match kind(key.word()) {
            Tag::Atom => Some(self.atoms.text(self.look, key).bytes.to_vec()),
            Tag::Boxed => self.look.binary(key).map(<[u8]>::to_vec),
            _ => None,
        }
    }

    /// In their order, if they may stand together.
    fn arranged(&mut self, members: Vec<Member<'a>>, left_out: LeftOut<'a>) -> Option<Object<'a>> {
        if !self.sorts && !self.strict {
            return Some(Object { members, left_out, shape: None });
        }
        let named = |member: Member<'a>| {
            let name = match &member.name {
                Name::Term(term) => self.text_of_key(*term)?,
                Name::Text(text) => text.to_vec(),
            };
            Some((name, member))
        };
        let mut named = members.into_iter().map(named).collect::<Option<Vec<_>>>()?;
        let places: Vec<_> = named.iter().map(|(_, member)| member.place).collect();
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        if self.strict && named.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        if !self.sorts {
            named.sort_by_key(|(_, member)| places.iter().position(|place| *place == member.place));
        }
        Some(Object { members: named.into_iter().map(|(_, member)| member).collect(), left_out, shape: None })
    }

    /// Starts an object of this kind.
    pub(super) fn open(&mut self, values: &'a [Raw<'a>], number: u32) -> Written<Option<Frame<'a>>, S> {
        let Some(object) = self.object_of(number) else { return Err(Untaped::Other) };
        let left = match object.left_out {
            LeftOut::None => object.members.len(),
            _ => object.members.iter().filter(|member| !self.leaves_out(object.left_out, member, values)).count(),
        };
        let sparse = left < object.members.len();
        match object.shape {
            _ if left == 0 => {
                self.token(Kind::EmptyMap, 0)?;
                return Ok(None);
            }
            _ if sparse => self.token(Kind::Map, 0)?,
            None => self.new_shape(number)?,
            Some((shape, more)) => {
                self.taped.more += u64::from(more);
                self.token(Kind::Shaped, shape as usize)?;
            }
        }
        self.objects.push(Open { values, number, next: 0, sparse });
        Ok(Some(Frame::Object))
    }

    /// Writes the keys of such objects.
    #[inline(never)]
    fn new_shape(&mut self, number: u32) -> Written<(), S> {
        let (shape, before) = (self.known, self.written());
        let names: Vec<_> = match self.object_of(number) {
            Some(object) => object.members.iter().map(|member| member.name.clone()).collect(),
            None => return Err(Untaped::Other),
        };
        self.token(Kind::Shape, names.len())?;
        for name in names {
            self.name_of(&name)?;
        }
        let more = u32::try_from(self.written() - before).map_err(|_| Untaped::Other)?;
        if shape as usize >= MOST {
            return Err(Untaped::Other);
        }
        self.known += 1;
        if let Some(object) = self.object_of_mut(number) {
            object.shape = Some((shape, more));
        }
        Ok(())
    }

    #[inline(always)]
    fn name_of(&mut self, name: &Name<'a>) -> Written<(), S> {
        match name {
            Name::Term(name) => self.key(*name),
            Name::Text(text) => self.string(Kind::Key, text),
        }
    }

    /// The members of an object up to one with parts.
    #[inline(never)]
    pub(super) fn object_members(&mut self) -> Written<Option<Frame<'a>>, S> {
        let Some(&Open { values, number, next, sparse }) = self.objects.last() else { return Err(Untaped::Other) };
        let mut next = next;
        while let Some(object) = self.object_of(number)
            && let Some(member) = object.members.get(next as usize)
        {
            next += 1;
            let (place, redacted) = (member.place, member.redacted);
            if sparse {
                if self.leaves_out(object.left_out, member, values) {
                    continue;
                }
                let name = member.name.clone();
                self.name_of(&name)?;
            }
            if redacted {
                self.string(Kind::String, self.shape.map_or(&[], |shape| &*shape.redacted))?;
                continue;
            }
            let Some(value) = values.get(place) else { return Err(Untaped::Other) };
            // Above it an inner object may stand.
            if let Some(open) = self.objects.last_mut() {
                open.next = next;
            }
            if let Some(frame) = self.value(*value)? {
                return Ok(Some(frame));
            }
        }
        self.objects.pop();
        if sparse {
            self.token(Kind::EndMap, 0)?;
        }
        Ok(None)
    }

    /// Whether a member is left out for its value. One that is redacted never is.
    fn leaves_out(&self, left_out: LeftOut<'a>, member: &Member<'a>, values: &[Raw<'a>]) -> bool {
        let omitted = match left_out {
            _ if member.redacted => return false,
            LeftOut::None => return false,
            LeftOut::Plan(omitted) => omitted,
            LeftOut::Call => &self.omitted,
        };
        let Some(value) = values.get(member.place) else { return false };
        if value.word() == self.words.nil {
            return omitted.contains(value);
        }
        // Only modules are left.
        if kind(value.word()) != Tag::Boxed || omitted.iter().all(|word| word.word() == self.words.nil) {
            return false;
        }
        if self.look.map_size(*value).is_none() {
            return false;
        }
        let module = self.look.map_get(*value, self.names.term(Known::Struct));
        module.is_some_and(|module| omitted.contains(&module))
    }
}
