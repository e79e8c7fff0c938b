//! The walk over a term, one scalar or bracket at a time.

use super::driver::{Driver, Frame, LONG_INTEGER, Next, Stack, TIMED_STRING, Walk};
use super::error::{EncodeError, EncodeErrorKind, Hole};
use super::gathered::Gathered;
use super::limits;
use super::reader::{Step, TermReader, Value};
use super::writer::Role;
use super::writer::Writer;
use crate::options::shape::Shape;
use crate::options::{EncodeOptions, Null};
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

impl<'a, 't, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'a, 't, K, R, W> {
    // Inlined so that the driver is made where it stays: it has 264 bytes, and moving them took 15 of 80 ns.
    #[inline(always)]
    pub fn new(
        kernel: K,
        reader: &'a mut R,
        options: &'a EncodeOptions<'a>,
        out: &'a mut W,
        stack: &'a mut Stack<'t, R>,
    ) -> Self {
        stack.frames.clear();
        stack.marks.clear();
        let (start, most_open, room) = (out.length(), limits::most_open(options), stack.frames.capacity());
        let budget = if options.budget == 0 { usize::MAX } else { options.budget as usize };
        let shape = stack.shapes.find(options.shape, options.kept);
        Self {
            kernel,
            reader,
            options,
            out,
            stack: &mut stack.frames,
            holes: Vec::new(),
            gathered: Gathered::default(),
            marks: &mut stack.marks,
            shape,
            scope: shape.map_or(0, Shape::scope),
            places: Vec::new(),
            payload: Vec::new(),
            limit: limits::limit(options, start, budget, W::DENSITY),
            start,
            records: None,
            most_open,
            deepest: most_open.min(room),
            between_values: false,
            parts: 0,
        }
    }

    /// The path is that of the place which the output has reached.
    #[cold]
    pub fn error(&mut self, kind: EncodeErrorKind) -> EncodeError {
        let record = self.records.as_ref().map(|records| records.number);
        let (first, reached) = limits::first_error(kind, self.written(), self.options);
        let payload = if first == kind { core::mem::take(&mut self.payload) } else { Vec::new() };
        self.out.error(self.start, reached, first, payload, record)
    }

    /// Writes a term, or, without one, goes on in the innermost container. One turn for each value or end of a container:
    /// every turn of a loop costs the WebAssembly module a look at its deadline.
    #[inline(always)]
    pub fn run(&mut self, root: Option<R::Term>) -> Walk<()> {
        let mut next = root;
        loop {
            if let Some(term) = next
                && let Next::Value(first) = self.value(term)?
            {
                next = Some(first);
                continue;
            }
            if self.stack.is_empty() {
                next = self.next_record()?;
                if next.is_none() {
                    return self.finish();
                }
                continue;
            }
            if self.over_limit() {
                self.over_between_values()?;
            }
            next = match self.step()? {
                Next::Value(term) => Some(term),
                Next::Done => None,
            };
        }
    }

    /// Writes a scalar, or opens a container and gives its first value.
    #[inline(always)]
    fn value(&mut self, term: R::Term) -> Walk<Next<R::Term>> {
        match self.reader.read(term) {
            Value::Binary(bytes) => self.string(bytes)?,
            Value::Integer(value) => self.out.integer(value, self.options.safe_integers),
            Value::Float(value) => self.out.float(self.kernel, value),
            Value::Map(map) => return self.map(term, map),
            Value::List(list) => return self.list(term, list),
            Value::Nil if self.options.null == Null::Nil => self.out.null(),
            Value::Nil => self.rare_string(b"nil")?,
            Value::True => self.out.boolean(true),
            Value::False => self.out.boolean(false),
            Value::Atom if self.is_null(term) => self.out.null(),
            Value::Atom => self.out.atom(self.kernel, self.options, self.reader.atom_text(term)),
            Value::Tuple(_) if self.options.leave_extras => self.hole(term, false)?,
            Value::Tuple(tuple) => return self.tuple(tuple),
            Value::Big => self.big(term, Role::Value)?,
            Value::Other => self.hole(term, false)?,
            Value::Broken => return Err(EncodeErrorKind::Unsupported),
        }
        Ok(Next::Done)
    }

    #[inline(always)]
    pub fn string(&mut self, bytes: &[u8]) -> Walk<()> {
        self.text(Role::Value, bytes)
    }

    /// Writes a key that is a string, and its colon.
    #[inline(always)]
    pub fn string_key(&mut self, bytes: &[u8]) -> Walk<()> {
        self.text(Role::Key, bytes)?;
        self.out.colon(self.options);
        Ok(())
    }

    #[inline(always)]
    fn text(&mut self, role: Role, bytes: &[u8]) -> Walk<()> {
        if bytes.len() > TIMED_STRING {
            self.long(bytes.len())?;
        }
        match self.out.string(self.kernel, role, self.options, bytes) {
            Ok(()) => Ok(()),
            Err(wrong) => self.not_utf8(bytes, wrong),
        }
    }

    /// Whether this atom, which is not `nil`, is null.
    #[inline(always)]
    fn is_null(&mut self, atom: R::Term) -> bool {
        let null = self.options.null;
        null != Null::Nil && self.reader.atom_text(atom).bytes == null.text()
    }

    #[cold]
    #[inline(never)]
    pub fn big(&mut self, term: R::Term, role: Role) -> Walk<()> {
        let in_slice = self.in_slice();
        let room = self.room();
        let (negative, magnitude) = self.reader.big_integer(term);
        limits::digits_fit(magnitude, room)?;
        if in_slice && magnitude.len() > LONG_INTEGER {
            return Err(EncodeErrorKind::Budget);
        }
        let work = limits::work_of_digits(magnitude.len());
        self.out.big(role, negative, magnitude, self.options.safe_integers);
        self.charge(work);
        Ok(())
    }

    /// Leaves a term to the shell.
    #[cold]
    #[inline(never)]
    pub fn hole(&mut self, term: R::Term, key: bool) -> Walk<()> {
        self.reader.pass(term);
        self.charge(limits::HOLE);
        self.out.hole(if key { Role::Key } else { Role::Value });
        limits::room(&mut self.holes, 1)?;
        self.holes.push(Hole { offset: self.out.length(), depth: self.depth(), term, key });
        Ok(())
    }

    /// The number of containers around the place reached.
    pub fn depth(&self) -> u32 {
        self.options.base_depth.saturating_add(self.stack.len() as u32)
    }

    /// Continues in the innermost container: the next value, or the end of the container.
    #[inline(always)]
    fn step(&mut self) -> Walk<Next<R::Term>> {
        match self.stack.last_mut() {
            Some(Frame::List(_)) if W::SHAPES => self.next_items(),
            Some(Frame::List(list)) => match self.reader.next_item(list) {
                Step::Item(item) => {
                    self.comma();
                    Ok(Next::Value(item))
                }
                Step::End => self.close(b']'),
                Step::Tail(_) => Err(EncodeErrorKind::ImproperList),
            },
            Some(Frame::Map(entries)) => match self.reader.next_entry(entries) {
                Some((key, value)) => {
                    self.comma();
                    self.key(key)?;
                    Ok(Next::Value(value))
                }
                None => {
                    self.reader.end_entries();
                    self.close(b'}')
                }
            },
            Some(Frame::Values(_)) if W::SHAPES => self.next_value(),
            Some(Frame::Fields(..)) if W::SHAPES => self.next_field(),
            Some(Frame::Planned(..)) => self.next_planned(),
            Some(Frame::Shaped(..)) => self.next_shaped(false),
            Some(Frame::ShapedPlan(..)) => self.next_shaped_field(false),
            _ => self.rare_step(),
        }
    }

    #[inline(never)]
    fn rare_step(&mut self) -> Walk<Next<R::Term>> {
        match self.stack.last_mut() {
            Some(Frame::Tuple(tuple)) => match self.reader.next_element(tuple) {
                Some(element) => {
                    self.comma();
                    self.item(element)
                }
                None => {
                    self.places.pop();
                    self.close(b']')
                }
            },
            Some(Frame::Counted(_)) => self.next_counted(),
            Some(Frame::Set(..)) => self.next_in_set(),
            Some(Frame::Struct(_)) => self.next_struct_entry(false),
            Some(Frame::Pairs(..)) => self.next_pair(false),
            Some(Frame::Gathered(_)) => self.next_gathered(false),
            Some(
                Frame::List(_)
                | Frame::Map(_)
                | Frame::Values(_)
                | Frame::Fields(..)
                | Frame::Planned(..)
                | Frame::ShapedPlan(..)
                | Frame::Shaped(..),
            )
            | None => Ok(Next::Done),
        }
    }
}
