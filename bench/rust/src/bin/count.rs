//! The program that callgrind counts: `count decode|encode FILE TIMES` repeats one call. The instructions of one call are the
//! difference between two runs, so that start and end of the process cancel out. `count level` names the instruction set.
#![forbid(unsafe_code)]

use rustyjson_bench::Core;
use std::hint::black_box;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "level") {
        println!("{}", rustyjson_core::simd::level());
        return;
    }
    let [_, direction, file, times] = arguments.as_slice() else { panic!("count decode|encode FILE TIMES") };
    let json = std::fs::read(file).expect("a readable file");
    let times: usize = times.parse().expect("a number");
    let mut core = Core::default();
    let etf = core.decode(&json).to_vec();
    core.encode(&etf);
    for _ in 0..times {
        match direction.as_str() {
            "decode" => black_box(core.decode(black_box(&json)).len()),
            _ => black_box(core.encode(black_box(&etf)).len()),
        };
    }
}
