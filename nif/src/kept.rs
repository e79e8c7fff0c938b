//! Options that stay read. A short call takes 110 to 150 ns, and to read its options takes 5 to 20 more. Elixir hands over the bytes once
//! and then sends a number.

use crate::atoms;
use rustler::{Atom, Binary, Encoder, Env, Term};
use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_terms::raw::read::{Look, Raw};
use rustyjson_terms::reader::BUDGET;
use rustyjson_terms::tags::{Kind, hold, kind};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The number of the encoder's options that ask for nothing.
const USUAL_NUMBER: i64 = 0;
/// What a call of the encoder has that asks for nothing.
pub static USUAL: EncodeOptions<'static> = EncodeOptions { budget: BUDGET as u64, ..EncodeOptions::DEFAULT };

/// The most that are kept of each kind. Nothing is freed, so that nothing has to be counted: programs have few such options.
const MOST: usize = 64;
/// Bytes of the longest ones that are kept.
const LONGEST: usize = 4096;

/// Options by their numbers.
pub struct Shelf<T>([OnceLock<Kept<T>>; MOST]);

struct Kept<T> {
    number: i64,
    bytes: &'static [u8],
    options: T,
}

/// Those of the encoder.
pub static ENCODE: Shelf<EncodeOptions<'static>> = Shelf::new();
/// Those of the decoder, but for the seed, which each call has of its own.
pub static DECODE: Shelf<DecodeOptions> = Shelf::new();

impl<T> Shelf<T> {
    const fn new() -> Self {
        Self([const { OnceLock::new() }; MOST])
    }

    /// The number of the options with these bytes. `None`: there is no place for them.
    fn keep(&self, bytes: &[u8], read: impl Fn(&'static [u8], usize) -> T) -> Option<i64> {
        self.0.iter().enumerate().find_map(|(place, slot)| {
            let kept = slot.get_or_init(|| Kept::new(bytes, place, &read));
            (kept.bytes == bytes).then_some(kept.number)
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
    fn new(bytes: &[u8], place: usize, read: impl Fn(&'static [u8], usize) -> T) -> Self {
        let bytes: &'static [u8] = Box::leak(bytes.into());
        Self { number: secret() << 6 | place as i64, bytes, options: read(bytes, place) }
    }
}

/// Of this instance of the library: a number that another one gave means nothing here.
fn secret() -> i64 {
    static SECRET: OnceLock<i64> = OnceLock::new();
    *SECRET.get_or_init(|| (RandomState::new().hash_one(0) >> 13) as i64 | 1)
}

/// The number of options of `:decode` or `:encode`, or their bytes if they are not kept.
#[rustler::nif]
fn keep_options<'a>(env: Env<'a>, function: Atom, options: Binary<'a>) -> Term<'a> {
    let bytes = options.as_slice();
    let number = if bytes.len() > LONGEST {
        None
    } else if function == atoms::decode() {
        keep_decode(bytes)
    } else {
        keep_encode(bytes)
    };
    number.map_or_else(|| options.encode(env), |number| number.encode(env))
}

/// Parts of a document are read in each call.
fn keep_decode(bytes: &[u8]) -> Option<i64> {
    let options = DecodeOptions::from_bytes(bytes, 0)?;
    if bytes.len() == DecodeOptions::LEN { DECODE.keep(bytes, |_, _| options) } else { None }
}

fn keep_encode(bytes: &[u8]) -> Option<i64> {
    if EncodeOptions::are_default(bytes) {
        return Some(USUAL_NUMBER);
    }
    EncodeOptions::from_bytes(bytes)?;
    ENCODE.keep(bytes, |bytes, place| {
        let read = EncodeOptions::from_bytes(bytes).map_or(EncodeOptions::DEFAULT, |(options, _)| options);
        EncodeOptions { budget: BUDGET as u64, kept: place as u32 + 1, ..read }
    })
}

/// The number that stands for options, if it is one.
#[inline(always)]
pub fn number<'a>(env: Env<'a>, options: Raw<'a>) -> Option<i64> {
    // All numbers are words.
    if hold(env) && kind(options.word()) != Kind::Small { None } else { Look::new(env).integer(options) }
}

/// Whether it is that of the encoder's options that ask for nothing.
#[inline(always)]
pub const fn is_usual(number: i64) -> bool {
    number == USUAL_NUMBER
}
