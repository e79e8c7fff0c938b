use super::*;
use crate::encode::EncodeErrorKind;
use crate::etf::plans;
use crate::options::Pretty;
use proptest::prelude::*;

const JAVASCRIPT_SAFE: EncodeOptions<'_> = EncodeOptions { escape: Escape::JavascriptSafe, ..PLAIN };
const UNICODE_SAFE: EncodeOptions<'_> = EncodeOptions { escape: Escape::UnicodeSafe, ..PLAIN };

#[test]
fn scalars() {
    assert_eq!(json(&Atom("nil")), "null");
    assert_eq!(json(&Atom("true")), "true");
    assert_eq!(json(&Atom("false")), "false");
    assert_eq!(json(&Atom("null")), r#""null""#);
    assert_eq!(json(&Atom("日本")), r#""日本""#);
    assert_eq!(json(&bin("")), r#""""#);
    assert_eq!(json(&bin("a")), r#""a""#);
}

#[test]
fn latin_atoms() {
    let etf = [131, 100, 0, 2, 0xE9, b'a'];
    let (text, _) = encode_etf(&etf, &EncodeOptions::default(), &[]).unwrap();
    assert_eq!(text, r#""éa""#);
}

#[test]
fn integers() {
    let edges = [0, 1, -1, 9, 10, 99, 100, 255, 256, 9_999, 10_000, 99_999_999, 100_000_000, i64::MAX, i64::MIN];
    for value in edges {
        assert_eq!(json(&Int(value)), value.to_string());
    }
    for digits in 0..19 {
        let value = 10_i64.pow(digits);
        for value in [value - 1, value, value + 1, -value] {
            assert_eq!(json(&Int(value)), value.to_string());
        }
    }
    assert_eq!(json(&Big(false, vec![0, 0, 0, 0, 0, 0, 0, 0, 1])), "18446744073709551616");
    assert_eq!(json(&Big(true, vec![0, 0, 0, 0, 0, 0, 0, 0x80])), i64::MIN.to_string());
    assert_eq!(json(&Big(false, vec![0xFF; 8])), u64::MAX.to_string());
    assert_eq!(json(&Big(true, vec![0xFF; 8])), format!("-{}", u64::MAX));
}

proptest! {
    #[test]
    fn any_integer(value: i64) {
        prop_assert_eq!(json(&Int(value)), value.to_string());
    }
}

#[test]
fn lists_and_tuples() {
    assert_eq!(json(&List(vec![])), "[]");
    assert_eq!(json(&Tuple(vec![])), "[]");
    assert_eq!(json(&List(vec![Int(1), List(vec![]), Tuple(vec![Int(2), Atom("nil")])])), "[1,[],[2,null]]");
    assert_eq!(json(&Bytes(b"\x01\xFF")), "[1,255]");
    assert_eq!(json(&List(vec![Bytes(b"ab"), Int(3)])), "[[97,98],3]");
}

#[test]
fn pretty_layout() {
    let term = List(vec![Int(1), List(vec![]), Map(vec![]), Map(vec![(bin("a"), List(vec![Int(2)]))])]);
    let mut options = EncodeOptions {
        pretty: Some(Pretty { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " }),
        ..EncodeOptions::default()
    };
    let (text, _) = encode_with(&term, &options).unwrap();
    assert_eq!(text, "[\n  1,\n  [],\n  {},\n  {\n    \"a\": [\n      2\n    ]\n  }\n]");
    options.base_depth = 1;
    let (text, _) = encode_with(&List(vec![Int(1)]), &options).unwrap();
    assert_eq!(text, "[\n    1\n  ]");
}

#[test]
fn escape_modes() {
    let text = bin("\"\\/<\u{8}\t\n\u{C}\r\0\u{1F}\u{7F}é\u{2028}\u{2029}日😀\u{10FFFF}");
    assert_eq!(
        json_with(PLAIN, &text),
        "\"\\\"\\\\/<\\b\\t\\n\\f\\r\\u0000\\u001F\u{7F}é\u{2028}\u{2029}日😀\u{10FFFF}\""
    );
    assert_eq!(
        json_with(HTML_SAFE, &text),
        "\"\\\"\\\\\\/\\u003C\\b\\t\\n\\f\\r\\u0000\\u001F\u{7F}é\\u2028\\u2029日😀\u{10FFFF}\""
    );
    assert_eq!(
        json_with(JAVASCRIPT_SAFE, &text),
        "\"\\\"\\\\/<\\b\\t\\n\\f\\r\\u0000\\u001F\u{7F}é\\u2028\\u2029日😀\u{10FFFF}\""
    );
    assert_eq!(
        json_with(UNICODE_SAFE, &text),
        "\"\\\"\\\\/<\\b\\t\\n\\f\\r\\u0000\\u001F\u{7F}\\u00E9\\u2028\\u2029\\u65E5\\uD83D\\uDE00\\uDBFF\\uDFFF\""
    );
}

#[test]
fn atoms_are_escaped_too() {
    assert_eq!(json_with(HTML_SAFE, &Atom("a</")), r#""a\u003C\/""#);
    assert_eq!(json_with(HTML_SAFE, &Map(vec![(Atom("a/"), Int(1))])), r#"{"a\/":1}"#);
}

#[test]
fn payloads_are_bounded() {
    let long = [&b"a".repeat(1000)[..], b"\xFE"].concat();
    let error = encode_with(&Bin(long), &PLAIN).unwrap_err();
    assert_eq!(error.payload, [&b"\xFE"[..], &b"a".repeat(crate::encode::error::MAX_START)].concat());

    let strict = STRICT;
    for (key, shown) in [
        ("k".repeat(128), "k".repeat(128)),
        ("k".repeat(129), format!("{}…", "k".repeat(128))),
        (format!("k{}", "é".repeat(500)), format!("k{}…", "é".repeat(63))),
        ("\u{1}".repeat(500), format!("{}…", "\\u0001".repeat(128))),
    ] {
        let key = || Bin(key.clone().into_bytes());
        let error = encode_with(&Map(vec![(key(), Int(1)), (key(), Int(2))]), &strict).unwrap_err();
        assert_eq!(String::from_utf8(error.payload).unwrap(), shown);
    }
}

#[test]
fn invalid_utf8_names_the_binary_and_the_place() {
    for options in [PLAIN, HTML_SAFE, JAVASCRIPT_SAFE, UNICODE_SAFE] {
        for bad in [&b"a\xFF"[..], b"\xC0\x80", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE2\x80", b"\"\x80"] {
            let term = Map(vec![(bin("k"), List(vec![Int(1), Bin(bad.to_vec())]))]);
            let error = encode_with(&term, &options).unwrap_err();
            assert_eq!(error.kind, EncodeErrorKind::InvalidUtf8);
            let invalid = bad.utf8_chunks().next().map(|chunk| bad[chunk.valid().len()]);
            assert_eq!(error.payload, [&[invalid.unwrap()], bad].concat());
            assert_eq!(error.path, "/k/1");
        }
    }
}

#[test]
fn depth_is_counted_as_decode_counts() {
    let nested = |depth| (0..depth).fold(Int(1), |inner, _| List(vec![inner]));
    let at_most = |max_depth, base_depth, term: &T| {
        let options = EncodeOptions { max_depth, base_depth, ..PLAIN };
        encode_with(term, &options).map(drop).map_err(|error| error.kind)
    };
    assert_eq!(at_most(3, 0, &nested(3)), Ok(()));
    assert_eq!(at_most(3, 0, &nested(4)), Err(EncodeErrorKind::MaxDepth));
    assert_eq!(at_most(3, 1, &nested(3)), Err(EncodeErrorKind::MaxDepth));
    assert_eq!(at_most(1, 0, &List(vec![List(vec![])])), Err(EncodeErrorKind::MaxDepth));
    assert_eq!(at_most(1, 0, &List(vec![Map(vec![])])), Err(EncodeErrorKind::MaxDepth));
    assert_eq!(at_most(u32::MAX, 0, &nested(1000)), Ok(()));
}

#[test]
fn output_is_capped() {
    let term = List((0..100).map(Int).collect());
    let whole = json(&term).len() as u64;
    let with = |max_bytes| encode_with(&term, &EncodeOptions { max_bytes, ..PLAIN }).map_err(|e| e.kind);
    assert!(with(whole).is_ok());
    assert_eq!(with(whole - 1).unwrap_err(), EncodeErrorKind::MaxBytes);
    assert_eq!(with(5).unwrap_err(), EncodeErrorKind::MaxBytes);
    let long = bin(&"x".repeat(200_000));
    let result = encode_with(&long, &EncodeOptions { max_bytes: 100_000, ..PLAIN });
    assert_eq!(result.unwrap_err().kind, EncodeErrorKind::MaxBytes);
    let roomy = EncodeOptions { budget: 1 << 30, ..EncodeOptions::default() };
    assert_eq!(encode_with(&long, &roomy).unwrap_err().kind, EncodeErrorKind::Budget);
    let budget = EncodeOptions { budget: 5, ..EncodeOptions::default() };
    assert_eq!(encode_with(&term, &budget).unwrap_err().kind, EncodeErrorKind::Budget);
}

#[test]
fn digits_that_cannot_fit_are_not_written() {
    let decimal =
        |digits| structure("Elixir.Decimal", &[("coef", Big(false, digits)), ("exp", Int(0)), ("sign", Int(1))]);
    // It takes minutes to turn these into digits.
    let bytes = if cfg!(miri) { 1 << 10 } else { 4 << 20 };
    let huge = vec![0xFF; bytes];
    let options = EncodeOptions { max_bytes: bytes as u64 / 4, ..PLAIN };
    for term in [
        Big(false, huge.clone()),
        Big(true, huge.clone()),
        List(vec![Big(false, huge.clone())]),
        Map(vec![(Big(false, huge.clone()), Int(1))]),
        Map(vec![(decimal(huge.clone()), Int(1))]),
        decimal(huge),
    ] {
        for options in [options, EncodeOptions { sort_keys: true, ..options }] {
            assert_eq!(encode_with(&term, &options).unwrap_err().kind, EncodeErrorKind::MaxBytes);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn digits_that_fit_are_written() {
    for bytes in 8..300 {
        for top in [1, 2, 4, 9, 10, 127, 128, 255] {
            for rest in [0, 255] {
                let mut magnitude = vec![rest; bytes];
                magnitude.push(top);
                for negative in [false, true] {
                    let term = Big(negative, magnitude.clone());
                    let text = json(&term);
                    let with = |max_bytes| {
                        encode_with(&term, &EncodeOptions { max_bytes, ..PLAIN }).map_err(|error| error.kind)
                    };
                    assert_eq!(with(text.len() as u64).unwrap().0, text);
                    assert_eq!(with(text.len() as u64 - 1).unwrap_err(), EncodeErrorKind::MaxBytes);
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn long_digits_are_no_work_for_a_slice_wherever_they_stand() {
    let decimal =
        |digits| structure("Elixir.Decimal", &[("coef", Big(false, digits)), ("exp", Int(-2)), ("sign", Int(1))]);
    let terms = |len: usize| {
        let digits = vec![0xFF; len];
        let member = |key| Map(vec![(key, Int(1))]);
        [
            Big(true, digits.clone()),
            member(Big(false, digits.clone())),
            decimal(digits.clone()),
            member(decimal(digits)),
        ]
    };
    for unlimited in [PLAIN, SORT, STRICT] {
        let options = EncodeOptions { budget: 1 << 30, ..unlimited };
        for term in terms(512) {
            assert!(encode_with(&term, &options).is_ok());
        }
        for term in terms(513) {
            assert_eq!(encode_with(&term, &options).unwrap_err().kind, EncodeErrorKind::Budget);
            assert!(encode_with(&term, &unlimited).is_ok());
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn long_keys_that_are_gathered_are_no_work_for_a_slice() {
    let keys = Map((0..10).map(|i| (bin(&format!("{i}{}", "x".repeat(20_000))), Int(1))).collect());
    let options = EncodeOptions { budget: 1 << 30, ..SORT };
    assert_eq!(encode_with(&keys, &options).unwrap_err().kind, EncodeErrorKind::Budget);
    let unsorted = EncodeOptions { budget: 1 << 30, ..EncodeOptions::default() };
    assert!(encode_with(&keys, &unsorted).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "too long to interpret")]
fn words_are_looked_for_in_long_keys_where_nobody_waits() {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let words: Vec<u8> = (0..64).flat_map(|number| text(&format!("secret_{number}"))).collect();
    // Flags, and no names, modules or keys; no pointers.
    let shape = [&[0; 13][..], &64_u32.to_le_bytes(), &words, &[0; 4], &text("***")].concat();
    for gathers in [PLAIN, SORT, STRICT] {
        let unlimited = EncodeOptions { shape: &shape, ..gathers };
        let options = EncodeOptions { budget: 1 << 30, ..unlimited };
        for (len, is_short) in [(800, true), (1_000, false)] {
            for end in ["", "_63"] {
                let term = Map(vec![(bin(&format!("{}secret{end}", "s".repeat(len))), Int(1))]);
                let kind = encode_with(&term, &options).err().map(|error| error.kind);
                assert_eq!(kind, (!is_short).then_some(EncodeErrorKind::Budget), "{len}");
                let (json, _) = encode_with(&term, &unlimited).unwrap();
                assert_eq!(json.ends_with(":\"***\"}"), !end.is_empty(), "{json}");
            }
        }
    }
}

#[test]
fn improper_lists_and_broken_bytes_are_errors() {
    let improper = Improper(vec![Int(1)], Box::new(Int(2)));
    let error = error(&Map(vec![(bin("a/b"), List(vec![Int(0), improper]))]));
    assert_eq!((error.kind, error.path.as_str()), (EncodeErrorKind::ImproperList, "/a~1b/1"));
    for etf in
        [&[131, 108, 0, 0, 0, 2, 97, 1][..], &[131, 109, 0, 0, 0, 9, 97], &[131], &[131, 80, 0], &[131, 116, 255]]
    {
        let result = encode_etf(etf, &EncodeOptions::default(), &[]);
        assert!(result.is_err(), "{etf:?}");
    }
}

#[test]
fn what_json_has_no_form_for_is_a_hole() {
    let term = List(vec![Int(1), Pid, List(vec![Pid]), Int(2)]);
    let (text, holes) = encode_with(&term, &EncodeOptions::default()).unwrap();
    assert_eq!(text, "[1,,[],2]");
    let places: Vec<_> = holes.iter().map(|hole| (hole.offset, hole.depth, hole.term.offset(), hole.key)).collect();
    assert_eq!(places, [(3, 1, 8, false), (5, 2, 31, false)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 2000 }))]
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![97, 98, 70, 104, 106, 107, 108, 109, 110, 116, 119, 0, 1, 2, 3, 10, b'_']),
    ], 0..60), fields in prop::array::uniform9(0..5_u8)) {
        let mut etf = vec![131];
        etf.extend(bytes);
        let mut reader = Reader::new(&etf, &[]);
        let root = reader.root().unwrap();
        let mut out = Output::new(Vec::new());
        let mut bytes = EncodeOptions::DEFAULT_BYTES;
        bytes[..fields.len()].copy_from_slice(&fields);
        let (options, _) = EncodeOptions::from_bytes(&bytes).unwrap();
        let _ = encode(&mut reader, root, &EncodeOptions { max_depth: 20, max_bytes: 1000, ..options }, &mut out);
        let _ = plans::parse(&etf);
    }
}
