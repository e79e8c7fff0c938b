//! Texts that begin with escapes and go on with a long run of plain characters, written into memory that ends anywhere: jiffy 2.0.0
//! wrote beyond its buffer there (<https://github.com/davisp/jiffy/issues/303>). Here the buffer has every length, and grows by what is
//! asked for or to twice as much. A write beyond it would be a panic, and a wrong length would change the text.

use crate::naive::tape::{Integer, List, Map, Taped, Text};
use rustyjson_core::canonical::canonicalize;
use rustyjson_core::encode::{Player, play};
use rustyjson_core::etf::reader::Reader;
use rustyjson_core::format::{Layout, format};
use rustyjson_core::options::Escape;
use rustyjson_core::{Buffer, DecodeOptions, EncodeOptions, Output, Scratch, ample, encode};

const MODES: [Escape; 4] = [Escape::Json, Escape::HtmlSafe, Escape::JavascriptSafe, Escape::UnicodeSafe];
const ESCAPES: [&str; 7] = ["\n", "\u{1}", "\"", "/", "é", "😀", "\u{2028}"];
const RUNS: [&str; 2] = ["x", "é"];
const COUNTS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 5, 21] };
const LENGTHS: &[usize] = if cfg!(miri) { &[17] } else { &[0, 15, 16, 17, 100] };

/// Memory that grows by what is asked for and no more, or to twice as much.
struct Memory {
    bytes: Vec<u8>,
    tight: bool,
}

impl Buffer for Memory {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn grow(&mut self, len: usize) -> bool {
        let wanted = if self.tight { 0 } else { self.bytes.len() * 2 };
        ample(len, wanted, |target| {
            self.bytes.resize(if self.tight { len } else { target }, 0xEE);
            true
        })
    }
}

/// The string in quotes, one character after the other.
fn quoted(text: &str, escape: Escape) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        let escaped = match character {
            '"' | '\\' => format!("\\{character}"),
            '\n' => "\\n".into(),
            '/' if escape == Escape::HtmlSafe => "\\/".into(),
            '\u{2028}' if escape == Escape::HtmlSafe || escape == Escape::JavascriptSafe => "\\u2028".into(),
            '\0'..' ' => format!("\\u{:04X}", character as u32),
            '\u{80}'.. if escape == Escape::UnicodeSafe => {
                character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect()
            }
            _ => character.into(),
        };
        out.push_str(&escaped);
    }
    out + "\""
}

/// The family: plain characters, escapes, and a run.
fn texts() -> impl Iterator<Item = String> {
    let before = [0, 5].into_iter().flat_map(|plain| ESCAPES.map(|escape| (plain, escape)));
    before.flat_map(|(plain, escape)| {
        RUNS.into_iter().flat_map(move |run| {
            COUNTS.iter().flat_map(move |&count| {
                LENGTHS.iter().map(move |&length| "a".repeat(plain) + &escape.repeat(count) + &run.repeat(length))
            })
        })
    })
}

/// Writes into memory of every length, which is never enough, sometimes just enough, and at last more than enough.
fn assert_written(expected: &str, step: usize, write: impl Fn(&mut Output<Memory>)) {
    let enough = expected.len() + 64;
    let sizes = std::iter::once((0, true)).chain((0..=enough).step_by(step).map(|len| (len, false)));
    for (len, tight) in sizes {
        let mut out = Output::new(Memory { bytes: vec![0xEE; len], tight });
        write(&mut out);
        assert!(!out.failed());
        assert_eq!(String::from_utf8_lossy(out.written()), expected, "from {len} bytes on, tight: {tight}");
    }
}

/// The list of a text and of an object with the text as its key, in External Term Format.
fn external(text: &str) -> Vec<u8> {
    let text = [&[109][..], &(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
    [&[131, 108, 0, 0, 0, 2][..], &text, &[116, 0, 0, 0, 1], &text, &[97, 1, 106]].concat()
}

#[test]
fn escapes_and_then_a_long_run_at_every_end_of_the_memory() {
    for escape in MODES {
        let options = EncodeOptions { escape, ..EncodeOptions::DEFAULT };
        for (number, text) in texts().enumerate() {
            let (etf, quoted) = (external(&text), quoted(&text, escape));
            let expected = format!("[{quoted},{{{quoted}:1}}]");
            // Each text has other lengths of memory; together they are all of them.
            let step = 1 + number % if cfg!(miri) { 64 } else { 23 };
            assert_written(&expected, step, |out| {
                let mut reader = Reader::new(&etf, &[]);
                let root = reader.root().expect("a term");
                assert!(encode(&mut reader, root, &options, out).expect("a text").is_empty());
            });
        }
    }
}

/// The module of the sandbox writes from a tape.
#[test]
fn the_same_from_a_tape() {
    for escape in MODES {
        let options = EncodeOptions { escape, ..EncodeOptions::DEFAULT };
        for (number, text) in texts().enumerate() {
            let bytes = || Text(text.clone().into_bytes());
            let value = List(vec![bytes(), Map(vec![(bytes(), Integer(1))])]);
            let ((tape, _), quoted) = (Taped::new(&value).tape(&options), quoted(&text, escape));
            // The first byte is the status of the answer, which the player does not write.
            let expected = format!("?[{quoted},{{{quoted}:1}}]");
            assert_written(&expected, 3 + number % if cfg!(miri) { 64 } else { 23 }, |out| {
                out.array(*b"?");
                play(&tape, &options, &mut Player::default(), out).expect("a text");
            });
        }
    }
}

#[test]
fn the_same_in_the_formatter_and_in_canonical_form() {
    for (number, text) in texts().enumerate() {
        let quoted = quoted(&text, Escape::Json);
        let spaced = format!("[ {quoted} , {{ {quoted} : 1 }} ]");
        let expected = format!("[{quoted},{{{quoted}:1}}]");
        let step = 3 + number % if cfg!(miri) { 64 } else { 23 };
        assert_written(&expected, step, |out| format(spaced.as_bytes(), &Layout::MINIMAL, out).expect("a text"));
        // Canonical form writes the digits of escapes in lower case, and the characters of this family have none.
        assert_written(&expected, step, |out| {
            let (options, mut scratch) = (DecodeOptions::DEFAULT, Scratch::default());
            canonicalize(spaced.as_bytes(), &options, 0, &mut scratch, out).expect("a text");
        });
    }
}
