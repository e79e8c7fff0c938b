//! Any text as a stream of each shape, cut where the last bytes say: the values, and the error, of the whole in one piece.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_core::DecodeOptions;
use rustyjson_core::options::Keys;
use rustyjson_fuzz::naive::feed::{LINES, PATH, SEQUENCE, VALUES, given, plan};
use rustyjson_fuzz::options;

fuzz_target!(|data: &[u8]| {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 4]));
    let (options, text) = options(data);
    let mut cuts = places.map(|place| usize::from(place) % (text.len() + 1));
    cuts.sort_unstable();
    let options = DecodeOptions { keys: Keys::Strings, ..options };
    for (format, flags, path) in [
        (VALUES, 0, &[][..]),
        (LINES, 0, &[]),
        (SEQUENCE, 0, &[]),
        (PATH, 0, &[]),
        (PATH, 1, &[None]),
        (PATH, 2, &[Some("a"), None]),
    ] {
        let plan = plan(format, flags, 0, path);
        let records = matches!(format, LINES | SEQUENCE);
        let whole = given(text, &[], &plan, &options, records);
        assert_eq!(given(text, &cuts, &plan, &options, records), whole, "{format} cut at {cuts:?}");
    }
});
