//! The scanner in pieces against its naive twin, which has the whole text, and against the decoder.

use crate::naive::scan::assert_same;
use proptest::prelude::*;
use rustyjson_core::DecodeOptions;
use rustyjson_core::scan::{Progress, Scanner};

/// Miri interprets, a thousand times slower.
const CASES: u32 = if cfg!(miri) { 4 } else { 3000 };
const LONGEST: usize = if cfg!(miri) { 2 } else { 5 };

fn every_cut(text: &[u8], options: &DecodeOptions) {
    assert_same(text, &[], options);
    assert_same(text, &(1..text.len()).collect::<Vec<_>>(), options);
    for cut in 0..=text.len() {
        assert_same(text, &[cut], options);
    }
}

/// Every text of up to `len` tokens, in pieces of one byte.
fn every_text(tokens: &[&[u8]], len: usize, options: &DecodeOptions) {
    let mut count = vec![0; len];
    loop {
        let text: Vec<u8> = count.iter().flat_map(|&token| tokens[token].iter().copied()).collect();
        assert_same(&text, &(1..text.len()).collect::<Vec<_>>(), options);
        let Some(place) = count.iter().position(|&token| token + 1 < tokens.len()) else { return };
        count[place] += 1;
        count[..place].fill(0);
    }
}

#[test]
fn every_short_structure() {
    let tokens: [&[u8]; 10] = [b"", b"[", b"]", b"{", b"}", b",", b":", b"\"a\"", b"1", b" "];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    every_text(&tokens, LONGEST - 1, &DecodeOptions { max_depth: 2, ..DecodeOptions::DEFAULT });
}

#[test]
fn every_short_number() {
    let tokens: [&[u8]; 9] = [b"", b"0", b"1", b"-", b".", b"e", b"E", b"+", b"9"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    every_text(&tokens, LONGEST - 1, &DecodeOptions { decimals: true, digit_limit: 3, ..DecodeOptions::DEFAULT });
    every_text(&tokens, LONGEST - 1, &DecodeOptions { digit_limit: 2, ..DecodeOptions::DEFAULT });
}

#[test]
fn every_short_string() {
    let tokens: [&[u8]; 13] =
        [b"", b"\"", b"\\", b"u", b"00", b"D8", b"dc", b"3D", b"n", b"\x01", b"\xC3", b"\xA9", b"\xF0\x9F"];
    every_text(&tokens, LONGEST, &DecodeOptions::default());
    every_text(&tokens, LONGEST - 1, &DecodeOptions { validate_strings: false, ..DecodeOptions::DEFAULT });
}

#[test]
fn words_and_marks() {
    let texts: [&[u8]; 15] = [
        b"[NaN]",
        b"Nax",
        b"-Infinity",
        b"-Inx",
        b"Infinity",
        b"Inf",
        b"\xEF\xBB\xBF[]",
        b"\xEF\xBBx",
        b"\xFE\xFF",
        b"\xFF\xFEx",
        b"\xFFx",
        b" \xEF\xBB\xBF",
        b"truf",
        b"[fals",
        // Nine levels take a second byte of the state, which goes with them.
        b"[[[[[[[[[1],{}]]]]]]]]",
    ];
    for text in texts {
        every_cut(text, &DecodeOptions::default());
    }
}

#[test]
fn every_sequence_of_a_character() {
    let edges = [0x00, 0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF];
    for lead in (0x80..=0xFF).step_by(if cfg!(miri) { 31 } else { 1 }) {
        for second in edges {
            for third in edges {
                every_cut(&[b'"', lead, second, third, 0x80, b'"'], &DecodeOptions::default());
            }
        }
    }
}

#[test]
fn numbers_at_the_edge_of_infinity() {
    let half = "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286\
                416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571\
                366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";
    let below = format!("{}1", &half[..half.len() - 1]);
    let mut texts = Vec::new();
    for digits in [half, &below, "17976931348623157", "17976931348623159"] {
        for power in [-400, -310, -1, 0, 1, 307, 308, 309, 400] {
            texts.push(format!("0.{digits}e{power}"));
            texts.push(format!("-{digits}e{power}"));
            texts.push(format!("0.0000{digits}e{power}"));
            texts.push(format!("{digits}.000e{power}"));
            texts.push(format!("{digits}000.0e{power}"));
            texts.push(format!("{}.{}e{power}", &digits[..5], &digits[5..]));
        }
    }
    texts.extend(
        ["0e999", "0.000e999999999999999999999", "1e999999999999999999999", "1e-999999999999999999"].map(String::from),
    );
    for text in texts {
        let half = text.len() / 2;
        assert_same(text.as_bytes(), &[half], &DecodeOptions::default());
        assert_same(text.as_bytes(), &(1..text.len()).collect::<Vec<_>>(), &DecodeOptions::default());
    }
}

#[test]
fn depth_is_a_bit_for_each_bracket() {
    let depth = if cfg!(miri) { 500 } else { 100_000 };
    let options = DecodeOptions { max_depth: u32::MAX, ..DecodeOptions::DEFAULT };
    let mut scanner = Scanner::new(true);
    assert_eq!(scanner.scan("[".repeat(depth).as_bytes(), &options), Ok(Progress::More));
    let mut state = Vec::new();
    scanner.write(&mut state);
    assert!(state.len() <= depth / 8 + 32, "{} bytes", state.len());
    let closed = scanner.scan("]".repeat(depth).as_bytes(), &options);
    assert_eq!(closed, Ok(Progress::Ended(depth)));
}

#[test]
fn states_that_nobody_wrote_are_refused() {
    let mut scanner = Scanner::new(false);
    scanner.scan(b"{\"a\": [1, \"\\ud83d", &DecodeOptions::default()).unwrap();
    let mut state = Vec::new();
    scanner.write(&mut state);
    for len in 0..state.len() {
        assert_eq!(Scanner::read(&state[..len]), None, "{len} bytes");
    }
    for (at, byte) in [(0, 8), (0, 0), (0, 4), (1, 2), (9, 0xFF), (13, 0xFF)] {
        let mut broken = state.clone();
        broken[at] = byte;
        assert_eq!(Scanner::read(&broken), None, "byte {at}");
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(String::from("null")),
        Just(String::from("-0.0e-3")),
        Just(String::from("\"\\ud83d\\ude00\"")),
        "[0-9]{1,20}",
        "-?[1-9][0-9]{0,4}\\.[0-9]{1,4}([eE][+-]?[0-9]{1,3})?",
        "\"[a-z\u{e9}\u{1f600} ]{0,20}\"",
    ];
    let value = leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|all| format!("[{}]", all.join(" , "))),
            prop::collection::vec(("[a-z]{0,3}", inner), 0..5).prop_map(|all| {
                let members: Vec<_> = all.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    (value, prop::option::of((any::<prop::sample::Index>(), any::<u8>()))).prop_map(|(text, change)| {
        let mut text = text.into_bytes();
        if let Some((at, byte)) = change {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn random_texts_at_random_cuts(text in text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        assert_same(&text, &cuts, &DecodeOptions::default());
        assert_same(&text, &cuts, &DecodeOptions { decimals: true, max_depth: 2, digit_limit: 5, ..DecodeOptions::DEFAULT });
    }

    #[test]
    fn random_texts_at_every_byte(text in text()) {
        every_cut(&text, &DecodeOptions::default());
    }

    #[test]
    fn any_state_is_refused_or_goes_on(state in prop::collection::vec(any::<u8>(), 0..60), text in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Some(mut scanner) = Scanner::read(&state) {
            let _ = scanner.scan(&text, &DecodeOptions::default());
            let _ = scanner.finish(&DecodeOptions::default());
        }
    }
}
