//! Any text with any options, cut where the last bytes say: compares the scanner in pieces with its twin on the whole text.

use rustyjson_fuzz::{naive::scan::assert_same, options};

pub fn run(data: &[u8]) {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 4]));
    let (options, text) = options(data);
    let mut cuts = places.map(|place| usize::from(place) % (text.len() + 1));
    cuts.sort_unstable();
    // The decoder, not the scanner, checks the number of values and repeated keys.
    let options = rustyjson_core::DecodeOptions { max_nodes: 0, duplicates: Default::default(), ..options };
    assert_same(text, &cuts, &options);
    assert_same(text, &(1..text.len()).collect::<Vec<_>>(), &options);
}
