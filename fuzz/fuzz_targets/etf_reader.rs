//! Encoding any bytes gives JSON or an error, and never panics. The reader takes the names of atoms for UTF-8, as a VM writes
//! them; bytes that break this give a text that is no JSON only where such a name stands.

use rustyjson_core::options::Pretty;
use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_fuzz::naive::etf::encoded;
use rustyjson_fuzz::naive::options::encode_options;
use rustyjson_fuzz::naive::tree::decoded;

pub fn run(data: &[u8]) {
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
    let is_json = decoded(&json, &any).is_ok();
    assert!(is_json || has_broken_atom(&etf), "{}", String::from_utf8_lossy(&json));
}

/// Whether these bytes may hold an atom whose name is not UTF-8.
fn has_broken_atom(etf: &[u8]) -> bool {
    (0..etf.len()).any(|at| {
        let rest = &etf[at + 1..];
        let name = match etf[at] {
            119 => rest.split_first().and_then(|(len, rest)| rest.get(..usize::from(*len))),
            118 => rest.split_first_chunk().and_then(|(len, rest)| rest.get(..usize::from(u16::from_be_bytes(*len)))),
            _ => None,
        };
        name.is_some_and(|name| std::str::from_utf8(name).is_err())
    })
}
