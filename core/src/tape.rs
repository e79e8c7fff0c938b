//! The tape: what a walk over a term finds, laid out for encoding in the sandbox. A host that can read the VM's terms walks over them
//! with the encoder ([`encode::write`](crate::encode::write)), which decides what is written, and a [`Tape`] takes it down in the module's
//! memory. There [`play`](crate::encode::play()) makes the text of it. No term lacks a tape: what the shell has to encode is a hole, and
//! what has no JSON form ends the tape with its error.
//!
//! A token is a word, little endian: the kind in its lowest byte, a number above it, which most kinds use as a length. What
//! belongs to the token follows. Containers end with a token, so that nothing is counted. The keys of maps that share them stand
//! once, and later maps have only a number and their values. [`SLACK`] bytes follow the last token, so that the text of a string can
//! be read in whole vectors.

mod writer;

pub use writer::{Memory, Sink, Tape};

/// Bytes behind the last token.
pub const SLACK: usize = 16;
/// Bytes of a token without what follows it.
pub const TOKEN: usize = 4;
/// The most that the number of a token can be.
pub const MOST: usize = 0xFF_FFFF;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The end of the tape.
    End,
    /// The atom `nil`.
    Nil,
    /// The atom `true`.
    True,
    /// The atom `false`.
    False,
    /// An integer: the number, signed.
    Small,
    /// An integer: 8 bytes.
    Integer,
    /// A float: 8 bytes.
    Float,
    /// A text; the number is its length.
    String,
    /// An empty list.
    EmptyList,
    /// An empty map.
    EmptyMap,
    /// The start of a list, whose values follow.
    List,
    /// Its end.
    EndList,
    /// The start of a map, whose keys and values follow by turns.
    Map,
    /// Its end.
    EndMap,
    /// A key in such a map or of a shape; the number is its length.
    Key,
    /// The start of a map with the keys of the next shape: as many keys as the number says follow, then a value for each.
    Shape,
    /// The start of a map with the keys of the shape of this number, counted from 0: a value for each key follows.
    Shaped,
    /// The start of a record, whose value follows.
    Record,
    /// The start of a record behind a record separator.
    MarkedRecord,
    /// The end of a record.
    EndRecord,
    /// A text whose length stands in the 4 bytes that follow.
    LongString,
    /// Such a key.
    LongKey,
    /// An integer: the number is 1 if it is negative. The length of its magnitude (4 bytes), and the magnitude, little endian.
    Big,
    /// Such an integer as a key.
    BigKey,
    /// JSON text as it is: 4 bytes of length.
    Raw,
    /// Bytes of JSON text that stood alone, as many as the number says.
    Bytes,
    /// The end of such text.
    EndRaw,
    /// What the shell encodes.
    Hole,
    /// Such a key.
    HoleKey,
    /// What the container or the current fragment has so far is taken back, and so is its start.
    Back,
    /// The walk ended here. The number is the kind of the error, with [`IN_RECORDS`] and [`BEHIND_COMMA`]. The length of its payload
    /// (4 bytes), and the payload.
    Failed,
}

/// Added to the kind of an error in a list of records.
pub const IN_RECORDS: usize = 1 << 8;
/// Added to the kind of an error behind a comma.
pub const BEHIND_COMMA: usize = 1 << 9;

impl Kind {
    const ALL: [Self; 31] = [
        Self::End,
        Self::Nil,
        Self::True,
        Self::False,
        Self::Small,
        Self::Integer,
        Self::Float,
        Self::String,
        Self::EmptyList,
        Self::EmptyMap,
        Self::List,
        Self::EndList,
        Self::Map,
        Self::EndMap,
        Self::Key,
        Self::Shape,
        Self::Shaped,
        Self::Record,
        Self::MarkedRecord,
        Self::EndRecord,
        Self::LongString,
        Self::LongKey,
        Self::Big,
        Self::BigKey,
        Self::Raw,
        Self::Bytes,
        Self::EndRaw,
        Self::Hole,
        Self::HoleKey,
        Self::Back,
        Self::Failed,
    ];
}

/// The word of a token.
#[inline(always)]
pub const fn token(kind: Kind, number: usize) -> [u8; TOKEN] {
    (kind as u32 | (number as u32) << 8).to_le_bytes()
}

/// The word of a small integer. `None`: it does not fit.
#[inline(always)]
pub const fn small(value: i64) -> Option<[u8; TOKEN]> {
    let fits = value << 40 >> 40 == value;
    if fits { Some(token(Kind::Small, value as usize)) } else { None }
}

/// The kind and the number of the token at this place.
#[inline(always)]
pub fn read(tape: &[u8], at: usize) -> Option<(Kind, u32)> {
    let word = u32::from_le_bytes(*tape.get(at..)?.first_chunk()?);
    Some((*Kind::ALL.get(word as usize & 0xFF)?, word))
}

/// The length, count or shape in a word.
#[inline(always)]
pub const fn number(word: u32) -> usize {
    (word >> 8) as usize
}

/// The integer in the word of a small one.
#[inline(always)]
pub const fn integer(word: u32) -> i64 {
    (word as i32 >> 8) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_what_they_say() {
        for (code, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, code);
            for count in [0, 1, 255, 256, MOST] {
                let (found, word) = read(&token(kind, count), 0).unwrap();
                assert_eq!((found, number(word)), (kind, count));
            }
        }
        assert_eq!(read(&[Kind::ALL.len() as u8, 0, 0, 0], 0), None);
        assert_eq!(read(&[1, 0, 0], 0), None);
    }

    #[test]
    fn small_integers_have_24_bits() {
        for value in [0, 1, -1, 99, (1 << 23) - 1, -(1 << 23)] {
            let (kind, word) = read(&small(value).unwrap(), 0).unwrap();
            assert_eq!((kind, integer(word)), (Kind::Small, value));
        }
        for value in [1 << 23, -(1 << 23) - 1, i64::MAX, i64::MIN] {
            assert_eq!(small(value), None);
        }
    }
}
