//! The check of terms from the guest: a naive reader agrees that everything it accepts is a JSON-shaped term, and that a builder is
//! given this term.

use rustyjson_core::etf::check::{Policy, check};
use rustyjson_fuzz::naive::etf::{rebuilt, term};
use rustyjson_fuzz::options;

pub fn run(data: &[u8]) {
    let (options, etf) = options(data);
    let etf = [&[131][..], etf].concat();
    let policy = Policy::new(&options, etf.len());
    if check(&etf, &policy).is_err() {
        return;
    }
    let term = term(&etf).expect("what passes is a term");
    assert!(term.depth(options.ordered_objects) <= options.max_depth as usize);
    assert!(rebuilt(&etf, &policy, &options).is_none_or(|rebuilt| rebuilt == term), "what passes is built");
    assert!(term.tree(&options).is_some(), "what passes is JSON");
}
