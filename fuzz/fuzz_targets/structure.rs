//! Brackets, commas, colons and keys in every order.

use rustyjson_fuzz::{assert_decodes, assert_round_trip, options, tokens};

const TOKENS: [&[u8]; 24] = [
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b":",
    b"\"\"",
    b"\"a\"",
    b"\"b\"",
    b"\"\\u0061\"",
    b"1",
    b"null",
    b"true",
    b"{\"a\":",
    b"[1,",
    b"\"a\":1,",
    b"\"b\":[]",
    b"{}",
    b"[]",
    b"\"a key of more than sixteen bytes\":",
    b" ",
    b"\n",
    b"x",
    b"'",
];

pub fn run(data: &[u8]) {
    let (options, choices) = options(data);
    let json = tokens(choices, &TOKENS);
    assert_decodes(&json, &options);
    assert_round_trip(&json);
}
