//! Streams in pieces: what one piece gives, any others do; and the values are those that the naive parser finds.

use crate::naive::feed::{Given, LINES, PATH, SEQUENCE, VALUES, given, plan, plan_of_member, plan_of_parts};
use crate::naive::parse;
use crate::naive::parts::pointers;
use crate::naive::tree::{Builder, Tree, decoded};
use proptest::prelude::*;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::Duplicates;
use rustyjson_core::scan::{End, Fed, Piece, Plan, State, feed};
use rustyjson_core::{DecodeOptions, ErrorKind, Scratch};

const CASES: u32 = if cfg!(miri) { 4 } else { 1500 };

fn array() -> Plan {
    plan(PATH, 1, 0, &[None])
}

fn every_cut(text: &[u8], plan: &Plan, options: &DecodeOptions, records: bool) -> Given {
    let whole = given(text, &[], plan, options, records);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(given(text, &(1..text.len()).collect::<Vec<_>>(), plan, options, records), whole, "{shown:?} by bytes");
    for cut in 0..=text.len() {
        assert_eq!(given(text, &[cut], plan, options, records), whole, "{shown:?} cut at {cut}");
    }
    whole
}

/// Values as JSON texts, and errors as kind, offset and path, for comparison with what a test expects.
fn shown(Given(given): &Given) -> Vec<String> {
    given
        .iter()
        .map(|item| match item {
            Ok(tree) => json(tree),
            Err((kind, offset, _, _, path)) => format!("{kind:?} {offset} {path}"),
        })
        .collect()
}

fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".into(),
        Tree::Boolean(value) => value.to_string(),
        Tree::Integer(negative, digits) => format!("{}{digits}", if *negative { "-" } else { "" }),
        Tree::Float(bits) => f64::from_bits(*bits).to_string(),
        Tree::Decimal(..) => "decimal".into(),
        Tree::String(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Tree::Array(all) => format!("[{}]", all.iter().map(json).collect::<Vec<_>>().join(",")),
        Tree::Object(all) => {
            let members = all.iter().map(|(key, value)| format!("{:?}:{}", String::from_utf8_lossy(key), json(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

fn check(plan: &Plan, records: bool, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        let found = every_cut(text.as_bytes(), plan, &DecodeOptions::default(), records);
        assert_eq!(shown(&found), *expected, "{text:?}");
    }
}

/// Number and value of what is wanted, for each value of the stream; and the errors of a stream of whole values.
#[test]
fn parts_of_values() {
    let plan = |format, path: &[Option<&str>]| plan_of_member(format, path, "a").expect("a plan");
    check(
        &plan(LINES, &[]),
        true,
        &[
            ("", &[]),
            ("{\"a\": [1, \"x\"]}\n {\"b\": 2} \n\n7", &["[0,[1,\"x\"]]", "[]", "[]"]),
            ("{\"a\":1,\"a\":2}", &["[0,2]"]),
            ("{\"a\":1}x\n{\"a\":2}", &["TrailingData 7 ", "[0,2]"]),
            ("{\"b\":[1,x],\"a\":1}", &["ExpectedValue 8 /b/1"]),
        ],
    );
    check(&plan(SEQUENCE, &[]), true, &[("\x1e{\"a\":1}\n\x1e[]\n\x1e12", &["[0,1]", "[]", "UnexpectedEnd 16 "])]);
    check(&plan(VALUES, &[]), false, &[("{\"a\":1} 2[{\"a\":3}]", &["[0,1]", "[]", "[]"])]);
    let path = [Some("r"), None];
    check(&plan(PATH, &path), false, &[("{\"r\":[{\"a\":{\"a\":1}},1,{\"a\":2}]}", &["[0,{\"a\":1}]", "[]", "[0,2]"])]);
}

#[test]
fn values() {
    check(
        &plan(VALUES, 0, 0, &[]),
        false,
        &[
            ("", &[]),
            (" \n ", &[]),
            ("1 2", &["1", "2"]),
            ("12", &["12"]),
            ("[1]{\"a\":2}\"b\"[]", &["[1]", "{\"a\":2}", "\"b\"", "[]"]),
            ("1[2]3\"a\"true{}null", &["1", "[2]", "3", "\"a\"", "true", "{}", "null"]),
            ("1true", &["1", "TrailingData 1 "]),
            ("true1", &["true", "TrailingData 4 "]),
            ("1-1", &["1", "TrailingData 1 "]),
            ("[1]2x", &["[1]", "2", "TrailingData 4 "]),
            ("01", &["LeadingZero 0 "]),
            ("[1],[2]", &["[1]", "ExpectedValue 3 "]),
            ("[1] x", &["[1]", "ExpectedValue 4 "]),
            ("[1] NaN", &["[1]", "Nan 4 "]),
            ("[1", &["UnexpectedEnd 2 /0"]),
            ("{\"a\":[1,x]}", &["ExpectedValue 8 /a/1"]),
            (" \u{feff}1", &["ExpectedValue 1 "]),
            ("1e", &["UnexpectedEnd 2 "]),
            ("tru", &["UnexpectedEnd 3 "]),
        ],
    );
}

#[test]
fn elements_of_an_array() {
    check(
        &array(),
        false,
        &[
            ("[]", &[]),
            (" [ ] ", &[]),
            ("[1,[2],{\"a\":3}]", &["1", "[2]", "{\"a\":3}"]),
            ("[12", &["UnexpectedEnd 3 /0"]),
            ("[1,", &["1", "UnexpectedEnd 3 /1"]),
            ("[1 2]", &["1", "ExpectedCommaOrArrayEnd 3 /0"]),
            ("[1,]", &["1", "TrailingComma 3 /1"]),
            ("[1,x]", &["1", "ExpectedValue 3 /1"]),
            ("[1,{\"a\":[2,y]}]", &["1", "ExpectedValue 11 /1/a/1"]),
            ("[1]x", &["1", "TrailingData 3 "]),
            ("[1][2]", &["1", "TrailingData 3 "]),
            ("", &["UnexpectedEnd 0 "]),
            ("{}", &["ExpectedArray 0 "]),
            (" 12", &["ExpectedArray 1 "]),
            ("\"a\"", &["ExpectedArray 0 "]),
            ("x", &["ExpectedValue 0 "]),
            ("NaN", &["Nan 0 "]),
            ("[NaN]", &["Nan 1 /0"]),
            ("[,]", &["ExpectedValue 1 /0"]),
        ],
    );
}

#[test]
fn paths() {
    let results = plan(PATH, 0, 0, &[Some("results"), None]);
    check(
        &results,
        false,
        &[
            ("{\"results\":[1,2]}", &["1", "2"]),
            ("{\"a\":[9],\"results\" : [ 1 , {\"b\":2} ] , \"z\":{\"results\":[3]}}", &["1", "{\"b\":2}"]),
            ("{\"results\":{\"a\":1,\"b\":[2]}}", &["1", "[2]"]),
            ("{\"results\":[1],\"results\":[2]}", &["1", "2"]),
            ("{\"\\u0072esults\":[1]}", &["1"]),
            ("{\"results\":1}", &[]),
            ("[1,2]", &[]),
            ("12", &[]),
            ("{}", &[]),
            ("{\"results\":[1,x]}", &["1", "ExpectedValue 14 /results/1"]),
            ("{\"results\":[{\"x\":tru}]}", &["ExpectedValue 17 /results/0/x"]),
            ("{\"a\":{\"b\":[1,x]}}", &["ExpectedValue 13 /a"]),
            ("{\"a\":1e400}", &["NumberOutOfRange 5 /a"]),
            ("{\"a\":\"\\ud83d\"}", &["LoneSurrogate 6 /a"]),
            ("{\"a\":12", &["UnexpectedEnd 7 /a"]),
            ("{\"a\":[]", &["UnexpectedEnd 7 /a"]),
            ("{\"a", &["UnexpectedEnd 3 "]),
            ("{\"a\"", &["UnexpectedEnd 4 /a"]),
            ("{\"a\" 1}", &["ExpectedColon 5 /a"]),
            ("{a:1}", &["UnquotedKey 1 "]),
            ("{\"a\":1,}", &["TrailingComma 7 "]),
            ("{\"a\":1]", &["ExpectedCommaOrObjectEnd 6 /a"]),
            ("1x", &["TrailingData 1 "]),
            ("{}x", &["TrailingData 2 "]),
            ("", &["UnexpectedEnd 0 "]),
        ],
    );
    check(&plan(PATH, 0, 0, &[Some("1")]), false, &[("[0,1,2]", &["1"]), ("{\"0\":0,\"1\":1}", &["1"])]);
    check(&plan(PATH, 0, 0, &[]), false, &[("[1]", &["[1]"]), ("12", &["12"]), ("1 2", &["1", "TrailingData 2 "])]);
    check(
        &plan(PATH, 2, 0, &[None, Some("x")]),
        false,
        &[
            ("{\"a/b~\":{\"x\":1},\"c\":[],\"d\":{\"y\":0,\"x\":2}}", &["\"/a~1b~0/x\"", "1", "\"/d/x\"", "2"]),
            ("[{\"x\":1},{\"x\":2}]", &["\"/0/x\"", "1", "\"/1/x\"", "2"]),
        ],
    );
}

/// Files from Windows start with one.
#[test]
fn a_byte_order_mark_at_the_start_is_passed_over() {
    for (plan, records, first, more) in [
        (plan(VALUES, 0, 0, &[]), false, "1 ", "[2]"),
        (plan(LINES, 0, 0, &[]), true, "1\n", "[2]"),
        (plan(SEQUENCE, 0, 0, &[]), true, "\u{1e}1\n", "\u{1e}[2]"),
        (plan(PATH, 0, 0, &[]), false, "", "[2]"),
        (plan(PATH, 0, 0, &[Some("a")]), false, "", "{\"b\":1,\"a\":[2]}"),
        (array(), false, "[1", ",[2]]"),
    ] {
        let (text, options) = (format!("{first}{more}"), DecodeOptions::default());
        let marked = every_cut(format!("\u{feff}{text}").as_bytes(), &plan, &options, records);
        assert_eq!(marked, given(text.as_bytes(), &[], &plan, &options, records), "{text:?}");
        let Given(wrong) = every_cut("\u{feff}{x".as_bytes(), &plan, &options, records);
        let Some(Err((_, offset, line, column, _))) = wrong.last() else { panic!("an error") };
        let first =
            if matches!(wrong[0], Err((ErrorKind::ExpectedArray | ErrorKind::ExpectedRecord, ..))) { 0 } else { 1 };
        assert_eq!((*offset, *line, *column), (3 + first, 1, 1 + first as u64));
    }
    check(
        &plan(VALUES, 0, 0, &[]),
        false,
        &[("\u{feff}", &[]), ("\u{feff}\u{feff}1", &["ExpectedValue 3 "]), ("1 \u{feff}2", &["1", "ExpectedValue 2 "])],
    );
    check(&plan(LINES, 0, 0, &[]), true, &[("1\n\u{feff}2\n3", &["1", "ByteOrderMark 2 ", "3"])]);
    for text in [&b"\xEF"[..], b"\xEF\xBB", b"\xEF\xBB[", b"\xFE\xFF"] {
        let Given(given) = every_cut(text, &plan(VALUES, 0, 0, &[]), &DecodeOptions::default(), false);
        assert!(
            matches!(given[..], [Err((ErrorKind::ExpectedValue | ErrorKind::ByteOrderMark, 0, 1, 1, _))]),
            "{given:?}"
        );
    }
}

#[test]
fn lines() {
    check(
        &plan(LINES, 0, 0, &[]),
        true,
        &[
            ("", &[]),
            ("1\n2\n", &["1", "2"]),
            ("1\r\n\r\n \n[2]", &["1", "[2]"]),
            ("[1,\n2]\n3", &["UnexpectedEnd 3 /1", "TrailingData 5 ", "3"]),
            ("1 2\n3\n", &["TrailingData 2 ", "3"]),
            ("{\"a\":x}\n{\"b\":1}", &["ExpectedValue 5 /a", "{\"b\":1}"]),
        ],
    );
    check(
        &plan(LINES, 0, 5, &[]),
        true,
        &[("12345\n123456\n1\n1234567", &["12345", "MaxBytes 6 ", "1", "MaxBytes 15 "])],
    );
}

#[test]
fn sequences() {
    check(
        &plan(SEQUENCE, 0, 0, &[]),
        true,
        &[
            ("", &[]),
            ("\u{1e}1\n\u{1e}{\"a\":2}\n", &["1", "{\"a\":2}"]),
            ("\u{1e}\u{1e}\u{1e}[1]\u{1e}\n\u{1e}", &["[1]"]),
            ("\u{1e}12\u{1e}13\n", &["UnexpectedEnd 3 ", "13"]),
            ("\u{1e}true", &["UnexpectedEnd 5 "]),
            ("\u{1e}\"a\"\u{1e}[\u{1e}2\n", &["\"a\"", "UnexpectedEnd 6 /0", "2"]),
            ("1\n\u{1e}2\n", &["ExpectedRecord 0 ", "2"]),
        ],
    );
}

#[test]
fn limits() {
    let bytes = plan(PATH, 1, 5, &[None]);
    check(
        &bytes,
        false,
        &[("[12345,\"123\",\"1234\",1]", &["12345", "\"123\"", "MaxBytes 13 /2"]), ("[[1,2,3,4]]", &["MaxBytes 1 /0"])],
    );
    // A value that is wrong within the limit is wrong, and behind it too long, wherever the text is cut.
    check(
        &bytes,
        false,
        &[
            ("[1,[1,2x]]", &["1", "ExpectedCommaOrArrayEnd 7 /1/1"]),
            ("[1,[1,23x]]", &["1", "ExpectedCommaOrArrayEnd 8 /1/1"]),
            ("[1,[1,2,3x]]", &["1", "MaxBytes 3 /1"]),
            ("[1,\"abcd\u{1}\"]", &["1", "ControlCharacter 8 /1"]),
            ("[1,\"abcde\u{1}\"]", &["1", "MaxBytes 3 /1"]),
            ("[1,1e9999,2]", &["1", "MaxBytes 3 /1"]),
            ("[1,[1,2,3", &["1", "MaxBytes 3 /1"]),
            ("[1,[1,2", &["1", "UnexpectedEnd 7 /1/1"]),
        ],
    );
    let once = DecodeOptions { duplicates: Duplicates::Error, ..DecodeOptions::DEFAULT };
    let few = |text: &str| shown(&every_cut(text.as_bytes(), &plan(VALUES, 0, 13, &[]), &once, false));
    assert_eq!(few("{\"a\":1,\"a\":2}"), ["DuplicateKey 7 "]);
    assert_eq!(few("{\"a\":1,\"a\":222}"), ["MaxBytes 0 "]);
    let options = DecodeOptions { max_depth: 2, max_nodes: 3, ..DecodeOptions::DEFAULT };
    let found = |text: &str| shown(&every_cut(text.as_bytes(), &array(), &options, false));
    assert_eq!(found("[[1,2],[1,2],[1,2,3]]"), ["[1,2]", "[1,2]", "MaxNodes 18 /2/2"]);
    assert_eq!(found("[[1],[[2]]]"), ["[1]", "MaxDepth 6 /1/0"]);
    let skip = plan(PATH, 0, 0, &[Some("x")]);
    assert_eq!(shown(&every_cut(b"{\"a\":[[1]]}", &skip, &options, false)), ["MaxDepth 6 /a"]);
}

#[test]
fn lines_and_columns_count_from_the_start_of_the_stream() {
    let Given(given) = every_cut("[1,\n \"é\",\n {\"ü\": x}]".as_bytes(), &array(), &DecodeOptions::default(), false);
    assert_eq!(given.last(), Some(&Err((ErrorKind::ExpectedValue, 19, 3, 8, "/2/ü".into()))));
    let skip = plan(PATH, 0, 0, &[Some("x")]);
    for text in ["{\n \"a\": \"éé\\ud83dx\"}", "{\n \"a\": [\"éé\\ud83d\\u12\"]}"] {
        let Given(given) = every_cut(text.as_bytes(), &skip, &DecodeOptions::default(), false);
        let Some(Err((kind, offset, line, column, _))) = given.last() else { panic!("an error") };
        let place = rustyjson_core::locate::locate(text.as_bytes(), *offset as usize);
        assert_eq!((*line, *column), (place.line, place.column), "{kind:?} in {text}");
    }
}

#[test]
fn lines_and_columns_behind_pieces_of_every_length() {
    for length in 0..300 {
        for text in ["éx".repeat(length), format!("{}\",\n\"é{}", "y\",\"".repeat(length), "é".repeat(length / 2))] {
            let text = format!("[\"{text}\", x");
            let fed = |pieces: &[&str]| {
                let mut state = State::default();
                let mut run = |bytes: &[u8]| {
                    let mut out = Writer::new(bytes, Vec::new(), &DecodeOptions::default());
                    let piece = Piece { bytes, held: 0, last: false };
                    feed(piece, &mut state, &array(), &DecodeOptions::default(), &mut Scratch::default(), &mut out)
                };
                pieces.iter().map(|piece| run(piece.as_bytes())).last()
            };
            let place = rustyjson_core::locate::locate(text.as_bytes(), text.len() - 1);
            for pieces in [&[&*text][..], &[&text[..text.len() - 1], "x"]] {
                let Some(Fed { end: End::Wrong(trouble), .. }) = fed(pieces) else { panic!("an error in {text}") };
                assert_eq!((trouble.line, trouble.column), (place.line, place.column), "{text}");
            }
        }
    }
}

#[test]
fn many_long_pointers_come_in_several_answers() {
    let text = format!("{{\"{}\":[{}0]}}", "k".repeat(1000), "1,".repeat(20_000));
    let both = plan(PATH, 2, 0, &[None, None]);
    let Given(given) = given(text.as_bytes(), &[], &both, &DecodeOptions::default(), false);
    assert_eq!(given.len(), 40_002);
    let long = format!("{{\"{}\":[1]}}", "k".repeat(1025));
    let found = every_cut(long.as_bytes(), &both, &DecodeOptions::default(), false);
    assert_eq!(shown(&found), ["KeyTooLong 1 "]);
}

#[test]
fn places_of_values_instead_of_values() {
    let given = |plan: &Plan, text: &[u8], options| shown(&given(text, &[], plan, options, false));
    let default = &DecodeOptions::default();
    let long = "k".repeat(2000);
    let text = format!("{{\"{long}\":[1,{{\"x\":2}} ]}}");
    let both = plan(PATH, 4, 0, &[None, None]);
    let found = given(&both, text.as_bytes(), default);
    assert!(found[0].starts_with("[2005,1,\"/kkk") && found[0].ends_with("k\u{2026}/0\"]"), "{}", found[0]);
    assert!(found[1].starts_with("[2007,7,") && found[1].len() < 600, "{}", found[1]);
    assert_eq!(given(&plan(VALUES, 4, 0, &[]), b" [1] 2 ", default), ["[1,3,\"\"]", "[5,1,\"\"]"]);
    assert_eq!(given(&plan(LINES, 4, 0, &[]), b"1\n{}\n", default), ["[0,1,\"\"]", "[2,2,\"\"]"]);
    // Values are validated as those that are built.
    assert_eq!(given(&plan(VALUES, 4, 0, &[]), b"[1,]", default), ["TrailingComma 3 /1"]);
    let nodes = DecodeOptions { max_nodes: 2, ..DecodeOptions::default() };
    assert_eq!(given(&plan(VALUES, 4, 0, &[]), b"1 [1,2] ", &nodes)[0], "[0,1,\"\"]");
    assert!(given(&plan(VALUES, 4, 0, &[]), b"1 [1,2] ", &nodes)[1].starts_with("MaxNodes"));
    assert_eq!(given(&plan(VALUES, 4, 0, &[]), b"[1e999]", default), ["NumberOutOfRange 1 /0"]);
    // With types, their numbers are left to the shell. Those of other values are not.
    let number = "9".repeat(2000) + ".5e0000000000000999999999999999";
    assert_eq!(given(&plan(VALUES, 20, 0, &[]), number.as_bytes(), default), ["[0,2031,\"\"]"]);
    assert_eq!(given(&plan(LINES, 20, 0, &[]), b"[1e999]", default), ["[0,7,\"\"]"]);
    let inside = plan(PATH, 20, 0, &[Some("a")]);
    assert_eq!(given(&inside, b"{\"a\":1e999,\"b\":1e999}", default), ["[5,5,\"/a\"]", "NumberOutOfRange 15 /b"]);
}

#[test]
fn states_that_nobody_wrote_are_refused() {
    let both = plan(PATH, 0, 0, &[None, None]);
    let mut shell = Vec::new();
    let mut state = State::default();
    let piece = Piece { bytes: b"{\"a\":[1,{\"b", held: 0, last: false };
    let options = DecodeOptions::default();
    feed(piece, &mut state, &both, &options, &mut Scratch::default(), &mut Builder::default());
    state.write(&mut shell);
    assert_eq!(State::read(&shell), Some(state));
    for len in 1..shell.len() {
        assert_eq!(State::read(&shell[..len]), None, "{len} bytes");
    }
}

fn text() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![Just(String::from("null")), "-?[1-9][0-9]{0,9}", "\"[a-z\u{e9}\\n]{0,8}\"", "[x1,\\]}\"]{1,2}"];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|all| format!("[{}]", all.join(" ,"))),
            prop::collection::vec(("[ab0-2]{0,2}", inner), 0..5).prop_map(|all| {
                let members: Vec<_> = all.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", members.join(",\n"))
            }),
        ]
    })
}

fn found(tree: &Tree, path: &[Option<&str>]) -> Vec<Tree> {
    let Some((step, rest)) = path.split_first() else { return vec![tree.clone()] };
    match tree {
        Tree::Array(all) => {
            let wanted = |i: usize| step.is_none_or(|name| name == i.to_string());
            all.iter().enumerate().filter(|(i, _)| wanted(*i)).flat_map(|(_, value)| found(value, rest)).collect()
        }
        Tree::Object(all) => {
            let wanted = |key: &[u8]| step.is_none_or(|name| name.as_bytes() == key);
            all.iter().filter(|(key, _)| wanted(key)).flat_map(|(_, value)| found(value, rest)).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn every_path_in_every_text(text in text(), flags in 0u8..3) {
        for path in [&[None][..], &[Some("a")], &[None, None], &[Some("1"), None], &[None, Some("0"), None], &[]] {
            let plan = plan(PATH, flags & 2, 0, path);
            let options = DecodeOptions { ordered_objects: true, ..DecodeOptions::default() };
            let Given(given) = every_cut(text.as_bytes(), &plan, &options, false);
            let values: Vec<_> = given.iter().filter_map(|item| item.clone().ok()).collect();
            match parse(text.as_bytes(), &options) {
                Ok(tree) if flags & 2 == 0 => prop_assert_eq!(values, found(&tree, path)),
                Ok(tree) => prop_assert_eq!(values.len(), 2 * found(&tree, path).len()),
                Err(error) => {
                    let Some(Err((kind, offset, _, _, _))) = given.last() else { panic!("an error in {text}") };
                    prop_assert_eq!((*kind, *offset), (error.kind, error.offset as i64));
                }
            }
        }
    }

    #[test]
    fn the_error_of_a_value_that_is_too_long_does_not_depend_on_the_cuts(text in text(), max in 1u64..20, flags in 0u8..2) {
        for path in [&[][..], &[None], &[Some("a")], &[None, None]] {
            every_cut(text.as_bytes(), &plan(PATH, flags, max, path), &DecodeOptions::default(), false);
        }
        every_cut(text.as_bytes(), &plan(VALUES, 0, max, &[]), &DecodeOptions::default(), false);
        every_cut(text.as_bytes(), &plan(LINES, 0, max, &[]), &DecodeOptions::default(), true);
    }

    #[test]
    fn values_side_by_side(texts in prop::collection::vec(text(), 0..6)) {
        let text = texts.join("\n");
        let Given(given) = every_cut(text.as_bytes(), &plan(VALUES, 0, 0, &[]), &DecodeOptions::default(), false);
        let all: Result<Vec<_>, _> = texts.iter().map(|text| decoded(text.as_bytes(), &DecodeOptions::default())).collect();
        if let Ok(all) = all {
            prop_assert_eq!(given, all.into_iter().map(Ok).collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_line_is_a_document(texts in prop::collection::vec(text(), 0..6)) {
        let texts: Vec<_> = texts.iter().map(|text| text.replace('\n', " ")).collect();
        let Given(given) = every_cut(texts.join("\n").as_bytes(), &plan(LINES, 0, 0, &[]), &DecodeOptions::default(), true);
        prop_assert_eq!(given.len(), texts.len());
        let mut base = 0;
        for (text, item) in texts.iter().zip(given) {
            match (decoded(text.as_bytes(), &DecodeOptions::default()), item) {
                (Ok(tree), Ok(item)) => prop_assert_eq!(tree, item),
                (Err(error), Err((kind, offset, ..))) => {
                    prop_assert_eq!((error.kind, (base + error.offset) as i64), (kind, offset));
                }
                other => panic!("{other:?} for {text:?}"),
            }
            base += text.len() + 1;
        }
    }

    #[test]
    fn any_state_and_any_piece_end_without_a_panic(
        state in prop::collection::vec(any::<u8>(), 0..80), bytes in prop::collection::vec(any::<u8>(), 0..60),
        format in 0u8..5, flags in 0u8..4, held in any::<u32>(), last in any::<bool>(),
    ) {
        let path: &[Option<&str>] = if format == PATH { &[None, Some("a")] } else { &[] };
        if let Some(mut state) = State::read(&state) {
            let piece = Piece { bytes: &bytes, held: u64::from(held), last };
            feed(piece, &mut state, &plan(format, flags, 0, path), &DecodeOptions::default(), &mut Scratch::default(), &mut Builder::default());
        }
    }
}

/// A plan for this many members of each line, of which nothing is in the texts here.
fn wide(members: usize, cells: u32) -> Plan {
    let paths: Vec<_> = (0..members).map(|n| vec![format!("member {n}")]).collect();
    plan_of_parts(LINES, &[], cells, &pointers::plan(0, &paths).0).expect("a plan")
}

fn first_call(text: &[u8], plan: &Plan, state: &mut State, scratch: &mut Scratch) -> Fed {
    let piece = Piece { bytes: text, held: 0, last: false };
    feed(piece, state, plan, &DecodeOptions::default(), scratch, &mut Builder::default())
}

/// A record that has nothing of what is wanted takes no longer if more is wanted.
#[test]
fn the_work_of_a_record_is_that_of_its_bytes() {
    let text = "1\n".repeat(if cfg!(miri) { 10 } else { 20_000 });
    let least = |plan: &Plan| {
        let mut scratch = Scratch::default();
        let run = |_| {
            let start = std::time::Instant::now();
            assert_eq!(first_call(text.as_bytes(), plan, &mut State::default(), &mut scratch).end, End::More);
            start.elapsed()
        };
        (0..5).map(run).min().expect("five runs")
    };
    let (narrow, wide) = (least(&wide(1, 1)), least(&wide(4_000, 1)));
    assert!(cfg!(miri) || wide < narrow * 8, "{wide:?} for 4,000 members, {narrow:?} for one");
}

/// Short records can become long rows. An answer has a limited number of them, and the next one goes on behind the last.
#[test]
fn rows_have_room() {
    let text = "1\n".repeat(1_000);
    for (cells, most) in [(0, 1_000), (1, 1_000), (10, 610), (100, 61), (1 << 20, 1)] {
        let (plan, mut state, mut scratch) = (wide(3, cells), State::default(), Scratch::default());
        let fed = first_call(text.as_bytes(), &plan, &mut state, &mut scratch);
        let end = if most < 1_000 { End::Again } else { End::More };
        assert_eq!((fed.items, fed.kept, fed.end), (most, 2 * most, end), "{cells} cells");
        let Given(given) = given(text.as_bytes(), &[], &plan, &DecodeOptions::default(), true);
        assert_eq!(given.len(), 1_000);
    }
    let path: &[Option<&str>] = &[None];
    let parts = pointers::plan(0, &[vec!["a".into()]]).0;
    let plan = plan_of_parts(PATH, path, 1_000, &parts).expect("a plan");
    let Given(given) = given(b"[1,2,3,4,5,6,7,8,9,10,11,12]", &[3, 9], &plan, &DecodeOptions::default(), false);
    assert_eq!(given.len(), 12);
}

/// A byte order mark is one at the start of a record only, whatever is wanted of it.
#[test]
fn a_mark_behind_spaces_is_no_value() {
    for (format, text) in [(LINES, "1\n \u{feff}{}\n"), (SEQUENCE, "\u{1e}1\n\u{1e} \u{feff}{}\n")] {
        let selected = plan_of_member(format, &[], "a").expect("a plan");
        for plan in [plan(format, 0, 0, &[]), selected] {
            let found = every_cut(text.as_bytes(), &plan, &DecodeOptions::default(), true);
            assert!(matches!(found.0.last(), Some(Err((ErrorKind::ExpectedValue, ..)))), "{found:?}");
        }
    }
}
