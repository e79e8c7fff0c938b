//! The formatter in slices: with any budgets, it gives the same bytes or error as in one call, within every limit.

use rustyjson_core::format::{Last, Layout, Place, format, format_slice};
use rustyjson_core::{Error, Output};

const INDENTS: [&[u8]; 5] = [b"", b" ", b"  ", b"\t\t\t", b"0123456789abcdef0123456789abcdef"];

/// The position as a shell stores it between two slices.
fn stored(place: Place) -> Place {
    let last = Last::from_number(place.last.number()).expect("a number of its own");
    Place { last, ..place }
}

/// The bytes say, in turn, by how much budgets grow.
fn in_slices(text: &[u8], layout: &Layout<'_>, steps: &[u8]) -> (Result<(), Error>, Vec<u8>) {
    let mut out = Output::new(Vec::new());
    let (mut place, mut budget) = (layout.first_place(), 0);
    let mut steps = steps.iter().cycle();
    loop {
        budget += steps.next().map_or(1, |step| usize::from(*step)) + 1;
        match format_slice(text, layout, place, 0, budget, &mut out) {
            Ok(Some(next)) => {
                assert!(out.len() <= budget && next.offset >= place.offset && next.offset < text.len());
                place = stored(next);
            }
            Ok(None) => return (Ok(()), out.written().to_vec()),
            Err(error) => return (Err(error), out.written().to_vec()),
        }
    }
}

pub fn run(data: &[u8]) {
    let [choice, base, most, extra, steps, text @ ..] = data else { return };
    let (steps, text) = text.split_at(usize::from(steps % 8).min(text.len()));
    let layout = Layout {
        indent: INDENTS[usize::from(choice % 5)],
        line_separator: [&b""[..], b"\n", b"\r\n"][usize::from(choice / 5 % 3)],
        record_separator: [&b""[..], b"\n", b"----"][usize::from(choice / 15 % 3)],
        after_colon: [&b""[..], b" "][usize::from(choice / 45 % 2)],
        base_depth: u32::from(base % 4),
        max_depth: if base & 4 == 0 { u32::MAX } else { 8 + u32::from(base >> 3) },
        max_bytes: u64::from(*most) * u64::from(*extra),
    };
    // Indentation is quadratic in the depth, which this target does not test.
    if text.iter().filter(|&&byte| byte == b'[' || byte == b'{').count() > 64 {
        return;
    }
    let mut whole = Output::new(Vec::new());
    let result = format(text, &layout, &mut whole);
    assert!(layout.max_bytes == 0 || whole.len() as u64 <= layout.max_bytes);
    assert_eq!(in_slices(text, &layout, steps), (result, whole.written().to_vec()));
    // Without the limit, the text has the same length, or is longer than the limit.
    let mut free = Output::new(Vec::new());
    let unlimited = format(text, &Layout { max_bytes: 0, ..layout }, &mut free);
    assert!(free.written().starts_with(whole.written()));
    if result != unlimited {
        assert!(free.len() as u64 > layout.max_bytes || unlimited.is_err());
    }
}
