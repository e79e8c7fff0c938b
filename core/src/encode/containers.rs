//! Lists and tuples, and the brackets, commas and lines of all containers.

use super::driver::{Driver, Frame, Next, Walk};
use super::error::EncodeErrorKind;
use super::reader::{Step, TermReader};
use super::writer::Writer;
use crate::simd::copy::CopyKernel;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Checks that one more container may open.
    #[inline(always)]
    pub fn deeper(&mut self) -> Walk<()> {
        if self.stack.len() >= self.deepest {
            self.deepen()?;
        }
        if self.out.failed() { Err(EncodeErrorKind::OutOfMemory) } else { Ok(()) }
    }

    /// Makes room for another container, or returns the error if it may not open.
    #[cold]
    #[inline(never)]
    fn deepen(&mut self) -> Walk<()> {
        if self.stack.len() >= self.most_open {
            return Err(self.too_deep());
        }
        self.stack.try_reserve(1).map_err(|_| EncodeErrorKind::OutOfMemory)?;
        self.deepest = self.most_open.min(self.stack.capacity());
        Ok(())
    }

    fn too_deep(&self) -> EncodeErrorKind {
        if self.depth() < self.options.max_depth {
            return if self.too_long() { EncodeErrorKind::MaxBytes } else { EncodeErrorKind::Budget };
        }
        if self.options.max_depth == u32::MAX { EncodeErrorKind::OutOfMemory } else { EncodeErrorKind::MaxDepth }
    }

    #[inline(always)]
    pub fn list(&mut self, term: R::Term, mut list: R::List) -> Walk<Next<R::Term>> {
        self.deeper()?;
        if self.options.leave_unsupported && self.is_improper(term, list)? {
            return self.left_to_shell(term);
        }
        if self.scope != 0 {
            return self.counted_list(list);
        }
        match self.reader.next_item(&mut list) {
            Step::Item(first) => {
                self.open(b'[', Frame::List(list));
                Ok(Next::Value(first))
            }
            Step::End => {
                self.out.empty(*b"[]");
                Ok(Next::Done)
            }
            Step::Tail(_) => Err(EncodeErrorKind::ImproperList),
        }
    }

    #[inline(never)]
    pub fn tuple(&mut self, mut tuple: R::Tuple) -> Walk<Next<R::Term>> {
        self.deeper()?;
        let Some(first) = self.reader.next_element(&mut tuple) else {
            self.out.empty(*b"[]");
            return Ok(Next::Done);
        };
        self.open(b'[', Frame::Tuple(tuple));
        self.enter_items()?;
        self.item(first)
    }

    /// Writes the opening bracket and what precedes the first element.
    #[inline(always)]
    pub fn open(&mut self, bracket: u8, frame: Frame<'t, R>) {
        self.out.open(bracket);
        self.stack.push(frame);
        if self.options.pretty.is_some() {
            self.line();
        }
    }

    /// Starts a line at the depth of the innermost container's elements.
    #[cold]
    #[inline(never)]
    pub fn line(&mut self) {
        if let Some(pretty) = self.options.pretty {
            self.out.line(&pretty, self.depth() as usize);
            self.limit_descent();
        }
    }

    /// Separates two elements.
    #[inline(always)]
    pub fn comma(&mut self) {
        self.out.comma();
        if self.options.pretty.is_some() {
            self.line();
        }
    }

    /// Closes the innermost container.
    #[inline(always)]
    pub fn close(&mut self, bracket: u8) -> Walk<Next<R::Term>> {
        self.stack.pop();
        if self.options.pretty.is_some() {
            self.line();
        }
        self.out.close(bracket);
        Ok(Next::Done)
    }

    /// [`Driver::open`] where size counts more than speed, and so the others.
    #[inline(never)]
    pub fn rare_open(&mut self, bracket: u8, frame: Frame<'t, R>) {
        self.open(bracket, frame);
    }

    #[inline(never)]
    pub fn rare_comma(&mut self) {
        self.comma();
    }

    #[inline(never)]
    pub fn rare_close(&mut self, bracket: u8) -> Walk<Next<R::Term>> {
        self.close(bracket)
    }

    #[inline(never)]
    pub fn rare_string(&mut self, bytes: &[u8]) -> Walk<()> {
        self.kernel.vectorize(
            #[inline(always)]
            || self.string(bytes),
        )
    }

    #[inline(never)]
    pub fn rare_string_key(&mut self, bytes: &[u8]) -> Walk<()> {
        self.kernel.vectorize(
            #[inline(always)]
            || self.string_key(bytes),
        )
    }

    #[inline(never)]
    pub fn rare_key(&mut self, key: R::Term) -> Walk<()> {
        self.kernel.vectorize(
            #[inline(always)]
            || self.key(key),
        )
    }
}
