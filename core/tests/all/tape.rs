//! Terms on a tape, against the same terms in External Term Format.

use crate::naive::tape::{Atom, Big, Float, Improper, Integer, List, Map, Pid, Taped, Text, Tuple, Value};
use crate::naive::tape::{assert_played, options, played, structure};
use proptest::prelude::*;
use rustyjson_core::EncodeOptions;
use rustyjson_core::encode::EncodeErrorKind;
use rustyjson_core::tape::{Kind, SLACK, TOKEN, token};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::collection::vec(b' '..=b'~', 0..70);
    let any = prop::collection::vec(any::<u8>(), 0..4);
    prop_oneof![6 => plain, 3 => ".{0,20}".prop_map(String::into_bytes), 1 => any]
}

fn atom() -> impl Strategy<Value = Value> {
    let names = ["nil", "true", "false", "null", "undefined", "id", "name", "a_b", "b", "q\"", "é", "__struct__"];
    prop::sample::select(names.to_vec()).prop_map(Atom)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        atom(),
        any::<i64>().prop_map(Integer),
        (-100_i64..100).prop_map(Integer),
        (any::<bool>(), prop::collection::vec(1..=u8::MAX, 9..40)).prop_map(|(negative, digits)| Big(negative, digits)),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| Float(value.to_bits())),
        bytes().prop_map(Text),
        Just(Pid),
        Just(structure(
            "Elixir.Date",
            &[
                ("calendar", Atom("Elixir.Calendar.ISO")),
                ("year", Integer(2026)),
                ("month", Integer(2)),
                ("day", Integer(3))
            ]
        )),
        Just(structure("Elixir.Range", &[("first", Integer(1)), ("last", Integer(1 << 60)), ("step", Integer(2))])),
        Just(structure("Elixir.Decimal", &[("sign", Integer(1)), ("coef", Integer(125)), ("exp", Integer(-2))])),
        Just(structure("Elixir.Unknown", &[("id", Integer(1))])),
    ]
}

fn iodata() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![bytes().prop_map(Text), (0_i64..260).prop_map(Integer)];
    leaf.prop_recursive(3, 12, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(List))
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 60, 8, |inner| {
        let texts = |keys: &[&str]| keys.iter().map(|key| Text(key.as_bytes().to_vec())).collect::<Vec<_>>();
        let keys = prop_oneof![
            3 => Just(texts(&["id", "a name that is longer than two vectors of the machine"])),
            2 => Just(vec![Atom("id"), Atom("name"), Atom("a_b")]),
            1 => Just(vec![Atom("id"), Text(b"id".to_vec())]),
            1 => Just(texts(&["x\"y"])),
            2 => prop::collection::hash_set(leaf(), 0..4).prop_map(|keys| keys.into_iter().collect()),
            1 => Just((0..40).map(Integer).collect()),
        ];
        let modules = prop::sample::select(vec!["Elixir.Row", "Elixir.Named", "Elixir.Sparse", "Elixir.Other"]);
        let pair = (prop_oneof![2 => bytes().prop_map(Text), 1 => leaf()], inner.clone());
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 0..8).prop_map(List),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Tuple),
            1 => (prop::collection::vec(inner.clone(), 1..4), leaf()).prop_map(|(items, tail)| Improper(items, Box::new(tail))),
            6 => (keys, prop::collection::vec(inner.clone(), 40))
                .prop_map(|(keys, values)| Map(keys.into_iter().zip(values).collect())),
            2 => (modules, inner.clone(), inner.clone())
                .prop_map(|(module, id, name)| structure(module, &[("id", id), ("name", name)])),
            1 => inner.clone().prop_map(|value| structure("Elixir.Row", &[("id", value)])),
            1 => prop::collection::hash_set(inner.clone(), 0..4).prop_map(|items| {
                let items = items.into_iter().map(|item| (item, List(vec![]))).collect();
                structure("Elixir.MapSet", &[("map", Map(items))])
            }),
            1 => iodata().prop_map(|iodata| structure("Elixir.RustyJson.Fragment", &[("encode", iodata)])),
            1 => prop::collection::vec(pair, 0..4).prop_map(|pairs| {
                let pairs = pairs.into_iter().map(|(key, value)| Tuple(vec![key, value])).collect();
                structure("Elixir.RustyJson.OrderedObject", &[("values", List(pairs))])
            }),
        ]
    })
}

/// Mostly few options at a time.
fn choices() -> impl Strategy<Value = Vec<u8>> {
    let few = (0_usize..24, 0_u8..8, 0_usize..24, 0_u8..8).prop_map(|(a, x, b, y)| {
        let mut choices = vec![0; 24];
        (choices[a], choices[b]) = (x, y);
        choices
    });
    prop_oneof![3 => few, 1 => prop::collection::vec(0_u8..8, 24)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 300 }))]

    #[test]
    fn a_tape_becomes_what_its_term_is_encoded_to(value in value(), choices in choices()) {
        assert_played(&value, &options(&choices));
        assert_played(&List(vec![value.clone(), value]), &options(&choices));
    }

    #[test]
    fn a_broken_tape_ends(
        value in value(),
        choices in choices(),
        place: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
    ) {
        let bytes = options(&choices);
        let (options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
        let (mut tape, _) = Taped::new(&value).tape(&options);
        let at = place.index(tape.len());
        tape[at] = byte;
        let _ = played(&tape, &options);
        tape.truncate(cut.index(tape.len()));
        let _ = played(&tape, &options);
    }
}

/// Terms that have one kind of token or another.
fn terms() -> Vec<Value> {
    let text = |text: &str| Text(text.as_bytes().to_vec());
    let row = |id| structure("Elixir.Row", &[("id", id), ("name", text("a</b> é \u{2028}\n"))]);
    let fragment = |encode| structure("Elixir.RustyJson.Fragment", &[("encode", encode)]);
    vec![
        List(vec![
            row(Integer(1)),
            row(Integer(1 << 60)),
            row(Atom("nil")),
            row(Atom("null")),
            row(Float(0.5_f64.to_bits())),
        ]),
        List(vec![Big(true, vec![1; 300]), Map(vec![(Big(false, vec![7; 30]), Tuple(vec![Tuple(vec![])]))])]),
        List(vec![
            fragment(text("[1]")),
            fragment(List(vec![Integer(0x5B), List(vec![]), Integer(0x5D)])),
            fragment(text("")),
        ]),
        List(vec![
            fragment(text("\n1")),
            fragment(text("{\"a\":[1,2]}")),
            fragment(List(vec![text("[1,"), text("2]")])),
            fragment(text("[\"not closed")),
        ]),
        List(vec![Pid, Map(vec![(List(vec![Integer(97)]), Pid), (Pid, Integer(1))]), structure("Elixir.Other", &[])]),
        Improper(vec![Integer(1), Improper(vec![Integer(2)], Box::new(Pid))], Box::new(Integer(3))),
        Map((0..40).map(|number| (Integer(number), text("x"))).collect()),
        List(vec![Text(b"a\xFF\"".to_vec()), Map(vec![(Text(b"\xFE".to_vec()), Integer(1))])]),
        Map(vec![
            (Atom("name"), Map(vec![(Atom("b"), Integer(1))])),
            (text("name"), List(vec![row(Pid), row(Integer(2))])),
        ]),
        Map(vec![(Text(vec![b'k'; 17_000]), Text(vec![b'v'; 17_000]))]),
        List(vec![structure("Elixir.Range", &[("first", Integer(1)), ("last", Integer(9)), ("step", Integer(2))]); 3]),
        structure(
            "Elixir.RustyJson.OrderedObject",
            &[("values", List(vec![Tuple(vec![text("a"), Integer(1)]), Integer(2)]))],
        ),
        structure(
            "Elixir.RustyJson.OrderedObject",
            &[("values", Improper(vec![Tuple(vec![text("a"), Integer(1)])], Box::new(Integer(2))))],
        ),
        List(vec![]),
        Integer(1),
    ]
}

#[test]
fn each_choice_of_each_option() {
    for (field, choice) in (0..24).flat_map(|field| (0..8).map(move |choice| (field, choice))) {
        let mut choices = [0; 24];
        choices[field] = choice;
        for value in terms() {
            assert_played(&value, &options(&choices));
            assert_played(&List(vec![value.clone(), Integer(1), value]), &options(&choices));
        }
    }
}

/// Fields of [`options`]: line breaks, and what becomes of members.
const PRETTY: usize = 8;
const SHAPE: usize = 17;

/// The error of a text that is too long names the same place wherever it is cut.
#[test]
fn each_length() {
    for value in terms().into_iter().filter(|value| !matches!(value, Map(members) if members.len() == 1)) {
        for (max, choices) in (1_u64..200).flat_map(|max| {
            let chosen = |field: usize, choice| std::array::from_fn(|at| if at == field { choice } else { 0 });
            [[0; 24], chosen(PRETTY, 1), chosen(SHAPE, 3)].map(|choices| (max, choices))
        }) {
            let bytes = options(&choices);
            let (options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
            let options = EncodeOptions { max_bytes: max, ..options };
            let taped = Taped::new(&value);
            assert_eq!(taped.played(&options), taped.encoded(&options), "{value:?} in {max} bytes");
        }
    }
}

fn broken(tokens: &[[u8; TOKEN]]) {
    for choices in [[0; 24], [1; 24]] {
        let bytes = options(&choices);
        let (options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
        let tape = [&tokens.concat()[..], &[0; SLACK]].concat();
        let unsupported = EncodeErrorKind::Unsupported as u8;
        assert_eq!(played(&tape, &options).map_err(|(kind, ..)| kind), Err(unsupported), "{tokens:?}");
    }
}

#[test]
fn only_a_whole_tape_is_played() {
    let options = EncodeOptions::DEFAULT;
    let (tape, _) = Taped::new(&List(vec![Integer(1), Text(b"a".to_vec())])).tape(&options);
    assert_eq!(played(&tape, &options).map(|(text, _)| text).as_deref(), Ok(&b"[1,\"a\"]"[..]));
    for len in 0..tape.len() - SLACK {
        assert!(played(&tape[..len], &options).is_err(), "{len} bytes");
    }
    let [end, list, record, ended, one] =
        [Kind::End, Kind::List, Kind::Record, Kind::EndRecord, Kind::Small].map(|kind| token(kind, 1));
    // Without the end of the list, without a value, a record inside a value or without one.
    broken(&[list, one, end]);
    broken(&[ended, end]);
    broken(&[list, record, one, ended, end]);
    broken(&[record, ended, end]);
}

/// An error of a term is one of the text only if it stands in front of the limit, wherever the limit is looked at.
#[test]
fn the_first_error_of_the_text_is_told_on_both_ways() {
    let bad = || Text(vec![20, 128]);
    let keys = |value: &Value| {
        let keys = (0..5).map(|n| Text([b"k\"", &b"0123456789"[n..]].concat()));
        Map(keys.map(|key| (key, value.clone())).collect())
    };
    let last =
        |value: Value| List(vec![Text(b"a\"</b>".to_vec()), Integer(1), Map(vec![(Text(b"k".to_vec()), value)])]);
    let values = [
        keys(&keys(&keys(&bad()))),
        last(bad()),
        last(Improper(vec![Integer(1), Integer(2)], Box::new(Integer(3)))),
        last(Map(vec![(Pid, Integer(1))])),
        last(Map(vec![(Atom("id"), Integer(1)), (Text(b"id".to_vec()), Integer(2))])),
        last(last(last(List(vec![Integer(1)])))),
    ];
    for value in &values {
        for (choice, number) in [(0, 0), (0, 1), (1, 1), (2, 1), (8, 1), (9, 1), (12, 1), (14, 1), (17, 1), (17, 2)] {
            let mut choices = [0; 24];
            choices[choice] = number;
            let bytes = options(&choices);
            let (mut options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
            for max_bytes in 1..150 {
                options.max_bytes = max_bytes;
                let taped = Taped::new(value);
                let (played, encoded) = (taped.played(&options), taped.encoded(&options));
                assert_eq!(played, encoded, "{value:?} with {options:?}");
            }
        }
    }
}

/// Keys that are gathered are looked at before they are written: whether one is too long depends on nothing that was written before.
#[test]
fn a_long_integer_and_an_invalid_key_in_one_object() {
    let (long, invalid) = (|| (Big(false, vec![1; 40]), Integer(1)), || (Tuple(vec![Integer(1)]), Integer(2)));
    let objects = [vec![long(), invalid()], vec![invalid(), long()], vec![long()]];
    for (object, choices) in objects.into_iter().flat_map(|object| {
        [(1, 1), (2, 1)].map(|(field, choice)| {
            let mut choices = [0; 24];
            choices[field] = choice;
            (object.clone(), choices)
        })
    }) {
        let bytes = options(&choices);
        let (mut options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
        let value = List(vec![Text(vec![b'x'; 50]), Integer(1), Map(object)]);
        for max_bytes in 1..200 {
            options.max_bytes = max_bytes;
            let taped = Taped::new(&value);
            assert_eq!(taped.played(&options), taped.encoded(&options), "{value:?} with {options:?}");
        }
    }
}
