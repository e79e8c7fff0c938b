//! All fuzz targets in one program, because linking one for each takes minutes. RUSTYJSON_FUZZ_TARGET chooses the target.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[path = "../fuzz_targets/decode_vs_naive.rs"]
mod decode_vs_naive;
#[path = "../fuzz_targets/encode_escapes.rs"]
mod encode_escapes;
#[path = "../fuzz_targets/escapes.rs"]
mod escapes;
#[path = "../fuzz_targets/etf_check.rs"]
mod etf_check;
#[path = "../fuzz_targets/etf_reader.rs"]
mod etf_reader;
#[path = "../fuzz_targets/feed.rs"]
mod feed;
#[path = "../fuzz_targets/format.rs"]
mod format;
#[path = "../fuzz_targets/format_slices.rs"]
mod format_slices;
#[path = "../fuzz_targets/guest_abi.rs"]
mod guest_abi;
#[path = "../fuzz_targets/locate.rs"]
mod locate;
#[path = "../fuzz_targets/numbers.rs"]
mod numbers;
#[path = "../fuzz_targets/partial.rs"]
mod partial;
#[path = "../fuzz_targets/pointers.rs"]
mod pointers;
#[path = "../fuzz_targets/records.rs"]
mod records;
#[path = "../fuzz_targets/roundtrip.rs"]
mod roundtrip;
#[path = "../fuzz_targets/scan.rs"]
mod scan;
#[path = "../fuzz_targets/shapes.rs"]
mod shapes;
#[path = "../fuzz_targets/strings.rs"]
mod strings;
#[path = "../fuzz_targets/structure.rs"]
mod structure;
#[path = "../fuzz_targets/tape.rs"]
mod tape;
#[path = "../fuzz_targets/typed.rs"]
mod typed;
#[path = "../fuzz_targets/whitespace.rs"]
mod whitespace;
#[path = "../fuzz_targets/words.rs"]
mod words;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("RUSTYJSON_FUZZ_TARGET").expect("RUSTYJSON_FUZZ_TARGET names a file of fuzz/fuzz_targets");
    match &*name {
        "decode_vs_naive" => decode_vs_naive::run,
        "encode_escapes" => encode_escapes::run,
        "escapes" => escapes::run,
        "etf_check" => etf_check::run,
        "etf_reader" => etf_reader::run,
        "feed" => feed::run,
        "format" => format::run,
        "format_slices" => format_slices::run,
        "guest_abi" => guest_abi::run,
        "locate" => locate::run,
        "numbers" => numbers::run,
        "partial" => partial::run,
        "pointers" => pointers::run,
        "records" => records::run,
        "roundtrip" => roundtrip::run,
        "scan" => scan::run,
        "shapes" => shapes::run,
        "strings" => strings::run,
        "structure" => structure::run,
        "tape" => tape::run,
        "typed" => typed::run,
        "whitespace" => whitespace::run,
        "words" => words::run,
        _ => panic!("{name} is not a fuzz target"),
    }
});

fuzz_target!(|data: &[u8]| TARGET(data));
