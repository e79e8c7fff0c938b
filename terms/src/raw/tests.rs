//! Miri runs these; they need no VM.

use super::model::{BITS, BYTES, check};
use super::words::{SHORT, cell, tuple_header, write_list};

/// A few documents of each kind, and a few hundred of chance.
#[test]
fn terms_are_read_as_they_were_written() {
    let mut state = 1u64;
    let mut chance = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as u8
    };
    check(&[]);
    for kind in 0..6 {
        for many in [0, 1, 2, 7, 8, 9, 31, 32, 63, 64, 65, 127, 128, 129, 139, 255] {
            check(&[2, 200, kind, many]);
            check(&[0, 0, kind, many]);
        }
    }
    let documents = if cfg!(miri) { 20 } else { 2000 };
    for _ in 0..documents {
        let len = usize::from(chance());
        let data: Vec<_> = (0..len).map(|_| chance()).collect();
        check(&data);
    }
}

/// Bitstrings of the heap that are not whole bytes, and headers of other terms.
#[test]
fn what_is_something_else_is_not_read() {
    let mut words = [0usize; 4];
    let at = words.as_mut_ptr();
    for (header, size) in [(BITS.binaries[2], 13), (BITS.binaries[0] ^ 0b100, 16), (0, 16), (BITS.float, 0)] {
        // SAFETY: four words.
        unsafe {
            *at = header;
            *at.add(1) = size;
            assert_eq!(BITS.binary(at.expose_provenance() | 0b10), None);
            assert!(BITS.small_map(at.expose_provenance() | 0b10).is_none());
        }
    }
    // SAFETY: the same.
    unsafe {
        let term = BITS.write_binary(at, b"ab");
        assert_eq!((*at, *at.add(1)), (BITS.binaries[2], 16));
        assert_eq!((BITS.float(term), BITS.binary(term)), (None, Some(&b"ab"[..])));
        let term = BYTES.write_binary(at, b"ab");
        assert_eq!((*at, *at.add(1), BYTES.binary(term)), (BYTES.binaries[2], 2, Some(&b"ab"[..])));
    }
}

#[test]
#[should_panic(expected = "out of bounds")]
fn a_long_binary_has_no_header() {
    let mut words = [0usize; 32];
    // SAFETY: there would be room for it.
    unsafe { BYTES.write_binary(words.as_mut_ptr(), &[b'a'; SHORT + 1]) };
}

/// The mark of a literal is no part of its address.
#[test]
fn literals_are_read() {
    const LITERAL: usize = 0b100;
    let (mut list, mut float, mut binary) = ([0usize; 2], [0usize; 2], [0usize; 3]);
    let (mut tuple, mut map) = ([tuple_header(1), 0x1f], [0usize; 4]);
    // SAFETY: each has the words that its term takes.
    unsafe {
        let list = write_list(list.as_mut_ptr(), &[0x2f], 0b11_1011) | LITERAL;
        assert_eq!(cell(list), [0x2f, 0b11_1011]);
        for words in [BYTES, BITS] {
            let float = words.write_float(float.as_mut_ptr(), 1.5) | LITERAL;
            assert_eq!((words.float(float), words.binary(float)), (Some(1.5), None));
            let binary = words.write_binary(binary.as_mut_ptr(), b"ab") | LITERAL;
            assert_eq!(words.binary(binary), Some(&b"ab"[..]));
            let keys = tuple.as_mut_ptr().expose_provenance() | 0b10 | LITERAL;
            let map = words.write_map(map.as_mut_ptr(), keys, [0x2f].into_iter()) | LITERAL;
            let members = words.small_map(map).unwrap();
            assert_eq!((members.len, *members.keys, *members.values), (1, 0x1f, 0x2f));
        }
    }
}
