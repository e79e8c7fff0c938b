//! Linker settings of the module.
fn main() {
    // The core does not recurse: little stack is needed, and a fault runs into its end (which lies below the data) soon.
    println!("cargo:rustc-cdylib-link-arg=-zstack-size=65536");
    // Two gigabytes less a page: addresses stay positive for hosts that pass them as signed. Hosts set lower limits.
    println!("cargo:rustc-cdylib-link-arg=--max-memory=2147418112");
    // Three pages, in which a small document has room. With two, each fresh instance grew, which makes two calls of the system and took
    // half of its 11 µs.
    println!("cargo:rustc-cdylib-link-arg=--initial-memory=196608");
    println!("cargo:rerun-if-changed=build.rs");
}
