//! White space of every kind and length between tokens.

use rustyjson_core::simd::{Kernel, Scalar};
use rustyjson_core::with_kernel;
use rustyjson_fuzz::{assert_decodes, options, tokens};

const TOKENS: [&[u8]; 16] = [
    b" ",
    b"\n",
    b"\t",
    b"\r",
    b"       ",
    b"                ",
    b"\r\n    ",
    b"\x0B",
    b"\x00",
    b"[",
    b"]",
    b",",
    b"1",
    b"{\"a\":",
    b"}",
    b"\xC2\xA0",
];

pub fn run(data: &[u8]) {
    let (options, choices) = options(data);
    let json = tokens(choices, &TOKENS);
    for pos in 0..json.len().min(20) {
        assert_eq!(with_kernel!(kernel => kernel.space_end(&json, pos)), Scalar.space_end(&json, pos));
    }
    assert_decodes(&json, &options);
}
