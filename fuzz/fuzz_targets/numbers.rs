//! Numbers: digits, points, signs and exponents in every order, as floats and as decimals.

use rustyjson_fuzz::{assert_decodes, assert_round_trip, options, tokens};

const TOKENS: [&[u8]; 20] = [
    b"0",
    b"1",
    b"2",
    b"3",
    b"4",
    b"5",
    b"6",
    b"7",
    b"8",
    b"9",
    b"-",
    b"+",
    b".",
    b"e",
    b"E",
    b",",
    b"00000000",
    b"99999999",
    b"9007199254740993",
    b"e-32",
];

pub fn run(data: &[u8]) {
    let (options, choices) = options(data);
    let json = [b"[", &tokens(choices, &TOKENS)[..], b"]"].concat();
    assert_decodes(&json, &options);
    assert_decodes(&json[1..json.len() - 1], &options);
    assert_round_trip(&json);
}
