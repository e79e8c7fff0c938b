//! Terms on a tape, against the same terms in External Term Format: the same text, or none where the other way has an error.

use proptest::prelude::*;
use rustyjson_core::encode::{Again, Player, may_play, play};
use rustyjson_core::etf::reader::Reader;
use rustyjson_core::options::{Escape, Null};
use rustyjson_core::tape::{self, Kind, SLACK, TOKEN, token};
use rustyjson_core::{EncodeOptions, Output, encode};
use std::collections::HashMap;

#[derive(Clone, Debug)]
enum Value {
    Nil,
    True,
    False,
    Integer(i64),
    Float(f64),
    Text(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Vec<u8>, Value)>),
}

fn text(tag: Kind, text: &[u8], out: &mut Vec<u8>) {
    out.extend(token(tag, text.len()));
    out.extend(text);
}

/// Writes a tape as a host does: keys that come again are a shape.
#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    shapes: HashMap<Vec<Vec<u8>>, Option<usize>>,
    known: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        let out = &mut self.out;
        match value {
            Value::Nil => out.extend(token(Kind::Nil, 0)),
            Value::True => out.extend(token(Kind::True, 0)),
            Value::False => out.extend(token(Kind::False, 0)),
            Value::Integer(value) => match tape::small(*value) {
                Some(word) => out.extend(word),
                None => {
                    [&token(Kind::Integer, 0)[..], &value.to_le_bytes()].iter().for_each(|bytes| out.extend(*bytes))
                }
            },
            Value::Float(value) => {
                [&token(Kind::Float, 0)[..], &value.to_le_bytes()].iter().for_each(|bytes| out.extend(*bytes));
            }
            Value::Text(bytes) => text(Kind::String, bytes, out),
            Value::List(items) if items.is_empty() => out.extend(token(Kind::EmptyList, 0)),
            Value::List(items) => {
                out.extend(token(Kind::List, 0));
                items.iter().for_each(|item| self.value(item));
                self.out.extend(token(Kind::EndList, 0));
            }
            Value::Map(members) if members.is_empty() => out.extend(token(Kind::EmptyMap, 0)),
            Value::Map(members) => self.map(members),
        }
    }

    fn map(&mut self, members: &[(Vec<u8>, Value)]) {
        let keys: Vec<_> = members.iter().map(|(key, _)| key.clone()).collect();
        match self.shapes.get_mut(&keys) {
            None => {
                self.shapes.insert(keys, None);
                self.out.extend(token(Kind::Map, 0));
                for (key, value) in members {
                    text(Kind::Key, key, &mut self.out);
                    self.value(value);
                }
                return self.out.extend(token(Kind::EndMap, 0));
            }
            Some(Some(number)) => self.out.extend(token(Kind::Shaped, *number)),
            Some(number) => {
                *number = Some(self.known);
                self.known += 1;
                self.out.extend(token(Kind::Shape, keys.len()));
                keys.iter().for_each(|key| text(Kind::Key, key, &mut self.out));
            }
        }
        members.iter().for_each(|(_, value)| self.value(value));
    }
}

fn taped(value: &Value) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.value(value);
    writer.out.extend(token(Kind::End, 0));
    writer.out.extend([0; SLACK]);
    writer.out
}

fn external(value: &Value, out: &mut Vec<u8>) {
    let sized = |tag: u8, len: usize| [&[tag][..], &(len as u32).to_be_bytes()].concat();
    match value {
        Value::Nil => out.extend(b"\x77\x03nil"),
        Value::True => out.extend(b"\x77\x04true"),
        Value::False => out.extend(b"\x77\x05false"),
        Value::Integer(value) => {
            out.extend([110, 8, u8::from(*value < 0)]);
            out.extend(value.unsigned_abs().to_le_bytes());
        }
        Value::Float(value) => {
            out.push(70);
            out.extend(value.to_be_bytes());
        }
        Value::Text(bytes) => out.extend([sized(109, bytes.len()), bytes.clone()].concat()),
        Value::List(items) if items.is_empty() => out.push(106),
        Value::List(items) => {
            out.extend(sized(108, items.len()));
            items.iter().for_each(|item| external(item, out));
            out.push(106);
        }
        Value::Map(members) => {
            out.extend(sized(116, members.len()));
            for (key, value) in members {
                external(&Value::Text(key.clone()), out);
                external(value, out);
            }
        }
    }
}

fn played(tape: &[u8], options: &EncodeOptions<'_>) -> Result<Vec<u8>, Again> {
    let mut out = Output::new(Vec::new());
    out.array(*b"?");
    play(tape, options, &mut Player::default(), &mut out)?;
    Ok(out.written()[1..].to_vec())
}

fn assert_played(value: &Value, options: &EncodeOptions<'_>) {
    assert!(may_play(options));
    let mut etf = vec![131];
    external(value, &mut etf);
    let (mut reader, mut out) = (Reader::new(&etf, &[]), Output::new(Vec::new()));
    let root = reader.root().expect("a term");
    let expected = encode(&mut reader, root, options, &mut out).map(|_| out.written().to_vec());
    assert_eq!(played(&taped(value), options).ok(), expected.ok(), "{value:?} with {options:?}");
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::collection::vec(b' '..=b'~', 0..70);
    let any = prop::collection::vec(any::<u8>(), 0..4);
    prop_oneof![6 => plain, 3 => ".{0,20}".prop_map(String::into_bytes), 1 => any]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        Just(Value::True),
        Just(Value::False),
        any::<i64>().prop_map(Value::Integer),
        (-100_i64..100).prop_map(Value::Integer),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Value::Float),
        (-1000_i32..1000).prop_map(|value| Value::Float(f64::from(value) / 100.0)),
        bytes().prop_map(Value::Text),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let keys = prop_oneof![
            Just(vec![b"id".to_vec(), b"a name that is longer than two vectors of the machine".to_vec()]),
            Just(vec![b"x\"y".to_vec()]),
            prop::collection::hash_set(bytes(), 0..4).prop_map(|keys| keys.into_iter().collect()),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::List),
            (keys, prop::collection::vec(inner, 4))
                .prop_map(|(keys, values)| Value::Map(keys.into_iter().zip(values).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 2000 }))]

    #[test]
    fn a_tape_becomes_the_text_of_its_term(value in value()) {
        let default = EncodeOptions::DEFAULT;
        for options in [default, EncodeOptions { max_depth: 3, ..default }, EncodeOptions { max_bytes: 40, ..default }] {
            assert_played(&value, &options);
        }
    }

    #[test]
    fn a_broken_tape_ends(mut value in value().prop_map(|value| taped(&value)), place: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let at = place.index(value.len());
        value[at] = byte;
        let _ = played(&value, &EncodeOptions::DEFAULT);
        value.truncate(cut.index(value.len()));
        let _ = played(&value, &EncodeOptions::DEFAULT);
    }
}

#[test]
fn only_a_whole_tape_is_played() {
    let options = EncodeOptions::DEFAULT;
    let tape = taped(&Value::List(vec![Value::Integer(1), Value::Text(b"a".to_vec())]));
    assert_eq!(played(&tape, &options).as_deref(), Ok(&b"[1,\"a\"]"[..]));
    // Without the end of the list.
    let open = [&tape[..tape.len() - SLACK - 2 * TOKEN], &token(Kind::End, 0), &[0; SLACK]].concat();
    assert_eq!(played(&open, &options), Err(Again));
    for len in 0..tape.len() - SLACK {
        assert_eq!(played(&tape[..len], &options), Err(Again), "{len} bytes");
    }
}

#[test]
fn options_that_a_tape_does_not_know() {
    let default = EncodeOptions::DEFAULT;
    assert!(may_play(&EncodeOptions { max_depth: 5, max_bytes: 100, compress: Some(3), lean: true, ..default }));
    for options in [
        EncodeOptions { escape: Escape::HtmlSafe, ..default },
        EncodeOptions { null: Null::Null, ..default },
        EncodeOptions { sort_keys: true, ..default },
        EncodeOptions { strict_maps: true, ..default },
        EncodeOptions { safe_integers: true, ..default },
        EncodeOptions { leave_unsupported: true, ..default },
        EncodeOptions { shape: b"x", ..default },
    ] {
        assert!(!may_play(&options), "{options:?}");
    }
}
