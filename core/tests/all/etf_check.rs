//! The judge of untrusted External Term Format: everything the writer emits passes, every known broken form does not.

use proptest::prelude::*;
use rustyjson_core::DecodeOptions;
use rustyjson_core::etf::check::{Fault, Open, Policy, build_list, can_build, check, check_list};
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::Null;

const PLAIN: Policy = Policy {
    atom_keys: false,
    ordered_objects: false,
    decimals: false,
    floats: true,
    null: Null::Nil,
    raw: false,
    max_depth: 3,
    max_integer: 300,
    max_coefficient: 300,
    max_exponent: u64::MAX,
    max_terms: 1_000_000,
    max_keys: 1_000_000,
    max_names: 1_000_000,
    max_len: usize::MAX,
};
const OTP: Policy = Policy { null: Null::Null, ..PLAIN };
const UNDEFINED: Policy = Policy { null: Null::Undefined, ..PLAIN };
const ATOMS: Policy = Policy { atom_keys: true, ..PLAIN };
const DECIMALS: Policy = Policy { decimals: true, floats: false, ..PLAIN };
/// Parts of the text stand as their offset and length.
const RAW: Policy = Policy { raw: true, ..PLAIN };
const ORDERED: Policy = Policy { ordered_objects: true, ..PLAIN };

/// 131 and these parts.
fn term(parts: &[&[u8]]) -> Vec<u8> {
    let mut etf = vec![131];
    parts.iter().for_each(|part| etf.extend_from_slice(part));
    etf
}

fn fault(policy: &Policy, parts: &[&[u8]]) -> Option<Fault> {
    check(&term(parts), policy).err().map(|refused| refused.fault)
}

fn atom(name: &str) -> Vec<u8> {
    [&[119, name.len() as u8], name.as_bytes()].concat()
}

fn long_atom(name: &str) -> Vec<u8> {
    [&[118][..], &(name.len() as u16).to_be_bytes(), name.as_bytes()].concat()
}

fn decimal(sign: &[u8], coef: &[u8], exp: &[u8]) -> Vec<u8> {
    let (module, key) = (atom("Elixir.Decimal"), atom("__struct__"));
    [&[116, 0, 0, 0, 4], &key[..], &module, &atom("sign"), sign, &atom("coef"), coef, &atom("exp"), exp].concat()
}

fn ordered(pairs: &[u8]) -> Vec<u8> {
    let (module, key) = (atom("Elixir.RustyJson.OrderedObject"), atom("__struct__"));
    [&[116, 0, 0, 0, 2], &key[..], &module, &atom("values"), pairs].concat()
}

/// A term that is longer than its document can have is refused before its text is built.
#[test]
fn builds_nothing_beyond_the_length_of_an_answer() {
    let options = DecodeOptions::default();
    let etf = term(&[&[108, 0, 0, 0, 1, 109, 0, 0, 1, 0], &[b'a'; 256], &[106]]);
    let mut writer = Writer::new(&etf, Vec::new(), &options);
    assert!(build_list(&etf, [Policy { max_len: 200, ..PLAIN }], &mut Open::default(), &mut writer).is_err());
    assert!(writer.finish().is_none_or(|written| written.len() < 100));
    assert_eq!(check_list(&etf, [Policy { max_len: 261, ..PLAIN }]), Ok(()));
}

#[test]
fn passes_what_the_writer_emits() {
    let key = b"\x6d\0\0\0\x01a";
    let accepted: &[(&Policy, &[&[u8]])] = &[
        (&PLAIN, &[b"\x61\x00"]),
        (&PLAIN, &[b"\x62\xff\xff\xff\xff"]),
        (&PLAIN, &[b"\x6e\x08\x01\0\0\0\0\0\0\0\x80"]),
        (&PLAIN, &[b"\x6f\0\0\x01\x00\x00", &[1; 256]]),
        (&PLAIN, &[b"\x46\x3f\xf8\0\0\0\0\0\0"]),
        (&PLAIN, &[b"\x46\x80\0\0\0\0\0\0\0"]),
        (&PLAIN, &[b"\x46\x7f\xef\xff\xff\xff\xff\xff\xff"]),
        (&PLAIN, &[b"\x6d\0\0\0\0"]),
        (&PLAIN, &[b"\x6d\0\0\0\x02hi"]),
        (&PLAIN, &[b"\x77\x03nil"]),
        (&OTP, &[b"\x77\x04null"]),
        (&UNDEFINED, &[b"\x77\x09undefined"]),
        (&PLAIN, &[b"\x77\x04true"]),
        (&PLAIN, &[b"\x77\x05false"]),
        (&PLAIN, &[b"\x6a"]),
        (&PLAIN, &[b"\x6c\0\0\0\x02\x61\x01\x61\x02\x6a"]),
        (&PLAIN, &[b"\x74\0\0\0\0"]),
        (&PLAIN, &[b"\x74\0\0\0\x01", key, b"\x61\x01"]),
        (&PLAIN, &[b"\x6c\0\0\0\x01\x74\0\0\0\x01", key, b"\x6c\0\0\0\x01\x61\x01\x6a\x6a"]),
        (&ATOMS, &[b"\x74\0\0\0\x01", &atom("anything"), b"\x61\x01"]),
        (&ATOMS, &[b"\x74\0\0\0\x01", &atom(""), b"\x61\x01"]),
        (&ATOMS, &[b"\x74\0\0\0\x01", &long_atom(&"é".repeat(255)), b"\x61\x01"]),
        (&ATOMS, &[b"\x74\0\0\0\x01", &atom("__struct__"), b"\x6d\0\0\0\x01a"]),
        (&DECIMALS, &[&decimal(b"\x61\x01", b"\x61\x0f", b"\x62\xff\xff\xff\xff")]),
        (&DECIMALS, &[&decimal(b"\x62\xff\xff\xff\xff", b"\x61\x00", b"\x61\x00")]),
        (&DECIMALS, &[b"\x61\x01"]),
        (&RAW, &[b"\x68\x02\x61\x00\x61\x05"]),
        (&RAW, &[b"\x6c\0\0\0\x01\x68\x02\x62\0\0\x01\0\x6e\x04\0\0\0\0\x80\x6a"]),
        (&ORDERED, &[&ordered(b"\x6a")]),
        (&ORDERED, &[&ordered(b"\x6c\0\0\0\x01\x68\x02\x6d\0\0\0\x01a\x61\x01\x6a")]),
        (&ORDERED, &[&ordered(&[b"\x6c\0\0\0\x01\x68\x02\x6d\0\0\0\x01a", &ordered(b"\x6a")[..], b"\x6a"].concat())]),
    ];
    for (policy, parts) in accepted {
        assert_eq!(fault(policy, parts), None, "{parts:?}");
    }
}

#[test]
fn refuses_lengths_and_counts_that_lie() {
    let refused: &[&[u8]] = &[
        b"",
        b"\x61",
        b"\x62\0\0\0",
        b"\x46\0\0\0\0\0\0\0",
        b"\x6d",
        b"\x6d\0\0\0",
        b"\x6d\0\0\0\x02a",
        b"\x6d\xff\xff\xff\xffa",
        b"\x6e",
        b"\x6e\x02\0\x01",
        b"\x6f\xff\xff\xff\xff\x00\x01",
        b"\x6c\0\0\0\x02\x61\x01",
        b"\x6c\0\0\0\x01\x61\x01",
        b"\x6c\xff\xff\xff\xff\x6a",
        b"\x74\xff\xff\xff\xff\x6a",
        b"\x74\0\0\0\x01",
        b"\x74\0\0\0\x01\x6d\0\0\0\0",
        b"\x74\0\0\0\x01\x6d\0\0",
        b"\x77",
        b"\x77\x04tru",
    ];
    for bytes in refused {
        assert_eq!(fault(&PLAIN, &[bytes]), Some(Fault::Truncated), "{bytes:?}");
    }
    assert_eq!(check(&[], &PLAIN).unwrap_err().fault, Fault::Truncated);
}

#[test]
fn refuses_tags_that_no_json_needs() {
    // Compressed, local, distribution header, fragments, float text, references, ports, pids, tuples, byte lists, functions,
    // old atoms, bit strings: whatever is not in the table above.
    let known = [70, 97, 98, 106, 108, 109, 110, 111, 116, 119];
    for tag in (0..=255).filter(|tag| !known.contains(tag)) {
        let bytes = [&[tag][..], &[0; 64]].concat();
        assert_eq!(fault(&PLAIN, &[&bytes]), Some(Fault::Tag(tag)), "{tag}");
        assert_eq!(fault(&PLAIN, &[b"\x6c\0\0\0\x01", &bytes]), Some(Fault::Tag(tag)), "{tag} in a list");
        assert_eq!(fault(&PLAIN, &[b"\x74\0\0\0\x01", &bytes]), Some(Fault::Key), "{tag} as a key");
    }
}

#[test]
fn refuses_everything_else() {
    let key = b"\x6d\0\0\0\x01a";
    let one_pair = b"\x74\0\0\0\x01";
    let refused: &[(&Policy, Fault, &[&[u8]])] = &[
        (&PLAIN, Fault::Trailing, &[b"\x61\x01\x00"]),
        (&PLAIN, Fault::Trailing, &[b"\x61\x01\x61\x02"]),
        (&PLAIN, Fault::Tag(131), &[b"\x83\x61\x01"]),
        (&PLAIN, Fault::Tail, &[b"\x6c\0\0\0\x01\x61\x01\x61\x02"]),
        (&PLAIN, Fault::Tag(108), &[b"\x6c\0\0\0\x00\x6a"]),
        (&PLAIN, Fault::Atom, &[&atom("ok")]),
        (&PLAIN, Fault::Atom, &[&atom("null")]),
        (&OTP, Fault::Atom, &[&atom("nil")]),
        (&OTP, Fault::Atom, &[&atom("undefined")]),
        (&UNDEFINED, Fault::Atom, &[&atom("null")]),
        (&PLAIN, Fault::Atom, &[&atom("")]),
        (&ATOMS, Fault::Atom, &[&atom("anything")]),
        (&PLAIN, Fault::Key, &[one_pair, &atom("a"), b"\x61\x01"]),
        (&PLAIN, Fault::Key, &[one_pair, b"\x61\x01\x61\x01"]),
        (&ATOMS, Fault::Key, &[one_pair, key, b"\x61\x01"]),
        (&ATOMS, Fault::Atom, &[one_pair, &long_atom(&"a".repeat(256)), b"\x61\x01"]),
        (&ATOMS, Fault::Atom, &[one_pair, b"\x77\x01\xff\x61\x01"]),
        (&PLAIN, Fault::Float, &[b"\x46\x7f\xf0\0\0\0\0\0\0"]),
        (&PLAIN, Fault::Float, &[b"\x46\xff\xf0\0\0\0\0\0\0"]),
        (&PLAIN, Fault::Float, &[b"\x46\x7f\xf8\0\0\0\0\0\0"]),
        (&PLAIN, Fault::Integer, &[b"\x6e\x00\x00"]),
        (&PLAIN, Fault::Integer, &[b"\x6e\x01\x02\x01"]),
        (&PLAIN, Fault::Integer, &[b"\x6e\x02\x00\x01\x00"]),
        (&PLAIN, Fault::Integer, &[b"\x6f\0\0\x01\x2d\x00", &[1; 301]]),
        (&DECIMALS, Fault::Tag(70), &[b"\x46\x3f\xf8\0\0\0\0\0\0"]),
        (&PLAIN, Fault::Key, &[&decimal(b"\x61\x01", b"\x61\x0f", b"\x61\x00")]),
        (&DECIMALS, Fault::Struct, &[&decimal(b"\x61\x02", b"\x61\x0f", b"\x61\x00")]),
        (&DECIMALS, Fault::Integer, &[&decimal(b"\x61\x01", b"\x6a", b"\x61\x00")]),
        (&DECIMALS, Fault::Integer, &[&decimal(b"\x61\x01", b"\x61\x01", b"\x6d\0\0\0\x01a")]),
        (
            &DECIMALS,
            Fault::Integer,
            &[&decimal(b"\x61\x01", b"\x61\x01", b"\x6e\x09\0\x01\x01\x01\x01\x01\x01\x01\x01\x01")],
        ),
        (&RAW, Fault::Struct, &[b"\x68\x03\x61\x00\x61\x05\x61\x05"]),
        (&RAW, Fault::Integer, &[b"\x68\x02\x6a\x61\x05"]),
        (&RAW, Fault::Integer, &[b"\x68\x02\x61\x00\x6a"]),
        (&ORDERED, Fault::Struct, &[b"\x74\0\0\0\x00"]),
        (&ORDERED, Fault::Struct, &[one_pair, key, b"\x61\x01"]),
        (&ORDERED, Fault::Struct, &[&ordered(b"\x61\x01")]),
        (&ORDERED, Fault::Struct, &[&ordered(b"\x6c\0\0\0\x01\x61\x01\x6a")]),
        (&ORDERED, Fault::Struct, &[&ordered(b"\x6c\0\0\0\x01\x68\x03\x6d\0\0\0\x01a\x61\x01\x61\x01\x6a")]),
        (&ORDERED, Fault::Tail, &[&ordered(b"\x6c\0\0\0\x01\x68\x02\x6d\0\0\0\x01a\x61\x01\x61\x01")]),
        (&ORDERED, Fault::Tag(104), &[b"\x68\x02\x6d\0\0\0\x01a\x61\x01"]),
    ];
    for (policy, expected, parts) in refused {
        assert_eq!(fault(policy, parts), Some(*expected), "{parts:?}");
    }
    assert_eq!(check(b"\x50\x61\x01", &PLAIN).unwrap_err().fault, Fault::Version);
}

#[test]
fn depth_counts_arrays_and_objects() {
    let nested = |n: usize| [&b"\x6c\0\0\0\x01".repeat(n)[..], b"\x61\x01", &b"\x6a".repeat(n)].concat();
    assert_eq!(fault(&PLAIN, &[&nested(3)]), None);
    assert_eq!(fault(&PLAIN, &[&nested(4)]), Some(Fault::Depth));
    // An empty container is a level too.
    let around = |inner: &[u8]| [&b"\x6c\0\0\0\x01".repeat(3)[..], inner, b"\x6a\x6a\x6a"].concat();
    assert_eq!(fault(&PLAIN, &[&around(b"\x6a")]), Some(Fault::Depth));
    assert_eq!(fault(&PLAIN, &[&around(b"\x74\0\0\0\0")]), Some(Fault::Depth));
    // A million levels cost memory in proportion, no stack. (Under Miri, which interprets, a thousand.)
    let levels = if cfg!(miri) { 1000 } else { 1_000_000 };
    let deep = Policy { max_depth: u32::MAX, max_terms: u64::MAX, ..PLAIN };
    assert_eq!(fault(&deep, &[&nested(levels)]), None);
    assert_eq!(fault(&deep, &[&b"\x6c\0\0\0\x01".repeat(levels)]), Some(Fault::Truncated));
}

#[test]
fn ordered_objects_count_one_level_each() {
    let mut etf = ordered(b"\x6a");
    for _ in 0..2 {
        etf = ordered(&[b"\x6c\0\0\0\x01\x68\x02\x6d\0\0\0\x01a", &etf[..], b"\x6a"].concat());
    }
    assert_eq!(fault(&ORDERED, &[&etf]), None);
    assert_eq!(fault(&Policy { max_depth: 2, ..ORDERED }, &[&etf]), Some(Fault::Depth));
}

#[test]
fn the_input_bounds_the_answer() {
    let policy = Policy::new(&DecodeOptions::default(), 5);
    // [1,1] has five bytes and three values.
    assert_eq!(fault(&policy, &[b"\x6c\0\0\0\x02\x61\x01\x61\x01\x6a"]), None);
    let many = [&b"\x6c\0\0\0\x05"[..], &b"\x61\x01".repeat(5), b"\x6a"].concat();
    assert_eq!(fault(&policy, &[&many]), Some(Fault::Terms));
    let nodes = DecodeOptions { max_nodes: 2, ..DecodeOptions::default() };
    assert_eq!(fault(&Policy::new(&nodes, 5), &[b"\x6c\0\0\0\x02\x61\x01\x61\x01\x6a"]), Some(Fault::Terms));
    // 1024 digits are 426 bytes.
    assert!((426..440).contains(&policy.max_integer));
}

/// They are made of more than the term: of the text, or by Elixir.
#[test]
fn parts_of_the_text_and_decimals_are_not_built_in_the_walk() {
    assert!(can_build(&PLAIN) && can_build(&ORDERED) && can_build(&ATOMS));
    assert!(!can_build(&RAW) && !can_build(&DECIMALS));
}

fn json() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        any::<u8>().prop_map(|n| vec![97, n]),
        any::<i32>().prop_map(|n| [&[98][..], &n.to_be_bytes()].concat()),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| [&[70][..], &f.to_be_bytes()].concat()),
        ".{0,20}".prop_map(|text| binary(&text)),
        Just(vec![106]),
        Just(atom("nil")),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..8).prop_map(|items| {
                [&[108][..], &(items.len() as u32).to_be_bytes(), &items.concat(), &[106]].concat()
            }),
            prop::collection::vec((".{0,8}", inner), 0..8).prop_map(|pairs| {
                let members: Vec<_> = pairs.iter().map(|(key, value)| [binary(key), value.clone()].concat()).collect();
                [&[116][..], &(pairs.len() as u32).to_be_bytes(), &members.concat()].concat()
            }),
        ]
    })
}

fn binary(text: &str) -> Vec<u8> {
    [&[109][..], &(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

proptest! {
    #[test]
    fn passes_any_json(etf in json()) {
        prop_assert_eq!(fault(&Policy { max_depth: 8, ..PLAIN }, &[&etf]), None);
    }

    #[test]
    fn refuses_every_proper_prefix_and_any_suffix(etf in json(), cut in any::<prop::sample::Index>(), extra in any::<u8>()) {
        let policy = Policy { max_depth: 8, ..PLAIN };
        prop_assert!(fault(&policy, &[&etf[..cut.index(etf.len())]]).is_some());
        prop_assert_eq!(fault(&policy, &[&etf, &[extra]]), Some(Fault::Trailing));
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), atom_keys: bool, ordered_objects: bool, decimals: bool, floats: bool) {
        let _ = fault(&Policy { atom_keys, ordered_objects, decimals, floats, ..PLAIN }, &[&bytes]);
    }

    #[test]
    fn never_panics_on_a_changed_answer(mut etf in json(), at in any::<prop::sample::Index>(), byte: u8) {
        let at = at.index(etf.len());
        etf[at] = byte;
        let _ = fault(&PLAIN, &[&etf]);
    }
}

#[test]
fn a_list_is_judged_element_by_element() {
    let list = |parts: &[&[u8]]| check_list(&term(parts), [PLAIN; 2]).err().map(|refused| refused.fault);
    let (head, two) = (&b"\x6c\0\0\0\x02"[..], &b"\x61\x01\x6a"[..]);
    assert_eq!(list(&[head, two, b"\x6a"]), None);
    assert_eq!(list(&[head, two]), Some(Fault::Truncated));
    assert_eq!(list(&[head, b"\x61\x01\x6d\0\0\0\x02a"]), Some(Fault::Truncated));
    assert_eq!(list(&[head, two, b"\x61\x01"]), Some(Fault::Tail));
    assert_eq!(list(&[head, two, b"\x6a\x6a"]), Some(Fault::Trailing));
    assert_eq!(list(&[b"\x6c\0\0\0\x01\x61\x01\x6a"]), Some(Fault::Terms));
    assert_eq!(list(&[b"\x6c\0\0\0\x03", two, two, b"\x6a"]), Some(Fault::Terms));
    assert_eq!(list(&[b"\x6a"]), Some(Fault::Terms));
    assert_eq!(list(&[b"\x61\x01"]), Some(Fault::Tag(0x61)));
    assert_eq!(check_list(&[131, 106], []), Ok(()));
    assert_eq!(check_list(&[131, 108, 0, 0, 0, 0, 106], []).map_err(|refused| refused.fault), Err(Fault::Tag(108)));
    assert_eq!(check_list(&[130, 106], []).map_err(|refused| refused.fault), Err(Fault::Version));
}

#[test]
fn each_element_of_a_list_has_its_own_limits() {
    let list = |policies: [Policy; 2], parts: &[&[u8]]| {
        let parts = [&[&b"\x6c\0\0\0\x02"[..]][..], parts, &[b"\x6a"]].concat();
        check_list(&term(&parts), policies).err().map(|refused| refused.fault)
    };
    let one = Policy { max_terms: 1, ..PLAIN };
    assert_eq!(list([one, one], &[b"\x61\x01", b"\x61\x02"]), None);
    assert_eq!(list([PLAIN, one], &[b"\x61\x01", b"\x6c\0\0\0\x01\x61\x01\x6a"]), Some(Fault::Terms));
    assert_eq!(list([one, PLAIN], &[b"\x61\x01", b"\x6c\0\0\0\x01\x61\x01\x6a"]), None);
    let short = Policy { max_len: 5, ..PLAIN };
    assert_eq!(list([PLAIN, short], &[b"\x61\x01", b"\x6d\0\0\0\x01a"]), Some(Fault::Terms));
    let flat = Policy { max_depth: 0, ..PLAIN };
    assert_eq!(list([PLAIN, flat], &[b"\x6a", b"\x6a"]), Some(Fault::Depth));
    let keyless = Policy { max_keys: 0, ..PLAIN };
    assert_eq!(list([PLAIN, keyless], &[b"\x6a", b"\x74\0\0\0\x01\x6d\0\0\0\x01a\x6a"]), Some(Fault::Terms));
}
