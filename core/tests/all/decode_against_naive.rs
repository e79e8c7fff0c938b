//! The decoder against a parser written for clarity: every short text over the bytes that matter, and random ones.

use crate::naive::options::WAYS;
use crate::naive::{parse, tree::decoded};
use proptest::prelude::*;
use rustyjson_core::DecodeOptions;

/// Miri interprets, a thousand times slower: shorter texts and fewer of them there.
const LONGEST: usize = if cfg!(miri) { 2 } else { 6 };
const CASES: u32 = if cfg!(miri) { 4 } else { 4000 };

const fn step(under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { 1 }
}

fn assert_same(json: &[u8], options: &DecodeOptions) {
    let (core, naive) = (decoded(json, options), parse(json, options));
    assert_eq!(core, naive, "on {:?} with {options:?}", String::from_utf8_lossy(json));
}

/// Every text of up to `len` tokens.
fn every_text(tokens: &[&str], len: usize, options: &DecodeOptions) {
    let mut count = vec![0; len];
    let mut text = String::new();
    loop {
        text.clear();
        count.iter().for_each(|&token| text.push_str(tokens[token]));
        assert_same(text.as_bytes(), options);
        let Some(place) = count.iter().position(|&token| token + 1 < tokens.len()) else { return };
        count[place] += 1;
        count[..place].fill(0);
    }
}

#[test]
fn every_short_structure() {
    let tokens = ["", "[", "]", "{", "}", ",", ":", "\"a\"", "1", " "];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
}

#[test]
fn every_short_structure_with_limits() {
    let tokens = ["", "[", "]", "{", "}", ",", ":", "\"a\"", "1", "tru"];
    every_text(
        &tokens,
        LONGEST - 1,
        &DecodeOptions { max_depth: 2, digit_limit: 1, max_nodes: 3, ..DecodeOptions::DEFAULT },
    );
}

#[test]
fn every_short_number() {
    let tokens = ["", "0", "1", "-", ".", "e", "E", "+", "9"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    every_text(&tokens, LONGEST - 1, &DecodeOptions { decimals: true, digit_limit: 3, ..DecodeOptions::DEFAULT });
}

#[test]
fn every_short_string() {
    let tokens = ["", "\"", "\\", "u", "00", "D8", "dc", "3D", "n", "\u{1}", "é"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
}

#[test]
fn every_escape_of_one_byte() {
    for byte in (0..=255).step_by(step(7)) {
        for json in
            [vec![b'"', b'\\', byte, b'"'], vec![byte], vec![b'[', byte, b']'], vec![b'{', byte], vec![b'"', byte]]
        {
            assert_same(&json, &DecodeOptions::default());
        }
    }
}

#[test]
fn every_pair_of_escaped_units_at_the_edges() {
    let units = [0x0000, 0x007F, 0x0080, 0x07FF, 0x0800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF];
    for first in units {
        for second in units {
            assert_same(format!("\"\\u{first:04x}\\u{second:04X}\"").as_bytes(), &DecodeOptions::default());
        }
    }
}

#[test]
fn every_three_bytes_of_utf8() {
    for lead in (0x80..=0xFF).step_by(step(23)) {
        for second in (0x70..=0xFF).step_by(5 * step(9)).chain([0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]) {
            for third in [b'a', b'"', b'\\', 0x7F, 0x80, 0xBF, 0xC0] {
                assert_same(&[b'"', lead, second, third, 0x80, b'"'], &DecodeOptions::default());
                assert_same(&[b'"', lead, second, third, b'"'], &DecodeOptions::default());
            }
        }
    }
}

#[test]
fn strings_at_every_length_and_offset() {
    for offset in (0..66).step_by(step(5)) {
        for special in ["\"", "\\n\"", "\\u00e9\"", "é\"", "😀\"", "\u{1f}\"", "\\", "\\u12", "\\ud83d\\ude00\"", ""]
        {
            let json = format!("{}\"{}{special}", " ".repeat(offset % 19), "a".repeat(offset));
            assert_same(json.as_bytes(), &DecodeOptions::default());
            assert_same(format!("[{json},1]").as_bytes(), &DecodeOptions::default());
        }
        let mut json = format!("\"{}", "a".repeat(offset)).into_bytes();
        json.extend_from_slice(b"\xE2\x82\"");
        assert_same(&json, &DecodeOptions::default());
    }
}

#[test]
fn repeated_keys_in_objects_of_every_size() {
    for size in (1..70usize).step_by(step(40)) {
        for distinct in [1, 2, size / 2 + 1, size.max(2) - 1, size] {
            for way in WAYS[..6].iter().step_by(step(4)) {
                let members: Vec<String> = (0..size).map(|i| member(i % distinct, i)).collect();
                let json = format!("{{{}}}", members.join(","));
                assert_same(json.as_bytes(), &DecodeOptions { seed: size as u64, ..*way });
            }
        }
    }
}

/// Keys of several lengths, every third one written with an escape.
fn member(key: usize, value: usize) -> String {
    let name = format!("{}{key}", "key".repeat(key % 12));
    match value % 3 {
        0 => format!("\"\\u{:04x}{}\":{value}", name.as_bytes()[0], &name[1..]),
        _ => format!("\"{name}\":{value}"),
    }
}

#[test]
fn floats_around_every_power_of_ten() {
    for exponent in (-345..=310).step_by(step(160)) {
        for mantissa in [
            "1",
            "9.999999999999999",
            "1.7976931348623157",
            "4.9406564584124654",
            "2.4703282292062327",
            "123456789012345678",
        ] {
            assert_same(format!("{mantissa}e{exponent}").as_bytes(), &DecodeOptions::default());
            assert_same(format!("-{mantissa}1234567890123456789e{exponent}").as_bytes(), &DecodeOptions::default());
        }
    }
}

fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_string()),
        Just("true".to_string()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        "\"[a-c\\\\nu0-9é😀\"]{0,20}\"",
        "\"[a-z]{0,40}\"",
    ];
    let space = "[ \n]{0,3}";
    leaf.prop_recursive(5, 60, 8, move |inner| {
        let members = prop::collection::vec((0..6u8, space, inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec((space, inner), 0..8)
                .prop_map(|v| format!("[{}]", v.iter().map(|(s, e)| format!("{s}{e}")).collect::<Vec<_>>().join(","))),
            members.prop_map(|v| {
                let members: Vec<String> = v.iter().map(|(k, s, e)| format!("{s}\"k{k}\"{s}:{e}{s}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn options() -> impl Strategy<Value = DecodeOptions> {
    (prop::sample::select(WAYS[..6].to_vec()), 1..20u32, 0..30u32, 0..40u64, any::<u64>()).prop_map(
        |(way, depth, digits, nodes, seed)| {
            let pick = |limit, every: u64, off| if seed % every == 0 { limit } else { off };
            DecodeOptions {
                max_depth: pick(u64::from(depth), 3, 128) as u32,
                digit_limit: pick(u64::from(digits), 4, 1024) as u32,
                max_nodes: pick(nodes, 5, 0),
                seed,
                ..way
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn any_bytes(json in prop::collection::vec(any::<u8>(), 0..64), options in options()) {
        assert_same(&json, &options);
    }

    #[test]
    fn json(json in json_text(), options in options()) {
        assert_same(json.as_bytes(), &options);
    }

    #[test]
    fn damaged_json(json in json_text(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(), options in options()) {
        let mut json = json.into_bytes();
        let at = at.index(json.len());
        if cut { json.truncate(at) } else { json[at] = byte }
        assert_same(&json, &options);
    }
}

/// What is not ASCII is checked ahead of the strings: a broken byte is still reported where it stands, and only if nothing before it is
/// wrong.
#[test]
fn broken_characters_are_found_where_they_stand() {
    let count = if cfg!(miri) { 60 } else { 900 };
    let words: Vec<_> = (0..count).map(|i| format!("\"{}{}\"", "é中😀x".repeat(i % 7), "ä\\n".repeat(i % 3))).collect();
    let text = format!("[{}]", words.join(","));
    assert_same(text.as_bytes(), &DecodeOptions::DEFAULT);
    let outside = (0..text.len()).filter(|at| !text.as_bytes()[*at].is_ascii());
    for at in outside.step_by(step(977) * 13) {
        let mut broken = text.clone().into_bytes();
        broken[at] = 0xFF;
        let expected = std::str::from_utf8(&broken).unwrap_err().valid_up_to();
        assert_eq!(decoded(&broken, &DecodeOptions::DEFAULT).unwrap_err().offset, expected);
        assert_same(&broken, &DecodeOptions::DEFAULT);
        broken[1] = b'x';
        assert_same(&broken, &DecodeOptions::DEFAULT);
    }
}
