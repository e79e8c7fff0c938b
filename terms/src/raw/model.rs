//! A model of the VM's memory, in which terms are written and read: for the tests, which Miri runs, and for the fuzz
//! target `words`. Every block is an allocation of its own and of exactly its size, so that a step beyond it is noticed.

use super::space::{Blocks, Keys, LARGEST, Space};
use super::words::{SHORT, Words, binary_words, cell, tuple_header, write_list};

/// Headers as OTP 25 has them, and the length in bits as from OTP 27 on.
pub const BYTES: Words = words(false);
pub const BITS: Words = words(true);

const FLOAT: usize = 1 << 6 | 0b01_1000;
const MAP: usize = 1 << 6 | 0b11_1100;
const BINARY: usize = 0b10_0100;
/// The empty list, and an atom that fills what is not written.
const EMPTY: usize = 0b11_1011;
const FILLER: usize = 0b1100_1011;

const fn words(bits: bool) -> Words {
    let mut binaries = [0; SHORT + 1];
    let mut len = 0;
    while len <= SHORT {
        binaries[len] = (binary_words(len) - 1) << 6 | BINARY;
        len += 1;
    }
    Words { float: FLOAT, small_map: MAP, binaries, bits }
}

/// What was written.
#[derive(Debug, PartialEq)]
enum Value {
    Small(usize),
    Float(u64),
    Binary(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(usize, Value)>),
}

/// Memory that lasts until all of it is given back.
#[derive(Default)]
struct Memory {
    made: Vec<(*mut usize, usize)>,
    /// Blocks that may still be made.
    left: usize,
}

impl Memory {
    fn words(&mut self, words: Vec<usize>) -> *mut usize {
        let len = words.len();
        let at = Box::into_raw(words.into_boxed_slice()).cast::<usize>();
        self.made.push((at, len));
        at
    }

    fn tuple(&mut self, elements: &[usize]) -> usize {
        let words = [&[tuple_header(elements.len())], elements].concat();
        self.words(words).expose_provenance() | 0b10
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (at, len) in self.made.drain(..) {
            // SAFETY: made from such a box, and given back once.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len)) });
        }
    }
}

// SAFETY: each is new memory, which stays until the memory is dropped, and all of it are words that are terms.
unsafe impl Blocks for &mut Memory {
    fn block(&mut self, words: usize) -> Option<*mut usize> {
        assert!(words <= LARGEST);
        self.left = self.left.checked_sub(1)?;
        let mut block = vec![FILLER; words];
        block[0] = tuple_header(words - 1);
        Some(self.words(block))
    }
}

/// What to write, one byte a choice.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn value(&mut self, depth: usize) -> Value {
        let choice = self.next();
        let many = self.next();
        match choice % 6 {
            0 => Value::Small(many << 4 | 0b1111),
            1 => Value::Float(f64::to_bits(many as f64 / 3.0)),
            2 | 3 => Value::Binary((0..many % (SHORT + 8)).map(|i| (i + choice) as u8).collect()),
            4 if depth > 0 => Value::List((0..many % 140).map(|_| self.value(depth - 1)).collect()),
            5 if depth > 0 => {
                let key = |number: usize| number << 4 | 0b1111;
                Value::Map((1..=1 + many % 32).map(|number| (key(number), self.value(depth - 1))).collect())
            }
            _ => Value::Small(EMPTY),
        }
    }
}

/// Writes a value; what the space leaves to the VM is made elsewhere.
fn write(space: &mut Space<'_, &mut Memory>, elsewhere: &mut Memory, words: &Words, value: &Value) -> usize {
    match value {
        Value::Small(word) => *word,
        Value::Float(bits) => space.float(f64::from_bits(*bits)).unwrap_or_else(|| {
            let at = elsewhere.words(vec![0; 2]);
            // SAFETY: two words.
            unsafe { words.write_float(at, f64::from_bits(*bits)) }
        }),
        // Of longer ones, only that they are left.
        Value::Binary(bytes) if bytes.len() > SHORT => {
            assert!(space.binary(bytes).is_none());
            FILLER
        }
        Value::Binary(bytes) => space.binary(bytes).unwrap_or_else(|| {
            let at = elsewhere.words(vec![0; binary_words(bytes.len())]);
            // SAFETY: so many words.
            unsafe { words.write_binary(at, bytes) }
        }),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| write(space, elsewhere, words, item)).collect();
            match space.list(&items, EMPTY) {
                Some(list) => list,
                None if items.is_empty() => EMPTY,
                None => {
                    let at = elsewhere.words(vec![0; 2 * items.len()]);
                    // SAFETY: so many words, of at least one item.
                    unsafe { write_list(at, &items, EMPTY) }
                }
            }
        }
        Value::Map(members) => {
            let (keys, mut values): (Vec<_>, Vec<_>) =
                members.iter().map(|(key, value)| (*key, write(space, elsewhere, words, value))).unzip();
            // Given the other way round than they belong.
            values.reverse();
            let places: Vec<_> = (0..keys.len() as u8).rev().collect();
            let given: Vec<_> = keys.iter().rev().copied().collect();
            if keys.len() % 2 == 0
                && let Some((_, map)) = space.new_map(&given, &values, &places)
            {
                return map;
            }
            let tuple = elsewhere.tuple(&keys);
            // SAFETY: a tuple of so many keys.
            let keys = unsafe { Keys::new(tuple, keys.len()) };
            space.map(keys, &values, &places).unwrap_or_else(|| {
                let at = elsewhere.words(vec![0; 3 + values.len()]);
                // SAFETY: so many words, and a tuple of as many keys.
                unsafe { words.write_map(at, tuple, values.iter().rev().copied()) }
            })
        }
    }
}

/// Reads what was written.
fn read(words: &Words, term: usize, like: &Value) -> Value {
    // SAFETY: the term was written as the value says, and only what a look at its header told is read.
    unsafe {
        match (term & 0b11, like) {
            (0b10, Value::Float(_)) => words.float(term).map_or(Value::Small(0), |value| Value::Float(value.to_bits())),
            (0b10, Value::Binary(_)) => {
                words.binary(term).map_or(Value::Small(0), |bytes| Value::Binary(bytes.to_vec()))
            }
            (0b10, Value::Map(members)) => {
                let Some(found) = words.small_map(term) else { return Value::Small(0) };
                assert!(words.float(term).is_none() && words.binary(term).is_none() && found.len == members.len());
                let member = |(place, (_, like)): (usize, &(usize, Value))| {
                    (*found.keys.add(place), read(words, *found.values.add(place), like))
                };
                Value::Map(members.iter().enumerate().map(member).collect())
            }
            (0b01, Value::List(likes)) => {
                let (mut list, mut items) = (term, Vec::new());
                for like in likes {
                    let [head, tail] = cell(list);
                    items.push(read(words, head, like));
                    list = tail;
                }
                assert_eq!(list, EMPTY);
                Value::List(items)
            }
            (_, Value::Binary(bytes)) if term == FILLER => Value::Binary(bytes.clone()),
            (_, Value::List(_)) if term == EMPTY => Value::List(Vec::new()),
            _ => Value::Small(term),
        }
    }
}

/// Walks over a block from one term to the next, as the VM does when it moves a fragment: the last one ends where it ends.
fn walk(block: &[usize]) {
    let mut at = 0;
    while at < block.len() {
        let word = block[at];
        at += match word & 0b11 {
            0 if word == MAP => 3 + block[at + 1],
            0 => 1 + (word >> 6),
            _ => 2,
        };
    }
    assert_eq!(at, block.len());
}

/// Writes what the bytes choose in both layouts, and reads it.
pub fn check(data: &[u8]) {
    for words in [BYTES, BITS] {
        let mut choices = Choices(data);
        let (first, left) = (16 * choices.next(), choices.next());
        let value = choices.value(3);
        let (mut memory, mut elsewhere) = (Memory { made: Vec::new(), left }, Memory::default());
        let mut space = Space::new(&words, &mut memory, first);
        let term = write(&mut space, &mut elsewhere, &words, &value);
        drop(space);
        assert_eq!(read(&words, term, &value), value);
        for (at, len) in &memory.made {
            // SAFETY: such a block, which nobody writes to any more.
            walk(unsafe { std::slice::from_raw_parts(*at, *len) });
        }
    }
}
