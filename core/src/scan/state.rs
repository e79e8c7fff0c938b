//! Where a stream stands between two pieces.

use super::scanner::Scanner;
use super::token::Place;
use super::wire::{Reader, Writer};
use crate::locate::{CUT, MAX_KEY};
use alloc::string::String;
use alloc::vec::Vec;

/// Most bytes of a key that becomes part of a pointer.
pub(super) const MAX_POINTER_KEY: usize = 1024;

/// An open container on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub object: bool,
    /// The current element.
    pub index: u64,
    /// The current member, as it stands in a pointer.
    pub key: Option<String>,
    /// The current element or member is on the path.
    pub wanted: bool,
}

/// Where a stream stands: line and column, the open containers on the path, and inside of which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The position of the first byte that was not processed.
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) place: Place,
    /// Nothing was read before.
    pub(super) fresh: bool,
    /// A number or literal has just ended, and something has to follow that tells it from the next.
    pub(super) tight: bool,
    /// The rest of a record is left out.
    pub(super) skipping: bool,
    /// The bytes that the scanner saw are kept outside, because the value is wanted.
    pub(super) keep: bool,
    pub(super) levels: Vec<Level>,
    /// Values and keys so far, of a partial document.
    pub(super) nodes: u64,
    /// Inside of a value; of a partial document, what is open.
    pub(super) scanner: Option<Scanner>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            line: 1,
            column: 1,
            place: Place::Start,
            fresh: true,
            tight: false,
            skipping: false,
            keep: false,
            levels: Vec::new(),
            nodes: 0,
            scanner: None,
        }
    }
}

impl State {
    /// Appends the state, line and column (`u64` each) first, and the open brackets last.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut out = Writer(out);
        out.u64(self.line);
        out.u64(self.column);
        let flags = [self.fresh, self.tight, self.skipping, self.keep, self.scanner.is_some(), self.nodes > 0];
        let flags = flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag));
        out.bytes(&[self.place as u8, flags]);
        out.bytes(&(self.levels.len() as u16).to_le_bytes());
        for level in &self.levels {
            let flags = [level.object, level.key.is_some(), level.wanted];
            out.bytes(&[flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag))]);
            out.u64(level.index);
            out.slice(level.key.as_deref().unwrap_or_default().as_bytes());
        }
        if self.nodes > 0 {
            out.u64(self.nodes);
        }
        match &self.scanner {
            Some(scanner) => scanner.write(out.0),
            None => out.brackets(&[], 0),
        }
    }

    /// Reads a state. None is written for a stream that has not begun.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let mut reader = Reader(bytes);
        let (line, column) = (reader.count()?, reader.count()?);
        let place = *Place::ALL.get(reader.byte()? as usize)?;
        let flags = reader.byte().filter(|flags| *flags < 64)?;
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let count = reader.u16()?;
        let mut levels = Vec::new();
        for _ in 0..count {
            levels.push(level(&mut reader)?);
        }
        let nodes = if flag(5) { reader.count()? } else { 0 };
        let scanner = match flag(4) {
            true => Some(Scanner::read(reader.0)?),
            false => reader.brackets().filter(|&(_, depth)| depth == 0).map(|_| None)?,
        };
        let state = Self {
            line,
            column,
            place,
            fresh: flag(0),
            tight: flag(1),
            skipping: flag(2),
            keep: flag(3),
            levels,
            nodes,
            scanner,
        };
        state.is_possible().then_some(state)
    }

    /// Whether the parts fit together, so that none of them has to be doubted later.
    fn is_possible(&self) -> bool {
        match (self.place, self.levels.last()) {
            (Place::Start, _) => self.levels.is_empty(),
            (Place::First | Place::Element, level) => level.is_some_and(|level| !level.object),
            (Place::FirstKey | Place::Key | Place::Colon | Place::Member, level) => {
                level.is_some_and(|level| level.object)
            }
            (Place::After, _) => true,
        }
    }

    /// The pointer of the place that was reached.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        for level in &self.levels {
            if !level.object {
                pointer.push('/');
                pointer.push_str(itoa::Buffer::new().format(level.index));
            } else if let Some(key) = &level.key {
                pointer.push('/');
                pointer.push_str(key);
            }
        }
        pointer
    }

    /// Line and column behind these bytes.
    pub(super) fn behind(&self, bytes: &[u8]) -> (u64, u64) {
        advance(self.line, self.column, bytes)
    }
}

/// Line and column behind bytes that start at this line and column.
pub(super) fn advance(line: u64, column: u64, bytes: &[u8]) -> (u64, u64) {
    let breaks = count(bytes, |byte| byte == b'\n');
    let row = match breaks {
        0 => 0,
        _ => bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1),
    };
    let characters = count(&bytes[row..], |byte| byte & 0b1100_0000 != 0b1000_0000);
    if breaks == 0 { (line, column + characters) } else { (line + breaks, 1 + characters) }
}

/// How many bytes are such. The counter is a byte too, for a whole vector at once: every piece of a stream is counted here, which
/// took a quarter of the time of an array's piece.
#[inline(always)]
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    let few = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(is(byte))).sum::<u8>();
    bytes.chunks(128).map(|bytes| u64::from(few(bytes))).sum()
}

fn level(reader: &mut Reader<'_>) -> Option<Level> {
    let flags = reader.byte().filter(|flags| *flags < 8)?;
    let index = reader.count()?;
    let key = core::str::from_utf8(reader.slice()?).ok()?;
    let key = (flags & 2 != 0).then(|| String::from(key));
    Some(Level { object: flags & 1 != 0, index, key, wanted: flags & 4 != 0 })
}

/// A key as it stands in a pointer (RFC 6901 section 3); for errors it is cut as [`locate`](crate::locate) cuts it.
pub(super) fn token(key: &[u8], cut: bool) -> String {
    let mut token = String::new();
    let mut left = if cut { MAX_KEY } else { MAX_POINTER_KEY };
    for character in String::from_utf8_lossy(&key[..key.len().min(left + 4)]).chars() {
        let Some(rest) = left.checked_sub(character.len_utf8()) else {
            token.push_str(CUT);
            break;
        };
        left = rest;
        match character {
            '~' => token.push_str("~0"),
            '/' => token.push_str("~1"),
            _ => token.push(character),
        }
    }
    token
}
