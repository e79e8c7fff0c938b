//! Any text as a stream of each shape, with and without a byte order mark, cut where the last bytes say and byte by byte: the
//! values, and the error, of the whole in one piece.

use rustyjson_core::DecodeOptions;
use rustyjson_core::options::Keys;
use rustyjson_fuzz::naive::feed::{LINES, PATH, SEQUENCE, VALUES, given, plan};
use rustyjson_fuzz::{cuts, options};

pub fn run(data: &[u8]) {
    let (data, places) = data.split_last_chunk().unwrap_or((data, &[0; 8]));
    let (options, text) = options(data);
    let options = DecodeOptions { keys: Keys::Strings, ..options };
    // The first place also says whether there is a mark.
    let text = if places[0] & 1 == 0 { text.to_vec() } else { [b"\xEF\xBB\xBF", text].concat() };
    let cuts = cuts(places, text.len());
    let bytes: Vec<_> = (1..text.len()).collect();
    // So many bytes may a value have.
    let max_bytes = [0, 0, 5, 40][usize::from(places[1] & 3)];
    for (format, flags, path) in [
        (VALUES, 0, &[][..]),
        (LINES, 0, &[]),
        (SEQUENCE, 0, &[]),
        (PATH, 0, &[]),
        (PATH, 1, &[None]),
        (PATH, 2, &[Some("a"), None]),
    ] {
        let plan = plan(format, flags, max_bytes, path);
        let records = matches!(format, LINES | SEQUENCE);
        let whole = given(&text, &[], &plan, &options, records);
        assert_eq!(given(&text, &cuts, &plan, &options, records), whole, "{format} cut at {cuts:?}");
        assert_eq!(given(&text, &bytes, &plan, &options, records), whole, "{format} by bytes");
    }
}
