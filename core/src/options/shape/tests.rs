use super::*;
use alloc::vec;

#[test]
fn camel_case() {
    for (name, expected) in [
        ("first_name", "firstName"),
        ("_private_key", "_privateKey"),
        ("__a", "__a"),
        ("a__b", "aB"),
        ("trailing_", "trailing"),
        ("line_2_b", "line2B"),
        ("HTTP_status", "HTTPStatus"),
        ("größe_äb_é", "größeäbé"),
        ("_", "_"),
        ("", ""),
    ] {
        let mut to = Vec::new();
        camel(name.as_bytes(), &mut to);
        assert_eq!(core::str::from_utf8(&to).unwrap(), expected, "{name}");
    }
}

#[test]
fn names_that_camel_case_may_change() {
    for len in 0..40 {
        let mut name = vec![b'a'; len];
        assert!(!has_underscore(&name));
        for at in 0..len {
            name[at] = b'_';
            assert!(has_underscore(&name), "{at} of {len}");
            name[at] = b'^';
            assert!(!has_underscore(&name), "{at} of {len}");
        }
    }
}

#[test]
fn decisions_are_those_of_their_keys() {
    let shape = Shape::default();
    let numbers = || (1..200).map(|number| number * 4);
    for number in numbers() {
        assert_eq!(shape.decision(number), None);
        shape.decide(number, number % 3 == 0);
        assert_eq!(shape.decision(number), Some(number % 3 == 0));
    }
    assert!(numbers().all(|number| shape.decision(number).is_none_or(|decision| decision == (number % 3 == 0))));
}

#[test]
fn words_are_found_anywhere_in_a_key() {
    let words = ["pass", "ss", "token", "\u{e9}t"].map(|word| word.as_bytes().to_vec());
    let mut shape = Shape { words: words.to_vec(), ..Shape::default() };
    shape.words.iter().for_each(|word| shape.starts.add_byte(word[0]));
    for key in ["", "s", "pas", "to_ken", "past", "toke", "\u{e9}", "s_s_pas_t"] {
        assert!(!shape.is_redacted(key.as_bytes()), "{key}");
    }
    for key in ["ss", "my_pass", "a_token_b", "papass", "ttoken", "c\u{e9}te"] {
        assert!(shape.is_redacted(key.as_bytes()), "{key}");
    }
}

#[test]
fn pointers_are_followed_by_bits() {
    let pointers = [&["a", "*", "b"][..], &["a", "0"]]
        .map(|pointer| pointer.iter().map(|text| text.as_bytes().to_vec()).collect());
    let shape = Shape { pointers: pointers.to_vec(), ..Shape::default() };
    assert_eq!(shape.scope(), 3);
    assert_eq!(shape.descend(3, 0, b"a"), Some(3));
    assert_eq!(shape.descend(3, 0, b"b"), Some(0));
    assert_eq!(shape.descend(3, 1, b"0"), None);
    assert_eq!(shape.descend(3, 1, b"1"), Some(1));
    assert_eq!(shape.descend(1, 2, b"b"), None);
    assert_eq!(shape.descend(0, 1, b"0"), Some(0));
}

#[test]
fn bytes_that_are_cut_are_no_shape() {
    let bytes = b"\x03\x02\0\0\0\x01\0\0\0a\x01\0\0\0b\0\0\0\0\x01\0\0\0\x02\0\0\0pw\x01\0\0\0\x02\0\0\0ss\
        \x01\0\0\0\x01\0\0\0\x01\0\0\0x\x03\0\0\0***";
    let shape = Shape::read(bytes).unwrap();
    assert!(["pass", "ss", "sssh"].iter().all(|key| shape.is_redacted(key.as_bytes())));
    assert!(["", "s", "pas", "s_s", "sSs"].iter().all(|key| !shape.is_redacted(key.as_bytes())));
    assert!(shape.camel && shape.omit_nil && shape.is_redacted(b"pw") && !shape.is_redacted(b"p"));
    assert_eq!(
        (shape.names, shape.pointers, shape.redacted),
        (vec![[b"a".to_vec(), b"b".to_vec()]], vec![vec![b"x".to_vec()]], b"***".to_vec())
    );
    assert!((0..bytes.len()).all(|len| Shape::read(&bytes[..len]).is_none()));
}
