use super::*;
use crate::encode::EncodeErrorKind;

const REVERSE: EncodeOptions<'_> = EncodeOptions { reverse_large_maps: true, ..PLAIN };

#[test]
fn keys() {
    let keys = vec![bin("a"), Atom("b"), Int(1), Int(-2), Float(2.5), Atom("nil"), Atom("true"), bin("q\"")];
    let map = Map(keys.into_iter().map(|key| (key, Int(0))).collect());
    assert_eq!(json(&map), r#"{"a":0,"b":0,"1":0,"-2":0,"2.5":0,"nil":0,"true":0,"q\"":0}"#);
    assert_eq!(json(&Map(vec![])), "{}");
    let big = Map(vec![(Big(false, vec![0, 0, 0, 0, 0, 0, 0, 0, 1]), Int(0))]);
    assert_eq!(json(&big), r#"{"18446744073709551616":0}"#);
}

#[test]
fn keys_that_cannot_be_text() {
    for key in [Tuple(vec![Int(1)]), Map(vec![]), Pid] {
        assert_eq!(error(&List(vec![Map(vec![(key, Int(1))])])).kind, EncodeErrorKind::InvalidKey);
    }
}

#[test]
fn keys_that_the_shell_knows() {
    let map = Map(vec![(Bytes(b"ab"), Int(1)), (structure("Elixir.Other", &[("x", Int(5))]), Int(2))]);
    let (text, holes) = encode_with(&map, &EncodeOptions::default()).unwrap();
    assert_eq!(text, "{:1,:2}");
    assert!(holes.iter().all(|hole| hole.key && hole.depth == 1));
    assert_eq!(holes.iter().map(|hole| hole.offset).collect::<Vec<_>>(), [1, 4]);
    // Where keys have to be compared, the shell gets the whole map.
    let (text, holes) = encode_with(&List(vec![map]), &SORT).unwrap();
    assert_eq!((text.as_str(), holes.len(), holes[0].key), ("[]", 1, false));
}

#[test]
fn sorted_by_bytes_everywhere() {
    let inner = Map(vec![(bin("b"), Int(1)), (bin("a"), Int(2))]);
    let map =
        Map(vec![(bin("é"), inner.clone()), (Atom("b"), List(vec![inner])), (Int(10), Int(0)), (bin("B"), Int(0))]);
    assert_eq!(json_with(SORT, &map), r#"{"10":0,"B":0,"b":[{"a":2,"b":1}],"é":{"a":2,"b":1}}"#);
}

#[test]
fn strict_maps() {
    let map = Map(vec![(Atom("a"), Int(1)), (bin("b"), Int(2)), (bin("a"), Int(3))]);
    let error = encode_with(&List(vec![map.clone()]), &STRICT).unwrap_err();
    assert_eq!((error.kind, error.payload.as_slice()), (EncodeErrorKind::DuplicateKey, &b"a"[..]));
    assert_eq!(json(&map), r#"{"a":1,"b":2,"a":3}"#);
    let fine = Map(vec![(Atom("b"), Int(1)), (bin("a"), Int(2))]);
    assert_eq!(json_with(STRICT, &fine), r#"{"b":1,"a":2}"#);
}

#[test]
fn large_maps_backwards() {
    let map = |n| Map((0..n).map(|i| (Int(i), List(vec![Map(vec![(bin("x"), Int(i))])]))).collect());
    let text = |range: &mut dyn Iterator<Item = i64>| {
        let members: Vec<_> = range.map(|i| format!("\"{i}\":[{{\"x\":{i}}}]")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(json_with(REVERSE, &map(32)), text(&mut (0..32)));
    assert_eq!(json_with(REVERSE, &map(33)), text(&mut (0..33).rev()));
    assert_eq!(json_with(PLAIN, &map(33)), text(&mut (0..33)));
    // Miri would take a minute for maps within maps.
    if cfg!(miri) {
        return;
    }
    let nested = List(vec![Map((0..40).map(|i| (Int(i), map(33))).collect()), Int(7)]);
    let members: Vec<_> = (0..40).rev().map(|i| format!("\"{i}\":{}", text(&mut (0..33).rev()))).collect();
    assert_eq!(json_with(REVERSE, &nested), format!("[{{{}}},7]", members.join(",")));
}

#[test]
fn deep_sorted_maps_take_linear_time() {
    let nested = |depth| {
        // Written flat: as a term of this depth the test itself would recurse too deep.
        let open = Map(vec![(bin("a"), Int(0)), (bin("b"), List(vec![Int(1)]))]).etf();
        let open = &open[1..open.len() - 3];
        let etf = [&[131][..], &open.repeat(depth), &[97, 1], &vec![106; depth]].concat();
        let start = std::time::Instant::now();
        let options = EncodeOptions { strict_maps: true, max_depth: u32::MAX, ..SORT };
        encode_etf(&etf, &options, &[]).unwrap();
        start.elapsed()
    };
    // Miri interprets, a thousand times slower.
    let depth = if cfg!(miri) { 20 } else { 500 };
    nested(2 * depth);
    // Eight times the depth would take 64 times as long in quadratic time. Others use the processor too: the least of several
    // times counts, and more of them are taken before the times are believed.
    let (mut short, mut long) = (nested(depth), nested(8 * depth));
    let linear = (0..50).any(|_| {
        (short, long) = (short.min(nested(depth)), long.min(nested(8 * depth)));
        long < short * 40
    });
    assert!(linear, "{long:?} for {} levels, {short:?} for {depth}", 8 * depth);
}
