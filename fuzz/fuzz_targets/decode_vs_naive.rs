//! Any bytes with any options: compares the decoder with the parser written for clarity.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_fuzz::{assert_decodes, options};

fuzz_target!(|data: &[u8]| {
    let (options, json) = options(data);
    assert_decodes(json, &options);
});
