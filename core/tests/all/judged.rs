//! The judge of what a sandbox answers, against the verdicts in `test/vectors/judged.txt`. The judge in Elixir, for the host without native
//! code of ours, has to give the same ones.

use rustyjson_core::DecodeOptions;
use rustyjson_core::etf::check::{Policy, check, check_list};
use rustyjson_core::options::{Keys, Null};
use std::path::PathBuf;

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split('+').filter(|word| *word != "-")
}

fn decode_options(text: &str) -> DecodeOptions {
    let mut options = DecodeOptions { max_depth: 4, digit_limit: 20, ..DecodeOptions::DEFAULT };
    for word in words(text) {
        match word {
            "plain" => {}
            "atoms" => options.keys = Keys::ExistingAtoms,
            "decimals" => options.decimals = true,
            "null" => options.null = Null::Null,
            "undefined" => options.null = Null::Undefined,
            "ordered" => options.ordered_objects = true,
            "nodes7" => options.max_nodes = 7,
            other => panic!("no option {other}"),
        }
    }
    options
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    digits.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn verdict(row: &[&str]) -> String {
    let (options, etf) = (decode_options(row[1]), bytes(row[3]));
    let passes = match row[0] {
        "term" => check(&etf, &Policy::new(&options, row[2].parse().unwrap())).is_ok(),
        _ => {
            let lengths = row[2].split(',').filter(|len| *len != "-");
            check_list(&etf, lengths.map(|len| Policy::new(&options, len.parse().unwrap()))).is_ok()
        }
    };
    if passes { "ok" } else { "no" }.to_owned()
}

/// A line with the verdict of today in its last column.
fn judge_line(line: &str) -> String {
    if line.starts_with('#') {
        return line.to_owned();
    }
    let row: Vec<&str> = line.split(' ').collect();
    format!("{} {}", row[..4].join(" "), verdict(&row))
}

#[test]
fn answers() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../test/vectors/judged.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let judged: Vec<String> = text.lines().map(judge_line).collect();
    if std::env::var_os("RUSTYJSON_BLESS").is_some() {
        return std::fs::write(&path, judged.join("\n") + "\n").unwrap();
    }
    assert!(judged.len() > 1_000, "it has rows");
    for (line, judged) in text.lines().zip(judged) {
        assert_eq!(line, judged);
    }
}
