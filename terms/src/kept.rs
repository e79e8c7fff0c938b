//! Options that stay read. A short call takes 110 to 150 ns, and to read its options takes 5 to 20 more. Elixir hands over the bytes once
//! and then sends a number.

use crate::raw::read::{Look, Raw};
use crate::tags::{Kind, hold, kind};
use rustler::Env;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The most that are kept of each kind. Nothing is freed, so that nothing has to be counted: programs have few such options.
const MOST: usize = 1 << PLACE;
/// Bits of a number that tell the place.
const PLACE: u32 = 7;
/// Bytes of the longest ones that are kept.
const LONGEST: usize = 4096;

/// Options by their numbers.
pub struct Shelf<T>([OnceLock<Kept<T>>; MOST]);

struct Kept<T> {
    number: i64,
    bytes: &'static [u8],
    more: Box<[u8]>,
    options: T,
}

impl<T> Shelf<T> {
    /// An empty one.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; MOST])
    }

    /// The number of the options with these bytes, and what else tells them apart. `None`: they are too long, or every place is
    /// taken. They are read with the number of their place.
    pub fn keep(&self, bytes: &[u8], more: &[u8], read: impl Fn(&'static [u8], usize) -> T) -> Option<i64> {
        if bytes.len() > LONGEST {
            return None;
        }
        self.0.iter().enumerate().find_map(|(place, slot)| {
            let kept = slot.get_or_init(|| Kept::new(bytes, more, place, &read));
            (kept.bytes == bytes && *kept.more == *more).then_some(kept.number)
        })
    }

    /// The options of this number, if this instance of the library gave it.
    #[inline(always)]
    pub fn find(&self, number: i64) -> Option<&T> {
        let kept = self.0[number as usize % MOST].get()?;
        (kept.number == number).then_some(&kept.options)
    }
}

impl<T> Kept<T> {
    #[cold]
    fn new(bytes: &[u8], more: &[u8], place: usize, read: impl Fn(&'static [u8], usize) -> T) -> Self {
        let bytes: &'static [u8] = Box::leak(bytes.into());
        Self { number: secret() << PLACE | place as i64, bytes, more: more.into(), options: read(bytes, place) }
    }
}

/// Of this instance of the library: a number that another one gave means nothing here.
fn secret() -> i64 {
    static SECRET: OnceLock<i64> = OnceLock::new();
    *SECRET.get_or_init(|| (RandomState::new().hash_one(0) >> 13) as i64 | 1)
}

/// The number that stands for options, if it is one.
#[inline(always)]
pub fn number<'a>(env: Env<'a>, options: Raw<'a>) -> Option<i64> {
    // All numbers are words.
    if hold(env) && kind(options.word()) != Kind::Small { None } else { Look::new(env).integer(options) }
}
