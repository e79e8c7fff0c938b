//! Lays out JSON text anew without decoding it: what stands between the tokens is replaced, the tokens are copied.
//!
//! One pass with a depth and no stack, since brackets are copied, not matched: what is not JSON gives what it gives.
//! Several texts may follow one another.

use crate::error::{Error, ErrorKind};
use crate::output::{Buffer, Output};
use crate::simd::{Kernel, is_space};
use crate::with_kernel;

/// What is written between tokens.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Before an element, once a level.
    pub indent: &'a [u8],
    /// Before an element and before the end of what holds it.
    pub line_separator: &'a [u8],
    /// Between texts.
    pub record_separator: &'a [u8],
    /// After a colon.
    pub after_colon: &'a [u8],
    /// Levels at which the text already stands.
    pub base_depth: u32,
    /// Deepest nesting; `u32::MAX` for none. Indentation grows with it, for every line.
    pub max_depth: u32,
}

impl Layout<'_> {
    /// No white space at all, a line for each text.
    pub const MINIMAL: Self = Layout {
        indent: b"",
        line_separator: b"",
        record_separator: b"\n",
        after_colon: b"",
        base_depth: 0,
        max_depth: u32::MAX,
    };
}

/// Writes the text in this layout.
///
/// # Errors
/// Nesting deeper than the layout allows, and memory that ran out.
///
/// ```
/// use rustyjson_core::{Output, format::{Layout, format}};
///
/// let mut out = Output::new(Vec::new());
/// format(b"{ \"a\": [1, 2] } [ ]", &Layout::MINIMAL, &mut out).unwrap();
/// assert_eq!(out.written(), b"{\"a\":[1,2]}\n[]");
/// ```
pub fn format<B: Buffer>(text: &[u8], layout: &Layout<'_>, out: &mut Output<B>) -> Result<(), Error> {
    let depth = layout.base_depth;
    with_kernel!(kernel => Formatter { kernel, text, layout, out, depth, state: State::Start }.run())
}

/// What the last token was, as far as it matters for the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// There was none.
    Start,
    /// An opening bracket: the next token starts a line, unless it closes.
    Open,
    /// A comma or colon.
    Inside,
    /// A text may have ended: at the outermost level, the next token starts another.
    Value,
}

struct Formatter<'a, K, B> {
    kernel: K,
    text: &'a [u8],
    layout: &'a Layout<'a>,
    out: &'a mut Output<B>,
    depth: u32,
    state: State,
}

impl<K: Kernel, B: Buffer> Formatter<'_, K, B> {
    #[inline(always)]
    fn run(mut self) -> Result<(), Error> {
        let mut pos = 0;
        while let Some(&byte) = self.text.get(pos) {
            pos = match byte {
                byte if is_space(byte) => self.kernel.space_end(self.text, pos),
                b'{' | b'[' => self.open(pos)?,
                b'}' | b']' => self.close(pos),
                b',' => self.comma(pos),
                b':' => self.colon(pos),
                b'"' => self.value(pos, self.string_end(pos)),
                _ => self.value(pos, self.scalar_end(pos)),
            };
        }
        if self.out.failed() { Err(Error::new(ErrorKind::OutOfMemory, pos)) } else { Ok(()) }
    }

    fn open(&mut self, pos: usize) -> Result<usize, Error> {
        if self.depth >= self.layout.max_depth {
            return Err(Error::new(ErrorKind::MaxDepth, pos));
        }
        self.before_value();
        self.out.slice(&self.text[pos..=pos]);
        self.depth += 1;
        self.state = State::Open;
        Ok(pos + 1)
    }

    fn close(&mut self, pos: usize) -> usize {
        self.depth = self.depth.saturating_sub(1);
        if self.state != State::Open {
            self.new_line();
        }
        self.out.slice(&self.text[pos..=pos]);
        self.state = State::Value;
        pos + 1
    }

    fn comma(&mut self, pos: usize) -> usize {
        self.out.array([b',']);
        self.new_line();
        self.state = State::Inside;
        pos + 1
    }

    fn colon(&mut self, pos: usize) -> usize {
        self.out.array([b':']);
        self.out.slice(self.layout.after_colon);
        self.state = State::Inside;
        pos + 1
    }

    #[inline(always)]
    fn value(&mut self, pos: usize, end: usize) -> usize {
        self.before_value();
        self.out.slice(&self.text[pos..end]);
        self.state = State::Value;
        end
    }

    #[inline(always)]
    fn before_value(&mut self) {
        match self.state {
            State::Open => self.new_line(),
            State::Value if self.depth == self.layout.base_depth => self.out.slice(self.layout.record_separator),
            _ => {}
        }
    }

    fn new_line(&mut self) {
        if self.layout.line_separator.is_empty() && self.layout.indent.is_empty() {
            return;
        }
        self.out.slice(self.layout.line_separator);
        for _ in 0..self.depth {
            self.out.slice(self.layout.indent);
        }
    }

    /// Offset behind the string that starts at `pos`; the end of the text when it is not closed.
    #[inline(always)]
    fn string_end(&self, pos: usize) -> usize {
        let mut pos = pos + 1;
        loop {
            pos = self.kernel.string_run(self.text, pos).end;
            match self.text.get(pos) {
                Some(b'"') => return pos + 1,
                Some(b'\\') => pos = (pos + 2).min(self.text.len()),
                Some(_) => pos += 1,
                None => return self.text.len(),
            }
        }
    }

    /// Offset behind the number or word that starts at `pos`.
    #[inline(always)]
    fn scalar_end(&self, pos: usize) -> usize {
        let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
        let rest = &self.text[pos + 1..];
        pos + 1 + rest.iter().position(ends).unwrap_or(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRETTY: Layout<'_> = Layout {
        indent: b"  ",
        line_separator: b"\n",
        record_separator: b"\n",
        after_colon: b" ",
        base_depth: 0,
        max_depth: 128,
    };

    fn run(text: &str, layout: &Layout<'_>) -> String {
        let mut out = Output::new(Vec::new());
        format(text.as_bytes(), layout, &mut out).unwrap();
        String::from_utf8(out.written().to_vec()).unwrap()
    }

    #[test]
    fn pretty() {
        assert_eq!(
            run(r#"{"a":{"b": [1, 2]}}"#, &PRETTY),
            "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  }\n}"
        );
        assert_eq!(run("[] {}", &PRETTY), "[]\n{}");
        assert_eq!(run("[ [ ], {\n} ]", &PRETTY), "[\n  [],\n  {}\n]");
    }

    #[test]
    fn several_roots() {
        assert_eq!(run(r#" 1 "a" null{"x" : 1}[2]"#, &Layout::MINIMAL), "1\n\"a\"\nnull\n{\"x\":1}\n[2]");
    }

    #[test]
    fn strings_are_copied_whole() {
        let text = r#"["a  \" [ b", "\\", "{\u00e9 :,"]"#;
        assert_eq!(run(text, &Layout::MINIMAL), r#"["a  \" [ b","\\","{\u00e9 :,"]"#);
        assert_eq!(run("[\"a\tb\"]", &Layout::MINIMAL), "[\"a\tb\"]");
    }

    #[test]
    fn what_is_not_json_ends_too() {
        for text in ["\"", "\"\\", "]]]", "[[[", ",,::", "\"abc\\", "}{"] {
            run(text, &PRETTY);
            run(text, &Layout::MINIMAL);
        }
    }

    #[test]
    fn nested_text_is_indented_from_its_depth() {
        assert_eq!(run("[1]", &Layout { base_depth: 2, ..PRETTY }), "[\n      1\n    ]");
    }

    #[test]
    fn depth_is_limited() {
        let text = "[".repeat(129);
        let error = format(text.as_bytes(), &PRETTY, &mut Output::new(Vec::new())).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::MaxDepth, 128));
    }

    #[test]
    fn pretty_then_minimal_is_identity() {
        let text = r#"{"a":[1,2.5e3,{"b":[]}],"c":{},"d":"x y","e":[[[null]]]}"#;
        assert_eq!(run(&run(text, &PRETTY), &Layout::MINIMAL), text);
    }
}
