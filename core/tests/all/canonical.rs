//! Canonical JSON (RFC 8785): numbers, escapes, the order of members, and texts that have no canonical form.

use proptest::prelude::*;
use rustyjson_core::canonical::canonicalize;
use rustyjson_core::{DecodeOptions, Error, ErrorKind, Output, Scratch};

fn canonical(json: &[u8]) -> Result<String, Error> {
    let mut out = Output::new(Vec::new());
    canonicalize(json, &DecodeOptions::DEFAULT, 0, &mut Scratch::default(), &mut out)?;
    Ok(String::from_utf8(out.written().to_vec()).expect("UTF-8"))
}

/// RFC 8785 appendix B, and the edges of the notations.
#[test]
fn numbers() {
    let rows = [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in rows {
        let value = f64::from_bits(bits);
        assert_eq!(canonical(format!("{value:e}").as_bytes()).as_deref(), Ok(text), "{bits:x}");
    }
}

#[test]
fn integers() {
    let exact = ["0", "-1", "9007199254740992", "9007199254740994", "-9007199254740994", "100000000000000000000"];
    exact.iter().for_each(|text| assert_eq!(canonical(text.as_bytes()).as_deref(), Ok(*text)));
    assert_eq!(canonical(b"-0").as_deref(), Ok("0"));
    // The text denotes the integer, though the float nearest to it does not.
    assert_eq!(canonical(format!("1{}", "0".repeat(23)).as_bytes()).as_deref(), Ok("1e+23"));
    for text in ["9007199254740993", "-9007199254740993", "1152921504606846976", "18446744073709551615"] {
        assert_eq!(canonical(text.as_bytes()), Err(Error::new(ErrorKind::InexactInteger, 0)), "{text}");
    }
    let inexact = [format!("1{}", "0".repeat(400)), format!("1{}1", "0".repeat(30))];
    for text in inexact {
        assert_eq!(canonical(text.as_bytes()), Err(Error::new(ErrorKind::InexactInteger, 0)), "{text}");
    }
}

#[test]
fn escapes() {
    let given = r#"["\u0000\u0008\t\n\u000B\f\r\u001f\u007f\"\\\/\u0041\u20ac\ud83d\ude00\\u00AF"]"#;
    let expected = "[\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\\\"\\\\/A\u{20ac}\u{1f600}\\\\u00AF\"]";
    assert_eq!(canonical(given.as_bytes()).as_deref(), Ok(expected));
}

#[test]
fn members() {
    let rows = [
        (r#"{"b":1,"a":{"d":[],"c":{}},"":null}"#, r#"{"":null,"a":{"c":{},"d":[]},"b":1}"#),
        (r#"[{"b":[{"y":1,"x":2},{"y":3,"x":4}],"a":0}]"#, r#"[{"a":0,"b":[{"x":2,"y":1},{"x":4,"y":3}]}]"#),
        (r#"{"a":{"z":1,"y":2},"b":{"z":1,"y":2}}"#, r#"{"a":{"y":2,"z":1},"b":{"y":2,"z":1}}"#),
        ("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\u{d7ff}\":3}", "{\"\u{d7ff}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"),
        (r#" { "\u0062" : 1 , "a" : 2 } "#, r#"{"a":2,"b":1}"#),
    ];
    rows.iter().for_each(|(given, expected)| assert_eq!(canonical(given.as_bytes()).as_deref(), Ok(*expected)));
}

#[test]
fn texts_without_a_canonical_form() {
    let rows: [(&[u8], ErrorKind, usize); 7] = [
        (br#"{"a":1,"b":2,"a":3}"#, ErrorKind::DuplicateKey, 13),
        (br#"{"a":1,"\u0061":3}"#, ErrorKind::DuplicateKey, 7),
        (br#""\ud800""#, ErrorKind::LoneSurrogate, 1),
        (b"\"\xff\"", ErrorKind::InvalidUtf8, 1),
        (b"1e400", ErrorKind::NumberOutOfRange, 0),
        (b"\xEF\xBB\xBF1", ErrorKind::ByteOrderMark, 0),
        (b"[1,]", ErrorKind::TrailingComma, 3),
    ];
    rows.iter().for_each(|(given, kind, at)| assert_eq!(canonical(given), Err(Error::new(*kind, *at))));
}

#[test]
fn limits() {
    let mut out = Output::new(Vec::new());
    let mut limited = |most| canonicalize(b"[1e3]", &DecodeOptions::DEFAULT, most, &mut Scratch::default(), &mut out);
    assert_eq!(limited(6), Ok(()));
    assert_eq!(limited(5), Err(Error::new(ErrorKind::MaxBytes, 0)));
}

fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-c\"\u{1}\u{e000}\u{10000}]{0,3}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            proptest::collection::vec(("[a-f\u{e000}\u{10000}]{0,2}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Sorted by a naive walk; numbers are those of the core, which the tables judge.
fn naive(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(naive).collect::<Vec<_>>().join(",")),
        serde_json::Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            let members =
                members.iter().map(|(key, value)| format!("{}:{}", naive(&(**key).clone().into()), naive(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => canonical(other.to_string().as_bytes()).expect("a scalar"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_what_a_naive_walk_gives(value in tree(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let first = canonical(text.expect("JSON").as_bytes()).expect("canonical");
        prop_assert_eq!(&first, &naive(&value));
        // A second time changes nothing.
        prop_assert_eq!(canonical(first.as_bytes()), Ok(first));
    }
}
