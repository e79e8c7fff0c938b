//! Plans of arbitrary bytes: as pointers, types or places, on any text. Nothing panics, and all of it ends.

use rustyjson_core::Scratch;
use rustyjson_core::parts::Parts;
use rustyjson_fuzz::naive::tree::Builder;
use rustyjson_fuzz::options;

pub fn run(data: &[u8]) {
    let (options, data) = options(data);
    let half = data.len() / 2;
    let (plan, text) = data.split_at(half);
    for kind in 1..=3 {
        let plan = [&[kind], plan].concat();
        let Some(parts) = Parts::read(&plan) else { continue };
        let _ = parts.decode(text, &options, 1000, &mut Scratch::default(), &mut Builder::default());
        let _ = parts.policy(&options, text.len());
    }
}
