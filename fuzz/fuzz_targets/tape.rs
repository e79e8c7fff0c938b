//! The tape of any term gives the text that the term has in External Term Format, or none where that has an error. Any other bytes
//! end, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_fuzz::naive::tape::{Value, assert_played, options, played};

/// A term: each byte chooses what it is or how long, bytes behind it are its text.
fn value(data: &mut &[u8], depth: u32) -> Value {
    match take(data) % 10 {
        0 => Value::Nil,
        1 => Value::True,
        2 => Value::False,
        3 => Value::Integer(i64::from(take(data) as i8)),
        4 => Value::Integer(eight(data)),
        5 => Value::Float(Some(f64::from_bits(eight(data) as u64)).filter(|value| value.is_finite()).unwrap_or(0.5)),
        6 if depth > 0 => Value::List((0..take(data) % 8).map(|_| value(data, depth - 1)).collect()),
        7 if depth > 0 => {
            // Few names, so that sets of keys come again.
            let (first, count) = (take(data) % 4, take(data) % 6);
            let keys = (first..first + count).map(|name| [b"k\"", &b"0123456789"[usize::from(name)..]].concat());
            Value::Map(keys.map(|key| (key, value(data, depth - 1))).collect())
        }
        8 if depth > 0 => Value::Map(vec![(text(data), value(data, depth - 1))]),
        _ => Value::Text(text(data)),
    }
}

fn take(data: &mut &[u8]) -> u8 {
    let Some((&first, rest)) = data.split_first() else { return 0 };
    *data = rest;
    first
}

fn eight(data: &mut &[u8]) -> i64 {
    i64::from_le_bytes(std::array::from_fn(|_| take(data)))
}

fn text(data: &mut &[u8]) -> Vec<u8> {
    let (text, rest) = data.split_at(usize::from(take(data)).min(data.len()));
    *data = rest;
    text.to_vec()
}

fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    let value = value(&mut rest, 12);
    for options in options() {
        let _ = played(data, &options);
        assert_played(&value, &options);
    }
});
