//! The vector kernels against their scalar twins: at every offset to 64, for every length to 200, with the byte that
//! matters at every place.
#![cfg(not(feature = "scalar"))]

use proptest::prelude::*;
use rustyjson_core::simd::copy::{CopyKernel, SLACK};
use rustyjson_core::simd::marks::MarkKernel;
use rustyjson_core::simd::{Kernel, Run, Scalar};
use rustyjson_core::with_kernel;

const OFFSETS: usize = 64;
const LENGTH: usize = 200;
/// How many random inputs. Miri interprets, a thousand times slower.
const CASES: u32 = if cfg!(miri) { 30 } else { 2000 };
/// Bytes at the edges of what the kernels tell apart, and what must not be mistaken for them.
const EDGES: [u8; 20] = [
    b'"', b'\\', 0x00, 0x1F, 0x20, 0x21, 0x23, b'[', b']', 0x7F, 0x80, 0x9F, 0xA2, 0xDC, 0xFF, b'\n', b'\r', b'\t',
    0x0B, b'/',
];

/// Everything but under Miri, which tries the neighbours of a vector's width only.
fn tried(number: &usize) -> bool {
    !cfg!(miri) || (*number <= 33 && matches!(number % 16, 0 | 1 | 15))
}

fn assert_string_run(bytes: &[u8], pos: usize) {
    let vector = with_kernel!(kernel => kernel.string_run(bytes, pos));
    assert_eq!(vector, Scalar.string_run(bytes, pos), "string_run({bytes:?}, {pos})");
}

fn assert_string_marks(bytes: &[u8]) {
    if let Some(bytes) = bytes.first_chunk() {
        let vector = with_kernel!(kernel => kernel.string_marks(bytes));
        assert_eq!(vector, Scalar.string_marks(bytes), "string_marks({bytes:?})");
        let vector = with_kernel!(kernel => kernel.passed_marks(bytes));
        assert_eq!(vector, Scalar.passed_marks(bytes), "passed_marks({bytes:?})");
    }
}

fn assert_space_end(bytes: &[u8], pos: usize) {
    let vector = with_kernel!(kernel => kernel.space_end(bytes, pos));
    assert_eq!(vector, Scalar.space_end(bytes, pos), "space_end({bytes:?}, {pos})");
}

#[test]
fn a_run_of_digits_ends_at_any_byte_of_any_place() {
    for place in 0..=16 {
        for other in 0..=u8::MAX {
            let mut block = [b'0', b'9', b'5'].repeat(6).first_chunk::<16>().copied().unwrap();
            if let Some(byte) = block.get_mut(place) {
                *byte = other;
            }
            let vector = with_kernel!(kernel => kernel.digit_run(&block));
            assert_eq!(vector, Scalar.digit_run(&block), "digit_run({block:?})");
            assert!(other.is_ascii_digit() || vector == place);
        }
    }
}

#[test]
fn integers_between_commas_end_where_those_of_the_scalar_twin_do() {
    const BYTES: [u8; 6] = [b',', b'-', b'0', b'7', b'.', b']'];
    const FREE: usize = if cfg!(miri) { 3 } else { 7 };
    let mut found = 0;
    for number in 0..BYTES.len().pow(FREE as u32) {
        for tail in [b"12,3456789,1234", b"000000000000000"] {
            let mut block = [b','; 16];
            block[1..].copy_from_slice(tail);
            let mut rest = number;
            for byte in &mut block[1..=FREE] {
                *byte = BYTES[rest % BYTES.len()];
                rest /= BYTES.len();
            }
            let vector = with_kernel!(kernel => kernel.integers(&block));
            assert_eq!(vector, Scalar.integers(&block), "integers({:?})", String::from_utf8_lossy(&block));
            found += vector.1;
        }
    }
    assert!(found > 0);
    let whole = *b",0,-7,10,-99,12,";
    assert_eq!(with_kernel!(kernel => kernel.integers(&whole)), (15, 5));
}

#[test]
fn a_byte_is_found_at_every_place() {
    for len in (0..LENGTH).filter(tried) {
        for at in (0..len).filter(tried) {
            let mut bytes = vec![b'a'; len];
            bytes[at] = b'\n';
            for pos in (0..OFFSETS.min(len)).filter(tried) {
                let vector = with_kernel!(kernel => kernel.find(&bytes, pos, b'\n'));
                assert_eq!(vector, Scalar.find(&bytes, pos, b'\n'), "find in {len} from {pos}");
                assert_eq!(vector, (at >= pos).then_some(at));
            }
        }
    }
}

fn copied(copy: impl FnOnce(&[u8], &mut [u8]) -> Run, source: &[u8]) -> (Run, Vec<u8>) {
    let mut target = vec![0xAA; source.len() + SLACK];
    let run = copy(source, &mut target);
    target.truncate(run.end);
    (run, target)
}

fn assert_copy_run(source: &[u8]) {
    let vector = copied(|source, target| with_kernel!(kernel => kernel.copy_run(source, target)), source);
    let scalar = copied(|source, target| Scalar.copy_run(source, target), source);
    assert_eq!(vector, scalar, "copy_run({source:?})");
    // What stands behind the text is not looked at.
    for behind in [b'"', b'a', 0xFF] {
        let padded = [source, &[behind; SLACK]].concat();
        let copy =
            |_: &[u8], target: &mut [u8]| with_kernel!(kernel => kernel.copy_padded(&padded, source.len(), target));
        assert_eq!(copied(copy, source), scalar, "copy_padded({source:?})");
    }
    assert_eq!(vector.1, source[..vector.0.end], "what is copied is the source");
}

#[test]
fn the_kernels_are_those_of_the_machine() {
    let level = rustyjson_core::simd::level();
    match std::env::consts::ARCH {
        "aarch64" => assert_eq!(level, "NEON"),
        "x86_64" => assert!(["SSE2", "AVX2"].contains(&level), "{level}"),
        _ => {}
    }
}

#[test]
fn plain_runs_of_every_length_at_every_offset() {
    for fill in [b'a', 0x80, b' '] {
        for offset in (0..=OFFSETS).filter(tried) {
            for length in (0..=LENGTH).filter(tried) {
                let bytes = vec![fill; offset + length];
                assert_string_run(&bytes, offset);
                assert_string_marks(&bytes[offset..]);
                assert_space_end(&bytes, offset);
                assert_copy_run(&bytes[offset..]);
            }
        }
    }
}

#[test]
fn an_edge_at_every_place() {
    for edge in EDGES {
        for length in (1..=LENGTH).filter(tried) {
            for place in (0..length).filter(tried) {
                let mut bytes = vec![b'a'; length];
                bytes[place] = edge;
                assert_string_run(&bytes, 0);
                assert_string_marks(&bytes);
                assert_copy_run(&bytes);
                bytes.fill(b' ');
                bytes[place] = edge;
                assert_space_end(&bytes, 0);
            }
        }
    }
}

#[test]
fn an_edge_at_every_place_behind_every_offset() {
    for edge in [b'"', b'\\', 0x1F, 0xC3] {
        for offset in (0..=OFFSETS).filter(tried) {
            for place in (0..80).filter(tried) {
                let mut bytes = vec![b'a'; offset + 96];
                // What stands before the offset must not be seen.
                bytes[..offset].fill(b'"');
                bytes[offset + place] = edge;
                assert_string_run(&bytes, offset);
                bytes[offset..].fill(b'\n');
                bytes[offset + place] = edge;
                assert_space_end(&bytes, offset);
            }
        }
    }
}

#[test]
fn what_is_behind_the_end_does_not_count() {
    for place in 0..80 {
        let mut bytes = vec![b'a'; 160];
        bytes[place] = b'"';
        bytes[place + 1..].fill(0xFF);
        let run = with_kernel!(kernel => kernel.string_run(&bytes, 0));
        assert_eq!(run, Run { end: place, ascii: true });
        assert_copy_run(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn runs_of_backslashes(
        bytes in prop::collection::vec(prop::sample::select(b"\\\\\\\"/bfnrtua\n\xC3".as_slice()), 0..LENGTH),
    ) {
        assert_string_marks(&bytes);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH), offset in 0..=OFFSETS) {
        let offset = offset.min(bytes.len());
        assert_string_run(&bytes, offset);
        assert_string_marks(&bytes[offset..]);
        assert_space_end(&bytes, offset);
        assert_copy_run(&bytes[offset..]);
    }

    #[test]
    fn mostly_plain(bytes in prop::collection::vec(prop::sample::select(b"aaaaaaaaaaaaaaaaaaaaaaaa\xC3\xA9\xE2\x82\xAC\"\\\n".to_vec()), 0..LENGTH), offset in 0..=OFFSETS) {
        let offset = offset.min(bytes.len());
        assert_string_run(&bytes, offset);
        assert_copy_run(&bytes[offset..]);
    }

    #[test]
    fn mostly_space(bytes in prop::collection::vec(prop::sample::select(b"            \n\r\t\x0B\x0Ca".to_vec()), 0..LENGTH), offset in 0..=OFFSETS) {
        assert_space_end(&bytes, offset.min(bytes.len()));
    }
}
