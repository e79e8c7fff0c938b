//! A decoded term is encoded to a text that decodes to the same term, with every option of encode.

use rustyjson_fuzz::assert_round_trip;

pub fn run(data: &[u8]) {
    assert_round_trip(data);
}
