//! Errors are data: a kind and a byte offset. Messages, lines and paths are computed only when an error is shown.

/// Where decoding stopped and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Byte offset into the input, at most its length.
    pub offset: usize,
}

/// Defines the kinds of an error, with their codes.
macro_rules! kinds {
    ($(#[$about:meta])* $kind:ident: $($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $kind { $($(#[$doc])* $name = $code,)* }

        impl $kind {
            /// Every kind, in the order of the codes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The kind with this code.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| *kind as u8 == code)
            }
        }
    };
}
pub(crate) use kinds;

kinds! {
    /// Why a text is not decoded. The number is the code that shells pass on.
    ErrorKind:
    /// The text ends inside a value.
    UnexpectedEnd = 1,
    /// No value starts with this byte (RFC 8259 section 3).
    ExpectedValue = 2,
    /// An object key without quotes (section 4).
    UnquotedKey = 3,
    /// A comma before a closing bracket or brace (sections 4 and 5).
    TrailingComma = 4,
    /// A number with a leading zero (section 6).
    LeadingZero = 5,
    /// The word NaN (section 6).
    Nan = 6,
    /// The word Infinity or -Infinity (section 6).
    Infinity = 7,
    /// A string in single quotes (section 7).
    SingleQuotes = 8,
    /// A backslash before a character that cannot be escaped (section 7).
    InvalidEscape = 9,
    /// `\u` without four hexadecimal digits (section 7).
    InvalidUnicodeEscape = 10,
    /// Half of a surrogate pair on its own (RFC 7493 section 2.1).
    LoneSurrogate = 11,
    /// A control character inside a string (section 7).
    ControlCharacter = 12,
    /// Bytes that are not UTF-8 (section 8.1).
    InvalidUtf8 = 13,
    /// A number that breaks off where a digit must stand (section 6).
    InvalidNumber = 14,
    /// A number too large for a 64-bit float, or an integer too large for the VM.
    NumberOutOfRange = 15,
    /// No colon after an object key (section 4).
    ExpectedColon = 16,
    /// Neither comma nor `]` after an array element (section 5).
    ExpectedCommaOrArrayEnd = 17,
    /// Neither comma nor `}` after an object member (section 4).
    ExpectedCommaOrObjectEnd = 18,
    /// Something other than a key where a key must be (section 4).
    ExpectedKey = 19,
    /// Text after the value (section 2).
    TrailingData = 20,
    /// A key twice in one object, when that is an error.
    DuplicateKey = 21,
    /// Nested deeper than `max_depth`.
    MaxDepth = 22,
    /// More values and keys than `max_nodes`.
    MaxNodes = 23,
    /// Longer than `max_bytes`.
    MaxBytes = 24,
    /// An integer with more digits than the limit.
    IntegerDigits = 25,
    /// A key that is not an existing atom.
    UnknownAtom = 26,
    /// A byte order mark (section 8.1).
    ByteOrderMark = 27,
    /// A key too long for an atom.
    AtomTooLong = 28,
    /// The shell could not get memory.
    OutOfMemory = 29,
    /// A stream of array elements that starts with another value.
    ExpectedArray = 30,
    /// Text before the first record separator (RFC 7464 section 2).
    ExpectedRecord = 31,
    /// A key too long for a pointer of a stream.
    KeyTooLong = 32,
    /// An integer whose canonical text denotes another number (RFC 8785 section 3.2.2.3).
    InexactInteger = 33,
    /// Not a string, where a schema has one.
    TypeString = 34,
    /// Not an integer.
    TypeInteger = 35,
    /// Not a number, for a float.
    TypeFloat = 36,
    /// Not a number.
    TypeNumber = 37,
    /// Neither `true` nor `false`.
    TypeBoolean = 38,
    /// Neither a number nor a string with one.
    TypeDecimal = 39,
    /// Not a string with a date (ISO 8601).
    TypeDate = 40,
    /// Not one with a time.
    TypeTime = 41,
    /// Not one with a date and a time.
    TypeNaiveDatetime = 42,
    /// Not one with a date, a time and an offset.
    TypeUtcDatetime = 43,
    /// Not an array.
    TypeList = 44,
    /// Not an object.
    TypeObject = 45,
    /// An object without a member that a schema requires.
    Missing = 46,
    /// A member that a schema does not have.
    UnknownKey = 47,
    /// A text that is none of those that a schema names.
    Enum = 48,
    /// A value that Elixir cannot load as the type of a field.
    TypeLoaded = 49,
    /// A decimal with more digits than the limit.
    DecimalDigits = 50,
    /// A decimal whose exponent exceeds the limit.
    DecimalExponent = 51,
    /// Not a string with a duration (ISO 8601).
    TypeDuration = 52,
    /// The text ends inside an array. Only [`ErrorKind::within`] makes this of [`ErrorKind::UnexpectedEnd`].
    UnclosedArray = 53,
    /// The same inside an object.
    UnclosedObject = 54,
    /// A number below the minimum of its type.
    Min = 55,
    /// One above the maximum.
    Max = 56,
    /// A string with fewer characters than its type asks for.
    MinLength = 57,
    /// One with more.
    MaxLength = 58,
    /// A string that does not match the pattern of its type.
    Pattern = 59,
    /// A string that is not in the format of its type.
    Format = 60,
    /// An array or object with fewer elements or members than its type asks for.
    MinItems = 61,
    /// One with more.
    MaxItems = 62,
}

impl ErrorKind {
    /// The kind as it is shown: where a text ends too early, with the bracket that is open.
    #[must_use]
    pub const fn within(self, open: Option<u8>) -> Self {
        match (self, open) {
            (Self::UnexpectedEnd, Some(b'[')) => Self::UnclosedArray,
            (Self::UnexpectedEnd, Some(b'{')) => Self::UnclosedObject,
            _ => self,
        }
    }

    /// Whether a number exceeds a limit, which is another one for numbers of another type.
    #[must_use]
    pub const fn is_limit_of_numbers(self) -> bool {
        matches!(self, Self::NumberOutOfRange | Self::IntegerDigits | Self::DecimalDigits | Self::DecimalExponent)
    }

    /// The kind as a decoder finds it.
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            Self::UnclosedArray | Self::UnclosedObject => Self::UnexpectedEnd,
            _ => self,
        }
    }
}

impl Error {
    /// An error of this kind at this offset.
    #[cold]
    pub const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}
