//! Any text under any options, cut where the last bytes say: what there is of the document only grows, and ends as the naive
//! parser's value or error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_fuzz::{naive::partial::assert_partial, options};

fuzz_target!(|data: &[u8]| {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 4]));
    let (options, text) = options(data);
    let mut cuts = places.map(|place| usize::from(place) % (text.len() + 1));
    cuts.sort_unstable();
    // What is left to the shell: keys that are repeated, and atoms.
    let options = rustyjson_core::DecodeOptions {
        ordered_objects: true,
        duplicates: Default::default(),
        keys: rustyjson_core::options::Keys::Strings,
        ..options
    };
    assert_partial(text, &cuts, &options);
    assert_partial(text, &(1..text.len()).collect::<Vec<_>>(), &options);
});
