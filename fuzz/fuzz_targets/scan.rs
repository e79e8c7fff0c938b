//! Any text under any options, cut where the last bytes say: the scanner in pieces against its twin, which has the whole text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_fuzz::{naive::scan::assert_same, options};

fuzz_target!(|data: &[u8]| {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 4]));
    let (options, text) = options(data);
    let mut cuts = places.map(|place| usize::from(place) % (text.len() + 1));
    cuts.sort_unstable();
    // What is left to the decoder: how many values there are, and keys that are repeated.
    let options = rustyjson_core::DecodeOptions { max_nodes: 0, duplicates: Default::default(), ..options };
    assert_same(text, &cuts, &options);
    assert_same(text, &(1..text.len()).collect::<Vec<_>>(), &options);
});
