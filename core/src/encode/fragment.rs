//! Fragments: existing JSON text.

use super::driver::{Driver, NOTABLE_STRING, Next, Walk};
use super::error::EncodeErrorKind;
use super::known::Known;
use super::limits;
use super::reader::{Step, TermReader, Value};
use super::records::RECORD_SEPARATOR;
use super::writer::Writer;
use crate::simd::copy::CopyKernel;
use alloc::vec::Vec;

/// Whether a reader of lines or of a sequence may end a record here.
const fn ends_record(byte: &u8) -> bool {
    matches!(*byte, b'\n' | b'\r' | RECORD_SEPARATOR)
}

/// The brackets and strings of a text.
#[derive(Default)]
struct Brackets {
    open: usize,
    in_string: bool,
    escaped: bool,
    /// Something stands outside of them that is not one value.
    stray: bool,
}

impl Brackets {
    fn follow(&mut self, text: &[u8]) {
        for byte in text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'[' | b'{' => self.open += 1,
                b']' | b'}' if self.open > 0 => self.open -= 1,
                b']' | b'}' => self.stray = true,
                b',' | b':' => self.stray |= self.open == 0,
                _ => {}
            }
        }
    }

    const fn closed(&self) -> bool {
        self.open == 0 && !self.in_string && !self.stray
    }
}

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Copies iodata as it is. Functions are for the shell, and so is text that has to be laid out anew: with line breaks, or without
    /// those that would end a record. Where pointers redact, the shell follows them through the text to the holes in it, so text that
    /// would lead it astray is for the shell, too.
    pub fn fragment(&mut self, term: R::Term, map: R::Map) -> Walk<Next<R::Term>> {
        if self.options.pretty.is_some() {
            return self.left_to_shell(term);
        }
        let start = self.out.length();
        let mut brackets = self.shape.filter(|shape| !shape.pointers.is_empty()).map(|_| Brackets::default());
        let written = match self.field(&map, Known::Encode) {
            Some(Value::Binary(bytes)) => self.copy(bytes, &mut brackets)?,
            Some(Value::List(list)) => self.iodata(list, &mut brackets)?,
            _ => false,
        };
        if !written || brackets.is_some_and(|brackets| !brackets.closed()) {
            self.finish()?;
            self.out.take_back(start);
            return self.left_to_shell(term);
        }
        self.out.end_raw();
        self.reader.leave(&map);
        Ok(Next::Done)
    }

    /// Copies a nested list of bytes and binaries. `false`: it is not one, or would end the record.
    fn iodata(&mut self, list: R::List, brackets: &mut Option<Brackets>) -> Walk<bool> {
        let mut open = Vec::new();
        limits::room(&mut open, 1)?;
        open.push(list);
        while let Some(list) = open.last_mut() {
            let (item, is_tail) = match self.reader.next_item(list) {
                Step::Item(item) => (item, false),
                Step::Tail(tail) => (tail, true),
                Step::End => {
                    open.pop();
                    continue;
                }
            };
            if is_tail {
                open.pop();
            }
            match self.reader.read(item) {
                Value::Integer(byte @ 0..=255) if !is_tail && !self.ends_record(&[byte as u8]) => {
                    self.out.raw_byte(byte as u8);
                    if let Some(brackets) = brackets {
                        brackets.follow(&[byte as u8]);
                    }
                }
                Value::Binary(bytes) if !self.copy(bytes, brackets)? => return Ok(false),
                Value::Binary(_) => {}
                Value::List(list) => {
                    limits::room(&mut open, 1)?;
                    open.push(list);
                }
                _ => return Ok(false),
            }
            self.check_size()?;
        }
        Ok(true)
    }

    /// `false`: the text would end the record.
    fn copy(&mut self, bytes: &[u8], brackets: &mut Option<Brackets>) -> Walk<bool> {
        if bytes.len() > NOTABLE_STRING {
            self.long(bytes.len())?;
        }
        if self.ends_record(bytes) {
            return Ok(false);
        }
        self.out.raw(bytes);
        if let Some(brackets) = brackets {
            brackets.follow(bytes);
        }
        Ok(true)
    }

    fn ends_record(&self, text: &[u8]) -> bool {
        self.records.is_some() && text.iter().any(ends_record)
    }

    fn check_size(&mut self) -> Walk<()> {
        self.charge(limits::IODATA);
        self.lost(1)?;
        if self.out.failed() {
            return Err(EncodeErrorKind::OutOfMemory);
        }
        // Nothing may be written so far, and nothing be left of the budget.
        if self.out.length() >= self.limit { self.over() } else { Ok(()) }
    }
}
