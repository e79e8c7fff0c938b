//! Every document of a few tokens, decoded, checked, cut at each place and looked at while it grows: always what the naive reader
//! says. The digests of its verdicts are committed, and the Mix tests hold both engines to them.
//!
//! `script/enumerate` runs it for longer documents, and keeps a record.

use crate::naive::feed::{PATH, given, plan};
use crate::naive::parse;
use crate::naive::partial::assert_partial;
use crate::naive::tree::{Tree, decoded};
use rustyjson_core::parts::check;
use rustyjson_core::scan::Plan;
use rustyjson_core::{DecodeOptions, Error, Scratch};
use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// In hexadecimal digits, one per line: one of each kind that the grammar tells apart, and of each length of UTF-8. `e` stands for all
/// letters, and is the exponent's too.
const LIST: &str = include_str!("../../../test/vectors/tokens.txt");
static TOKENS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| LIST.lines().map(unhex).collect());

fn unhex(line: &str) -> Vec<u8> {
    (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).expect("a byte")).collect()
}

/// The verdicts of the naive reader, as digests: a line for each length and first token.
const DIGESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../test/vectors/enumerated.txt");
const OPTIONS: DecodeOptions = DecodeOptions::DEFAULT;
/// `Partial` keeps all members, so that it can tell what was repeated.
const ALL_MEMBERS: DecodeOptions = DecodeOptions { ordered_objects: true, ..OPTIONS };

/// The longest documents, in tokens, of each of the three parts: `RUSTYJSON_TOKENS=6,5,7`.
fn longest(part: usize, usual: usize) -> usize {
    let asked = std::env::var("RUSTYJSON_TOKENS").ok();
    let usual = if cfg!(miri) { 1 } else { usual };
    asked.and_then(|list| list.split(',').nth(part)?.parse().ok()).unwrap_or(usual)
}

/// Calls `each` with every document of `left` more tokens that `keep` lets go on.
fn extend(text: &mut Vec<u8>, left: usize, keep: &impl Fn(&[u8]) -> bool, each: &mut impl FnMut(&[u8])) {
    if left == 0 {
        return each(text);
    }
    if !keep(text) {
        return;
    }
    for token in TOKENS.iter() {
        let len = text.len();
        text.extend_from_slice(token);
        extend(text, left - 1, keep, each);
        text.truncate(len);
    }
}

/// All documents of up to `longest` tokens, on every processor. Returns how many.
fn every_document(longest: usize, keep: impl Fn(&[u8]) -> bool + Sync, each: impl Fn(&[u8]) + Sync) -> u64 {
    each(b"");
    let (next, count) = (AtomicUsize::new(0), AtomicU64::new(1));
    let shares = longest * TOKENS.len();
    let work = || {
        loop {
            let share = next.fetch_add(1, Ordering::Relaxed);
            if share >= shares {
                return;
            }
            let mut text = TOKENS[share % TOKENS.len()].clone();
            let mut here = 0;
            extend(&mut text, share / TOKENS.len(), &keep, &mut |text| {
                here += 1;
                each(text);
            });
            count.fetch_add(here, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    count.into_inner()
}

/// For the record: what ran, and how much of it.
fn tell(part: &str, longest: usize, documents: u64, comparisons: u64, began: Instant) {
    let seconds = began.elapsed().as_secs();
    println!("enumerated\tcore: {part}\t{longest}\t{}\t{documents}\t{comparisons}\t{seconds}", TOKENS.len());
}

fn assert_whole(text: &[u8]) {
    let expected = parse(text, &OPTIONS);
    assert_eq!(decoded(text, &OPTIONS), expected, "{:?}", String::from_utf8_lossy(text));
    let checked = check(text, &OPTIONS, &mut Scratch::default());
    assert_eq!(checked, expected.map(|_| ()), "{:?} checked", String::from_utf8_lossy(text));
}

/// A stream of one document gives the document or its error; so do two pieces, at each cut, and single bytes. Returns the number of
/// comparisons.
fn assert_cuts(text: &[u8], whole: &Plan) -> u64 {
    let expected = given(text, &[], whole, &OPTIONS, false);
    let shown = String::from_utf8_lossy(text);
    match (parse(text, &OPTIONS), &expected.0[..]) {
        (Ok(tree), [Ok(found)]) => assert_eq!(*found, tree, "{shown:?}"),
        (Err(error), [.., Err((kind, offset, ..))]) => {
            assert_eq!((*kind, *offset), (error.kind, error.offset as i64), "{shown:?}")
        }
        (naive, found) => panic!("{naive:?}, but {found:?} of {shown:?}"),
    }
    let bytes: Vec<_> = (1..text.len()).collect();
    assert_eq!(given(text, &bytes, whole, &OPTIONS, false), expected, "{shown:?} by bytes");
    assert_partial(text, &bytes, &ALL_MEMBERS);
    for cut in 1..text.len() {
        assert_eq!(given(text, &[cut], whole, &OPTIONS, false), expected, "{shown:?} cut at {cut}");
        assert_partial(text, &[cut], &ALL_MEMBERS);
    }
    3 + 2 * bytes.len() as u64
}

#[test]
fn decode_and_valid() {
    let (longest, began) = (longest(0, 4), Instant::now());
    let documents = every_document(longest, |_| true, assert_whole);
    tell("decode, valid?", longest, documents, 2 * documents, began);
}

/// A text without terms is passed over in blocks where it is an array of integers: one with each token at each place, and each limit.
#[test]
fn arrays_of_integers_with_one_other_token() {
    const OTHERS: [&str; 16] =
        ["0", "-7", "00", "-", "", "-01", "1.5", "2e3", "1234567890123456", " 3", "4 ", "[5]", "x", "\"6\"", ",", "9]"];
    const PLACES: usize = if cfg!(miri) { 4 } else { 24 };
    let options = [0, 1, 3, 14, 15, 1024].map(|digit_limit| DecodeOptions { digit_limit, ..OPTIONS });
    let nodes = (1..=PLACES as u64 + 2).map(|max_nodes| DecodeOptions { max_nodes, ..OPTIONS });
    for options in options.into_iter().chain(nodes) {
        for (other, place) in OTHERS.iter().flat_map(|other| (0..PLACES).map(move |place| (other, place))) {
            let mut tokens: Vec<_> =
                (0..PLACES as i64).map(|number| (number * number * 3 - 50 * (number % 2)).to_string()).collect();
            tokens[place] = (*other).to_string();
            let text = format!("[{}]", tokens.join(","));
            let expected = parse(text.as_bytes(), &options).map(|_| ());
            assert_eq!(check(text.as_bytes(), &options, &mut Scratch::default()), expected, "{text:?}, {options:?}");
        }
    }
}

#[test]
fn feed_and_partial_at_every_cut() {
    let (longest, began, whole) =
        (longest(1, if cfg!(debug_assertions) { 2 } else { 3 }), Instant::now(), plan(PATH, 0, 0, &[]));
    let comparisons = AtomicU64::new(0);
    let documents = every_document(
        longest,
        |_| true,
        |text| {
            comparisons.fetch_add(assert_cuts(text, &whole), Ordering::Relaxed);
        },
    );
    tell("Feed and Partial at each cut", longest, documents, comparisons.into_inner(), began);
}

/// Longer documents: those that are right, or could become so, before their last token.
#[test]
fn documents_that_are_right_up_to_the_last_token() {
    let (longest, began, whole) =
        (longest(2, if cfg!(debug_assertions) { 3 } else { 4 }), Instant::now(), plan(PATH, 0, 0, &[]));
    let comparisons = AtomicU64::new(0);
    let may_go_on = |text: &[u8]| match parse(text, &OPTIONS) {
        Ok(_) => true,
        Err(error) => error.kind == rustyjson_core::ErrorKind::UnexpectedEnd,
    };
    let documents = every_document(longest, may_go_on, |text| {
        assert_whole(text);
        comparisons.fetch_add(2 + assert_cuts(text, &whole), Ordering::Relaxed);
    });
    tell(
        "all of these, documents that are right up to their last token",
        longest,
        documents,
        comparisons.into_inner(),
        began,
    );
}

/// What the engines have to say of each document, in one line.
fn verdict(text: &[u8]) -> String {
    let mut line = String::new();
    match parse(text, &OPTIONS) {
        Ok(tree) => render(tree, &mut line),
        Err(Error { kind, offset }) => {
            for (at, letter) in format!("{kind:?}").chars().enumerate() {
                line.push_str(if at > 0 && letter.is_uppercase() { "_" } else { "" });
                line.push(letter.to_ascii_lowercase());
            }
            write!(line, " {offset}").unwrap();
        }
    }
    line.push('\n');
    line
}

fn render(tree: Tree, line: &mut String) {
    match tree {
        Tree::Null => line.push('n'),
        Tree::Boolean(value) => line.push(if value { 't' } else { 'f' }),
        Tree::Integer(negative, digits) => write!(line, "{}{digits}", if negative { "-" } else { "" }).unwrap(),
        Tree::Float(bits) => write!(line, "d{bits:016x}").unwrap(),
        Tree::Decimal(..) => panic!("no decimals by default"),
        Tree::String(text) => hex(&text, line),
        Tree::Array(elements) => {
            line.push('[');
            for element in elements {
                render(element, line);
                line.push(',');
            }
            line.push(']');
        }
        Tree::Object(mut members) => {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            line.push('{');
            for (key, value) in members {
                hex(&key, line);
                line.push(':');
                render(value, line);
                line.push(',');
            }
            line.push('}');
        }
    }
}

fn hex(text: &[u8], line: &mut String) {
    line.push('"');
    text.iter().for_each(|byte| write!(line, "{byte:02x}").unwrap());
}

/// CRC-32, as `:erlang.crc32/2` has it.
fn crc(mut crc: u32, bytes: &[u8]) -> u32 {
    crc = !crc;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// `RUSTYJSON_DIGESTS=write` writes the file.
#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn digests_of_verdicts() {
    let write = std::env::var("RUSTYJSON_DIGESTS").is_ok_and(|word| word == "write");
    let longest = longest(0, 4).min(5);
    let mut lines = format!("{:08x} 0\n", crc(0, verdict(b"").as_bytes()));
    let lengths = 1..=if write { 5 } else { longest };
    for (len, token) in lengths.flat_map(|len| TOKENS.iter().map(move |token| (len, token))) {
        let mut digest = 0;
        extend(&mut token.clone(), len - 1, &|_| true, &mut |text| digest = crc(digest, verdict(text).as_bytes()));
        writeln!(lines, "{digest:08x} {len}").unwrap();
    }
    if write {
        std::fs::write(DIGESTS, &lines).unwrap();
    }
    let committed = std::fs::read_to_string(DIGESTS).unwrap();
    assert!(committed.starts_with(&lines), "{DIGESTS} differs: the naive reader has changed");
}
