//! Values of a type that are not containers: texts, numbers, dates, enums, raw parts.

use super::super::answer::Answer;
use super::super::moment::{Moment, Reading};
use super::super::numbers::{AsDecimal, Integers};
use super::super::shape::{Names, Node, kinds};
use super::walk::{Container, Next, Step, Walk, broken};
use crate::builder::TermBuilder;
use crate::decode::{self, number};
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::room::room;
use crate::simd::Kernel;

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    #[inline(always)]
    pub(super) fn value(&mut self, place: usize, pos: usize) -> Step<Next> {
        self.spend(1, pos)?;
        let mut place = place;
        let mut kind = self.shape.kind(place);
        let byte = self.cursor.json.get(pos).copied().unwrap_or_default();
        if kind == Some(kinds::NULLABLE) {
            if byte == b'n' {
                return self.null(pos, A::null);
            }
            place = self.shape.inner(place).ok_or_else(|| broken(pos))?;
            kind = self.shape.kind(place);
        }
        // Reading the whole node costs more than most of these values.
        match (kind, byte) {
            (Some(kinds::STRING), b'"') => self.string(pos),
            (Some(kinds::INTEGER), b'-' | b'0'..=b'9') => self.integer(pos),
            (Some(kinds::FLOAT), b'-' | b'0'..=b'9') => self.float(pos),
            (Some(kinds::BOOLEAN), b't' | b'f') => self.boolean(byte, pos),
            (Some(kinds::STRUCT), b'{') => self.open_struct(place, pos, false),
            _ => Ok(self.other(place, byte, pos)?),
        }
    }

    /// A value of any other type, or one that does not fit.
    #[inline(never)]
    fn other(&mut self, place: usize, byte: u8, pos: usize) -> Step<Next> {
        let node = self.shape.node(place).ok_or_else(|| broken(pos))?;
        if let (Node::Many(_), b'n') = (node, byte) {
            return self.null(pos, |answer| {
                answer.terms().begin_array();
                answer.terms().end_array(0)
            });
        }
        match (node, byte) {
            (Node::Any, _) => self.any(pos),
            (Node::Number, b'-' | b'0'..=b'9') => self.any_number(pos),
            (Node::Decimal, b'-' | b'0'..=b'9') => {
                let end = decimal(self.cursor.json, pos, self.cursor.options, self.answer)?;
                Ok(self.built(end))
            }
            (Node::Decimal, b'"') => self.decimal_text(pos),
            (Node::Date(kind), b'"') => self.date(kind, pos),
            (Node::Raw, _) => self.raw(pos),
            (Node::Loaded(kind), _) => self.loaded(kind, pos),
            (Node::Enum(names), b'"') => self.one_of(&names, pos),
            (Node::List(element) | Node::Many(element), b'[') => self.open(Container::List(element), pos, 0, false),
            (Node::Map(value), b'{') => self.open(Container::Map(value), pos, 0, false),
            (Node::Tagged(tagged), b'{') => self.tagged(&tagged, pos),
            (Node::Checked(checked), _) => self.checked(&checked, place, byte, pos),
            (node, _) => self.refuse(expected(&node), pos),
        }
    }

    /// A value that is built as `decode` builds it.
    #[inline(always)]
    fn any(&mut self, pos: usize) -> Step<Next> {
        let end = self.part(pos, self.cursor.options.decimals)?;
        Ok(self.built(end))
    }

    /// A number that is, by the same code.
    #[inline(always)]
    fn any_number(&mut self, pos: usize) -> Step<Next> {
        let end = self.part(pos, false)?;
        Ok(self.built(end))
    }

    /// Builds what `decode` builds of the value; gives the offset behind it.
    #[inline(always)]
    fn part(&mut self, pos: usize, decimals: bool) -> Step<usize> {
        let left = (self.cursor.options.max_depth as usize).saturating_sub(self.depth());
        let max_depth = if self.cursor.options.max_depth == u32::MAX { u32::MAX } else { left as u32 };
        let options = DecodeOptions { max_depth, decimals, ..*self.cursor.options };
        let end = decode::part(self.cursor.json, pos, &options, self.scratch, self.answer.terms())?;
        // A value or key takes two bytes at least, nearly always more.
        self.spend((end - pos) as u64 / 4, pos)?;
        Ok(end)
    }

    #[inline(always)]
    fn string(&mut self, pos: usize) -> Step<Next> {
        let (text, end) = self.cursor.text_here(pos)?;
        self.answer.terms().string(text).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    #[inline(always)]
    fn null(&mut self, pos: usize, add: fn(&mut A) -> Result<(), ErrorKind>) -> Step<Next> {
        let end = self.cursor.literal(pos, b'n')?;
        add(self.answer).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    #[inline(always)]
    fn boolean(&mut self, first: u8, pos: usize) -> Step<Next> {
        let end = self.cursor.literal(pos, first)?;
        self.answer.terms().boolean(first == b't').map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    #[inline(always)]
    fn integer(&mut self, pos: usize) -> Step<Next> {
        match number::number(self.cursor.json, pos, self.cursor.options, &mut Integers(self.answer.terms())) {
            Ok(end) => Ok(self.built(end)),
            Err(Error { kind: kind @ ErrorKind::TypeInteger, .. }) => Ok(self.refuse(kind, pos)?),
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn float(&mut self, pos: usize) -> Step<Next> {
        let end = number::inexact(self.cursor.json, pos, self.cursor.options, self.answer.terms())?;
        Ok(self.built(end))
    }

    /// A string whose text is an exact number.
    fn decimal_text(&mut self, pos: usize) -> Step<Next> {
        let options = self.cursor.options;
        let (text, end) = self.cursor.text(pos)?;
        let bytes = text.bytes();
        let is_number = matches!(bytes.first(), Some(b'-' | b'0'..=b'9'));
        if !is_number || number::end(bytes, 0) != Some(bytes.len()) {
            return self.refuse(ErrorKind::TypeDecimal, pos);
        }
        decimal(bytes, 0, options, self.answer).map_err(|error| Error::new(error.kind, pos))?;
        Ok(self.built(end))
    }

    fn date(&mut self, kind: u8, pos: usize) -> Step<Next> {
        let (text, end) = self.cursor.text(pos)?;
        match Moment::judge(kind, text.bytes()) {
            Reading::Usual(moment) => {
                self.answer.date(kind, text, Some(moment)).map_err(|kind| Error::new(kind, pos))?;
                Ok(self.built(end))
            }
            Reading::Wrong => self.refuse(expected(&Node::Date(kind)), pos),
            Reading::Unsure => self.unsure_date(kind, expected(&Node::Date(kind)), pos),
        }
    }

    /// One that Elixir has to parse.
    #[cold]
    pub(super) fn unsure_date(&mut self, kind: u8, wrong: ErrorKind, pos: usize) -> Step<Next> {
        if self.is_refused(kind.into(), pos)? {
            return self.refuse(wrong, pos);
        }
        let (text, end) = self.cursor.text(pos)?;
        self.answer.date(kind, text, None).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    /// A value that Elixir loads.
    #[inline(never)]
    fn loaded(&mut self, kind: u32, pos: usize) -> Step<Next> {
        if self.is_refused(kind, pos)? {
            return self.refuse(ErrorKind::TypeLoaded, pos);
        }
        let end = self.part(pos, self.cursor.options.decimals)?;
        self.answer.loaded().map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    /// Whether Elixir refused this value, which it has to judge.
    #[inline(never)]
    fn is_refused(&mut self, kind: u32, pos: usize) -> Step<bool> {
        self.errors.found.left = true;
        let number = self.next_left;
        self.next_left = number.saturating_add(1);
        if self.shape.list_left {
            room(self.left, 1).map_err(|kind| Error::new(kind, pos))?;
            self.left.push((kind, pos));
        }
        Ok(self.shape.refuses(number, &mut self.refusals))
    }

    fn raw(&mut self, pos: usize) -> Step<Next> {
        let end = self.cursor.value_by_call(pos, self.depth())?;
        self.answer.raw(pos, &self.cursor.json[pos..end]).map_err(|kind| Error::new(kind, pos))?;
        Ok(self.built(end))
    }

    fn one_of(&mut self, names: &Names<'a>, pos: usize) -> Step<Next> {
        let shape = self.shape;
        let (text, end) = self.cursor.text(pos)?;
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
    pub(super) fn refuse(&mut self, kind: ErrorKind, pos: usize) -> Step<Next> {
        let starts =
            matches!(self.cursor.json.get(pos), Some(b'"' | b'-' | b'0'..=b'9' | b'{' | b'[' | b't' | b'f' | b'n'));
        if starts {
            self.errors.add(kind, pos, None)?;
        }
        let end = self.cursor.value_by_call(pos, self.depth())?;
        self.refused(end)
    }

    /// Answers for a value that was refused, which ends there: nobody looks at it, because there is an error.
    #[cold]
    pub(super) fn refused(&mut self, end: usize) -> Step<Next> {
        self.answer.null().map_err(|kind| Error::new(kind, end))?;
        Ok(self.built(end))
    }
}

/// An exact number.
fn decimal<A: Answer>(json: &[u8], pos: usize, options: &DecodeOptions, answer: &mut A) -> Result<usize, Error> {
    number::exact(json, pos, options, &mut AsDecimal(answer))
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
        Node::Date(Moment::DURATION) => ErrorKind::TypeDuration,
        Node::Date(_) => ErrorKind::TypeUtcDatetime,
        Node::List(_) | Node::Many(_) => ErrorKind::TypeList,
        Node::Loaded(_) => ErrorKind::TypeLoaded,
        Node::Map(_) | Node::Struct(_) | Node::Tagged(_) => ErrorKind::TypeObject,
        _ => ErrorKind::TypeString,
    }
}
