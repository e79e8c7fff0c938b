//! Terms that the native library and the built-in host write and read in place, in a model of the VM's memory: written terms are read back, no
//! access leaves a block, and terms fill each block from start to end.

#[allow(dead_code)]
#[path = "../../terms/src/raw"]
mod raw {
    mod copy;
    pub mod model;
    mod space;
    mod words;
}

pub fn run(data: &[u8]) {
    raw::model::check(data);
}
