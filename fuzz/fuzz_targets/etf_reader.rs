//! Encoding any bytes gives JSON or an error, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_core::options::Pretty;
use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_fuzz::naive::etf::encoded;
use rustyjson_fuzz::naive::options::encode_options;
use rustyjson_fuzz::naive::tree::decoded;

fuzz_target!(|data: &[u8]| {
    let (term, [flags, depth]) = data.split_last_chunk().unwrap_or((data, &[0, 0]));
    let etf = [&[131][..], term].concat();
    let pretty = Pretty { indent: b" ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };
    let options = EncodeOptions {
        pretty: (flags & 0x80 != 0).then_some(pretty),
        max_depth: u32::from(*depth) + 1,
        max_bytes: 1 << 20,
        ..encode_options(u32::from(flags & 0x7F))
    };
    let Some(json) = encoded(&etf, &options) else { return };
    // The text of a fragment is written unchanged.
    if term.windows(8).any(|window| window == b"Fragment") {
        return;
    }
    let any = DecodeOptions { max_depth: u32::MAX, digit_limit: 0, ..DecodeOptions::default() };
    assert!(decoded(&json, &any).is_ok(), "{}", String::from_utf8_lossy(&json));
});
