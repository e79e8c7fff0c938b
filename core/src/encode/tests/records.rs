use super::*;
use crate::encode::EncodeErrorKind;
use crate::options::Records;

const LINES: EncodeOptions<'_> = EncodeOptions { records: Records::Lines, ..PLAIN };
const SEQUENCE: EncodeOptions<'_> = EncodeOptions { records: Records::Sequence, ..PLAIN };

#[test]
fn elements_are_texts_of_their_own() {
    let list =
        List(vec![Int(1), bin("a\n"), List(vec![]), List(vec![Int(2), List(vec![Int(3)])]), fields(&[("b", Int(4))])]);
    assert_eq!(json_with(LINES, &list), "1\n\"a\\n\"\n[]\n[2,[3]]\n{\"b\":4}\n");
    assert_eq!(json_with(SEQUENCE, &Bytes(b"\x01\x02")), "\x1E1\n\x1E2\n");
    assert_eq!(json_with(LINES, &List(vec![])), "");
    // A term that is not a list becomes one text.
    assert_eq!(json_with(LINES, &fields(&[("b", Int(4))])), "{\"b\":4}");
}

#[test]
fn depths_and_offsets_are_those_of_each_record() {
    let list = List(vec![Int(1), Pid, List(vec![Pid])]);
    let (text, holes) = encode_with(&list, &LINES).unwrap();
    assert_eq!(text, "1\n\n[]\n");
    assert_eq!(holes.iter().map(|hole| (hole.offset, hole.depth)).collect::<Vec<_>>(), [(2, 0), (4, 1)]);
    let flat = EncodeOptions { max_depth: 1, ..LINES };
    assert_eq!(json_with(flat, &List(vec![List(vec![Int(1)])])), "[1]\n");
    let (kind, path) = fault(&List(vec![Int(1), List(vec![List(vec![])])]), &flat);
    assert_eq!((kind, path.as_str()), (EncodeErrorKind::MaxDepth, "/1/0"));
}

fn fault(term: &T, options: &EncodeOptions<'_>) -> (EncodeErrorKind, String) {
    let error = encode_with(term, options).expect_err("an error");
    (error.kind, error.path)
}

#[test]
fn an_error_has_the_number_of_its_record() {
    let invalid = Bin(vec![255]);
    for options in [LINES, SEQUENCE] {
        let list =
            List(vec![bin("[{"), fields(&[("b", Int(4))]), fields(&[("x", List(vec![Int(1), invalid.clone()]))])]);
        assert_eq!(fault(&list, &options), (EncodeErrorKind::InvalidUtf8, "/2/x/1".into()));
        assert_eq!(fault(&List(vec![invalid.clone()]), &options).1, "/0");
        let improper = Improper(vec![Int(1)], Box::new(Int(2)));
        assert_eq!(fault(&List(vec![Int(1), improper]), &options), (EncodeErrorKind::ImproperList, "/1".into()));
    }
    let short = EncodeOptions { max_bytes: 5, ..LINES };
    assert_eq!(json_with(short, &List(vec![Int(1), Int(23)])), "1\n23\n");
    assert_eq!(fault(&List(vec![Int(1), Int(2), Int(3)]), &short).0, EncodeErrorKind::MaxBytes);
}
