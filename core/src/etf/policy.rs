//! What an honest answer can look like, and what can be wrong with another.

use crate::error::ErrorKind;
use crate::options::{DecodeOptions, Keys, Null};
use alloc::format;
use alloc::string::String;

/// What an honest answer to one call can look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Object keys are atoms, else binaries.
    pub atom_keys: bool,
    /// Objects are `RustyJson.OrderedObject` structs, else maps.
    pub ordered_objects: bool,
    /// Numbers with a fraction or exponent are `Decimal` structs, else floats.
    pub decimals: bool,
    /// They may be floats: always without `decimals`, and for a type that asks for floats.
    pub floats: bool,
    /// The atom that is null.
    pub null: Null,
    /// Values may be parts of the text: tuples of offset and length.
    pub raw: bool,
    /// Deepest nesting of arrays and objects; `u32::MAX` for none.
    pub max_depth: u32,
    /// Most bytes of an integer.
    pub max_integer: usize,
    /// Most bytes of the coefficient of a decimal.
    pub max_coefficient: usize,
    /// Largest exponent of a decimal, whatever its sign.
    pub max_exponent: u64,
    /// Most values and keys.
    pub max_terms: u64,
    /// Most keys.
    pub max_keys: u64,
    /// Most bytes of the list of its keys.
    pub max_names: usize,
    /// Most bytes.
    pub max_len: usize,
}

impl Policy {
    /// The policy for a document of `json_len` bytes decoded with these options. No value or key takes less than one byte
    /// of JSON, so the input bounds the terms.
    pub fn new(options: &DecodeOptions, json_len: usize) -> Self {
        let max_integer = match options.digit_limit {
            0 => json_len.max(8),
            digits => bytes_of(digits),
        };
        Self {
            atom_keys: matches!(options.keys, Keys::ExistingAtoms),
            ordered_objects: options.ordered_objects,
            decimals: options.decimals,
            floats: !options.decimals,
            null: options.null,
            raw: false,
            max_depth: options.max_depth,
            max_integer,
            max_coefficient: match options.max_decimal_digits {
                u32::MAX => max_integer,
                digits => bytes_of(digits).min(max_integer),
            },
            max_exponent: match options.max_decimal_exponent {
                u32::MAX => u64::MAX,
                most => most.into(),
            },
            max_terms: match options.max_nodes {
                0 => json_len as u64,
                nodes => nodes.min(json_len as u64),
            },
            // A member takes five bytes (`"":0,`), or its value is an object, whose braces are two of the five. This bounds the
            // atoms that a guest can ask for with `keys: :atoms`.
            max_keys: json_len as u64 / 5,
            // A name has four bytes before it, as its key has around it: `{"":`. An error may come before the last colon.
            max_names: json_len.saturating_add(1),
            // The longest for their text are `1.5,` (9 bytes), and as structs `{},` (53) and `1.5,` (57).
            max_len: match options.ordered_objects || options.decimals {
                false => json_len.saturating_mul(4).saturating_add(16),
                true => json_len.saturating_mul(24).saturating_add(64),
            },
        }
    }
}

/// Most bytes of an integer with this many digits: a digit is less than 3.33 bits, and 64-bit integers always fit.
fn bytes_of(digits: u32) -> usize {
    (digits as usize * 333 / 800 + 1).max(8)
}

/// Why bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They end inside a term, or a length or count reaches beyond them.
    Truncated,
    /// They do not start with the version byte.
    Version,
    /// A tag that the writer never emits here.
    Tag(u8),
    /// A list does not end with the empty list.
    Tail,
    /// An atom that the policy does not name.
    Atom,
    /// An object key of the wrong type.
    Key,
    /// A float that is NaN or infinite.
    Float,
    /// An integer with a bad sign or superfluous or too many bytes.
    Integer,
    /// A struct that is not shaped as the writer shapes it.
    Struct,
    /// Nested deeper than the limit.
    Depth,
    /// More values and keys, or more bytes, than the input can have.
    Terms,
    /// Bytes after the term.
    Trailing,
    /// A value that does not fit the type that the caller asked for.
    Type,
    /// More work than the call has time for.
    Work,
    /// The builder refuses a map with a key twice.
    Repeated,
    /// The builder has no term for a value or key that passed.
    Builder(ErrorKind),
}

/// A refusal and the byte it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub fault: Fault,
    /// Where, as an offset into the bytes.
    pub offset: usize,
}

impl Refused {
    /// The same for people.
    pub fn text(&self) -> String {
        format!("{:?} at byte {} of the term", self.fault, self.offset)
    }
}
