//! Decodes into the types of a schema. What it does not have is passed over, and never built.
//!
//! What the values become is up to the [`Answer`]. No atom comes from here.

use super::answer::Answer;
use super::numbers::{AsDecimal, AsFloat, Integers};
use super::shape::{NO_DATE, Names, Node, Shape, Struct, Tagged};
use crate::builder::{Rewind, TermBuilder};
use crate::decode::skip::{Skip, missing};
use crate::decode::{self, Places, Scratch, number, starts_with_mark};
use crate::error::{Error, ErrorKind};
use crate::options::{DecodeOptions, Duplicates};
use crate::room::room;
use crate::simd::Kernel;
use crate::with_kernel;
use alloc::vec::Vec;

/// An error, and the key of the member that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong, and where.
    pub error: Error,
    /// For [`ErrorKind::Missing`].
    pub key: Option<Vec<u8>>,
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { error, key: None }
    }
}

/// Decodes a text into a type. `false`: more than `most_nodes` values and keys may have to be built (0 is no limit).
///
/// # Errors
/// The first one of the text or of the schema.
pub fn typed<A: Answer>(
    json: &[u8],
    shape: &Shape<'_>,
    options: &DecodeOptions,
    most_nodes: u64,
    scratch: &mut Scratch,
    answer: &mut A,
) -> Result<bool, Wrong> {
    if starts_with_mark(json) {
        return Err(Error::new(ErrorKind::ByteOrderMark, 0).into());
    }
    // The driver alone counts all nodes and looks for all repeated keys.
    if options.max_nodes != 0 || options.duplicates == Duplicates::Error {
        decode::validate(json, options, scratch)?;
    }
    let options = DecodeOptions { max_nodes: 0, ..*options };
    let mut places = core::mem::take(&mut scratch.places);
    let call = Call { json, shape, options: &options, most_nodes };
    let (mark, mut dates) = (answer.terms().mark(), Vec::new());
    let result = with_kernel!(kernel => walk(kernel, &call, &mut places, scratch, answer, &mut dates));
    scratch.places = places;
    if shape.list_dates {
        // A fault ends the list; which one it is, is known already.
        answer.terms().rewind(mark);
        return list(&call, &dates, scratch, answer.terms()).map(|()| true);
    }
    result
}

struct Call<'a> {
    json: &'a [u8],
    shape: &'a Shape<'a>,
    options: &'a DecodeOptions,
    most_nodes: u64,
}

#[inline(always)]
fn walk<K: Kernel, A: Answer>(
    kernel: K,
    call: &Call<'_>,
    places: &mut Places,
    scratch: &mut Scratch,
    answer: &mut A,
    dates: &mut Vec<(u32, usize)>,
) -> Result<bool, Wrong> {
    let Places { open, text, .. } = places;
    let skip = Skip::new(kernel, call.json, call.options, open, text);
    let budget = if call.most_nodes == 0 { u64::MAX } else { call.most_nodes };
    let shape = call.shape;
    let walk = Walk {
        skip,
        shape,
        scratch,
        answer,
        frames: Vec::new(),
        seen: Vec::new(),
        pass: shape.pass,
        dates,
        date: 0,
        budget,
    };
    match walk.run() {
        // Not an error of the text, whose limit is looked after.
        Err(Wrong { error: Error { kind: ErrorKind::MaxNodes, .. }, .. }) => Ok(false),
        result => result.map(|()| true),
    }
}

/// The values that Elixir has to look at, which are dates and those that it loads: of each its kind, and the value.
fn list<B: TermBuilder>(
    call: &Call<'_>,
    dates: &[(u32, usize)],
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Wrong> {
    builder.begin_array();
    for &(kind, start) in dates {
        builder.integer(kind.into()).map_err(|kind| Error::new(kind, start))?;
        decode::part(call.json, start, call.options, scratch, builder)?;
    }
    Ok(builder.end_array(2 * dates.len()).map_err(|kind| Error::new(kind, 0))?)
}

/// An open container.
struct Frame<'a> {
    container: Container<'a>,
    /// Elements, members or fields that were built.
    len: usize,
    /// It is the struct of a tagged one.
    variant: bool,
}

#[derive(Clone, Copy)]
enum Container<'a> {
    List(usize),
    Map(usize),
    /// A struct, where its fields start in the list of seen ones, and the field that comes next if members are in order.
    Struct(Struct<'a>, usize, usize),
}

struct Walk<'a, 'b, K, A> {
    skip: Skip<'a, K>,
    shape: &'a Shape<'a>,
    scratch: &'b mut Scratch,
    answer: &'b mut A,
    frames: Vec<Frame<'a>>,
    /// For each field of the open structs, whether it was there.
    seen: Vec<bool>,
    /// Errors of the schema to pass over.
    pass: u32,
    dates: &'b mut Vec<(u32, usize)>,
    /// The number of the next date.
    date: u32,
    /// Values and keys that may still be built.
    budget: u64,
}

/// What stands at an offset.
enum Next {
    /// A value of the type at this place of the shape.
    Value(usize, usize),
    /// A member or element of the container at hand.
    Member(usize),
    /// A value has ended before this.
    Ended(usize),
}

type Step<T> = Result<T, Wrong>;

/// A shape that nobody wrote.
fn broken(pos: usize) -> Wrong {
    Error::new(ErrorKind::OutOfMemory, pos).into()
}

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    #[inline(always)]
    fn run(mut self) -> Step<()> {
        let mut next = Next::Value(Shape::root(), self.skip.space(0));
        loop {
            next = match next {
                Next::Value(place, pos) => self.value(place, pos)?,
                Next::Member(pos) => self.member(pos)?,
                Next::Ended(end) if self.frames.is_empty() => return Ok(self.skip.end_of_document(end)?),
                Next::Ended(end) => self.after(end)?,
            };
        }
    }

    /// Takes from what may still be built.
    #[inline(always)]
    fn spend(&mut self, nodes: u64, pos: usize) -> Step<()> {
        match self.budget.checked_sub(nodes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(Error::new(ErrorKind::MaxNodes, pos).into()),
        }
    }

    #[inline(always)]
    fn value(&mut self, place: usize, pos: usize) -> Step<Next> {
        self.spend(1, pos)?;
        let mut node = self.shape.node(place).ok_or_else(|| broken(pos))?;
        let byte = self.skip.json.get(pos).copied().unwrap_or_default();
        if let Node::Nullable(inner) = node {
            if byte == b'n' {
                return self.literal(pos, b"null", A::null);
            }
            node = self.shape.node(inner).ok_or_else(|| broken(pos))?;
        }
        if let (Node::Many(_), b'n') = (node, byte) {
            return self.literal(pos, b"null", |answer| {
                answer.terms().begin_array();
                answer.terms().end_array(0)
            });
        }
        match (node, byte) {
            (Node::Any, _) => self.any(pos),
            (Node::String, b'"') => self.string(pos),
            (Node::Boolean, b't') => self.literal(pos, b"true", |answer| answer.terms().boolean(true)),
            (Node::Boolean, b'f') => self.literal(pos, b"false", |answer| answer.terms().boolean(false)),
            (Node::Integer, b'-' | b'0'..=b'9') => self.number(pos, |json, pos, options, answer| {
                number::number(json, pos, options, &mut Integers(answer.terms()))
            }),
            (Node::Number, b'-' | b'0'..=b'9') => self.any_number(pos),
            (Node::Float, b'-' | b'0'..=b'9') => self.number(pos, |json, pos, options, answer| {
                number::number(
                    json,
                    pos,
                    &DecodeOptions { decimals: false, ..*options },
                    &mut AsFloat(answer.terms(), json, pos),
                )
            }),
            (Node::Decimal, b'-' | b'0'..=b'9') => self.number(pos, decimal),
            (Node::Decimal, b'"') => self.decimal_text(pos),
            (Node::Date(kind), b'"') => self.date(kind, pos),
            (Node::Raw, _) => self.raw(pos),
            (Node::Loaded(kind), _) => self.loaded(kind, pos),
            (Node::Enum(names), b'"') => self.one_of(&names, pos),
            (Node::List(element) | Node::Many(element), b'[') => self.open(Container::List(element), pos),
            (Node::Map(value), b'{') => self.open(Container::Map(value), pos),
            (Node::Struct(record), b'{') => {
                let base = self.seen.len();
                room(&mut self.seen, record.count).map_err(|kind| Error::new(kind, pos))?;
                self.seen.resize(base + record.count, false);
                self.open(Container::Struct(record, base, 0), pos)
            }
            (Node::Tagged(tagged), b'{') => self.tagged(&tagged, pos),
            (node, _) => self.refuse(expected(&node), pos),
        }
    }

    /// A value that is built as `decode` builds it.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn any(&mut self, pos: usize) -> Step<Next> {
        let end = self.part(pos)?;
        Ok(self.built(end))
    }

    #[inline(always)]
    fn part(&mut self, pos: usize) -> Step<usize> {
        let left = (self.skip.options.max_depth as usize).saturating_sub(self.frames.len());
        let max_depth = if self.skip.options.max_depth == u32::MAX { u32::MAX } else { left as u32 };
        let options = DecodeOptions { max_depth, ..*self.skip.options };
        let end = decode::part(self.skip.json, pos, &options, self.scratch, self.answer.terms())?;
        // A value or key takes two bytes at least, nearly always more.
        self.spend((end - pos) as u64 / 4, pos)?;
        Ok(end)
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn string(&mut self, pos: usize) -> Step<Next> {
        let (text, end) = self.skip.text(pos)?;
        self.answer.terms().string(text).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    #[inline(always)]
    fn literal(&mut self, pos: usize, word: &'static [u8], add: fn(&mut A) -> Result<(), ErrorKind>) -> Step<Next> {
        let end = self.skip.literal(pos, word)?;
        add(self.answer).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    /// The container at hand has one value more.
    #[inline(always)]
    fn built(&mut self, end: usize) -> Next {
        if let Some(frame) = self.frames.last_mut() {
            frame.len += 1;
            if let Container::Struct(_, _, next) = frame.container {
                self.answer.end_field(next - 1);
            }
        }
        Next::Ended(end)
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn number(
        &mut self,
        pos: usize,
        read: impl FnOnce(&[u8], usize, &DecodeOptions, &mut A) -> Result<usize, Error>,
    ) -> Step<Next> {
        match read(self.skip.json, pos, self.skip.options, self.answer) {
            Ok(end) => Ok(self.built(end)),
            Err(Error { kind: kind @ ErrorKind::TypeInteger, .. }) => self.refuse(kind, pos),
            Err(error) => Err(error.into()),
        }
    }

    /// A number that is built as `decode` builds it, by the same code.
    fn any_number(&mut self, pos: usize) -> Step<Next> {
        let options = DecodeOptions { decimals: false, ..*self.skip.options };
        let end = decode::part(self.skip.json, pos, &options, self.scratch, self.answer.terms())?;
        Ok(self.built(end))
    }

    /// A string whose text is an exact number.
    fn decimal_text(&mut self, pos: usize) -> Step<Next> {
        let options = DecodeOptions { decimals: true, ..*self.skip.options };
        let (text, end) = self.skip.text(pos)?;
        let bytes = text.bytes();
        let is_number = matches!(bytes.first(), Some(b'-' | b'0'..=b'9'));
        let whole = is_number && number::skip(bytes, 0, &options).is_ok_and(|end| end == bytes.len());
        if !whole {
            return self.refuse(ErrorKind::TypeDecimal, pos);
        }
        decimal(bytes, 0, &options, self.answer).map_err(|error| Error::new(error.kind, pos))?;
        Ok(self.built(end))
    }

    fn date(&mut self, kind: u8, pos: usize) -> Step<Next> {
        if self.is_wrong(kind.into(), pos)? {
            return self.refuse(expected(&Node::Date(kind)), pos);
        }
        let (text, end) = self.skip.text(pos)?;
        self.answer.date(kind, text).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    /// A value that Elixir loads.
    #[inline(never)]
    fn loaded(&mut self, kind: u32, pos: usize) -> Step<Next> {
        if self.is_wrong(kind, pos)? {
            return self.refuse(ErrorKind::TypeLoaded, pos);
        }
        let end = self.part(pos)?;
        self.answer.loaded().map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    /// Whether this is the date, or loaded value, that Elixir refused.
    #[inline(never)]
    fn is_wrong(&mut self, kind: u32, pos: usize) -> Step<bool> {
        let number = self.date;
        self.date = number.saturating_add(1);
        if self.shape.list_dates {
            room(self.dates, 1).map_err(|kind| Error::new(kind, pos))?;
            self.dates.push((kind, pos));
        }
        Ok(number == self.shape.wrong_date && number != NO_DATE)
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn raw(&mut self, pos: usize) -> Step<Next> {
        let end = self.skip.value(pos, self.frames.len())?;
        self.answer.raw(pos, &self.skip.json[pos..end]).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    fn one_of(&mut self, names: &Names<'a>, pos: usize) -> Step<Next> {
        let shape = self.shape;
        let (text, end) = self.skip.text(pos)?;
        match shape.number(names, text.bytes()) {
            Some(number) => {
                self.answer.name(names.template, number).map_err(|kind| Error::new(kind, pos))?;
                Ok(self.built(end))
            }
            None => self.refuse(ErrorKind::Enum, pos),
        }
    }

    /// A value of another type. One that is none at all is an error of the text.
    #[cold]
    fn refuse(&mut self, kind: ErrorKind, pos: usize) -> Step<Next> {
        let starts =
            matches!(self.skip.json.get(pos), Some(b'"' | b'-' | b'0'..=b'9' | b'{' | b'[' | b't' | b'f' | b'n'));
        if starts && self.pass == 0 {
            return Err(Error::new(kind, pos).into());
        }
        self.pass = self.pass.saturating_sub(1);
        let end = self.skip.value(pos, self.frames.len())?;
        self.answer.null().map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    fn open(&mut self, container: Container<'a>, pos: usize) -> Step<Next> {
        self.enter(container, pos, false)
    }

    fn enter(&mut self, container: Container<'a>, pos: usize, variant: bool) -> Step<Next> {
        if self.frames.len() >= self.skip.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos).into());
        }
        room(&mut self.frames, 1).map_err(|kind| Error::new(kind, pos))?;
        self.frames.push(Frame { container, len: 0, variant });
        match container {
            Container::List(_) => self.answer.terms().begin_array(),
            Container::Map(_) => self.answer.begin_map(),
            Container::Struct(record, ..) => {
                self.answer.begin_struct(record.template).map_err(|kind| Error::new(kind, pos))?;
            }
        }
        let inside = self.skip.space(pos + 1);
        let closing = self.skip.json[pos] + 2;
        if self.skip.json.get(inside) == Some(&closing) { self.close(inside) } else { Ok(Next::Member(inside)) }
    }

    #[inline(always)]
    fn member(&mut self, pos: usize) -> Step<Next> {
        let Some(frame) = self.frames.last_mut() else { return Ok(Next::Ended(pos)) };
        match frame.container {
            Container::List(element) => Ok(Next::Value(element, pos)),
            Container::Map(value) => {
                let (text, end) = self.skip.key(pos)?;
                self.answer.map_key(text).map_err(|kind| Error::new(kind, pos))?;
                Ok(Next::Value(value, self.skip.colon(end)?))
            }
            Container::Struct(record, base, guess) => self.field(&record, base, guess, pos),
        }
    }

    #[inline(always)]
    fn field(&mut self, record: &Struct<'a>, base: usize, guess: usize, pos: usize) -> Step<Next> {
        let shape = self.shape;
        let (text, end) = self.skip.key(pos)?;
        let found = shape.find(record, text.bytes(), guess);
        let start = self.skip.colon(end)?;
        let first = self.skip.options.duplicates == Duplicates::First;
        match found {
            Some((number, field)) if !(field.ignored || first && self.seen[base + number]) => {
                self.seen[base + number] = true;
                if let Some(frame) = self.frames.last_mut() {
                    frame.container = Container::Struct(*record, base, number + 1);
                }
                self.answer.begin_field(number).map_err(|kind| Error::new(kind, pos))?;
                Ok(Next::Value(field.node, start))
            }
            None if record.strict => self.unknown_key(pos, start),
            _ => Ok(Next::Ended(self.skip.value(start, self.frames.len())?)),
        }
    }

    #[cold]
    fn unknown_key(&mut self, pos: usize, start: usize) -> Step<Next> {
        if self.pass == 0 {
            return Err(Error::new(ErrorKind::UnknownKey, pos).into());
        }
        self.pass -= 1;
        Ok(Next::Ended(self.skip.value(start, self.frames.len())?))
    }

    #[inline(always)]
    fn after(&mut self, mut pos: usize) -> Step<Next> {
        let Some(frame) = self.frames.last() else { return Ok(Next::Ended(pos)) };
        let object = !matches!(frame.container, Container::List(_));
        loop {
            match (self.skip.json.get(pos), object) {
                (Some(b','), _) => return Ok(Next::Member(self.skip.space(pos + 1))),
                (Some(b'}'), true) | (Some(b']'), false) => return self.close(pos),
                _ => pos = self.skip.space_before(pos, missing(object))?,
            }
        }
    }

    /// The container at hand ends with the bracket at `pos`.
    #[inline(always)]
    fn close(&mut self, pos: usize) -> Step<Next> {
        let Some(frame) = self.frames.last() else { return Ok(Next::Ended(pos + 1)) };
        let (len, variant, container) = (frame.len, frame.variant, frame.container);
        if let Container::Struct(record, base, _) = container {
            let there = self.seen[base..].iter().filter(|seen| **seen).count();
            if there < record.count {
                self.required(&record, base, pos)?;
            }
            self.seen.truncate(base);
        }
        let at = |kind| Error::new(kind, pos);
        self.frames.pop();
        match container {
            Container::List(_) => self.answer.terms().end_array(len),
            Container::Map(_) => self.answer.end_map(len),
            Container::Struct(..) => self.answer.end_struct(len),
        }
        .map_err(at)?;
        if variant {
            self.answer.end_variant().map_err(at)?;
        }
        Ok(self.built(pos + 1))
    }

    /// Not all fields were there.
    fn required(&mut self, record: &Struct<'a>, base: usize, pos: usize) -> Step<()> {
        if record.required == 0 {
            return Ok(());
        }
        for number in 0..record.count {
            let field = self.shape.field(record, number).ok_or_else(|| broken(pos))?;
            if field.required && !self.seen[base + number] {
                if self.pass == 0 {
                    return Err(Wrong { error: Error::new(ErrorKind::Missing, pos), key: Some(field.key.to_vec()) });
                }
                self.pass -= 1;
            }
        }
        Ok(())
    }

    /// A struct whose type a member tells, which may stand anywhere in it.
    fn tagged(&mut self, tagged: &Tagged<'a>, pos: usize) -> Step<Next> {
        let shape = self.shape;
        if self.frames.len() >= self.skip.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos).into());
        }
        let tag = match self.find_tag(tagged.key, pos)? {
            Ok(tag) => tag,
            Err(_) if self.pass > 0 => return self.refuse(ErrorKind::Missing, pos),
            Err(end) => {
                let error = Error::new(ErrorKind::Missing, end);
                return Err(Wrong { error, key: Some(tagged.key.to_vec()) });
            }
        };
        if self.skip.json.get(tag) != Some(&b'"') {
            return self.refuse_tag(ErrorKind::TypeString, tag, pos);
        }
        let (text, _) = self.skip.text(tag)?;
        let Some(number) = shape.number(&tagged.names, text.bytes()) else {
            return self.refuse_tag(ErrorKind::Enum, tag, pos);
        };
        let place = shape.variant(tagged, number);
        let Some(Node::Struct(record)) = shape.node(place) else { return Err(broken(pos)) };
        self.answer.begin_variant(number).map_err(|kind| Error::new(kind, pos))?;
        let base = self.seen.len();
        room(&mut self.seen, record.count).map_err(|kind| Error::new(kind, pos))?;
        self.seen.resize(base + record.count, false);
        self.enter(Container::Struct(record, base, 0), pos, true)
    }

    #[cold]
    fn refuse_tag(&mut self, kind: ErrorKind, tag: usize, pos: usize) -> Step<Next> {
        if self.pass == 0 { Err(Error::new(kind, tag).into()) } else { self.refuse(kind, pos) }
    }

    /// Where the value of the tag stands in the object at `pos`, which of repeated ones counts; or where the object ends without one.
    fn find_tag(&mut self, key: &[u8], pos: usize) -> Step<Result<usize, usize>> {
        let depth = self.frames.len() + 1;
        let mut found = None;
        let mut at = self.skip.space(pos + 1);
        if self.skip.json.get(at) == Some(&b'}') {
            return Ok(Err(at));
        }
        loop {
            let (text, end) = self.skip.key(at)?;
            let is_tag = text.bytes() == key;
            let start = self.skip.colon(end)?;
            if is_tag {
                found = Some(start);
                if self.skip.options.duplicates == Duplicates::First {
                    return Ok(Ok(start));
                }
            }
            let mut end = self.skip.value(start, depth)?;
            at = loop {
                match self.skip.json.get(end) {
                    Some(b',') => break self.skip.space(end + 1),
                    Some(b'}') => return Ok(found.ok_or(end)),
                    _ => end = self.skip.space_before(end, missing(true))?,
                }
            };
        }
    }
}

/// An exact number. (A call: each copy takes 3 KB of the WebAssembly module.)
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn decimal<A: Answer>(json: &[u8], pos: usize, options: &DecodeOptions, answer: &mut A) -> Result<usize, Error> {
    number::number(json, pos, &DecodeOptions { decimals: true, ..*options }, &mut AsDecimal(answer))
}

/// The error of a value that is not of this type.
const fn expected(node: &Node<'_>) -> ErrorKind {
    match node {
        Node::Integer => ErrorKind::TypeInteger,
        Node::Float => ErrorKind::TypeFloat,
        Node::Number => ErrorKind::TypeNumber,
        Node::Boolean => ErrorKind::TypeBoolean,
        Node::Decimal => ErrorKind::TypeDecimal,
        Node::Date(7) => ErrorKind::TypeDate,
        Node::Date(8) => ErrorKind::TypeTime,
        Node::Date(9) => ErrorKind::TypeNaiveDatetime,
        Node::Date(_) => ErrorKind::TypeUtcDatetime,
        Node::List(_) | Node::Many(_) => ErrorKind::TypeList,
        Node::Loaded(_) => ErrorKind::TypeLoaded,
        Node::Map(_) | Node::Struct(_) | Node::Tagged(_) => ErrorKind::TypeObject,
        _ => ErrorKind::TypeString,
    }
}
