//! All tests of the core's public functions, in one program: linking one for each file takes more time than running them.

#[path = "../naive/mod.rs"]
mod naive;

mod canonical;
mod cuts;
mod decode_against_naive;
mod enumeration;
mod etf_check;
mod etf_limits;
mod external_term_format;
mod feed;
mod feed_limits;
mod feed_random;
mod growth;
mod judged;
mod kernels;
mod partial;
mod parts;
mod scan;
mod serde_json_agreement;
mod tape;

/// A file that is not in the list above would not run.
#[test]
fn every_file_is_part_of_this_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all");
    for entry in std::fs::read_dir(folder).expect("the folder of the tests") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let Some(name) = name.strip_suffix(".rs") else { continue };
        let line = format!("mod {name};");
        assert!(name == "main" || include_str!("main.rs").lines().any(|written| written == line), "{name}");
    }
}
