//! Compiles the translated module (`RustyJson.Build.Translation` makes it) with the runtime beside it, by the C compiler of the machine.
//!
//! `RUSTYJSON_GUEST_C` names another file than the one in `priv/wasm`. Without a file, the library has no WebAssembly engine.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rustc-check-cfg=cfg(guest)");
    println!("cargo:rustc-check-cfg=cfg(one_module)");
    println!("cargo:rerun-if-env-changed=RUSTYJSON_GUEST_C");
    println!("cargo:rerun-if-env-changed=RUSTYJSON_PROFILE");
    for file in ["build.rs", "runtime/wasm-rt.h", "runtime/runtime.h", "runtime/runtime.c", "runtime/module.c"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder"));
    let translated =
        env::var("RUSTYJSON_GUEST_C").map_or_else(|_| root.join("../../priv/wasm/rustyjson.c.gz"), PathBuf::from);
    println!("cargo:rerun-if-changed={}", translated.display());
    // Tests bring modules of their own.
    if env::var("CARGO_FEATURE_REPLACEABLE").is_ok() {
        return;
    }
    let Ok(packed) = fs::read(&translated) else { return };

    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo names a folder for the output"));
    let guest = out.join("guest.c");
    fs::write(&guest, unpacked(&packed)).expect("the translated module can be written");
    println!("cargo:rustc-cfg=guest");

    compiler().opt_level(2).file("runtime/runtime.c").compile("rustyjson_runtime");
    let x86_64 = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    if quick() {
        // For whoever changes the core and waits for the result. Without any optimisation the calls need more than their stack.
        println!("cargo:rustc-cfg=one_module");
        let flags: &[&str] = if x86_64 { &["-march=x86-64-v2"] } else { &[] };
        module("rustyjson_module_baseline", &guest, &out, "g", flags);
    } else if x86_64 {
        // Byte shuffles are instructions since 2009; on a processor without them they are loops anyway, so its module is made small.
        // Each takes about a minute, so both are compiled at once.
        std::thread::scope(|scope| {
            scope.spawn(|| module("rustyjson_module_v2", &guest, &out, "2", &["-march=x86-64-v2"]));
            scope.spawn(|| module("rustyjson_module_baseline", &guest, &out, "z", &[]));
        });
    } else {
        module("rustyjson_module_baseline", &guest, &out, "2", &[]);
    }
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).expect("the translated module is a gzip file");
    text
}

/// The module for one kind of processor.
fn module(table: &str, guest: &Path, out: &Path, optimised: &str, flags: &[&str]) {
    // Cargo gives each archive the name of its table, and each object a name of its own.
    let source = out.join(format!("{table}.c"));
    fs::write(&source, "#include \"module.c\"\n").expect("a file can be written");
    let mut build = compiler();
    build
        .file(&source)
        .define("RUSTYJSON_TABLE", table)
        .define("RUSTYJSON_GUEST", format!("\"{}\"", guest.display()).as_str());
    for flag in flags {
        build.flag(flag);
    }
    // Lints and unit tests only need it to be there.
    let optimised = if env::var("PROFILE").is_ok_and(|profile| profile == "debug") { "0" } else { optimised };
    build.opt_level_str(optimised).compile(table);
}

fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    // clang takes a third of the time. Its module encodes in 0.94 of the time of gcc's, and decodes in 1.03.
    let target = env::var("TARGET").expect("cargo names the target");
    let chosen = ["CC".into(), format!("CC_{}", target.replace('-', "_")), format!("CC_{target}"), "TARGET_CC".into()];
    let chosen = chosen.iter().any(|name| env::var(name).is_ok());
    if !chosen && !quick() && env::var("HOST").is_ok_and(|host| host == target) && has("clang") {
        build.compiler("clang");
    }
    build
        .std("gnu11")
        .include("runtime")
        .warnings(false)
        .debug(false)
        // One multiplication and one addition stay two operations with two roundings, as WebAssembly has them.
        .flag("-ffp-contract=off")
        .flag("-fno-math-errno")
        // LLVM has done both before. In gcc they take two fifths of the time and gain nothing.
        .flag_if_supported("-fno-gcse")
        .flag_if_supported("-fno-tree-pre")
        .flag_if_supported("-fno-strict-aliasing")
        // Nothing unwinds through it: a trap jumps, and no panic comes from it. This saves 50 KB.
        .flag_if_supported("-fno-asynchronous-unwind-tables")
        .flag_if_supported("-Wno-everything")
        .flag("-fvisibility=hidden");
    build
}

fn quick() -> bool {
    env::var("RUSTYJSON_PROFILE").is_ok_and(|profile| profile == "quick")
}

fn has(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
