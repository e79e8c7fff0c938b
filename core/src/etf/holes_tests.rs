use super::*;
use crate::options::EncodeOptions;
use crate::options::Pretty;

/// `{1, #Fun, [:a, %{"k" => <pid>}]}`, roughly, with the offset of each term.
const ETF: &[u8] = b"\x83\x68\x03\x61\x01\x70\0\0\0\x06\xff\xff\x6c\0\0\0\x02\x77\x01a\x74\0\0\0\x01\x6d\0\0\0\x01k\
    \x58\x77\x01n\0\0\0\x01\0\0\0\0\0\0\0\0\x6a";
const FUN: (u32, u32) = (5, 1);
const PID: (u32, u32) = (31, 3);

fn record(claims: &[Claim]) -> Vec<u8> {
    let mut out = b"\x010123456789".to_vec();
    let len = out.len();
    assert!(Partial::write(claims.iter().copied(), &mut out, len));
    out[1..].to_vec()
}

fn claim(offset: u32, (start, depth): (u32, u32)) -> Claim {
    Claim { offset, start, depth, key: false }
}

fn find(claims: &[Claim]) -> Result<Vec<Range<usize>>, Fault> {
    let body = record(claims);
    let (holes, text) = read(&body, ETF, &EncodeOptions::default(), &[])?;
    assert_eq!(text, b"0123456789");
    Ok(holes.into_iter().map(|hole| hole.term).collect())
}

#[test]
fn finds_terms_in_any_order() {
    assert_eq!(find(&[claim(0, FUN), claim(0, PID)]), Ok(vec![5..12, 31..47]));
    assert_eq!(find(&[claim(0, PID), claim(10, FUN)]), Ok(vec![31..47, 5..12]));
}

#[test]
fn refuses_what_is_no_term() {
    for start in (0..50).filter(|start| ![1, 3, 5, 12, 17, 20, 25, 31, 47].contains(start)) {
        assert_eq!(find(&[claim(0, (start, 0))]), Err(Fault::Place), "{start}");
    }
    for (claims, fault) in [
        (&[claim(0, (u32::MAX, 0))][..], Fault::Place),
        (&[claim(0, FUN), claim(1, FUN)], Fault::Place),
        (&[claim(3, FUN), claim(2, PID)], Fault::List),
        (&[claim(11, FUN)], Fault::List),
        (&[claim(0, (FUN.0, 2))], Fault::Place),
        (&[], Fault::List),
    ] {
        assert_eq!(find(claims), Err(fault), "{claims:?}");
    }
    for body in [&b""[..], b"\x01\0\0", b"\x01\0\0\0", b"\xff\xff\xff\xff"] {
        assert_eq!(read(body, ETF, &EncodeOptions::default(), &[]), Err(Fault::List));
    }
}

#[test]
fn refuses_what_the_core_writes() {
    // The tuple, the integer, the list, the atom, the map, the key and the tail.
    for start in [1, 3, 12, 17, 20, 25, 47] {
        for key in [false, true] {
            assert_eq!(find(&[Claim { key, ..claim(0, (start, 0)) }]), Err(Fault::Written), "{start}");
        }
    }
    assert_eq!(find(&[Claim { key: true, ..claim(0, PID) }]), Err(Fault::Written), "a value is not a key");
}

fn atom(name: &str) -> Vec<u8> {
    [&[119, name.len() as u8], name.as_bytes()].concat()
}

fn map(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
    let parts: Vec<u8> = entries.iter().flat_map(|(key, value)| [*key, *value].concat()).collect();
    [&[116, 0, 0, 0, entries.len() as u8], &parts[..]].concat()
}

fn structure(module: &str, fields: &[(&str, &[u8])]) -> Vec<u8> {
    let names: Vec<_> = fields.iter().map(|(name, _)| atom(name)).collect();
    let (key, module) = (atom("__struct__"), atom(module));
    let mut entries: Vec<(&[u8], &[u8])> = vec![(&key, &module)];
    entries.extend(names.iter().zip(fields).map(|(name, (_, value))| (&name[..], *value)));
    map(&entries)
}

/// Whether a hole is accepted that is all of the document.
fn root(term: &[u8], options: &EncodeOptions<'_>, plans: &[PlannedStruct<'_>]) -> bool {
    let etf = [&[131], term].concat();
    let body = record(&[claim(0, (1, 0))]);
    match read(&body, &etf, options, plans) {
        Ok((holes, _)) => holes[0].term == (1..etf.len()),
        Err(fault) => {
            assert_eq!(fault, Fault::Written);
            false
        }
    }
}

const ONE: &[u8] = b"\x61\x01";
const TEXT: &[u8] = b"\x6d\0\0\0\x01a";
const CHARLIST: &[u8] = b"\x6b\0\x01a";
const EMPTY: &[u8] = b"\x6a";
const PRETTY: Pretty<'_> = Pretty { indent: b" ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };

#[test]
fn structs_by_options_and_plans() {
    let plain = EncodeOptions::default();
    let (lean, free) = (EncodeOptions { lean: true, ..plain }, EncodeOptions { plain_structs: true, ..plain });
    let user = structure("Elixir.User", &[("a", ONE)]);
    let plans = |field: &'static [u8]| {
        [PlannedStruct { module: b"Elixir.User", fields: vec![field], names: None, omitted: None }]
    };
    assert!(root(&user, &plain, &[]));
    assert!(root(&user, &lean, &[]));
    assert!(!root(&user, &free, &[]));
    assert!(!root(&user, &plain, &plans(b"a")));
    assert!(root(&user, &plain, &plans(b"lost")));

    let date = structure("Elixir.Date", &[("year", ONE)]);
    assert!(root(&date, &plain, &[]));
    assert!(!root(&date, &lean, &[]));
    let inner = map(&[]);
    assert!(!root(&structure("Elixir.MapSet", &[("map", &inner)]), &plain, &[]));
    assert!(root(&structure("Elixir.MapSet", &[("map", ONE)]), &plain, &[]));
    let range = |last: &[u8]| structure("Elixir.Range", &[("first", ONE), ("last", last), ("step", ONE)]);
    assert!(!root(&range(b"\x62\xff\xff\xff\xff"), &plain, &[]));
    assert!(root(&range(b"\x6e\x09\0\x01\x01\x01\x01\x01\x01\x01\x01\x01"), &plain, &[]));
}

#[test]
fn fragments() {
    let plain = EncodeOptions::default();
    let fragment = |encode| structure("Elixir.RustyJson.Fragment", &[("encode", encode)]);
    assert!(!root(&fragment(TEXT), &plain, &[]));
    assert!(root(&fragment(b"\x70\0\0\0\x06\xff\xff"), &plain, &[]));
    assert!(root(&fragment(TEXT), &EncodeOptions { pretty: Some(PRETTY), ..plain }, &[]));
}

#[test]
fn odd_keys() {
    let plain = EncodeOptions::default();
    let strict = EncodeOptions { strict_maps: true, ..plain };
    let sorted = EncodeOptions { sort_keys: true, plain_structs: true, ..plain };
    let user = structure("Elixir.User", &[]);
    for key in [CHARLIST, EMPTY, &user] {
        let odd = map(&[(TEXT, ONE), (key, ONE)]);
        assert!(!root(&odd, &plain, &[]));
        assert!(root(&odd, &strict, &[]) && root(&odd, &sorted, &[]));
        let list = [b"\x6c\0\0\0\x02\x68\x02", TEXT, ONE, b"\x68\x02", key, ONE, b"\x6a"].concat();
        let ordered = structure("Elixir.RustyJson.OrderedObject", &[("values", &list)]);
        assert!(!root(&ordered, &plain, &[]));
        assert!(root(&ordered, &strict, &[]) && root(&ordered, &sorted, &[]));
    }
    let even = map(&[(TEXT, CHARLIST), (ONE, EMPTY)]);
    assert!(!root(&even, &strict, &[]) && !root(&even, &sorted, &[]));
    let list = [b"\x6c\0\0\0\x01\x68\x02", TEXT, CHARLIST, b"\x6a"].concat();
    let ordered = structure("Elixir.RustyJson.OrderedObject", &[("values", &list)]);
    assert!(!root(&ordered, &strict, &[]));
    assert!(root(&structure("Elixir.RustyJson.OrderedObject", &[("values", ONE)]), &plain, &[]));
}

#[test]
fn keys_of_maps_and_pairs() {
    let hole = |etf: &[u8], start: u32| {
        let body = record(&[Claim { key: true, ..claim(0, (start, 0)) }]);
        read(&body, etf, &EncodeOptions::default(), &[]).map(|(holes, _)| holes[0].key)
    };
    let etf = [b"\x83", &map(&[(CHARLIST, CHARLIST)])[..]].concat();
    assert_eq!(hole(&etf, 6), Ok(true));
    assert_eq!(hole(&etf, 6 + CHARLIST.len() as u32), Err(Fault::Written));
    let etf = [b"\x83\x68\x02", CHARLIST, CHARLIST].concat();
    assert_eq!(hole(&etf, 3), Ok(true));
    assert_eq!(hole(&etf, 3 + CHARLIST.len() as u32), Err(Fault::Written));
    let etf = [b"\x83", &map(&[(TEXT, ONE)])[..]].concat();
    assert_eq!(hole(&etf, 6), Err(Fault::Written));
}

#[test]
fn broken_input_is_refused() {
    for etf in [&b"\x83"[..], b"\x83\x74\0\0\0\x01\x61\x01", b"\x83\x74\xff\xff\xff\xff", b"\x83\x70\xff\xff\xff\xff"] {
        let body = record(&[claim(0, (1, 0))]);
        assert_eq!(read(&body, etf, &EncodeOptions::default(), &[]), Err(Fault::Place), "{etf:?}");
    }
}

#[test]
fn native_records() {
    // Two fields, the second with a list of one list.
    let term =
        [b"\x43\0\0\0\x02\0", &*atom("m"), &atom("r"), &atom("x"), &atom("y"), ONE, b"\x6c\0\0\0\x01\x6a\x6a"].concat();
    assert!(root(&term, &EncodeOptions::default(), &[]));
    let etf = [b"\x83\x68\x02", &*term, ONE].concat();
    let body = record(&[claim(0, (3, 1))]);
    let (holes, _) = read(&body, &etf, &EncodeOptions::default(), &[]).unwrap();
    assert_eq!(holes[0].term, 3..etf.len() - 2);
    assert_eq!(read(&body, &etf[..etf.len() - 4], &EncodeOptions::default(), &[]), Err(Fault::Place));
}
