//! The judge of what a sandbox answers, against the verdicts in `test/vectors`. The judge in Elixir, for the host without native code of
//! ours, has to give the same ones.

use rustyjson_core::etf::check::{Policy, check, check_list};
use rustyjson_core::etf::{holes, plans};
use rustyjson_core::options::{Keys, Null, Pretty};
use rustyjson_core::{DecodeOptions, EncodeOptions};
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

fn encode_options(text: &str) -> EncodeOptions<'static> {
    let mut options = EncodeOptions::DEFAULT;
    for word in words(text) {
        match word {
            "strict" => options.strict_maps = true,
            "sort" => options.sort_keys = true,
            "plain_structs" => options.plain_structs = true,
            "lean" => options.lean = true,
            "pretty" => {
                options.pretty =
                    Some(Pretty { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " })
            }
            "depth1" => options.base_depth = 1,
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

fn found(row: &[&str], named: &[(String, Vec<u8>)]) -> String {
    let (options, etf, record) = (encode_options(row[0]), bytes(row[2]), bytes(row[3]));
    let given = named.iter().find(|(name, _)| name == row[1]).map_or(&[][..], |(_, bytes)| bytes);
    match holes::read(&record, &etf, &options, &plans::parse(given).unwrap()) {
        Ok((holes, _text)) => {
            let place = |key| if key { "key" } else { "value" };
            let holes = holes.iter().map(|hole| {
                format!("{}:{}:{}:{}:{}", hole.offset, hole.depth, place(hole.key), hole.term.start, hole.term.len())
            });
            format!("ok {}", holes.collect::<Vec<_>>().join(","))
        }
        Err(holes::Fault::List) => "list".to_owned(),
        Err(holes::Fault::Place) => "place".to_owned(),
        Err(holes::Fault::Written) => "written".to_owned(),
    }
}

/// Compares the last columns of a file with what `judge` says of the first `columns`, or writes them.
fn agrees(file: &str, columns: usize, mut judge: impl FnMut(&[&str]) -> Option<String>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../test/vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let judged: Vec<String> = text.lines().map(|line| judge_line(line, columns, &mut judge)).collect();
    if std::env::var_os("RUSTYJSON_BLESS").is_some() {
        return std::fs::write(&path, judged.join("\n") + "\n").unwrap();
    }
    assert!(judged.len() > 1_000, "{file} has rows");
    for (line, judged) in text.lines().zip(judged) {
        assert_eq!(line, judged, "{file}");
    }
}

fn judge_line(line: &str, columns: usize, judge: &mut impl FnMut(&[&str]) -> Option<String>) -> String {
    let row: Vec<&str> = line.split(' ').collect();
    if line.starts_with('#') {
        return line.to_owned();
    }
    judge(&row).map_or_else(|| line.to_owned(), |verdict| format!("{} {verdict}", row[..columns].join(" ")))
}

#[test]
fn answers() {
    agrees("judged.txt", 4, |row| Some(verdict(row)));
}

#[test]
fn reported_holes() {
    let mut named = Vec::new();
    agrees("holes.txt", 4, |row| {
        if row[0] == "plans" {
            named.push((row[1].to_owned(), bytes(row[2])));
            return None;
        }
        Some(found(row, &named))
    });
}
