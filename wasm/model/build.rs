//! Copies the sources that are checked, once as they are and once with each fault.

use std::path::Path;
use std::{env, fs};

include!("src/faults.rs");

const SOURCES: &str = "../host/src";

fn main() {
    println!("cargo:rerun-if-changed=src/faults.rs");
    let out = env::var("OUT_DIR").expect("cargo names a folder for the output");
    for file in ["pool.rs", "queue.rs"] {
        println!("cargo:rerun-if-changed={SOURCES}/{file}");
        let source = product_code(&Path::new(SOURCES).join(file));
        write(&out, "real", file, &source);
        for fault in FAULTS {
            write(&out, fault.name, file, &with(&source, file, fault));
        }
    }
}

/// Without its tests, and as part of a module that stands anywhere.
fn product_code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the sandbox's sources are beside this crate");
    let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
    code.replace("//!", "//").replace("crate::queue", "super::queue")
}

fn with(source: &str, file: &str, fault: &Fault) -> String {
    if fault.file != file {
        return source.into();
    }
    assert_eq!(source.matches(fault.from).count(), 1, "{}: its text stands in {file} other than once", fault.name);
    source.replace(fault.from, fault.to)
}

fn write(out: &str, name: &str, file: &str, text: &str) {
    fs::write(format!("{out}/{name}_{file}"), text).expect("a file can be written");
}
