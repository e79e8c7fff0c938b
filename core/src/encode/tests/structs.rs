use super::*;
use crate::options::Pretty;
use proptest::prelude::*;

const STRUCTS_AS_MAPS: EncodeOptions<'_> = EncodeOptions { plain_structs: true, ..PLAIN };
const LEAN: EncodeOptions<'_> = EncodeOptions { lean: true, ..PLAIN };

fn iso() -> (&'static str, T) {
    ("calendar", Atom("Elixir.Calendar.ISO"))
}

fn date(year: i64, month: i64, day: i64) -> [(&'static str, T); 4] {
    [iso(), ("day", Int(day)), ("month", Int(month)), ("year", Int(year))]
}

fn clock(hour: i64, minute: i64, second: i64, fraction: (i64, i64)) -> [(&'static str, T); 4] {
    let fraction = Tuple(vec![Int(fraction.0), Int(fraction.1)]);
    [("hour", Int(hour)), ("microsecond", fraction), ("minute", Int(minute)), ("second", Int(second))]
}

fn date_time(zone: &str, abbreviation: &str, utc: i64, std: i64) -> T {
    let mut all = date(2024, 2, 3).to_vec();
    all.extend(clock(4, 5, 6, (7, 6)));
    all.push(("std_offset", Int(std)));
    all.push(("time_zone", bin(zone)));
    all.push(("utc_offset", Int(utc)));
    all.push(("zone_abbr", bin(abbreviation)));
    structure("Elixir.DateTime", &all)
}

#[test]
fn dates() {
    let text = |y, m, d| json(&structure("Elixir.Date", &date(y, m, d)));
    assert_eq!(text(2024, 2, 3), r#""2024-02-03""#);
    assert_eq!(text(0, 12, 31), r#""0000-12-31""#);
    assert_eq!(text(-5, 1, 1), r#""-0005-01-01""#);
    assert_eq!(text(12345, 1, 1), r#""12345-01-01""#);
    assert_eq!(text(-12345, 1, 1), r#""-12345-01-01""#);
}

#[test]
fn times_keep_every_digit_of_the_fraction() {
    let text = |fraction| {
        let mut all = vec![iso()];
        all.extend(clock(1, 2, 3, fraction));
        json(&structure("Elixir.Time", &all))
    };
    assert_eq!(text((0, 0)), r#""01:02:03""#);
    assert_eq!(text((0, 6)), r#""01:02:03.000000""#);
    assert_eq!(text((120_000, 3)), r#""01:02:03.120""#);
    assert_eq!(text((12, 6)), r#""01:02:03.000012""#);
    assert_eq!(text((500_000, 1)), r#""01:02:03.5""#);
}

#[test]
fn times_that_no_clock_has_are_left_to_elixir_which_refuses_them() {
    for (hour, minute, second, is_written) in
        [(23, 59, 59, true), (24, 0, 0, false), (0, 60, 0, false), (0, 0, 60, false)]
    {
        let mut all = vec![iso()];
        all.extend(clock(hour, minute, second, (0, 0)));
        let (_, holes) = encode_with(&structure("Elixir.Time", &all), &PLAIN).unwrap();
        assert_eq!(holes.is_empty(), is_written, "{hour}:{minute}:{second}");
    }
}

#[test]
fn date_times() {
    let mut all = date(2024, 2, 3).to_vec();
    all.extend(clock(4, 5, 6, (0, 0)));
    assert_eq!(json(&structure("Elixir.NaiveDateTime", &all)), r#""2024-02-03T04:05:06""#);
    assert_eq!(json(&date_time("Etc/UTC", "UTC", 0, 0)), r#""2024-02-03T04:05:06.000007Z""#);
    assert_eq!(json(&date_time("Other/Zero", "Z", 0, 0)), r#""2024-02-03T04:05:06.000007+00:00""#);
    assert_eq!(json(&date_time("Europe/Warsaw", "CEST", 3600, 3600)), r#""2024-02-03T04:05:06.000007+02:00""#);
    assert_eq!(json(&date_time("X", "X", -12_345, 0)), r#""2024-02-03T04:05:06.000007-03:25""#);
}

#[test]
fn as_keys_they_are_what_string_chars_gives() {
    let key = |term| json(&Map(vec![(term, Int(1))]));
    assert_eq!(key(date_time("Etc/UTC", "UTC", 0, 0)), r#"{"2024-02-03 04:05:06.000007Z":1}"#);
    let warsaw = date_time("Europe/Warsaw", "CET", 3600, 0);
    assert_eq!(key(warsaw), r#"{"2024-02-03 04:05:06.000007+01:00 CET Europe/Warsaw":1}"#);
    assert_eq!(key(structure("Elixir.Date", &date(2024, 2, 3))), r#"{"2024-02-03":1}"#);
    assert_eq!(key(decimal(1, Int(15), 3)), r#"{"1.5E+4":1}"#);
}

#[test]
fn other_calendars_and_odd_structs_are_left_to_elixir() {
    let odd = [
        structure(
            "Elixir.Date",
            &[("calendar", Atom("Elixir.Other")), ("day", Int(1)), ("month", Int(1)), ("year", Int(1))],
        ),
        structure("Elixir.Date", &[iso()]),
        structure("Elixir.Decimal", &[("coef", bin("1")), ("exp", Int(0)), ("sign", Int(1))]),
        structure("Elixir.URI", &[("scheme", Int(1))]),
        structure("Elixir.Version", &[("major", Int(1))]),
        structure("Elixir.RustyJson.Fragment", &[("encode", Atom("nil"))]),
        structure("Elixir.RustyJson.Fragment", &[("encode", List(vec![bin("1"), Int(256)]))]),
    ];
    let (text, holes) = encode_with(&List(odd.to_vec()), &EncodeOptions::default()).unwrap();
    assert_eq!((text.as_str(), holes.len()), ("[,,,,,,]", 7));
}

fn decimal(sign: i64, coefficient: T, exponent: i64) -> T {
    structure("Elixir.Decimal", &[("coef", coefficient), ("exp", Int(exponent)), ("sign", Int(sign))])
}

#[test]
fn decimals() {
    let text = |sign, coefficient, exponent| json(&decimal(sign, coefficient, exponent));
    assert_eq!(text(1, Int(150), -2), r#""1.50""#);
    assert_eq!(text(-1, Int(150), -2), r#""-1.50""#);
    assert_eq!(text(1, Int(0), 0), r#""0""#);
    assert_eq!(text(-1, Int(0), -2), r#""-0.00""#);
    assert_eq!(text(1, Int(5), -3), r#""0.005""#);
    assert_eq!(text(1, Int(12), 3), r#""12000""#);
    assert_eq!(text(1, Atom("NaN"), 0), r#""NaN""#);
    assert_eq!(text(-1, Atom("inf"), 0), r#""-Infinity""#);
    assert_eq!(text(1, Big(false, vec![0xFF; 16]), 0), r#""340282366920938463463374607431768211455""#);
    assert_eq!(text(1, Int(1), 1_000_000_000), r#""1E+1000000000""#);
    assert_eq!(text(1, Int(15), -1_000_000_000), r#""1.5E-999999999""#);
    assert_eq!(text(1, Int(1), 6177).len(), 6178 + 2);
    assert_eq!(text(1, Int(1), 6178), r#""1E+6178""#);
    assert_eq!(text(1, Int(1), i64::MAX), r#""1E+9223372036854775807""#);
    assert_eq!(text(1, Int(1), i64::MIN), r#""1E-9223372036854775808""#);
}

fn uri(parts: &[(&'static str, T)]) -> T {
    let names = ["authority", "fragment", "host", "path", "port", "query", "scheme", "userinfo"];
    let part = |name| parts.iter().find(|(given, _)| *given == name).map_or(Atom("nil"), |(_, value)| value.clone());
    structure("Elixir.URI", &names.map(|name| (name, part(name))))
}

#[test]
fn uris() {
    let web = [("scheme", bin("http")), ("host", bin("h")), ("path", bin("/p")), ("port", Int(80))];
    assert_eq!(json(&uri(&web)), r#""http://h/p""#);
    assert_eq!(json(&uri(&[("scheme", bin("mailto")), ("path", bin("a@b.c"))])), r#""mailto:a@b.c""#);
    let all = [
        ("scheme", bin("wss")),
        ("userinfo", bin("u:p")),
        ("host", bin("::1")),
        ("port", Int(80)),
        ("query", bin("q=1")),
        ("fragment", bin("f")),
    ];
    assert_eq!(json(&uri(&all)), r#""wss://u:p@[::1]:80?q=1#f""#);
    assert_eq!(json(&uri(&[])), r#""""#);
    assert_eq!(json(&uri(&[("authority", bin("a")), ("path", bin("/"))])), r#""//a/""#);
    assert_eq!(json_with(HTML_SAFE, &uri(&web)), r#""http:\/\/h\/p""#);
}

#[test]
fn sets_and_ranges() {
    let set = |keys: Vec<T>| {
        let map = Map(keys.into_iter().map(|key| (key, List(vec![]))).collect());
        structure("Elixir.MapSet", &[("map", map), ("version", Int(2))])
    };
    assert_eq!(json(&List(vec![set(vec![]), set(vec![Int(1), List(vec![Int(2)])]), Int(3)])), "[[],[1,[2]],3]");
    let range = |step| structure("Elixir.Range", &[("first", Int(1)), ("last", Int(9)), ("step", Int(step))]);
    assert_eq!(json(&range(1)), r#"{"first":1,"last":9}"#);
    assert_eq!(json(&range(2)), r#"{"first":1,"last":9,"step":2}"#);
    let options = EncodeOptions {
        pretty: Some(Pretty { indent: b" ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " }),
        ..EncodeOptions::default()
    };
    let (text, _) = encode_with(&List(vec![range(1)]), &options).unwrap();
    assert_eq!(text, "[\n {\n  \"first\": 1,\n  \"last\": 9\n }\n]");
}

#[test]
fn fragments_are_copied() {
    let fragment = |iodata| structure("Elixir.RustyJson.Fragment", &[("encode", iodata)]);
    assert_eq!(json(&List(vec![fragment(bin("{ \"a\":1 }")), Int(1)])), "[{ \"a\":1 },1]");
    let nested = Improper(vec![Bytes(b"[1"), List(vec![Int(44), bin("2")])], Box::new(bin("]")));
    assert_eq!(json(&Map(vec![(bin("x"), fragment(nested)), (bin("y"), Int(2))])), r#"{"x":[1,2],"y":2}"#);
}

#[test]
fn fragments_that_lead_pointers_astray_are_left_to_the_shell() {
    // One pointer, "/x".
    let shape = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0x\x01\0\0\0-";
    let options = EncodeOptions { shape, ..PLAIN };
    let holes = |iodata, options: &_| {
        let fragment = structure("Elixir.RustyJson.Fragment", &[("encode", iodata)]);
        encode_with(&List(vec![fragment, Int(1)]), options).unwrap().1.len()
    };
    for text in ["", "1", "[1,{\"]\":2}]", "\"\\\"[\"", "{\"\\\\\":[[]]}", "[}"] {
        assert_eq!(holes(bin(text), &options), 0, "{text}");
    }
    for text in ["]", "[", "}[", "[]]", "\"", "\"\\\"", "1,2", "\"a\":1", "{\"a\":\"}"] {
        assert_eq!((holes(bin(text), &options), holes(bin(text), &PLAIN)), (1, 0), "{text}");
        let parts = text.bytes().map(|byte| Int(byte.into())).collect();
        assert_eq!(holes(List(parts), &options), 1, "{text}");
    }
    assert_eq!(holes(List(vec![bin("[\""), List(vec![bin("]\""), Int(0x5D)])]), &options), 0);
}

#[test]
fn ordered_objects() {
    let object = |pairs: &[(T, T)]| {
        let pairs = pairs.iter().map(|(key, value)| Tuple(vec![key.clone(), value.clone()])).collect();
        structure("Elixir.RustyJson.OrderedObject", &[("values", List(pairs))])
    };
    let inner = object(&[(bin("y"), Int(1)), (bin("x"), List(vec![Int(2)]))]);
    let outer = object(&[(bin("b"), inner), (Atom("a"), object(&[])), (bin("b"), Int(3))]);
    assert_eq!(json(&List(vec![outer.clone(), Int(4)])), r#"[{"b":{"y":1,"x":[2]},"a":{},"b":3},4]"#);
    assert_eq!(json_with(SORT, &outer), r#"{"a":{},"b":{"x":[2],"y":1},"b":3}"#);
    assert!(encode_with(&outer, &STRICT).is_err());
}

#[test]
fn plain_structs() {
    let version = structure("Elixir.Version", &[("major", Int(1)), ("minor", Int(2))]);
    assert_eq!(json_with(STRUCTS_AS_MAPS, &List(vec![version, Int(3)])), r#"[{"major":1,"minor":2},3]"#);
    assert_eq!(json_with(STRUCTS_AS_MAPS, &structure("Elixir.Empty", &[])), "{}");
    let date = structure("Elixir.Date", &date(2024, 2, 3));
    assert_eq!(json_with(STRUCTS_AS_MAPS, &date), r#""2024-02-03""#);
    assert_eq!(json_with(LEAN, &date), r#"{"calendar":"Elixir.Calendar.ISO","day":3,"month":2,"year":2024}"#);
}

#[test]
fn planned_structs() {
    let user = |fields: &[(&'static str, T)]| structure("Elixir.User", fields);
    let plan = Tuple(vec![Atom("name"), Atom("id")]);
    let plans = Map(vec![(Atom("Elixir.Empty"), Tuple(vec![])), (Atom("Elixir.User"), plan)]);
    let plans = plans.etf();
    let plans = crate::etf::plans::parse(&plans).unwrap();
    let full = user(&[("id", Int(1)), ("name", List(vec![bin("a")])), ("password_hash", bin("x"))]);
    let lost = user(&[("name", Pid)]);
    let term = List(vec![full, lost, structure("Elixir.Empty", &[]), Int(5)]);
    let with = |options| encode_etf(&term.etf(), &options, &plans).unwrap();
    let (text, holes) = with(PLAIN);
    assert_eq!(text, r#"[{"name":["a"],"id":1},,{},5]"#);
    assert_eq!(holes.iter().map(|hole| (hole.offset, hole.depth)).collect::<Vec<_>>(), [(23, 1)]);
    assert_eq!(with(SORT).0, r#"[{"id":1,"name":["a"]},,{},5]"#);
}

#[test]
fn types_that_jason_does_not_encode_are_left_for_its_stand_in() {
    let term = List(vec![
        Tuple(vec![Int(1)]),
        structure("Elixir.MapSet", &[("map", Map(vec![]))]),
        structure("Elixir.Range", &[("first", Int(1)), ("last", Int(2)), ("step", Int(1))]),
        structure("Elixir.Date", &date(2024, 2, 3)),
    ]);
    let options = EncodeOptions { leave_extras: true, ..PLAIN };
    let (text, holes) = encode_with(&term, &options).unwrap();
    assert_eq!((text.as_str(), holes.len()), (r#"[,,,"2024-02-03"]"#, 3));
    let (text, holes) = encode_with(&term, &EncodeOptions { sort_keys: true, ..options }).unwrap();
    assert_eq!((text.as_str(), holes.len()), (r#"[,,,"2024-02-03"]"#, 3));
    assert_eq!(encode_with(&term, &PLAIN).unwrap().1.len(), 0);
}

proptest! {
    #[test]
    fn the_key_of_a_struct_may_stand_anywhere(at in 0..40_usize, count in 0..40_usize) {
        let mut entries: Vec<_> = (0..count).map(|i| (Int(i as i64), List(vec![Int(1)]))).collect();
        entries.insert(at.min(count), (Atom("__struct__"), Atom("Elixir.Other")));
        let term = List(vec![Map(entries), Int(1)]);
        for options in [PLAIN, EncodeOptions { reverse_large_maps: true, ..PLAIN }] {
            let (text, holes) = encode_with(&term, &options).unwrap();
            prop_assert_eq!((text.as_str(), holes.len()), ("[,1]", 1));
        }
    }
}

#[test]
fn durations() {
    let duration = |units: &[(&str, i64)], fraction: (i64, i64)| {
        let names = ["year", "month", "week", "day", "hour", "minute", "second"];
        let unit = |name: &str| units.iter().find(|(given, _)| *given == name).map_or(0, |(_, value)| *value);
        let mut fields: Vec<_> = names.iter().map(|name| (*name, Int(unit(name)))).collect();
        fields.push(("microsecond", Tuple(vec![Int(fraction.0), Int(fraction.1)])));
        structure("Elixir.Duration", &fields)
    };
    for (units, fraction, text) in [
        (&[][..], (0, 0), "PT0S"),
        (&[("year", 1), ("month", -2), ("week", 3), ("day", 4)], (0, 6), "P1Y-2M3W4D"),
        (&[("hour", 1), ("minute", -2), ("second", 3)], (0, 0), "PT1H-2M3S"),
        (&[("day", 1), ("second", 1)], (500_000, 3), "P1DT1.500S"),
        (&[("hour", 1), ("second", -3)], (-500, 6), "PT1H-3.000500S"),
        (&[("second", 1)], (-500_000, 1), "PT0.5S"),
        (&[], (-5, 2), "PT-0.00S"),
        (&[("second", i64::MIN)], (0, 0), "PT-9223372036854775808S"),
    ] {
        assert_eq!(json(&duration(units, fraction)), format!("\"{text}\""));
    }
}
