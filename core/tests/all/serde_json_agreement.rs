//! The decoder against `serde_json`, where both have the same rule. They differ on purpose in: depth (serde_json stops one
//! level earlier), `-0` (a float there) and integers beyond 64 bits (floats there).

use crate::naive::tree::{Tree, decoded};
use proptest::prelude::*;
use rustyjson_core::DecodeOptions;
use serde_json::Value;

fn same(tree: &Tree, value: &Value) -> bool {
    match (tree, value) {
        (Tree::Null, Value::Null) => true,
        (Tree::Boolean(a), Value::Bool(b)) => a == b,
        (Tree::Float(bits), Value::Number(number)) => number.as_f64().map(f64::to_bits) == Some(*bits),
        (Tree::Integer(negative, digits), Value::Number(number)) => {
            let text = format!("{}{digits}", if *negative { "-" } else { "" });
            if number.is_f64() {
                text.parse() == Ok(number.as_f64().unwrap_or(f64::NAN))
            } else {
                number.to_string() == text
            }
        }
        (Tree::String(bytes), Value::String(text)) => bytes == text.as_bytes(),
        (Tree::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Tree::Object(members), Value::Object(map)) => {
            members.len() == map.len()
                && members.iter().all(|(key, value)| {
                    std::str::from_utf8(key).ok().and_then(|key| map.get(key)).is_some_and(|other| same(value, other))
                })
        }
        _ => false,
    }
}

fn assert_agreement(json: &[u8]) {
    let shown = String::from_utf8_lossy(json);
    match (decoded(json, &DecodeOptions::default()), serde_json::from_slice::<Value>(json)) {
        (Ok(tree), Ok(value)) => assert!(same(&tree, &value), "{shown}: {tree:?} is not {value:?}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{shown}: {ours:?}, serde_json {theirs:?}"),
    }
}

/// Miri interprets, a thousand times slower: fewer of everything there.
const fn step(under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { 1 }
}

const TOKENS: [&str; 22] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"a\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "1",
    "-1",
    "0.5",
    "1e5",
    "1e400",
    "5e-324",
    "true",
    "null",
    " ",
    "\n",
    "{\"a\":",
    "18446744073709551616",
];

#[test]
fn every_pair_and_triple_of_tokens() {
    for a in TOKENS.into_iter().step_by(step(3)) {
        for b in TOKENS.into_iter().step_by(step(5)) {
            assert_agreement([a, b].concat().as_bytes());
            for c in TOKENS.into_iter().step_by(step(21)) {
                assert_agreement([a, b, c].concat().as_bytes());
                assert_agreement(["[", a, b, c, "]"].concat().as_bytes());
                assert_agreement(["{\"k\":", a, b, c, "}"].concat().as_bytes());
            }
        }
    }
}

#[test]
fn every_byte_in_every_place() {
    let json = r#"{"a":[1,-2.5e-3,"x\n\u0041",true,null],"é":{}}"#.as_bytes();
    for at in (0..json.len()).step_by(step(7)) {
        for byte in (0..=255).step_by(step(37)) {
            let mut damaged = json.to_vec();
            damaged[at] = byte;
            assert_agreement(&damaged);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 5000 }))]

    #[test]
    fn tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..16)) {
        assert_agreement(tokens.concat().as_bytes());
    }

    #[test]
    fn numbers(json in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?") {
        assert_agreement(json.as_bytes());
    }

    #[test]
    fn strings(text in any::<String>()) {
        assert_agreement(serde_json::to_string(&text).unwrap().as_bytes());
        assert_agreement(format!("\"{text}\"").as_bytes());
    }

    #[test]
    fn bytes(json in prop::collection::vec(any::<u8>(), 0..40)) {
        assert_agreement(&json);
    }
}
