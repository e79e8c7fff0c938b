//! Terms on a tape, as a host writes them, and in External Term Format: both ways give the same text, or the tape gives none where the
//! other way has an error.

use rustyjson_core::encode::{Again, Player, may_play, play};
use rustyjson_core::etf::reader::Reader;
use rustyjson_core::options::{Escape, Null, Pretty, Records};
use rustyjson_core::tape::{self, Kind, SLACK, token};
use rustyjson_core::{EncodeOptions, Output, encode};
use std::collections::HashMap;

/// A term that has a tape.
#[derive(Clone, Debug)]
pub enum Value {
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
struct Writer<'o> {
    options: &'o EncodeOptions<'o>,
    out: Vec<u8>,
    shapes: HashMap<Vec<Vec<u8>>, Option<usize>>,
    known: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) {
        let out = &mut self.out;
        match value {
            Value::Nil if self.options.null != Null::Nil => text(Kind::String, b"nil", out),
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

/// The tape of a term; with records, of a list.
pub fn taped(value: &Value, options: &EncodeOptions<'_>) -> Vec<u8> {
    let mut writer = Writer { options, out: Vec::new(), shapes: HashMap::new(), known: 0 };
    match value {
        Value::List(items) if options.records != Records::None => {
            for item in items {
                writer.out.extend(token(Kind::Record, 0));
                writer.value(item);
            }
        }
        _ => writer.value(value),
    }
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

/// The text of a tape.
pub fn played(tape: &[u8], options: &EncodeOptions<'_>) -> Result<Vec<u8>, Again> {
    let mut out = Output::new(Vec::new());
    out.array(*b"?");
    play(tape, options, &mut Player::default(), &mut out)?;
    Ok(out.written()[1..].to_vec())
}

const PRETTY: Pretty<'_> = Pretty { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };

/// Options that a tape is played with.
pub fn options() -> Vec<EncodeOptions<'static>> {
    let default = EncodeOptions::DEFAULT;
    let pretty = EncodeOptions { pretty: Some(PRETTY), ..default };
    vec![
        default,
        EncodeOptions { max_depth: 3, ..default },
        EncodeOptions { max_bytes: 40, ..default },
        EncodeOptions { records: Records::Lines, ..default },
        EncodeOptions { records: Records::Sequence, max_bytes: 60, ..default },
        pretty,
        EncodeOptions { base_depth: 2, max_depth: 6, max_bytes: 100, ..pretty },
        EncodeOptions { escape: Escape::HtmlSafe, safe_integers: true, ..default },
        EncodeOptions { escape: Escape::JavascriptSafe, ..pretty },
        EncodeOptions { escape: Escape::UnicodeSafe, records: Records::Lines, null: Null::Null, ..default },
    ]
}

/// Both ways agree. A list without records has no tape.
pub fn assert_played(value: &Value, options: &EncodeOptions<'_>) {
    assert!(may_play(options));
    match value {
        Value::List(items) if !items.is_empty() => {}
        _ if options.records != Records::None => return,
        _ => {}
    }
    let mut etf = vec![131];
    external(value, &mut etf);
    let (mut reader, mut out) = (Reader::new(&etf, &[]), Output::new(Vec::new()));
    let root = reader.root().expect("a term");
    let expected = encode(&mut reader, root, options, &mut out).map(|_| out.written().to_vec());
    assert_eq!(played(&taped(value, options), options).ok(), expected.ok(), "{value:?} with {options:?}");
}
