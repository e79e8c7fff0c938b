//! Options of encode that stay read. A call without them takes 110 ns, and to read them takes 7 to 20 more. Elixir hands over the
//! bytes once and then sends a number.

use rustler::{Binary, Encoder, Env, Term};
use rustyjson_core::EncodeOptions;
use rustyjson_terms::raw::read::{Look, Raw};
use rustyjson_terms::reader::BUDGET;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The number of the options that ask for nothing.
const USUAL_NUMBER: i64 = 0;
/// What a call has that asks for nothing.
pub static USUAL: EncodeOptions<'static> = EncodeOptions { budget: BUDGET as u64, ..EncodeOptions::DEFAULT };

/// The most that are kept. Nothing is freed, so that nothing has to be counted: programs have few such options.
const MOST: usize = 64;
/// Bytes of the longest ones that are kept.
const LONGEST: usize = 4096;

struct Kept {
    number: i64,
    bytes: &'static [u8],
    options: EncodeOptions<'static>,
}

static KEPT: [OnceLock<Kept>; MOST] = [const { OnceLock::new() }; MOST];

impl Kept {
    #[cold]
    fn new(bytes: &[u8], place: usize) -> Self {
        let bytes: &'static [u8] = Box::leak(bytes.into());
        let read = EncodeOptions::from_bytes(bytes).map_or(EncodeOptions::DEFAULT, |(options, _)| options);
        let options = EncodeOptions { budget: BUDGET as u64, kept: place as u32 + 1, ..read };
        Self { number: secret() << 6 | place as i64, bytes, options }
    }
}

/// Of this instance of the library: a number that another one gave means nothing here.
fn secret() -> i64 {
    static SECRET: OnceLock<i64> = OnceLock::new();
    *SECRET.get_or_init(|| (RandomState::new().hash_one(0) >> 13) as i64 | 1)
}

/// The number of options, or their bytes if they are not kept.
#[rustler::nif]
fn keep_options<'a>(env: Env<'a>, options: Binary<'a>) -> Term<'a> {
    let bytes = options.as_slice();
    if EncodeOptions::are_default(bytes) {
        return USUAL_NUMBER.encode(env);
    }
    if bytes.len() > LONGEST || EncodeOptions::from_bytes(bytes).is_none() {
        return options.encode(env);
    }
    for (place, slot) in KEPT.iter().enumerate() {
        let kept = slot.get_or_init(|| Kept::new(bytes, place));
        if kept.bytes == bytes {
            return kept.number.encode(env);
        }
    }
    options.encode(env)
}

/// The number that stands for options, if it is one.
#[inline(always)]
pub fn number<'a>(env: Env<'a>, options: Raw<'a>) -> Option<i64> {
    Look::new(env).integer(options)
}

/// Whether it is that of the options that ask for nothing.
#[inline(always)]
pub const fn is_usual(number: i64) -> bool {
    number == USUAL_NUMBER
}

/// The options of this number, if this instance of the library gave it.
#[inline(always)]
pub fn find(number: i64) -> Option<&'static EncodeOptions<'static>> {
    let kept = KEPT[number as usize % MOST].get()?;
    (kept.number == number).then_some(&kept.options)
}
