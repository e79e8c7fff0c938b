//! Parts of a document: the errors of `decode`, the places of a naive walk, and plans of arbitrary bytes.

use crate::naive::options::WAYS;
use crate::naive::parse;
use crate::naive::parts::choices::Choices;
use crate::naive::parts::judged::assert_lies;
use crate::naive::parts::pointers::assert_selects;
use crate::naive::parts::typed::assert_typed;
use crate::naive::parts::types::{Record, Type, shape};
use crate::naive::parts::wrong::assert_all;
use crate::naive::tree::{Builder, Tree};
use proptest::prelude::*;
use rustyjson_core::etf::check::Fault;
use rustyjson_core::options::Duplicates;
use rustyjson_core::parts::{Plain, Plan, Shape, check, judge, select};
use rustyjson_core::{DecodeOptions, Error, Scratch};

const CASES: u32 = if cfg!(miri) { 4 } else { 3000 };

/// A node: its number, its answer plus one, the answers from it on, and what is below by name.
struct Node {
    answer: Option<u32>,
    below: Vec<(&'static str, Node)>,
}

fn leaf(answer: u32) -> Node {
    Node { answer: Some(answer), below: vec![] }
}

/// Writes a node as Elixir does.
fn write(node: &Node, at: usize, number: &mut u32, first: &mut u32) -> Vec<u8> {
    let (own, from) = (*number, *first);
    *number += 1;
    *first += u32::from(node.answer.is_some());
    let index = |name: &str| name.parse::<u64>().ok();
    let mut names: Vec<_> = node.below.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    let mut indices: Vec<_> = (0..names.len()).filter(|&n| index(names[n].0).is_some()).collect();
    indices.sort_by_key(|&n| index(names[n].0));
    let start = at + 24 + 4 * (names.len() + indices.len());
    let (mut blobs, mut places) = (Vec::new(), Vec::new());
    for (name, node) in &names {
        places.push((start + blobs.len()) as u32);
        blobs.extend(index(name).unwrap_or(0).to_le_bytes());
        blobs.extend((name.len() as u32).to_le_bytes());
        blobs.extend(name.as_bytes());
        let below = write(node, start + blobs.len(), number, first);
        blobs.extend(below);
    }
    let mut bytes = Vec::new();
    for field in [own, node.answer.map_or(0, |answer| answer + 1), from, *first, names.len() as u32] {
        bytes.extend(field.to_le_bytes());
    }
    places.iter().for_each(|place| bytes.extend((place + 8).to_le_bytes()));
    bytes.extend((indices.len() as u32).to_le_bytes());
    indices.iter().for_each(|&n| bytes.extend(places[n].to_le_bytes()));
    bytes.extend(blobs);
    bytes
}

fn plan(flags: u8, root: &Node) -> Vec<u8> {
    let (mut number, mut first) = (0, 0);
    let nodes = write(root, 12, &mut number, &mut first);
    let mut bytes = vec![1, flags, 9, 0];
    bytes.extend(first.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend(nodes);
    bytes
}

/// `/a`, `/a/b` and `/0/a`.
fn some() -> Node {
    let a = Node { answer: Some(1), below: vec![("b", leaf(2))] };
    let first = Node { answer: None, below: vec![("a", leaf(0))] };
    Node { answer: None, below: vec![("0", first), ("a", a)] }
}

fn selected(json: &[u8], plan: &[u8], options: &DecodeOptions) -> Result<Tree, Error> {
    let mut builder = Builder::default();
    let plan = Plan::read(plan).expect("a plan");
    select(json, &plan, options, 0, &mut Scratch::default(), &mut builder)?;
    assert_eq!(builder.values.len(), 1, "one list is left");
    Ok(builder.values.remove(0))
}

/// Every text of up to `len` tokens has the error that decoding finds.
fn every_text(tokens: &[&str], len: usize, options: &DecodeOptions) {
    let plan = plan(0, &some());
    let mut count = vec![0; len];
    let mut text = String::new();
    loop {
        text.clear();
        count.iter().for_each(|&token| text.push_str(tokens[token]));
        let (found, naive) = (selected(text.as_bytes(), &plan, options).err(), parse(text.as_bytes(), options).err());
        assert_eq!(found, naive, "on {text:?} with {options:?}");
        let Some(place) = count.iter().position(|&token| token + 1 < tokens.len()) else { return };
        count[place] += 1;
        count[..place].fill(0);
    }
}

const LONGEST: usize = if cfg!(miri) { 2 } else { 5 };

#[test]
fn errors_of_every_short_structure() {
    let tokens = ["", "[", "]", "{", "}", ",", ":", "\"a\"", "1", " ", "tru", "'"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    let limits = DecodeOptions { max_depth: 2, digit_limit: 1, max_nodes: 3, ..DecodeOptions::DEFAULT };
    every_text(&tokens, LONGEST - 1, &limits);
}

#[test]
fn errors_of_every_short_number() {
    let tokens = ["", "0", "1", "-", ".", "e", "E", "+", "99", "400", "N"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    every_text(&tokens, LONGEST - 1, &DecodeOptions { decimals: true, digit_limit: 3, ..DecodeOptions::DEFAULT });
}

#[test]
fn errors_of_every_short_string() {
    let tokens = ["", "\"", "\\", "u", "00", "D8", "dc", "3D", "n", "\u{1}", "é"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
}

#[test]
fn numbers_that_are_not_finite_or_too_long() {
    let plan = plan(0, &some());
    let nines = "9".repeat(400);
    let texts = ["1e308", "1e309", "0.1e309", "-1e400", "10e308", "179769313486231580793728971405301e276", &nines];
    for text in texts.iter().flat_map(|text| [(*text).to_owned(), format!("{text}.5"), format!("[{text}]")]) {
        for limit in [0, 10, 1024] {
            let options = DecodeOptions { digit_limit: limit, ..DecodeOptions::DEFAULT };
            let (found, naive) =
                (selected(text.as_bytes(), &plan, &options).err(), parse(text.as_bytes(), &options).err());
            assert_eq!(found, naive, "{text}");
        }
    }
}

#[test]
fn plans_that_are_cut_or_changed_do_no_harm() {
    let whole = plan(0, &some());
    let text = br#"{"a":{"b":[1,2]},"0":[{"a":1}],"a":3}"#;
    for cut in 0..whole.len() {
        if let Some(plan) = Plan::read(&whole[..cut]) {
            let _ = select(text, &plan, &DecodeOptions::DEFAULT, 0, &mut Scratch::default(), &mut Builder::default());
        }
    }
    for at in 0..whole.len() {
        for byte in [0, 1, 2, 13, 40, 127, 255] {
            let mut changed = whole.clone();
            changed[at] = byte;
            if let Some(plan) = Plan::read(&changed) {
                let scratch = &mut Scratch::default();
                let _ = select(text, &plan, &DecodeOptions::DEFAULT, 0, scratch, &mut Builder::default());
            }
        }
    }
}

/// Texts of tokens that mean something to the plans.
fn texts() -> impl Strategy<Value = String> {
    let token = proptest::sample::select(vec![
        "{",
        "{",
        "}",
        "}",
        "[",
        "[",
        "]",
        "]",
        ",",
        ",",
        ",",
        ":",
        "\"a\":",
        "\"a\":",
        "\"b\":",
        "\"\":",
        "\"0\":",
        "\"\\u0061\":",
        "\"a\"",
        "\"b\"",
        "1",
        "-0",
        "1.5",
        "1e2",
        "null",
        "true",
        "\"1.50\"",
        " ",
        "123456789012345678901",
    ]);
    proptest::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

/// JSON whose objects and arrays are closed.
fn documents() -> impl Strategy<Value = String> {
    let scalar = proptest::sample::select(vec![
        "1",
        "-0",
        "-7",
        "1.5",
        "1e2",
        "null",
        "true",
        "\"a\"",
        "\"b\"",
        "\"\\u0061\"",
        "\"1.50\"",
        "\"-1\"",
        "123456789012345678901",
        "72057594037927936",
        "0.1",
    ]);
    let key = proptest::sample::select(vec![
        "a",
        "b",
        "",
        "0",
        "1",
        "\\u0061",
        "01",
        "-",
        "é",
        "a name",
        "a longer name",
        "a longer nam\\u0065",
        "a longer nape",
        "a name of more than sixteen bytes",
        "a name of more than sixteen bites",
    ]);
    scalar.prop_map(String::from).prop_recursive(4, 40, 5, move |inner| {
        let member = (key.clone(), inner.clone()).prop_map(|(key, value)| format!("\"{key}\" :{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(|list| format!("[{}]", list.join(", "))),
            proptest::collection::vec(member, 0..6).prop_map(|list| format!("{{{}}}", list.join(","))),
        ]
    })
}

const NAMES: [&str; 10] = [
    "a",
    "b",
    "",
    "\u{e9}",
    "a name",
    "six bytes!",
    "a longer name",
    "a longer nape",
    "a name of more than sixteen bytes",
    "a name of more than sixteen bites",
];

/// Objects with about these members, in about this order: each change of an object leaves a member out, repeats it, puts another one in
/// its place, or writes it in another way.
fn alike(order: &[usize], changes: &[Vec<u8>]) -> String {
    let object = |changes: &Vec<u8>| {
        let changes = changes.iter().copied().chain(core::iter::repeat(9));
        let members = order.iter().zip(changes).flat_map(|(&name, change)| {
            let key = NAMES[if change == 2 { (name + 3) % NAMES.len() } else { name }];
            let value = [&format!("{change}"), "\"text\"", "{\"a\":[1]}"][name % 3].to_owned();
            match change {
                0 => vec![],
                1 => vec![format!("\"{key}\":{value}"), format!("\"{key}\":null")],
                3 => vec![format!("\"{key}\" : {value} ")],
                4 => vec![format!("\"{}\":{value}", key.replace('a', "\\u0061"))],
                _ => vec![format!("\"{key}\":{value}")],
            }
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    // Orders are remembered in long documents only.
    format!("{:1100}[{}]", "", changes.iter().map(object).collect::<Vec<_>>().join(","))
}

/// Found by fuzzing: which error comes first depends on the type.
#[test]
fn a_decimal_that_no_float_holds_before_another_fault() {
    assert_typed(b"4e8888888887\x01", &Type::Plain(6), &DecodeOptions::DEFAULT);
    assert_typed(b"4e8888888887\x01", &Type::Plain(2), &DecodeOptions::DEFAULT);
}

/// The bytes of a list of small terms.
fn list_of(terms: &[Vec<u8>]) -> Vec<u8> {
    let len = (terms.len() as u32).to_be_bytes();
    [&[108], &len[..], &terms.concat(), &[106]].concat()
}

/// What the judge of a type says of a term, and how many values were built of it.
fn judged(of: &Type, json: &[u8], options: &DecodeOptions, most: u64, term: &[u8]) -> (Result<(), Fault>, usize) {
    let (plan, etf) = (shape(of), [&[131], term].concat());
    let (policy, mut builder) = (Shape::exact_policy(options, json.len()), Builder::default());
    let shape = Shape::read(&plan).expect("a type");
    let result = judge(&etf, &shape, &policy, json, most, &mut Plain(&mut builder));
    (result.map_err(|refused| refused.fault), builder.values.len())
}

/// Each may be copied: many that are the whole text took as many times its size.
#[test]
fn parts_of_the_text_are_together_no_longer_than_it() {
    let of = Type::List(Box::new(Type::Plain(11)));
    let parts = |parts: &[[u8; 2]]| {
        let lists: Vec<_> = parts.iter().map(|place| list_of(&place.map(|number| vec![97, number]))).collect();
        judged(&of, b"[[1,2],3]", &DecodeOptions::DEFAULT, u64::MAX, &list_of(&lists)).0
    };
    for honest in [&[[1, 5], [7, 1]][..], &[[0, 9]], &[[7, 1], [1, 5]]] {
        assert_eq!(parts(honest), Ok(()), "{honest:?}");
    }
    for lie in [&[[0, 9], [0, 9]][..], &[[0, 9], [7, 1]], &[[1, 5], [1, 5]], &[[5, 5]]] {
        assert_eq!(parts(lie), Err(Fault::Type), "{lie:?}");
    }
}

#[test]
fn null_for_an_empty_list_is_no_level() {
    let many = Type::Many(Box::new(Type::Plain(0)));
    let of = Type::Struct(Record { strict: false, fields: vec![("a".into(), false, false, many)] });
    let options = DecodeOptions { max_depth: 1, ..DecodeOptions::DEFAULT };
    assert_typed(br#"{"a":null}"#, &of, &options);
    assert_typed(br#"{"a":[]}"#, &of, &options);
}

/// A value is charged while it is built, not when it is there.
#[test]
fn a_large_value_ends_with_the_time_for_it() {
    let term = list_of(&vec![vec![97, 1]; 100]);
    let of = |json_len, most| judged(&Type::Plain(0), &vec![b' '; json_len], &DecodeOptions::DEFAULT, most, &term);
    assert_eq!(of(200, 101), (Ok(()), 1));
    assert_eq!(of(200, 10), (Err(Fault::Work), 9));
    assert_eq!(of(200, 100), (Err(Fault::Work), 99));
    assert_eq!(of(50, 101).0, Err(Fault::Terms));
    assert_eq!(of(50, 10), (Err(Fault::Work), 9));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn errors_near_json(json in "[\\[\\]{}:,\"\\\\u0-9a-fD.eE+\\-~/ \n]{0,60}", way in 0..WAYS.len()) {
        let plan = plan(0, &some());
        let options = WAYS[way];
        let (found, naive) = (selected(json.as_bytes(), &plan, &options).err(), parse(json.as_bytes(), &options).err());
        prop_assert_eq!(found, naive);
    }

    #[test]
    fn never_panics(json in proptest::collection::vec(any::<u8>(), 0..100), flags in 0u8..4) {
        let _ = selected(&json, &plan(flags, &some()), &DecodeOptions::DEFAULT);
    }

    #[test]
    fn selects_what_a_look_up_finds(
        json in prop_oneof![documents(), texts()],
        choices in proptest::collection::vec(any::<u8>(), 0..24),
        flags in 0u8..4,
        way in 0..WAYS.len(),
    ) {
        let mut choices = Choices::new(&choices);
        let paths: Vec<_> = (0..choices.next() % 6).map(|_| choices.path()).collect();
        assert_selects(json.as_bytes(), flags, &paths, &WAYS[way]);
    }

    #[test]
    fn types_are_held_to_a_naive_reader(
        json in prop_oneof![documents(), texts()],
        choices in proptest::collection::vec(any::<u8>(), 0..40),
        way in 0..WAYS.len(),
    ) {
        let of = Choices::new(&choices).types(3);
        assert_typed(json.as_bytes(), &of, &WAYS[way]);
        let refused: Vec<_> = (0..3).filter(|number| choices.len() >> number & 1 != 0).collect();
        assert_all(json.as_bytes(), &of, &WAYS[way], 1 + choices.len() % 5, &refused);
        assert_all(json.as_bytes(), &of, &WAYS[way], 1000, &[]);
    }

    #[test]
    fn a_guest_that_lies_about_a_type(
        json in documents(),
        choices in proptest::collection::vec(any::<u8>(), 0..40),
        lies in proptest::collection::vec((any::<usize>(), prop_oneof![0u8..8, 97u8..120, any::<u8>()]), 1..3),
        way in 0..WAYS.len(),
    ) {
        let of = Choices::new(&choices).types(3);
        assert_lies(json.as_bytes(), &of, &WAYS[way], &lies);
    }

    #[test]
    fn members_are_known_in_any_order(
        order in proptest::collection::vec(0..NAMES.len(), 0..14),
        changes in proptest::collection::vec(proptest::collection::vec(0u8..40, 0..14), 1..12),
        fields in proptest::collection::vec((0..NAMES.len(), 0u8..8), 0..6),
        way in 0..WAYS.len(),
    ) {
        let mut known: Vec<(String, bool, bool, Type)> = vec![];
        for (name, flags) in fields {
            let field = (NAMES[name].to_owned(), flags == 0, flags == 1, Type::Plain(0));
            if known.iter().all(|(other, ..)| *other != field.0) {
                known.push(field);
            }
        }
        let of = Type::List(Box::new(Type::Struct(Record { strict: false, fields: known })));
        assert_typed(alike(&order, &changes).as_bytes(), &of, &WAYS[way]);
    }
}

/// What one document leaves in memory changes nothing about the next, with another plan.
#[test]
fn documents_share_memory() {
    let mut scratch = Scratch::default();
    let plans =
        [some(), Node { answer: None, below: vec![("b", leaf(0)), ("c", leaf(1))] }, leaf(0)].map(|r| plan(0, &r));
    let texts = [
        r#"{"a":{"b":1},"0":{"a":2},"a":{"b":3}}"#,
        r#"{"a":{"b":1,"b":2,"c":3,"b":4},"b":5,"c":6,"b":7}"#,
        r#"{"a":{"b":1},"a":8}"#,
        r#"[{"a":1,"a":2},"#,
        r#"[{"a":1,"x":0,"a":2}]"#,
        "1",
    ];
    for duplicates in [Duplicates::First, Duplicates::Last] {
        let options = DecodeOptions { duplicates, ..DecodeOptions::DEFAULT };
        for (text, bytes) in texts.iter().flat_map(|text| plans.iter().map(move |bytes| (text, bytes))) {
            let mut builder = Builder::default();
            let plan = Plan::read(bytes).expect("a plan");
            let done = select(text.as_bytes(), &plan, &options, 0, &mut scratch, &mut builder);
            let found = done.map(|_| builder.values.remove(0));
            assert_eq!(found, selected(text.as_bytes(), bytes, &options), "{text} with {duplicates:?}");
        }
    }
}

/// A later member replaces all that was found in the earlier one, and only that.
#[test]
fn repeated_members_replace_what_they_had() {
    let plan = plan(0, &some());
    let found = |text: &str| {
        let Ok(Tree::Array(found)) = selected(text.as_bytes(), &plan, &DecodeOptions::default()) else {
            panic!("a list")
        };
        found
            .into_iter()
            .step_by(2)
            .map(|number| if let Tree::Integer(_, n) = number { n } else { "?".into() })
            .collect::<String>()
    };
    assert_eq!(found(r#"{"a":{"b":1},"0":{"a":2}}"#), "012");
    assert_eq!(found(r#"{"a":{"b":1},"0":{"a":2},"a":3}"#), "01");
    assert_eq!(found(r#"{"0":{"a":2},"a":{"b":1},"a":3}"#), "01");
    assert_eq!(found(r#"{"0":{"a":2},"a":{"b":1},"0":3}"#), "12");
    assert_eq!(found(r#"{"0":{"a":2,"a":3},"a":{"b":1,"c":0,"b":2},"0":{}}"#), "12");
}

/// Digits before and behind the point around the length of a vector, each form, before more text and at the end of it.
#[test]
fn numbers_are_passed_over_with_the_errors_of_decode() {
    let limits = [(0, false), (0, true), (1, false), (3, true), (15, false), (16, false), (17, false)];
    let lengths = if cfg!(miri) { vec![0, 2, 16] } else { (0..20).collect() };
    for (digit_limit, decimals) in limits {
        let options = DecodeOptions { digit_limit, decimals, ..DecodeOptions::default() };
        for (whole, fraction) in lengths.iter().flat_map(|&a| lengths.iter().map(move |&b| (a, b))) {
            for (sign, first, exponent) in
                [("", "1", ""), ("-", "0", ""), ("", "9", "e1"), ("-", "1", "E-3"), ("", "", "e400")]
            {
                let fraction = if fraction == 19 { String::new() } else { format!(".{}", "5".repeat(fraction)) };
                let number = format!("{sign}{first}{}{fraction}{exponent}", "7".repeat(whole));
                for text in
                    [format!("[{number}, \"{:20}\"]", ""), format!("[{number}]"), format!("[{number}{:20}]", "")]
                {
                    let expected = parse(text.as_bytes(), &options).map(|_| ());
                    let checked = check(text.as_bytes(), &options, &mut Scratch::default());
                    assert_eq!(checked, expected, "{text} with {digit_limit} and {decimals}");
                }
            }
        }
    }
}
