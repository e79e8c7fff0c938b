//! Terms that the native library writes and reads in place, in a model of the VM's memory: what was written is read, no
//! step leaves a block, and each block is terms from its start to its end.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../nif/src/raw"]
mod raw {
    mod copy;
    pub mod model;
    mod space;
    mod words;
}

fuzz_target!(|data: &[u8]| raw::model::check(data));
