//! Escapes in the decoder: `\u`, surrogates, and invalid escapes.

use rustyjson_fuzz::{assert_decodes, assert_round_trip, options, tokens};

const TOKENS: [&[u8]; 24] = [
    b"\\",
    b"u",
    b"\\u",
    b"\"",
    b"/",
    b"n",
    b"b",
    b"0",
    b"1",
    b"D",
    b"d",
    b"8",
    b"C",
    b"f",
    b"G",
    b"\\ud83d",
    b"\\ude00",
    b"\\u0000",
    b"\\n",
    b"\\\\",
    b"\xC3\xA9",
    b"\x1F",
    b"aaaaaaaaaaaaaaaa",
    b"\",\"",
];

pub fn run(data: &[u8]) {
    let (options, choices) = options(data);
    let text = tokens(choices, &TOKENS);
    let json = [b"{\"", &text[..], b"\":\"", &text[..], b"\"}"].concat();
    assert_decodes(&json, &options);
    assert_decodes(&json[1..], &options);
    assert_round_trip(&json);
}
