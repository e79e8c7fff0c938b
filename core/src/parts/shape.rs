//! The types of a schema, read where they stand.
//!
//! Elixir writes a shape once for a type (`lib/rustyjson/schema/shape.ex`). A node starts with its kind (`u8`); places of other
//! nodes are offsets in the shape (`u32`), so that a type may contain itself.

use super::checked::Checked;
use super::moment::Moment;
use crate::etf::check::Policy;
use crate::options::DecodeOptions;
use crate::scan::wire::{Reader, number, search};

/// The kind of a plan, its first byte.
const SHAPE: u8 = 2;
/// Bytes before the root: kind, whether there are tagged structs, flags and a byte of 0; the most errors to list, or 0 for the first
/// one alone; the places of the list of values that Elixir refuses, or 0, and of the keys of tagged structs (`u32` each).
const HEADER: usize = 16;
/// The flag of a call that lists the values which Elixir has to judge, instead of the value.
const LIST_LEFT: u8 = 1;

/// Kinds of nodes that are told apart before they are read.
pub(super) mod kinds {
    pub const STRING: u8 = 1;
    pub const INTEGER: u8 = 2;
    pub const FLOAT: u8 = 3;
    pub const BOOLEAN: u8 = 5;
    pub const NULLABLE: u8 = 14;
    pub const STRUCT: u8 = 16;
}

/// A type, and how an earlier answer is gone into.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    bytes: &'a [u8],
    /// Errors of the schema that are listed; 0 for the first one alone.
    pub(super) most_errors: u32,
    /// The numbers of the values that Elixir refused, which ascend.
    refused: &'a [u8],
    /// Only the values that Elixir has to judge are wanted, as far as the text is right.
    pub(super) list_left: bool,
    /// The places of the keys of tagged structs, which are sorted.
    tags: &'a [u8],
}

/// A type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    Any,
    String,
    Integer,
    Float,
    Number,
    Boolean,
    Decimal,
    /// A string that Elixir makes a date of: its kind as Elixir has it.
    Date(u8),
    Raw,
    /// Any value, which Elixir loads: its kind as Elixir has it, above those of dates.
    Loaded(u32),
    List(usize),
    /// A list; null is an empty one.
    Many(usize),
    Map(usize),
    Nullable,
    Enum(Names<'a>),
    Struct(Struct<'a>),
    Tagged(Tagged<'a>),
    /// A type with constraints.
    Checked(Checked<'a>),
}

/// Names by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    /// The number of the names among what the shell builds with.
    pub template: usize,
    places: &'a [u8],
    /// Their numbers, sorted by the names.
    sorted: &'a [u8],
}

impl Names<'_> {
    pub const fn count(&self) -> usize {
        self.places.len() / 4
    }
}

/// The fields of a struct: entries of the fields by number, and numbers of the fields sorted by key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Struct<'a> {
    /// Where it stands in the shape.
    pub place: usize,
    /// A member that is no field is an error.
    pub strict: bool,
    /// The number of the struct among what the shell builds with.
    pub template: usize,
    /// A bit for each key of a field, at its [`bit`].
    mask: u64,
    pub count: usize,
    pub required: usize,
    fields: &'a [u8],
    sorted: &'a [u8],
}

/// A field, which has [`ENTRY`] bytes: flags, the place of its type, the place of its key, which is quoted and followed by a colon,
/// the length of the key itself (`u32` each), and the first and last eight bytes of the quoted key with the colon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    flags: u32,
    pub node: usize,
    place: usize,
    len: usize,
    head: u64,
    tail: u64,
}

const ENTRY: usize = 32;

impl Field {
    #[inline(always)]
    fn read(entry: &[u8; ENTRY]) -> Self {
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| entry[at + i]));
        let (first, second) = (word(0), word(8));
        Self {
            flags: first as u32,
            node: (first >> 32) as usize,
            place: second as u32 as usize,
            len: (second >> 32) as usize,
            head: word(16),
            tail: word(24),
        }
    }

    #[inline(always)]
    pub const fn required(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Its value is passed over: the tag of a tagged struct.
    #[inline(always)]
    pub const fn ignored(&self) -> bool {
        self.flags & 2 != 0
    }

    /// The key is UTF-8 without anything that is escaped in a text.
    #[inline(always)]
    const fn plain(&self) -> bool {
        self.flags & 4 != 0
    }
}

/// Structs that a member of theirs tells apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tagged<'a> {
    pub key: &'a [u8],
    /// The number of the key among those of the shape.
    pub number: u32,
    pub names: Names<'a>,
    nodes: &'a [u8],
}

impl Tagged<'_> {
    pub const fn count(&self) -> usize {
        self.nodes.len() / 4
    }
}

impl<'a> Shape<'a> {
    /// Reads a shape. `None`: these bytes are none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(bytes.get(4..HEADER)?);
        let (most_errors, refused, tags) = (reader.u32()?, reader.u32()? as usize, reader.u32()? as usize);
        let list = |place: usize| match place {
            0 => Some(&[][..]),
            _ => Reader(bytes.get(place..)?).numbers(),
        };
        let list_left = bytes[2] & LIST_LEFT != 0;
        let shape = Self { bytes, most_errors, refused: list(refused)?, list_left, tags: list(tags)? };
        (bytes[0] == SHAPE).then_some(shape)
    }

    /// The most errors that an honest answer about a document lists, and the most that it counts: each byte of the document can end one
    /// struct at most, which has not all its fields.
    pub fn most_errors(&self, json_len: usize) -> (usize, u64) {
        (self.most_errors as usize, (json_len as u64 + 1).saturating_mul(self.bytes.len() as u64))
    }

    /// Whether Elixir refused the value of this number, the next of which is that of the place in the list.
    #[inline(always)]
    pub(super) fn refuses(&self, number: u32, next: &mut usize) -> bool {
        let refused = !self.refused.is_empty() && self::number(self.refused, *next) == number as usize;
        *next += usize::from(refused);
        refused
    }

    /// The number of this key among those of tagged structs.
    pub(super) fn tag(&self, key: &[u8]) -> Option<u32> {
        search(self.tags.len() / 4, |tag| Some((self.text(number(self.tags, tag))?.cmp(key), tag as u32)))
    }

    /// What an honest answer about a document of this length can look like: a field has its number before its value, a tagged struct
    /// is a list in a list, decimals and places in the text are lists of up to three integers, and types ask for floats whatever the
    /// options say.
    pub fn policy(&self, options: &DecodeOptions, json_len: usize) -> Policy {
        let lists = if self.bytes.get(1) == Some(&1) { 2 } else { 1 };
        let max_depth = options.max_depth.saturating_mul(lists).saturating_add(2);
        let len = json_len.saturating_mul(4).saturating_add(16);
        Policy { floats: true, ..Policy::new(&DecodeOptions { max_depth, max_nodes: 0, ..*options }, len) }
    }

    /// The same for the values alone, as [`judge`](super::judge()) counts them. What takes the most bytes for its text is a part that
    /// stays text, and an object or a decimal that is a struct.
    pub fn exact_policy(options: &DecodeOptions, json_len: usize) -> Policy {
        let max_len = json_len.saturating_mul(24).saturating_add(80);
        Policy { max_len, ..Policy::new(&DecodeOptions { max_nodes: 0, ..*options }, json_len) }
    }

    pub(super) const fn root() -> usize {
        HEADER
    }

    /// The kind of the node at this place.
    #[inline(always)]
    pub(super) fn kind(&self, place: usize) -> Option<u8> {
        self.bytes.get(place).copied()
    }

    /// The type of a value that may be null.
    #[inline(always)]
    pub(super) fn inner(&self, place: usize) -> Option<usize> {
        let bytes = self.bytes.get(place + 1..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    /// Reads the struct at this place, if it is not the current one. `None`: there is none. Place 0 is where none has been read yet.
    #[inline(always)]
    pub(super) fn bring(&self, place: usize, at_hand: &mut Struct<'a>) -> Option<()> {
        if at_hand.place != place || place == 0 {
            let Some(Node::Struct(other)) = self.node(place) else { return None };
            *at_hand = other;
        }
        Some(())
    }

    /// The node at this place. `None`: there is none, so the shape is broken.
    #[inline(always)]
    pub(super) fn node(&self, place: usize) -> Option<Node<'a>> {
        let mut reader = Reader(self.bytes.get(place..)?);
        Some(match reader.byte()? {
            0 => Node::Any,
            kinds::STRING => Node::String,
            kinds::INTEGER => Node::Integer,
            kinds::FLOAT => Node::Float,
            4 => Node::Number,
            kinds::BOOLEAN => Node::Boolean,
            6 => Node::Decimal,
            kind @ (7..=10 | Moment::DURATION) => Node::Date(kind),
            11 => Node::Raw,
            12 => Node::List(reader.u32()? as usize),
            13 => Node::Map(reader.u32()? as usize),
            kinds::NULLABLE => Node::Nullable,
            15 => {
                let template = reader.u32()? as usize;
                Node::Enum(Names { template, places: reader.numbers()?, sorted: reader.numbers()? })
            }
            kinds::STRUCT => {
                let (strict, required) = (reader.flag()?, reader.u32()? as usize);
                let (template, mask) = (reader.u32()? as usize, reader.u64()?);
                let count = reader.u32()? as usize;
                let (fields, sorted) = (reader.take(count.checked_mul(ENTRY)?)?, reader.numbers()?);
                Node::Struct(Struct { place, strict, template, mask, required, count, fields, sorted })
            }
            17 => {
                let number = reader.u32()?;
                let key = reader.slice()?;
                let names = Names { template: 0, places: reader.numbers()?, sorted: reader.numbers()? };
                Node::Tagged(Tagged { key, number, names, nodes: reader.numbers()? })
            }
            18 => Node::Loaded(reader.u32()?),
            19 => Node::Many(reader.u32()? as usize),
            21 => Node::Checked(Checked { inner: reader.u32()? as usize, rules: reader.slice()? }),
            _ => return None,
        })
    }

    /// The number of this name.
    pub(super) fn number(&self, names: &Names<'a>, name: &[u8]) -> Option<usize> {
        sorted(names.sorted, |place| self.text(number(names.places, place)), name)
    }

    fn text(&self, place: usize) -> Option<&'a [u8]> {
        Reader(self.bytes.get(place..)?).slice()
    }

    /// The node of the variant of this number.
    pub(super) fn variant(&self, tagged: &Tagged<'a>, number: usize) -> usize {
        self::number(tagged.nodes, number)
    }

    /// The field of this number.
    #[inline(always)]
    pub(super) fn field(record: &Struct<'a>, number: usize) -> Option<Field> {
        let (entries, _) = record.fields.as_chunks();
        entries.get(number).map(Field::read)
    }

    /// The key of a field.
    #[inline(always)]
    pub(super) fn key(&self, field: &Field) -> Option<&'a [u8]> {
        self.bytes.get(field.place + 1..)?.get(..field.len)
    }

    /// If the key of this field stands here as it is, with its quotes and a colon, the offset behind them.
    #[inline(always)]
    pub(super) fn starts(&self, field: &Field, json: &[u8], pos: usize) -> Option<usize> {
        let len = field.len + 3;
        let long = || self.bytes.get(field.place..)?.get(..len);
        (same(json.get(pos..)?, len, field.head, field.tail, long) && field.plain()).then_some(pos + len)
    }

    /// The field of this key, and its number.
    #[inline(always)]
    pub(super) fn find(&self, record: &Struct<'a>, key: &[u8]) -> Option<(usize, Field)> {
        if record.mask >> bit(key) & 1 == 0 { None } else { self.search(record, key) }
    }

    #[inline(never)]
    fn search(&self, record: &Struct<'a>, key: &[u8]) -> Option<(usize, Field)> {
        let key_of = |number| self.key(&Self::field(record, number)?);
        let number = sorted(record.sorted, key_of, key)?;
        Self::field(record, number).map(|field| (number, field))
    }
}

/// The number of this text among numbers that are sorted by their texts.
fn sorted<'a>(numbers: &[u8], text: impl Fn(usize) -> Option<&'a [u8]>, wanted: &[u8]) -> Option<usize> {
    search(numbers.len() / 4, |place| {
        let number = number(numbers, place);
        Some((text(number)?.cmp(wanted), number))
    })
}

/// Whether a quoted key with its colon stands first here: one of this length, with these first and last eight bytes. `long` has all bytes
/// of one that is longer than both.
#[inline(always)]
pub(super) fn same<'a>(rest: &[u8], len: usize, head: u64, tail: u64, long: impl Fn() -> Option<&'a [u8]>) -> bool {
    let Some(first) = rest.first_chunk() else { return false };
    let head = u64::from_le_bytes(*first) ^ head;
    match len {
        3..=8 => head << (64 - 8 * len) == 0,
        9..=16 => {
            head == 0
                && rest
                    .get(..len)
                    .and_then(|key| key.last_chunk())
                    .is_some_and(|last| u64::from_le_bytes(*last) == tail)
        }
        _ => head == 0 && rest.get(..len) == long(),
    }
}

/// A number below 64 that few keys share, as `lib/rustyjson/schema/shape.ex` has it.
#[inline(always)]
fn bit(key: &[u8]) -> usize {
    let (first, last) = (key.first().copied().unwrap_or_default(), key.last().copied().unwrap_or_default());
    (key.len() + 5 * usize::from(first) + 11 * usize::from(last)) % 64
}
