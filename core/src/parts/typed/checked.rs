//! Values of types with constraints.
//!
//! Each is looked at first. One that is allowed is then read as any value of the type is: a copy of the readers of numbers and texts for
//! values with constraints would take 18 KB of the WebAssembly module.

use super::super::answer::Answer;
use super::super::checked::{Checked, Rules};
use super::super::moment::{Moment, Reading};
use super::super::numbers::{Judged, Kind};
use super::super::shape::Node;
use super::walk::{Container, Next, Step, Walk, broken};
use crate::builder::TermBuilder;
use crate::decode::cursor::Follows;
use crate::decode::number;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    /// A value of the type with constraints at this place.
    #[inline(never)]
    pub(super) fn checked(&mut self, checked: &Checked<'a>, place: usize, byte: u8, pos: usize) -> Step<Next> {
        let rules = Rules::read(checked).ok_or_else(|| broken(pos))?;
        let node = self.shape.node(checked.inner).ok_or_else(|| broken(pos))?;
        let options = self.cursor.options;
        let broken_rule = match (node, byte) {
            (Node::String, b'"') => {
                let (text, _) = self.cursor.text(pos)?;
                let reading = match rules.format {
                    0 => None,
                    kind => Some(Moment::judge(kind, text.bytes())),
                };
                match (rules.text(text.bytes()), reading) {
                    (Err(kind), _) => Some(kind),
                    (_, Some(Reading::Wrong)) => Some(ErrorKind::Format),
                    (_, Some(Reading::Unsure)) => return self.unsure_date(rules.format, ErrorKind::Format, pos),
                    _ => None,
                }
            }
            (Node::Decimal, b'"') => {
                let (text, _) = self.cursor.text(pos)?;
                let text = text.bytes();
                let whole =
                    text.first().is_some_and(|&byte| starts_number(byte)) && number::end(text, 0) == Some(text.len());
                if whole { outside(&node, &rules, text, 0, options) } else { None }
            }
            (Node::Integer | Node::Float | Node::Number | Node::Decimal, byte) if starts_number(byte) => {
                outside(&node, &rules, self.cursor.json, pos, options)
            }
            (Node::List(element), b'[') => return self.open_limited(Container::List(element), place, &rules, pos),
            (Node::Map(value), b'{') => return self.open_limited(Container::Map(value), place, &rules, pos),
            // Constraints stand around no others.
            (Node::Checked(_), _) => return Err(broken(pos)),
            _ => None,
        };
        match broken_rule {
            Some(kind) => self.refuse(kind, pos),
            None => Ok(Next::Value(checked.inner, pos)),
        }
    }

    /// Opens a list or map of a limited length, whose type with the limits is at this place.
    fn open_limited(&mut self, inside: Container, place: usize, rules: &Rules<'_>, pos: usize) -> Step<Next> {
        self.cursor.check_depth(pos, self.depth())?;
        match inside {
            Container::Map(_) => self.answer.begin_map(),
            _ => self.answer.terms().begin_array(),
        }
        self.push(Container::Limited(place), self.seen.len(), false, pos)?;
        match self.cursor.inside(pos) {
            Follows::Item(first) => self.element(inside, rules, 0, first),
            Follows::Close(bracket) => Ok(Next::Closes(bracket)),
        }
    }

    /// What comes in a container of a limited length, behind a value that ends here.
    #[inline(never)]
    pub(super) fn limited(&mut self, place: usize, len: usize, end: usize) -> Step<Next> {
        let (rules, inside) = self.rules(place, end)?;
        match self.cursor.behind(end, matches!(inside, Container::Map(_)))? {
            Follows::Item(pos) => self.element(inside, &rules, len, pos),
            Follows::Close(bracket) => Ok(Next::Closes(bracket)),
        }
    }

    /// The element or member at `pos`, which stands behind `len` others.
    #[inline(never)]
    fn element(&mut self, inside: Container, rules: &Rules<'_>, len: usize, pos: usize) -> Step<Next> {
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

const fn starts_number(byte: u8) -> bool {
    matches!(byte, b'-' | b'0'..=b'9')
}

/// The rule that the number at `pos` breaks. One that cannot be read is left to its type.
#[inline(never)]
fn outside(of: &Node<'_>, rules: &Rules<'_>, text: &[u8], pos: usize, options: &DecodeOptions) -> Option<ErrorKind> {
    let judged = |kind| Judged { rules, kind };
    let kind = match of {
        Node::Integer => Kind::Integer,
        Node::Float => Kind::Float,
        _ => Kind::Any,
    };
    let read = match of {
        Node::Decimal => number::exact(text, pos, options, &mut judged(kind)),
        _ => number::number(text, pos, &DecodeOptions { decimals: false, ..*options }, &mut judged(kind)),
    };
    match read {
        Err(Error { kind: kind @ (ErrorKind::Min | ErrorKind::Max), .. }) => Some(kind),
        _ => None,
    }
}
