//! Streams in pieces: each format, with its values and its errors.

use super::cuts::{array, check, every_cut};
use crate::naive::feed::{Given, LINES, PATH, SEQUENCE, VALUES, given, plan, plan_of_member};
use rustyjson_core::{DecodeOptions, ErrorKind};

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
