//! The check before `binary_to_term`: a naive reader agrees that everything it accepts is a JSON-shaped term.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_core::etf::check::{Policy, check};
use rustyjson_fuzz::naive::etf::term;
use rustyjson_fuzz::options;

fuzz_target!(|data: &[u8]| {
    let (options, etf) = options(data);
    let etf = [&[131][..], etf].concat();
    if check(&etf, &Policy::new(&options, etf.len())).is_err() {
        return;
    }
    let term = term(&etf).expect("what passes is a term");
    assert!(term.depth(options.ordered_objects) <= options.max_depth as usize);
    assert!(term.tree(&options).is_some(), "what passes is JSON");
});
