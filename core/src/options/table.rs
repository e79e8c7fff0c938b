//! Reads `decode.txt` and `encode.txt` at compile time: a field that a table lacks is a compile error.

/// The text of a table.
#[derive(Clone, Copy)]
pub struct Table(pub &'static str);

/// Start and end of a word.
type Word = (usize, usize);

impl Table {
    /// Bytes of all fields.
    pub const fn len(self) -> usize {
        self.find("").0
    }

    /// Offset of a field that has this width.
    pub const fn at(self, name: &str, width: usize) -> usize {
        let (offset, word) = self.find(name);
        assert!(self.width(word) == width, "the table has no such field of this width");
        offset
    }

    /// Number of a choice.
    pub const fn number(self, name: &str, choice: &str) -> u8 {
        let (_, width) = self.find(name);
        let mut number = 0;
        let mut word = self.word(width.1);
        while !self.is(word, choice) {
            assert!(word.0 < word.1, "the field has no such choice");
            (number, word) = (number + 1, self.word(word.1));
        }
        number
    }

    /// Bytes of options in which these fields of one or four bytes have these numbers, and all others 0.
    pub const fn bytes<const N: usize>(self, numbers: &[(&str, u32)]) -> [u8; N] {
        let mut bytes = [0; N];
        let mut i = 0;
        while i < numbers.len() {
            let (offset, width) = self.find(numbers[i].0);
            let number = numbers[i].1.to_le_bytes();
            let mut byte = 0;
            while byte < self.width(width) {
                bytes[offset + byte] = number[byte];
                byte += 1;
            }
            i += 1;
        }
        bytes
    }

    /// Offset of a field and the word that tells its width. For a name that is not there, where the fields end.
    const fn find(self, name: &str) -> (usize, Word) {
        let (mut line, mut offset) = (0, 0);
        while line < self.0.len() {
            let field = self.word(line);
            if field.0 < field.1 && self.0.as_bytes()[line] != b'#' {
                let width = self.word(field.1);
                if self.is(field, name) {
                    return (offset, width);
                }
                offset += self.width(width);
            }
            line = self.next_line(line);
        }
        (offset, (line, line))
    }

    /// A digit, or `text`, whose length takes four bytes.
    const fn width(self, word: Word) -> usize {
        match word.1 - word.0 {
            0 => 0,
            1 => (self.0.as_bytes()[word.0] - b'0') as usize,
            _ => 4,
        }
    }

    /// The next word of the line; an empty one at its end.
    const fn word(self, from: usize) -> Word {
        let text = self.0.as_bytes();
        let mut start = from;
        while start < text.len() && text[start] == b' ' {
            start += 1;
        }
        let mut end = start;
        while end < text.len() && text[end] != b' ' && text[end] != b'\n' {
            end += 1;
        }
        (start, end)
    }

    const fn next_line(self, mut at: usize) -> usize {
        while at < self.0.len() && self.0.as_bytes()[at] != b'\n' {
            at += 1;
        }
        at + 1
    }

    const fn is(self, word: Word, name: &str) -> bool {
        let mut i = 0;
        while i < name.len() && word.0 + i < word.1 && name.as_bytes()[i] == self.0.as_bytes()[word.0 + i] {
            i += 1;
        }
        i == name.len() && word.0 + i == word.1
    }
}

/// The number in a field: `number!(TABLE, bytes, "max_depth": u32)`.
macro_rules! number {
    ($table:ident, $bytes:ident, $name:literal: $number:ident) => {{
        const WIDTH: usize = size_of::<$number>();
        const AT: usize = $table.at($name, WIDTH);
        match $bytes.split_at(AT).1.first_chunk::<WIDTH>() {
            Some(field) => $number::from_le_bytes(*field),
            None => unreachable!(),
        }
    }};
}

/// Whether a choice is this one: `is!(TABLE, bytes, "strings" = "copy")`.
macro_rules! is {
    ($table:ident, $bytes:ident, $name:literal = $choice:literal) => {
        number!($table, $bytes, $name: u8) == const { $table.number($name, $choice) }
    };
}

/// What a choice stands for: `choice!(TABLE, bytes, "keys" { "copy" => Keys::Copy, _ => Keys::Strings })`.
macro_rules! choice {
    ($table:ident, $bytes:ident, $name:literal { $($choice:literal => $value:expr,)* _ => $default:expr $(,)? }) => {
        match number!($table, $bytes, $name: u8) {
            $(number if number == const { $table.number($name, $choice) } => $value,)*
            _ => $default,
        }
    };
}

pub(super) use {choice, is, number};
