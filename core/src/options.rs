//! What a call may choose. Shells hand options over as a few integers; the bits are defined here, once.

use crate::encode::Pretty;

/// How object keys become terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// Binaries.
    #[default]
    Strings,
    /// Atoms, created when new.
    Atoms,
    /// Existing atoms; an unknown one is an error.
    ExistingAtoms,
    /// Binaries that never share the input.
    Copy,
    /// Binaries, equal keys shared.
    Intern,
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

/// Options of [`decode`](crate::decode()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// How object keys become terms.
    pub keys: Keys,
    /// Strings are copied, never referenced.
    pub copy_strings: bool,
    /// Floats become decimals.
    pub decimals: bool,
    /// Objects keep the order and every member.
    pub ordered_objects: bool,
    /// What a repeated key means.
    pub duplicates: Duplicates,
    /// Strings must be UTF-8.
    pub validate_strings: bool,
    /// Deepest nesting of arrays and objects; `u32::MAX` for none.
    pub max_depth: u32,
    /// Most digits of an integer, sign not counted; 0 for no limit.
    pub digit_limit: u32,
    /// Most values and keys; 0 for no limit.
    pub max_nodes: u64,
    /// Seed of the hash that finds repeated keys.
    pub seed: u64,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self::from_bits(0, 128, 1024, 0, 0)
    }
}

impl DecodeOptions {
    /// Bit of [`DecodeOptions::from_bits`]: strings are copied.
    pub const COPY_STRINGS: u32 = 1 << 3;
    /// Bit: floats become decimals.
    pub const DECIMALS: u32 = 1 << 4;
    /// Bit: objects keep order and every member.
    pub const ORDERED_OBJECTS: u32 = 1 << 5;
    /// Bit: strings may be invalid UTF-8.
    pub const TRUST_STRINGS: u32 = 1 << 8;

    /// Whether keys must be UTF-8: a name of an atom has to be, whoever vouches for the strings.
    #[inline(always)]
    pub const fn validate_keys(&self) -> bool {
        self.validate_strings || matches!(self.keys, Keys::Atoms | Keys::ExistingAtoms)
    }

    /// Unpacks what a shell received. Bits 0–2 choose the keys, bits 6–7 what a repeated key means.
    pub const fn from_bits(flags: u32, max_depth: u32, digit_limit: u32, max_nodes: u64, seed: u64) -> Self {
        Self {
            keys: match flags & 7 {
                1 => Keys::Atoms,
                2 => Keys::ExistingAtoms,
                3 => Keys::Copy,
                4 => Keys::Intern,
                _ => Keys::Strings,
            },
            copy_strings: flags & Self::COPY_STRINGS != 0,
            decimals: flags & Self::DECIMALS != 0,
            ordered_objects: flags & Self::ORDERED_OBJECTS != 0,
            duplicates: match (flags >> 6) & 3 {
                1 => Duplicates::First,
                2 => Duplicates::Error,
                _ => Duplicates::Last,
            },
            validate_strings: flags & Self::TRUST_STRINGS == 0,
            max_depth,
            digit_limit,
            max_nodes,
            seed,
        }
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

/// Options of [`encode`](crate::encode()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeOptions<'a> {
    /// Which characters are escaped.
    pub escape: Escape,
    /// Keys that become the same text are an error.
    pub strict_maps: bool,
    /// Members are sorted by the bytes of their keys.
    pub sort_keys: bool,
    /// Structs nobody knows become objects without `__struct__`.
    pub plain_structs: bool,
    /// Well-known structs too are treated as plain ones.
    pub lean: bool,
    /// Maps above 32 keys are walked backwards.
    pub reverse_large_maps: bool,
    /// Deepest nesting; `u32::MAX` for none.
    pub max_depth: u32,
    /// Depth at which the value stands.
    pub base_depth: u32,
    /// Longest output in bytes; 0 for no limit.
    pub max_bytes: u64,
    /// Most work, counted in bytes of output, before the shell is asked to start over where it has time; 0 for no limit.
    pub budget: u64,
    /// White space between tokens; `None` for none.
    pub pretty: Option<Pretty<'a>>,
}

impl Default for EncodeOptions<'_> {
    fn default() -> Self {
        Self::from_bits(0, 128, 0, 0)
    }
}

impl EncodeOptions<'_> {
    /// Unpacks what a shell received. Bits 0–1 choose the escape mode.
    pub const fn from_bits(flags: u32, max_depth: u32, base_depth: u32, max_bytes: u64) -> Self {
        Self {
            escape: match flags & 3 {
                1 => Escape::HtmlSafe,
                2 => Escape::JavascriptSafe,
                3 => Escape::UnicodeSafe,
                _ => Escape::Json,
            },
            strict_maps: flags & (1 << 2) != 0,
            sort_keys: flags & (1 << 3) != 0,
            plain_structs: flags & (1 << 4) != 0,
            lean: flags & (1 << 5) != 0,
            reverse_large_maps: flags & (1 << 6) != 0,
            max_depth,
            base_depth,
            max_bytes,
            budget: 0,
            pretty: None,
        }
    }
}
