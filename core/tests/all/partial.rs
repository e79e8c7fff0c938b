//! Documents that are looked at before they are complete: in any pieces, the value of the naive parser or its error.

use crate::naive::feed::plan;
use crate::naive::partial::assert_partial;
use crate::naive::tree::Builder;
use proptest::prelude::*;
use rustyjson_core::options::Duplicates;
use rustyjson_core::scan::{Piece, State, feed};
use rustyjson_core::{DecodeOptions, Scratch};

const CASES: u32 = if cfg!(miri) { 4 } else { 1500 };
const LONGEST: usize = if cfg!(miri) { 2 } else { 5 };
/// All members of objects.
const OPTIONS: DecodeOptions = DecodeOptions { ordered_objects: true, ..DecodeOptions::DEFAULT };

fn every_cut(text: &[u8], options: &DecodeOptions) {
    assert_partial(text, &[], options);
    assert_partial(text, &(1..text.len()).collect::<Vec<_>>(), options);
    for cut in 0..=text.len() {
        assert_partial(text, &[cut], options);
    }
}

#[test]
fn every_short_structure() {
    let tokens: [&[u8]; 11] = [b"", b"[", b"]", b"{", b"}", b",", b":", b"\"a\"", b"1", b" ", b"t"];
    let mut count = [0; LONGEST];
    loop {
        let text: Vec<u8> = count.iter().flat_map(|&token| tokens[token].iter().copied()).collect();
        assert_partial(&text, &(1..text.len()).collect::<Vec<_>>(), &OPTIONS);
        let Some(place) = count.iter().position(|&token| token + 1 < tokens.len()) else { return };
        count[place] += 1;
        count[..place].fill(0);
    }
}

#[test]
fn documents() {
    for text in [
        "",
        " ",
        "12",
        "-0.5e+3 ",
        "\"é\\u00e9\\ud83d\\ude00\\n\"",
        "{\"a\":[1,{\"b\":\"c\"},[]],\"d\":{},\"é\\n\":null}",
        "[true,false,null,[[[[]]]]]",
        "{\"a\":1,\"a\":{\"a\":2}}",
        "[1,]",
        "{\"a\":}",
        "{\"a\" 1}",
        "[1 2]",
        "{]",
        "[}",
        "[[1}]",
        "{\"a\":1]",
        "[\"\\x\"]",
        "[\"\\ud800\"]",
        "[01]",
        "[1e400]",
        "\u{feff}[]",
        "[NaN]",
        "[-Infinity]",
        "[1] x",
        "[nul]",
    ] {
        every_cut(text.as_bytes(), &OPTIONS);
    }
    every_cut(b"[\"a\xE2\x82\", \"\xF0\x9F\x98\x80\"]", &OPTIONS);
    every_cut(b"[\"a\xE2\x82\", \"\xF0\x9F\x98\x80\"]", &DecodeOptions { validate_strings: false, ..OPTIONS });
}

#[test]
fn limits() {
    let text = b"{\"a\":[1,2,{\"b\":3}],\"c\":\"d\"}";
    for most in 1..12 {
        every_cut(text, &DecodeOptions { max_nodes: most, ..OPTIONS });
    }
    for max_depth in 1..4 {
        every_cut(text, &DecodeOptions { max_depth, ..OPTIONS });
    }
    every_cut(b"[12345,1.5,1234.5]", &DecodeOptions { digit_limit: 4, ..OPTIONS });
    every_cut(b"[12345,1.5,1234.5]", &DecodeOptions { digit_limit: 4, decimals: true, ..OPTIONS });
}

/// What no more digits make valid is an error at once; what they may is none.
#[test]
fn numbers_that_leave_their_range() {
    let long = "9".repeat(320);
    for text in [
        "[1e999]",
        "1e309 ",
        "[-0.1e400,",
        "[0e999]",
        "[1e-999]",
        "[1.5e+308]",
        &format!("[{long}.5e-20]"),
        &format!("[{long}e1]"),
        &format!("[{long}.25,"),
        "[1e99999999999999999999999",
        "[0.00001e-99999999999999999999999]",
        "[12345.x",
        "[-I",
        "[-Infinity]",
        "[-Ix",
        "[1,N",
        "[1,Infinity",
    ] {
        for decimals in [false, true] {
            every_cut(text.as_bytes(), &DecodeOptions { digit_limit: 400, decimals, ..OPTIONS });
            every_cut(text.as_bytes(), &DecodeOptions { digit_limit: 4, decimals, ..OPTIONS });
        }
    }
}

#[test]
fn repeated_keys_that_are_an_error() {
    let options = DecodeOptions { duplicates: Duplicates::Error, ..OPTIONS };
    for text in [
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":x}",
        "[{\"a\":{\"a\":1,\"b\":2},\"b\":{\"c\":3,\"c\":4}}]",
        "{\"a\":{\"b\":1,\"b\":2},\"a\":3}",
        "{\"a\":1,\"a\":{\"b\":1,\"b\":2}}",
        "[{\"\":1,\"\"]",
    ] {
        every_cut(text.as_bytes(), &options);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn long_tokens_wait() {
    let digits = "9".repeat(3000);
    let key = "k".repeat(2500);
    for text in [
        format!("[{digits}, 1]"),
        digits.clone(),
        format!("[{digits}x"),
        format!("[0.{digits}]"),
        format!("[{digits}.5e-2900]"),
        format!("{{\"{key}\":1,\"{key}\\n\":{{\"{key}é"),
        format!("{{\"{key}\\x"),
    ] {
        let text = text.as_bytes();
        let options = DecodeOptions { digit_limit: 0, ..OPTIONS };
        assert_partial(text, &(1..text.len()).collect::<Vec<_>>(), &options);
        assert_partial(text, &[1000, 1500, 2100, 2110], &options);
    }
}

/// A guest that was taken over may hand back any state.
#[test]
fn changed_states_end_without_a_panic() {
    let plan = plan(4, 0, 20, &[]);
    let step = |state: &mut State, bytes: &[u8], last| {
        let piece = Piece { bytes, held: 1, last };
        feed(piece, state, &plan, &OPTIONS, &mut Scratch::default(), &mut Builder::default());
    };
    for text in ["[{\"a\":[1,\"b", "{\"a", "[[", "{\"a\":1,", "12", "[true"] {
        let (mut state, mut written) = (State::default(), Vec::new());
        step(&mut state, text.as_bytes(), false);
        state.write(&mut written);
        assert_eq!(State::read(&written), Some(state));
        for (at, value) in (0..written.len()).flat_map(|at| (0..=255).map(move |value| (at, value))) {
            let mut changed = written.clone();
            changed[at] = value;
            for next in ["]", "}", ",\"x\":1}", "1", "\"", ":", "x"] {
                if let Some(mut state) = State::read(&changed) {
                    step(&mut state, next.as_bytes(), at % 2 == 0);
                }
            }
        }
    }
}

fn cuts(places: &[usize], len: usize) -> Vec<usize> {
    let mut cuts: Vec<_> = places.iter().map(|place| place % (len + 1)).collect();
    cuts.sort_unstable();
    cuts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn near_json(text in r#"([\[\]{},:0-9.eE"\\ a-ftrunl-]|\\u[0-9a-fdD]{4}|"[a-z]{0,3}"|é|[\n ]){0,40}"#, places in prop::array::uniform4(any::<usize>())) {
        assert_partial(text.as_bytes(), &cuts(&places, text.len()), &OPTIONS);
        assert_partial(text.as_bytes(), &(1..text.len()).collect::<Vec<_>>(), &OPTIONS);
    }

    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..40), places in prop::array::uniform4(any::<usize>())) {
        assert_partial(&text, &cuts(&places, text.len()), &OPTIONS);
    }
}
