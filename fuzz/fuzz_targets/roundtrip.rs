//! A decoded term is encoded to a text that decodes to the same term, with every option of encode.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_fuzz::assert_round_trip;

fuzz_target!(|data: &[u8]| {
    assert_round_trip(data);
});
