//! What a call may choose. Options reach the core as bytes; `decode.txt` and `encode.txt` say what stands where in them, and
//! Elixir's side reads the same two files. To add an option, see "Adding an option" in CONTRIBUTING.md.

mod known;
pub mod shape;
mod table;

pub use known::Known;
use table::{Table, choice, is, number};

const DECODE_TEXT: &str = include_str!("decode.txt");
const ENCODE_TEXT: &str = include_str!("encode.txt");

/// The fields of [`DecodeOptions::from_bytes`].
const DECODE: Table = Table(DECODE_TEXT);
/// The fields of [`EncodeOptions::from_bytes`].
const ENCODE: Table = Table(ENCODE_TEXT);

/// How object keys become terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// Binaries.
    #[default]
    Strings,
    /// Existing atoms; an unknown one is an error.
    ExistingAtoms,
    /// Binaries that never share the input.
    Copy,
}

/// Which of two members with the same key counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The last one.
    #[default]
    Last,
    /// The first one.
    First,
    /// Neither: it is an error.
    Error,
}

/// The atom that stands for JSON's null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Null {
    /// `nil`, as in Elixir.
    #[default]
    Nil,
    /// `null`, as in OTP's `json`.
    Null,
    /// `undefined`.
    Undefined,
}

impl Null {
    /// The name of the atom.
    #[inline(always)]
    pub const fn text(self) -> &'static [u8] {
        match self {
            Self::Nil => b"nil",
            Self::Null => b"null",
            Self::Undefined => b"undefined",
        }
    }
}

/// Options of [`decode`](crate::decode()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// How object keys become terms.
    pub keys: Keys,
    /// Strings are copied, never referenced.
    pub copy_strings: bool,
    /// Floats become decimals.
    pub decimals: bool,
    /// Floats stay text, so they may have any size.
    pub any_float: bool,
    /// Objects keep the order and every member.
    pub ordered_objects: bool,
    /// What a repeated key means.
    pub duplicates: Duplicates,
    /// Strings must be UTF-8.
    pub validate_strings: bool,
    /// What null becomes.
    pub null: Null,
    /// Deepest nesting of arrays and objects; `u32::MAX` for none.
    pub max_depth: u32,
    /// Most digits of an integer, sign not counted; 0 for no limit.
    pub digit_limit: u32,
    /// Most values and keys; 0 for no limit.
    pub max_nodes: u64,
    /// Most digits of a decimal, leading zeros not counted; `u32::MAX` for no limit.
    pub max_decimal_digits: u32,
    /// Largest exponent of a decimal, whatever its sign; `u32::MAX` for no limit.
    pub max_decimal_exponent: u32,
    /// Numbers have no limits: who reads them in a second pass applies those of their types. The core chooses it, for passes that build
    /// nothing.
    pub any_number: bool,
    /// Seed of the hash that finds repeated keys. Shells choose it, callers do not.
    pub seed: u64,
    /// Whether the shell may move the call to a dirty scheduler. The core does not look at it.
    pub dirty: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DecodeOptions {
    /// Bytes of the options.
    pub const LEN: usize = DECODE.len();

    /// What Elixir's schema has as defaults. In all other fields it is 0.
    pub const DEFAULT_BYTES: [u8; DECODE.len()] = DECODE.bytes(&[
        ("max_depth", 128),
        ("decoding_integer_digit_limit", 1024),
        ("max_decimal_digits", 34),
        ("max_decimal_exponent", 6_144),
    ]);

    /// The same, read.
    pub const DEFAULT: Self = Self::read(&Self::DEFAULT_BYTES, 0);

    /// Reads what Elixir wrote. A number that means nothing is the first choice. `None`: too short.
    #[inline(always)]
    pub fn from_bytes(bytes: &[u8], seed: u64) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::read(bytes, seed))
    }

    #[inline(always)]
    const fn read(bytes: &[u8; DECODE.len()], seed: u64) -> Self {
        Self {
            keys: choice!(DECODE, bytes, "keys" {
                "atoms!" => Keys::ExistingAtoms,
                "copy" => Keys::Copy,
                _ => Keys::Strings,
            }),
            copy_strings: is!(DECODE, bytes, "strings" = "copy"),
            decimals: is!(DECODE, bytes, "floats" = "decimals"),
            any_float: is!(DECODE, bytes, "floats" = "text"),
            ordered_objects: is!(DECODE, bytes, "objects" = "ordered_objects"),
            duplicates: choice!(DECODE, bytes, "duplicate_keys" {
                "first" => Duplicates::First,
                "error" => Duplicates::Error,
                _ => Duplicates::Last,
            }),
            validate_strings: !is!(DECODE, bytes, "validate_strings" = "false"),
            null: choice!(DECODE, bytes, "null" {
                "null" => Null::Null,
                "undefined" => Null::Undefined,
                _ => Null::Nil,
            }),
            max_depth: number!(DECODE, bytes, "max_depth": u32),
            digit_limit: number!(DECODE, bytes, "decoding_integer_digit_limit": u32),
            max_nodes: number!(DECODE, bytes, "max_nodes": u64),
            max_decimal_digits: number!(DECODE, bytes, "max_decimal_digits": u32),
            max_decimal_exponent: number!(DECODE, bytes, "max_decimal_exponent": u32),
            any_number: false,
            seed,
            dirty: !is!(DECODE, bytes, "dirty" = "never"),
        }
    }

    /// The same without limits of numbers.
    #[must_use]
    pub const fn of_any_number(&self) -> Self {
        Self { any_number: true, decimals: false, digit_limit: 0, ..*self }
    }

    /// Whether keys must be UTF-8: a name of an atom has to be, whoever vouches for the strings.
    #[inline(always)]
    pub const fn validate_keys(&self) -> bool {
        self.validate_strings || matches!(self.keys, Keys::ExistingAtoms)
    }
}

/// Which characters are escaped beyond what JSON asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// Only what RFC 8259 section 7 asks.
    #[default]
    Json,
    /// Also `<`, `/`, U+2028 and U+2029.
    HtmlSafe,
    /// Also U+2028 and U+2029.
    JavascriptSafe,
    /// Also everything beyond ASCII.
    UnicodeSafe,
}

/// Where the native library works. The core does not look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// On the caller's scheduler, and on a dirty one when that takes long.
    #[default]
    Auto,
    /// On the caller's.
    Normal,
    /// On a dirty one.
    Dirty,
}

/// Whether the elements of a list are texts of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// They are not: the list is an array.
    #[default]
    None,
    /// Each is a line.
    Lines,
    /// Each has a record separator in front and a line feed behind it (RFC 7464).
    Sequence,
}

/// What is written between tokens. Empty containers stay `[]` and `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pretty<'a> {
    /// Written once for each level.
    pub indent: &'a [u8],
    /// Written at the start of each line but the first.
    pub line_separator: &'a [u8],
    /// Written between several texts.
    pub record_separator: &'a [u8],
    /// Written after each colon.
    pub after_colon: &'a [u8],
}

/// Options of [`encode`](crate::encode()) and [`format`](crate::format::format()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeOptions<'a> {
    /// Which characters are escaped.
    pub escape: Escape,
    /// Keys that become the same text are an error.
    pub strict_maps: bool,
    /// Members are sorted by the bytes of their keys.
    pub sort_keys: bool,
    /// Unknown structs become objects without `__struct__`.
    pub plain_structs: bool,
    /// Well-known structs too are treated as plain ones.
    pub lean: bool,
    /// Which atom is null.
    pub null: Null,
    /// Where the native library works.
    pub scheduler: Scheduler,
    /// Maps above 32 keys are walked backwards.
    pub reverse_large_maps: bool,
    /// Level of compression of the text, which is left to the shell.
    pub compress: Option<u8>,
    /// White space between tokens; `None` for none.
    pub pretty: Option<Pretty<'a>>,
    /// Invalid UTF-8 becomes U+FFFD.
    pub replace_invalid: bool,
    /// Integers that a float does not hold exactly become strings.
    pub safe_integers: bool,
    /// Terms without a JSON form are left to the shell.
    pub leave_unsupported: bool,
    /// Tuples, sets, ranges and URIs, which Jason does not encode, are left to the shell.
    pub leave_extras: bool,
    /// Whether the term is a list of records.
    pub records: Records,
    /// Which members objects get, and under which names, for [`shape::Shape::read`]; empty for all, under their own names.
    pub shape: &'a [u8],
    /// Deepest nesting; `u32::MAX` for none.
    pub max_depth: u32,
    /// Depth at which the value stands.
    pub base_depth: u32,
    /// Longest output in bytes; 0 for no limit.
    pub max_bytes: u64,
    /// Most work, counted in bytes of output, before the shell is asked to start over where it has time; 0 for no limit.
    /// Shells choose it, callers do not.
    pub budget: u64,
    /// Nobody waits for the walk: the budget only says when the reader is asked whether there is time left. Shells choose it.
    pub patient: bool,
    /// A number by which the shell keeps these options, so that what was read of their shape is found without a look at its bytes; 0 for
    /// none.
    pub kept: u32,
}

impl Default for EncodeOptions<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl<'a> EncodeOptions<'a> {
    /// Bytes of the options without their texts.
    pub const LEN: usize = ENCODE.len();

    /// What Elixir's schema has as defaults. In all other fields it is 0.
    pub const DEFAULT_BYTES: [u8; ENCODE.len()] = ENCODE.bytes(&[("max_depth", 128), ("compress", u8::MAX as u32)]);

    /// The same, read.
    pub const DEFAULT: Self = Self::read(&Self::DEFAULT_BYTES, None);

    /// Whether these are [`Self::DEFAULT_BYTES`].
    #[inline(always)]
    pub fn are_default(bytes: &[u8]) -> bool {
        <&[u8; ENCODE.len()]>::try_from(bytes).is_ok_and(|bytes| known::same(bytes, &Self::DEFAULT_BYTES))
    }

    /// Reads what Elixir wrote. Gives the bytes behind it, too. `None`: too short.
    #[inline(always)]
    pub fn from_bytes(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (bytes, rest) = bytes.split_first_chunk::<{ ENCODE.len() }>()?;
        let pretty = is!(ENCODE, bytes, "pretty" = "true");
        if !pretty && number!(ENCODE, bytes, "shape": u32) == 0 {
            return Some((Self::read(bytes, None), rest));
        }
        let (texts, rest) = Pretty::from_bytes(bytes, rest)?;
        let (shape, rest) = rest.split_at_checked(number!(ENCODE, bytes, "shape": u32) as usize)?;
        Some((Self { shape, ..Self::read(bytes, pretty.then_some(texts)) }, rest))
    }

    /// Whether the members of an object are looked at before one is written.
    #[inline(always)]
    pub const fn gathers(&self) -> bool {
        self.sort_keys || self.strict_maps || !self.shape.is_empty()
    }

    #[inline(always)]
    const fn read(bytes: &[u8; ENCODE.len()], pretty: Option<Pretty<'a>>) -> Self {
        Self {
            escape: choice!(ENCODE, bytes, "escape" {
                "html_safe" => Escape::HtmlSafe,
                "javascript_safe" => Escape::JavascriptSafe,
                "unicode_safe" => Escape::UnicodeSafe,
                _ => Escape::Json,
            }),
            strict_maps: is!(ENCODE, bytes, "maps" = "strict"),
            sort_keys: is!(ENCODE, bytes, "sort_keys" = "true"),
            plain_structs: is!(ENCODE, bytes, "protocol" = "false"),
            lean: is!(ENCODE, bytes, "lean" = "true"),
            null: choice!(ENCODE, bytes, "null" {
                "null" => Null::Null,
                "undefined" => Null::Undefined,
                _ => Null::Nil,
            }),
            scheduler: choice!(ENCODE, bytes, "scheduler" {
                "normal" => Scheduler::Normal,
                "dirty" => Scheduler::Dirty,
                _ => Scheduler::Auto,
            }),
            reverse_large_maps: is!(ENCODE, bytes, "large_maps" = "backwards"),
            // Elixir's -1 is none.
            compress: match number!(ENCODE, bytes, "compress": u8) {
                level @ 0..=9 => Some(level),
                _ => None,
            },
            pretty,
            replace_invalid: is!(ENCODE, bytes, "invalid_utf8" = "replace"),
            safe_integers: is!(ENCODE, bytes, "integers" = "js_safe"),
            leave_unsupported: is!(ENCODE, bytes, "unsupported" = "left"),
            leave_extras: is!(ENCODE, bytes, "extras" = "left"),
            records: choice!(ENCODE, bytes, "records" {
                "lines" => Records::Lines,
                "seq" => Records::Sequence,
                _ => Records::None,
            }),
            shape: b"",
            max_depth: number!(ENCODE, bytes, "max_depth": u32),
            base_depth: number!(ENCODE, bytes, "base_depth": u32),
            max_bytes: number!(ENCODE, bytes, "max_bytes": u64),
            budget: 0,
            patient: false,
            kept: 0,
        }
    }
}

impl<'a> Pretty<'a> {
    #[cold]
    fn from_bytes(fields: &[u8; ENCODE.len()], texts: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (indent, texts) = texts.split_at_checked(number!(ENCODE, fields, "indent": u32) as usize)?;
        let (line_separator, texts) = texts.split_at_checked(number!(ENCODE, fields, "line_separator": u32) as usize)?;
        let (record_separator, texts) =
            texts.split_at_checked(number!(ENCODE, fields, "record_separator": u32) as usize)?;
        let (after_colon, texts) = texts.split_at_checked(number!(ENCODE, fields, "after_colon": u32) as usize)?;
        Some((Self { indent, line_separator, record_separator, after_colon }, texts))
    }
}

/// A hash (FNV-1a) of the tables, which Elixir computes too.
pub(crate) const HASH: u32 = hash(ENCODE_TEXT.as_bytes(), hash(DECODE_TEXT.as_bytes(), 0x811c_9dc5));

const fn hash(bytes: &[u8], mut hash: u32) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let options = DecodeOptions::from_bytes(&DecodeOptions::DEFAULT_BYTES, 0).unwrap();
        assert_eq!(options, DecodeOptions::default());
        assert_eq!((options.max_depth, options.digit_limit, options.max_nodes), (128, 1024, 0));
        assert_eq!((options.max_decimal_digits, options.max_decimal_exponent), (34, 6_144));
        assert!(options.keys == Keys::Strings && options.validate_strings && options.dirty);
        let (options, rest) = EncodeOptions::from_bytes(&EncodeOptions::DEFAULT_BYTES).unwrap();
        assert_eq!((options, rest), (EncodeOptions::default(), &[][..]));
        assert_eq!((options.max_depth, options.max_bytes, options.compress), (128, 0, None));
        assert!(options.escape == Escape::Json && options.pretty.is_none() && !options.sort_keys);
    }

    #[test]
    fn fields_stand_where_the_table_says() {
        let mut bytes = DecodeOptions::DEFAULT_BYTES;
        bytes[0] = 1;
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&300_u32.to_le_bytes());
        let options = DecodeOptions::from_bytes(&bytes, 7).unwrap();
        let expected =
            DecodeOptions { keys: Keys::ExistingAtoms, max_decimal_exponent: 300, seed: 7, ..DecodeOptions::DEFAULT };
        assert_eq!(options, expected);
        assert_eq!(DecodeOptions::from_bytes(&bytes[1..], 7), None);
    }

    #[test]
    fn texts_follow_the_fields() {
        let numbers = [("pretty", 1), ("indent", 2), ("record_separator", 1), ("after_colon", 3)];
        let fields: [u8; EncodeOptions::LEN] = ENCODE.bytes(&numbers);
        let bytes = [&fields[..], b"  |:::rest"].concat();
        let (options, rest) = EncodeOptions::from_bytes(&bytes).unwrap();
        let pretty = Pretty { indent: b"  ", line_separator: b"", record_separator: b"|", after_colon: b":::" };
        assert_eq!((options.pretty, rest), (Some(pretty), &b"rest"[..]));
        assert!((0..bytes.len() - 4).all(|len| EncodeOptions::from_bytes(&bytes[..len]).is_none()));
    }
}
