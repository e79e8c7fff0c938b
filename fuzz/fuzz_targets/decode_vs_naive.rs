//! Any bytes with any options: compares the decoder with the parser written for clarity.

use rustyjson_fuzz::{assert_decodes, options};

pub fn run(data: &[u8]) {
    let (options, json) = options(data);
    assert_decodes(json, &options);
}
