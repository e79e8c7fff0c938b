//! The tape of any term gives the text, the holes or the error that the term has in External Term Format. Any other bytes, and the tape of a
//! term with bytes of it changed, end without a panic.

use rustyjson_core::EncodeOptions;
use rustyjson_fuzz::naive::tape::{
    Atom, Big, Float, Improper, Integer, List, Map, Pid, Taped, Text, Tuple, Value, assert_played, options, played,
    structure,
};

const ATOMS: [&str; 10] = ["nil", "true", "false", "null", "undefined", "id", "name", "a_b", "q\"", "__struct__"];
const MODULES: [&str; 4] = ["Elixir.Row", "Elixir.Named", "Elixir.Sparse", "Elixir.Other"];

/// A term: each byte chooses what it is or how long, bytes behind it are its text. Parts that were made before may come again.
fn value(data: &mut &[u8], depth: u32, made: &mut Vec<Value>) -> Value {
    let value = match take(data) % if depth > 0 { 20 } else { 8 } {
        0 => Atom(ATOMS[usize::from(take(data)) % ATOMS.len()]),
        1 => Integer(i64::from(take(data) as i8)),
        2 => Integer(eight(data)),
        3 => Float(Some(eight(data) as u64).filter(|bits| f64::from_bits(*bits).is_finite()).unwrap_or(1)),
        4 => Big(take(data) & 1 == 1, [&[1][..], &text(data), &[1; 9]].concat()),
        5 => Pid,
        6 if !made.is_empty() => made[usize::from(take(data)) % made.len()].clone(),
        6 | 7 => Text(text(data)),
        8 | 9 => List(values(data, depth, made)),
        10 => Tuple(values(data, depth, made)),
        11 => Improper(values(data, depth, made), Box::new(value(data, 0, made))),
        12..=14 => {
            // Few names, so that sets of keys come again.
            let (first, count) = (take(data) % 4, take(data) % 6);
            let keys = (first..first + count).map(|name| Text([b"k\"", &b"0123456789"[usize::from(name)..]].concat()));
            Map(keys.map(|key| (key, value(data, depth - 1, made))).collect())
        }
        15 => {
            let mut members: Vec<(Value, Value)> = Vec::new();
            for _ in 0..take(data) % 40 {
                let key = value(data, depth - 1, made);
                if members.iter().all(|(other, _)| *other != key) {
                    members.push((key, value(data, depth - 1, made)));
                }
            }
            Map(members)
        }
        16 => {
            let module = MODULES[usize::from(take(data)) % MODULES.len()];
            structure(module, &[("id", value(data, depth - 1, made)), ("name", value(data, depth - 1, made))])
        }
        17 => structure("Elixir.RustyJson.Fragment", &[("encode", value(data, depth - 1, made))]),
        18 => structure("Elixir.RustyJson.OrderedObject", &[("values", List(values(data, depth, made)))]),
        _ => structure("Elixir.MapSet", &[("map", value(data, depth - 1, made))]),
    };
    if made.len() < 64 {
        made.push(value.clone());
    }
    value
}

fn values(data: &mut &[u8], depth: u32, made: &mut Vec<Value>) -> Vec<Value> {
    (0..take(data) % 8).map(|_| value(data, depth - 1, made)).collect()
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

pub fn run(data: &[u8]) {
    let mut rest = data;
    let choices: Vec<u8> = (0..24).map(|_| take(&mut rest)).collect();
    let bytes = options(&choices);
    let (read, _) = EncodeOptions::from_bytes(&bytes).expect("options");
    let _ = played(rest, &read);
    let (place, byte) = (eight(&mut rest) as usize, take(&mut rest));
    let value = value(&mut rest, 6, &mut Vec::new());
    assert_played(&value, &bytes);
    let (mut tape, _) = Taped::new(&value).tape(&read);
    let place = place % tape.len();
    tape[place] = byte;
    let _ = played(&tape, &read);
}
