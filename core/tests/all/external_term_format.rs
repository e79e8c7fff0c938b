//! Decoding into External Term Format and encoding out of it, judged by a reader written for clarity; and the check of
//! untrusted bytes, which must pass whatever the writer emits and nothing that is no JSON.

use crate::naive::etf::{encoded, rebuilt, term, written};
use crate::naive::options::{WAYS, encode_options};
use crate::naive::parse;
use proptest::prelude::*;
use rustyjson_core::etf::check::{Policy, check};
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::Duplicates;
use rustyjson_core::{DecodeOptions, EncodeOptions};

const TEXTS: [&str; 16] = [
    "null",
    "[true,false]",
    "-0",
    "[255,256,-1,2147483647,2147483648,-2147483648,-2147483649,18446744073709551615,18446744073709551616]",
    "[1.5,-0.0,1e308,5e-324]",
    "[\"\",\"a\",\"0123456789abcdef\",\"0123456789abcdefg\",\"\\u00e9\\n\"]",
    "{}",
    "[[],{},[[]],[{}]]",
    "{\"a\":1}",
    "{\"a\":1,\"a\":2}",
    "{\"a\":[1,{\"b\":2}],\"b\":{\"a\":3},\"a\":{\"c\":[]}}",
    "{\"b\":1,\"a\":2,\"\\u0062\":3,\"\":4}",
    "[1.25,{\"x\":0.0},123456789012345678901234567890.5]",
    "{\"__struct__\":\"Elixir.Decimal\",\"sign\":1,\"coef\":1,\"exp\":0}",
    "{\"values\":[],\"__struct__\":\"Elixir.RustyJson.OrderedObject\"}",
    "{\"key that is longer than sixteen bytes\":1,\"key that is longer than sixteen bytez\":2}",
];

/// Miri interprets, a thousand times slower: fewer of everything there.
const fn step(under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { 1 }
}

/// What is written is what the naive parser reads, and it passes the check.
fn assert_written(json: &[u8], options: &DecodeOptions) {
    let naive = parse(json, options);
    let etf = match written(json, options) {
        Ok(etf) => etf,
        Err(error) => return assert_eq!(naive, Err(error)),
    };
    let tree = term(&etf).and_then(|term| term.tree(options));
    assert_eq!(tree, naive.ok(), "{} with {options:?} as {etf:?}", String::from_utf8_lossy(json));
    let policy = Policy::new(options, json.len());
    assert_eq!(check(&etf, &policy), Ok(()), "{}", String::from_utf8_lossy(json));
    assert!(
        rebuilt(&etf, &policy, options).is_none_or(|rebuilt| Some(rebuilt) == term(&etf)),
        "built otherwise: {etf:?}"
    );
}

/// What is written when maps may keep repeated keys.
fn with_repeats(json: &[u8], options: &DecodeOptions) -> Result<Vec<u8>, rustyjson_core::Error> {
    let mut writer = Writer::new(json, Vec::new(), options);
    writer.keep_repeats();
    rustyjson_core::decode(json, options, &mut rustyjson_core::Scratch::default(), &mut writer)?;
    Ok(writer.finish().expect("there is memory"))
}

#[test]
fn repeated_keys_may_stay() {
    let pair = b"\x83t\0\0\0\x02m\0\0\0\x01aa\x01m\0\0\0\x01aa\x02";
    assert_eq!(with_repeats(b"{\"a\":1,\"a\":2}", &DecodeOptions::DEFAULT).as_deref(), Ok(&pair[..]));
    for (text, duplicates) in TEXTS.iter().flat_map(|text| {
        [Duplicates::Last, Duplicates::First, Duplicates::Error].map(|duplicates| (text.as_bytes(), duplicates))
    }) {
        let options = DecodeOptions { duplicates, ..DecodeOptions::DEFAULT };
        let (kept, resolved) = (with_repeats(text, &options), written(text, &options));
        if let (Ok(kept), Ok(resolved)) = (&kept, &resolved) {
            assert_eq!(check(kept, &Policy::new(&options, text.len())), Ok(()));
            assert!(kept == resolved || kept.len() > resolved.len());
        } else {
            assert_eq!(kept, resolved);
        }
    }
}

/// Encoding what was decoded and decoding it again gives the same term.
fn assert_round_trip(json: &[u8]) {
    let Ok(etf) = written(json, &DecodeOptions::DEFAULT) else { return };
    for flags in (0..16).step_by(step(5)) {
        let text = encoded(&etf, &encode_options(flags));
        // Under maps: strict and sort_keys too: the keys of a decoded object are distinct.
        let text = text.unwrap_or_else(|| panic!("{} was decoded but not encoded", String::from_utf8_lossy(json)));
        let mut first = term(&written(&text, &DecodeOptions::DEFAULT).expect("output is JSON")).expect("and a term");
        let mut second = term(&etf).expect("a term");
        sort(&mut first);
        sort(&mut second);
        assert_eq!(first, second);
    }
}

/// Members by key: sort_keys changes their order.
fn sort(term: &mut crate::naive::etf::Term) {
    use crate::naive::etf::Term::{List, Map};
    match term {
        List(elements) => elements.iter_mut().for_each(sort),
        Map(members) => {
            members.sort_by_key(|(key, _)| format!("{key:?}"));
            members.iter_mut().for_each(|(_, value)| sort(value));
        }
        _ => {}
    }
}

#[test]
fn texts_under_every_option() {
    for json in TEXTS {
        for options in WAYS.into_iter().step_by(step(2)) {
            assert_written(json.as_bytes(), &options);
        }
        assert_round_trip(json.as_bytes());
    }
}

#[test]
fn every_integer_around_the_powers_of_two() {
    for power in (0..127).step_by(step(63)) {
        for delta in -1..=1 {
            let number = (1i128 << power) + delta;
            for json in [number.to_string(), (-number).to_string()] {
                assert_written(json.as_bytes(), &DecodeOptions::DEFAULT);
                assert_round_trip(json.as_bytes());
            }
        }
    }
}

#[test]
fn objects_with_repeated_keys_of_every_size() {
    for size in (1..80).step_by(step(40)) {
        for distinct in [1, size / 2 + 1, size] {
            let members: Vec<String> = (0..size).map(|i| format!("\"k{}\":[{i},{{}}]", i % distinct)).collect();
            let json = format!("[{{{}}},1]", members.join(","));
            for options in WAYS.into_iter().step_by(step(7)) {
                assert_written(json.as_bytes(), &options);
            }
        }
    }
}

#[test]
fn strings_of_every_length() {
    for len in (0..200).step_by(step(66)) {
        for json in [format!("\"{}\"", "x".repeat(len)), format!("[\"{}\\n\",\"é\"]", "x".repeat(len))] {
            assert_written(json.as_bytes(), &DecodeOptions::DEFAULT);
            assert_round_trip(json.as_bytes());
        }
    }
}

/// The check agrees with the naive reader on which bytes are JSON.
fn assert_checked(etf: &[u8], options: &DecodeOptions) {
    if check(etf, &Policy::new(options, etf.len())).is_ok() {
        let term = term(etf).unwrap_or_else(|| panic!("passed, but is not a term: {etf:?}"));
        assert!(term.depth(options.ordered_objects) <= options.max_depth as usize);
        let rebuilt = rebuilt(etf, &Policy::new(options, etf.len()), options);
        assert!(rebuilt.is_none_or(|rebuilt| rebuilt == term), "built otherwise: {etf:?}");
        assert!(term.tree(options).is_some(), "passed, but is no JSON: {etf:?}");
    }
}

/// Those of the format, and bytes that are none.
const TAGS: [u8; 18] = [0, 1, 80, 97, 98, 100, 104, 106, 107, 108, 109, 110, 112, 116, 119, 127, 131, 255];

/// Written terms with each byte changed to each of a few others, and cut at each place.
#[test]
fn damaged_terms_pass_only_when_they_are_terms() {
    for json in TEXTS.into_iter().step_by(step(3)) {
        for options in WAYS.into_iter().step_by(step(5)) {
            let Ok(etf) = written(json.as_bytes(), &options) else { continue };
            for at in (0..etf.len()).step_by(step(59)) {
                for byte in TAGS.into_iter().step_by(step(5)) {
                    let mut damaged = etf.clone();
                    damaged[at] = byte;
                    assert_checked(&damaged, &options);
                    encoded(&damaged, &EncodeOptions::default());
                }
                assert!(check(&etf[..at], &Policy::new(&options, json.len())).is_err(), "cut");
                encoded(&etf[..at], &EncodeOptions::default());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 3000 }))]

    #[test]
    fn any_bytes(mut etf in prop::collection::vec(any::<u8>(), 0..80), options in prop::sample::select(WAYS.to_vec())) {
        assert_checked(&etf, &options);
        etf.insert(0, 131);
        assert_checked(&etf, &options);
        encoded(&etf, &EncodeOptions::default());
    }

    #[test]
    fn bytes_of_tags(
        mut etf in prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 97, 98, 70, 104, 106, 107, 108, 109, 110, 111, 115, 116, 119]), 0..60),
        options in prop::sample::select(WAYS.to_vec()),
    ) {
        etf.insert(0, 131);
        assert_checked(&etf, &options);
        for flags in [0, 4, 8, 16, 32, 64, 127] {
            encoded(&etf, &EncodeOptions { max_depth: 8, max_bytes: 200, ..encode_options(flags) });
        }
    }

    #[test]
    fn texts_of_tokens(tokens in prop::collection::vec(prop::sample::select(vec!["[", "]", "{", "}", ",", ":", "\"a\"", "\"b\\n\"", "1", "-2.5e3", "null", "{\"a\":", "[1,", "}]", "]}"]), 0..24), options in prop::sample::select(WAYS.to_vec())) {
        let json = tokens.concat();
        assert_written(json.as_bytes(), &options);
        assert_round_trip(json.as_bytes());
    }
}
