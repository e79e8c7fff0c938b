//! Maps as objects, and terms as keys.

use super::driver::{Driver, Frame, LONG_INTEGER, Next, Walk};
use super::error::EncodeErrorKind;
use super::known::Known;
use super::reader::{Step, TermReader, Value};
use super::writer::{Role, Writer};
use super::{float, limits, number};
use crate::options::shape::Shape;
use crate::output::Output;
use crate::simd::Scalar;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Opens a map.
    #[inline(always)]
    pub fn map(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        if W::SHAPES
            && !self.options.gathers()
            && self.stack.len() < self.deepest
            && let Some(next) = self.known_already(&map)
        {
            return Ok(next);
        }
        if let Some(module) = self.reader.module(&map) {
            return self.structure(term, map, module);
        }
        self.deeper()?;
        if self.options.gathers() && !self.untouched(&map) {
            return self.shaped_map(term, map);
        }
        if W::SHAPES
            && let Some(next) = self.known_map(&map)?
        {
            return Ok(next);
        }
        let mut entries =
            self.reader.entries(&map, self.options.reverse_large_maps, false).ok_or(EncodeErrorKind::OutOfMemory)?;
        let Some((key, value)) = self.reader.next_entry(&mut entries) else {
            self.reader.end_entries();
            self.out.empty(*b"{}");
            return Ok(Next::Done);
        };
        self.open(b'{', Frame::Map(entries));
        self.first_key(key)?;
        Ok(Next::Value(value))
    }

    /// A second copy of [`Driver::key`] in the hot loop; in the WebAssembly module a call, for 4 KB.
    #[inline(always)]
    fn first_key(&mut self, key: R::Term) -> Walk<()> {
        if cfg!(target_arch = "wasm32") { self.rare_key(key) } else { self.key(key) }
    }

    /// Opens a struct as an object without `__struct__`.
    pub fn plain_struct(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        self.deeper()?;
        if self.options.gathers() {
            return self.gather_map(term, map, true);
        }
        if self.reader.map_size(&map) == 1 {
            self.reader.leave(&map);
            self.out.empty(*b"{}");
            return Ok(Next::Done);
        }
        let entries =
            self.reader.entries(&map, self.options.reverse_large_maps, false).ok_or(EncodeErrorKind::OutOfMemory)?;
        self.rare_open(b'{', Frame::Struct(entries));
        self.next_struct_entry(true)
    }

    /// The next entry of a struct that is not `__struct__`.
    pub fn next_struct_entry(&mut self, first: bool) -> Walk<Next<R::Term>> {
        while let Some(Frame::Struct(entries)) = self.stack.last_mut() {
            let Some((key, value)) = self.reader.next_entry(entries) else { break };
            if self.is_struct_key(key) {
                self.reader.pass(value);
                continue;
            }
            if !first {
                self.rare_comma();
            }
            self.rare_key(key)?;
            return Ok(Next::Value(value));
        }
        self.reader.end_entries();
        self.rare_close(b'}')
    }

    pub fn is_struct_key(&mut self, key: R::Term) -> bool {
        matches!(self.reader.read(key), Value::Atom) && self.reader.known(key) == Some(Known::Struct)
    }

    /// The next member of an ordered object.
    pub fn next_pair(&mut self, first: bool) -> Walk<Next<R::Term>> {
        let Some(Frame::Pairs(list, map)) = self.stack.last_mut() else { return Ok(Next::Done) };
        let pair = match self.reader.next_item(list) {
            Step::Item(item) => item,
            Step::End => {
                self.reader.leave(map);
                return self.rare_close(b'}');
            }
            Step::Tail(_) => return Err(EncodeErrorKind::ImproperList),
        };
        if !first {
            self.rare_comma();
        }
        let (key, value) = self.pair(pair)?;
        self.rare_key(key)?;
        Ok(Next::Value(value))
    }

    /// Takes a pair apart.
    pub fn pair(&mut self, term: R::Term) -> Walk<(R::Term, R::Term)> {
        let Value::Tuple(mut tuple) = self.reader.read(term) else { return Err(EncodeErrorKind::InvalidKey) };
        let key = self.reader.next_element(&mut tuple).ok_or(EncodeErrorKind::InvalidKey)?;
        self.reader.pass(key);
        let value = self.reader.next_element(&mut tuple).ok_or(EncodeErrorKind::InvalidKey)?;
        if self.reader.next_element(&mut tuple).is_some() {
            return Err(EncodeErrorKind::InvalidKey);
        }
        Ok((key, value))
    }

    /// Writes a key and its colon.
    #[inline(always)]
    pub fn key(&mut self, key: R::Term) -> Walk<()> {
        match self.reader.read(key) {
            Value::Binary(bytes) => self.string_key(bytes),
            Value::Atom | Value::Nil | Value::True | Value::False => {
                self.atom_key(key);
                Ok(())
            }
            value => self.other_key(key, value),
        }
    }

    #[inline(always)]
    pub fn atom_key(&mut self, key: R::Term) {
        let text = self.reader.atom_text(key);
        if let (Some(block), None) = (text.plain, self.options.pretty) {
            return self.out.plain_key(block, text.bytes.len());
        }
        // Names are UTF-8.
        let _ = self.out.rare_string(self.kernel, Role::Key, self.options, text.bytes);
        self.out.colon(self.options);
    }

    /// Keys that are neither binaries nor atoms: the text that `String.Chars` gives, where that is known here.
    #[inline(never)]
    fn other_key(&mut self, key: R::Term, value: Value<'t, R>) -> Walk<()> {
        self.charge(limits::KEY);
        let mut text = Output::new(Vec::new());
        if matches!(value, Value::Big) {
            self.big(key, Role::Key)?;
        } else if self.key_text(key, value, &mut text)? {
            return self.rare_string_key(text.written());
        } else {
            self.hole(key, true)?;
        }
        self.out.colon(self.options);
        Ok(())
    }

    /// Writes the unescaped text of such a key. `false`: only the shell knows.
    pub fn key_text(&mut self, key: R::Term, value: Value<'t, R>, text: &mut Output<Vec<u8>>) -> Walk<bool> {
        match value {
            Value::Binary(bytes) => text.text(bytes),
            Value::Atom | Value::Nil | Value::True | Value::False => text.text(self.reader.atom_text(key).bytes),
            Value::Integer(value) => number::rare_integer(text, value),
            Value::Float(value) => float::float(Scalar, text, value),
            Value::Big => {
                self.digits_of_key(key)?;
                let (negative, magnitude) = self.reader.big_integer(key);
                number::big(text, negative, magnitude);
            }
            Value::Map(map) => return self.struct_key(map, text),
            // A charlist, perhaps.
            Value::List(_) => return Ok(false),
            Value::Tuple(_) | Value::Other => return self.odd_key(),
            Value::Broken => return Err(EncodeErrorKind::Unsupported),
        }
        Ok(true)
    }

    /// Checks that there is room and time for the digits of a key.
    fn digits_of_key(&mut self, key: R::Term) -> Walk<()> {
        let magnitude = self.reader.big_integer(key).1;
        let len = magnitude.len();
        let work = limits::work_of_digits(len);
        // Keys are gathered before they are written, and what was written so far is known less exactly for a tape than for a text: so the
        // key has all the room that there is for a text.
        if self.options.max_bytes != 0
            && let Err(too_long) = limits::digits_fit(magnitude, self.options.max_bytes)
        {
            // What is left out is not too long, but its digits are made.
            if !self.shape.is_some_and(Shape::omits) {
                return Err(too_long);
            }
            self.lost(work / limits::OMITTED)?;
        }
        if self.in_slice() && len > LONG_INTEGER {
            return Err(EncodeErrorKind::Budget);
        }
        self.spend(work)
    }
}
