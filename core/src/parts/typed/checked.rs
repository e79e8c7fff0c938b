//! Values of types with constraints. Each is checked before it is built.

use super::super::answer::Answer;
use super::super::checked::{Checked, Rules};
use super::super::moment::{Moment, Reading};
use super::super::numbers::{Bounded, Integers};
use super::super::shape::Node;
use super::values::decimal;
use super::walk::{Container, Next, Step, Walk, broken};
use crate::builder::TermBuilder;
use crate::decode::number;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    /// A value of the type with constraints at this place. (What does not fit the type itself is refused as ever.)
    #[inline(never)]
    pub(super) fn checked(&mut self, checked: &Checked<'a>, place: usize, byte: u8, pos: usize) -> Step<Next> {
        let rules = Rules::read(checked).ok_or_else(|| broken(pos))?;
        let node = self.shape.node(checked.inner).ok_or_else(|| broken(pos))?;
        match (node, byte) {
            (Node::String, b'"') => self.checked_text(&rules, pos),
            (Node::Decimal, b'"') => self.decimal_text(pos, Some(&rules)),
            (Node::Integer | Node::Float | Node::Number | Node::Decimal, b'-' | b'0'..=b'9') => {
                let result = self.checked_number(&node, &rules, pos);
                self.bounded(result, pos)
            }
            (Node::List(element), b'[') => self.open_limited(Container::List(element), place, &rules, pos),
            (Node::Map(value), b'{') => self.open_limited(Container::Map(value), place, &rules, pos),
            // Constraints stand around no others.
            (Node::Checked(_), _) => Err(broken(pos)),
            _ => self.other(checked.inner, byte, pos),
        }
    }

    fn checked_text(&mut self, rules: &Rules<'_>, pos: usize) -> Step<Next> {
        let (text, end) = self.skip.text(pos)?;
        if let Err(kind) = rules.text(text.bytes()) {
            return self.refuse(kind, pos);
        }
        let reading = match rules.format {
            0 => None,
            kind => Some(Moment::judge(kind, text.bytes())),
        };
        match reading {
            Some(Reading::Wrong) => self.refuse(ErrorKind::Format, pos),
            Some(Reading::Unsure) => self.unsure_date(rules.format, ErrorKind::Format, pos),
            _ => {
                self.answer.terms().string(text).map_err(|kind| Error::new(kind, pos))?;
                Ok(self.built(end))
            }
        }
    }

    fn checked_number(&mut self, node: &Node<'a>, rules: &Rules<'_>, pos: usize) -> Step<usize> {
        let (json, options) = (self.skip.json, self.skip.options);
        if let Node::Decimal = node {
            return decimal(json, pos, options, self.answer, Some(rules));
        }
        let mut terms = Bounded(self.answer.terms(), rules);
        match node {
            Node::Integer => number::number(json, pos, options, &mut Integers(&mut terms)),
            Node::Float => number::inexact(json, pos, options, &mut terms),
            _ => number::number(json, pos, &DecodeOptions { decimals: false, ..*options }, &mut terms),
        }
    }

    /// Opens a list or map of a limited length, whose type with the limits is at this place.
    fn open_limited(&mut self, container: Container, place: usize, rules: &Rules<'_>, pos: usize) -> Step<Next> {
        let next = self.open(container, pos, 0, false)?;
        self.limit(Container::Limited(place));
        if rules.longest == 0 && !matches!(next, Next::Closes(_)) {
            let first = self.skip.space(pos + 1);
            self.errors.add(ErrorKind::MaxItems, first, None)?;
        }
        Ok(next)
    }

    /// What comes in a container of a limited length, behind a value that ends here.
    #[inline(never)]
    pub(super) fn limited(&mut self, place: usize, len: usize, end: usize) -> Step<Next> {
        let (rules, inside) = self.rules(place, end)?;
        let (pos, more) = self.after(end, if let Container::Map(_) = inside { b'}' } else { b']' })?;
        if !more {
            return Ok(Next::Closes(pos));
        }
        // Only the first one too many is an error.
        if len == rules.longest as usize {
            self.errors.add(ErrorKind::MaxItems, pos, None)?;
        }
        match inside {
            Container::Map(value) => self.map_member(value, pos),
            Container::List(element) => Ok(Next::Value(element, pos)),
            _ => Err(broken(pos)),
        }
    }

    /// Ends a container of a limited length with the bracket at `pos`.
    #[inline(never)]
    pub(super) fn close_limited(&mut self, place: usize, len: usize, pos: usize) -> Step<()> {
        let (rules, inside) = self.rules(place, pos)?;
        if len < rules.shortest as usize {
            self.errors.add(ErrorKind::MinItems, pos, None)?;
        }
        match inside {
            Container::Map(_) => self.answer.end_map(len),
            _ => self.answer.terms().end_array(len),
        }
        .map_err(|kind| Error::new(kind, pos))
    }

    fn rules(&self, place: usize, pos: usize) -> Step<(Rules<'a>, Container)> {
        let found = || {
            let Node::Checked(checked) = self.shape.node(place)? else { return None };
            let inside = match self.shape.node(checked.inner)? {
                Node::List(element) => Container::List(element),
                Node::Map(value) => Container::Map(value),
                _ => return None,
            };
            Some((Rules::read(&checked)?, inside))
        };
        found().ok_or_else(|| broken(pos))
    }
}
