//! Terms on a tape, against the same terms in External Term Format.

mod naive;

use naive::tape::{Value, assert_played, options, played, taped};
use proptest::prelude::*;
use rustyjson_core::EncodeOptions;
use rustyjson_core::encode::Again;
use rustyjson_core::options::Records;
use rustyjson_core::tape::{Kind, SLACK, TOKEN, token};

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
        for options in options() {
            assert_played(&value, &options);
        }
    }

    #[test]
    fn a_broken_tape_ends(value in value(), place: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        for options in options() {
            let mut tape = taped(&value, &options);
            let at = place.index(tape.len());
            tape[at] = byte;
            let _ = played(&tape, &options);
            tape.truncate(cut.index(tape.len()));
            let _ = played(&tape, &options);
        }
    }
}

#[test]
fn only_a_whole_tape_is_played() {
    let options = EncodeOptions::DEFAULT;
    let tape = taped(&Value::List(vec![Value::Integer(1), Value::Text(b"a".to_vec())]), &options);
    assert_eq!(played(&tape, &options).as_deref(), Ok(&b"[1,\"a\"]"[..]));
    // Without the end of the list.
    let open = [&tape[..tape.len() - SLACK - 2 * TOKEN], &token(Kind::End, 0), &[0; SLACK]].concat();
    assert_eq!(played(&open, &options), Err(Again));
    // Without a value: found by fuzzing, as what stood before the text was lost.
    assert_eq!(played(&[&token(Kind::End, 0)[..], &[0; SLACK]].concat(), &options), Err(Again));
    for len in 0..tape.len() - SLACK {
        assert_eq!(played(&tape[..len], &options), Err(Again), "{len} bytes");
    }
}

#[test]
fn records_are_whole() {
    let lines = EncodeOptions { records: Records::Lines, ..EncodeOptions::DEFAULT };
    let tape = taped(&Value::List(vec![Value::Integer(1), Value::Nil]), &lines);
    assert_eq!(played(&tape, &lines).as_deref(), Ok(&b"1\nnull\n"[..]));
    // For a call without records.
    assert_eq!(played(&tape, &EncodeOptions::DEFAULT), Err(Again));
    let [record, end, one] = [token(Kind::Record, 0), token(Kind::End, 0), token(Kind::Small, 1)];
    for broken in [vec![record, end], vec![record, record, one, end], vec![record, one, record, end], vec![end]] {
        assert_eq!(played(&[&broken.concat()[..], &[0; SLACK]].concat(), &lines), Err(Again), "{broken:?}");
    }
    // Inside a value.
    let (list, close) = (token(Kind::List, 0), token(Kind::EndList, 0));
    let inside = [record, list, one, record, one, close, end].concat();
    assert_eq!(played(&[&inside[..], &[0; SLACK]].concat(), &lines), Err(Again));
}
