//! Any text under any options, cut where the last bytes say: what there is of the document only grows, and ends as the naive
//! parser's value or error. What nothing can make valid any more is an error at once.

use rustyjson_core::options::{Duplicates, Keys};
use rustyjson_fuzz::{cuts, naive::partial::assert_partial, options};

pub fn run(data: &[u8]) {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 8]));
    let (options, text) = options(data);
    // What is left to the shell: which of the repeated keys counts, and atoms.
    let duplicates = if options.duplicates == Duplicates::Error { Duplicates::Error } else { Duplicates::default() };
    let options = rustyjson_core::DecodeOptions { ordered_objects: true, duplicates, keys: Keys::Strings, ..options };
    assert_partial(text, &cuts(places, text.len()), &options);
    assert_partial(text, &(1..text.len()).collect::<Vec<_>>(), &options);
}
