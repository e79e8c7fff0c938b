//! Streams in pieces: limits, places of errors, and how much one answer holds.

use super::cuts::{array, check, every_cut, shown};
use crate::naive::feed::{Given, LINES, PATH, VALUES, given, plan, plan_of_parts};
use crate::naive::parts::pointers;
use crate::naive::tree::Builder;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::Duplicates;
use rustyjson_core::scan::{End, Fed, Piece, Plan, State, feed};
use rustyjson_core::{DecodeOptions, ErrorKind, Scratch};

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
    for length in (0..300).step_by(if cfg!(miri) { 61 } else { 1 }) {
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
    let count = if cfg!(miri) { 300 } else { 20_000 };
    let text = format!("{{\"{}\":[{}0]}}", "k".repeat(1000), "1,".repeat(count));
    let both = plan(PATH, 2, 0, &[None, None]);
    let Given(given) = given(text.as_bytes(), &[], &both, &DecodeOptions::default(), false);
    assert_eq!(given.len(), 2 * count + 2);
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
