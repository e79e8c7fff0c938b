//! The copying kernel against its scalar twin.

use super::*;
use crate::simd::copy::{CopyKernel, SLACK};
use crate::simd::digits::DigitKernel;
use crate::simd::{Run, Scalar};

/// Everything but under Miri, which interprets: there the neighbours of a vector's width only.
fn tried(number: &usize) -> bool {
    !cfg!(miri) || (*number <= 33 && matches!(number % 16, 0 | 1 | 15))
}

fn both(source: &[u8]) {
    let run = |copy: &dyn Fn(&mut [u8]) -> Run| {
        let mut target = vec![0; source.len() + SLACK];
        let run = copy(&mut target);
        target.truncate(run.end);
        (run, target)
    };
    let expected = run(&|target| Scalar.copy_run(source, target));
    let found = run(&|target| crate::with_kernel!(kernel => kernel.copy_run(source, target)));
    assert_eq!(found, expected, "{source:?}");
    assert_eq!(found.1, source[..found.0.end]);
}

#[test]
fn copying_agrees_at_every_length_and_offset() {
    let specials = [b'"', b'\\', 0, 0x1F, b'\n', 0x7F, 0x80, 0xFF, 0x20, b'!', b'#', b'[', b']', 0xA2, 0xDC];
    for len in (0..=200).filter(tried) {
        let mut source = vec![b'a'; len];
        both(&source);
        for at in (0..len.min(65)).filter(tried) {
            for special in specials {
                source[at] = special;
                both(&source);
            }
            source[at] = b'a';
        }
    }
}

#[test]
fn copying_agrees_with_two_specials() {
    for len in (1..=40).filter(tried) {
        for a in (0..len).filter(tried) {
            for b in (0..len).filter(tried) {
                let mut source = vec![b'x'; len];
                source[a] = 0xC3;
                source[b] = b'"';
                both(&source);
            }
        }
    }
}

#[test]
fn strings_of_every_length_survive() {
    for len in (0..=200).filter(tried) {
        let plain = "x".repeat(len);
        assert_eq!(json(&bin(&plain)), format!("\"{plain}\""));
        let wide = "é".repeat(len);
        assert_eq!(json(&bin(&wide)), format!("\"{wide}\""));
        assert_eq!(json(&bin(&"\"".repeat(len))), format!("\"{}\"", "\\\"".repeat(len)));
        assert_eq!(json(&bin(&"\u{1}".repeat(len))), format!("\"{}\"", "\\u0001".repeat(len)));
    }
}

#[test]
fn the_name_of_structs_is_found_anywhere() {
    for len in (0..100).filter(tried) {
        let filler = bin(&"_".repeat(len));
        let date = structure("Elixir.Other", &[]);
        let (text, holes) = encode_with(&List(vec![filler, date]), &EncodeOptions::default()).unwrap();
        assert_eq!((text.len(), holes.len()), (len + 5, 1));
    }
}

#[test]
fn digits_agree() {
    let both = |value: u64| {
        let expected: Vec<u8> = format!("{value:016}").bytes().map(|digit| digit - b'0').collect();
        assert_eq!(Scalar.sixteen_digits(value).to_le_bytes()[..], expected, "{value}");
        let found = crate::with_kernel!(kernel => kernel.sixteen_digits(value));
        assert_eq!(found.to_le_bytes()[..], expected, "{value}");
    };
    // Every four digits in each place.
    for four in (0..10_000).step_by(if cfg!(miri) { 997 } else { 1 }) {
        for place in [1, 10_000, 100_000_000, 1_000_000_000_000] {
            both(four * place);
            both(9_999_999_999_999_999 - four * place);
        }
    }
}
