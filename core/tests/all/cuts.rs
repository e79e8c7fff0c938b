//! Streams in pieces, for the tests of feeds: what one piece gives, any others do.

use crate::naive::feed::{Given, PATH, given, plan};
use crate::naive::tree::Tree;
use rustyjson_core::DecodeOptions;
use rustyjson_core::scan::Plan;

/// The elements of an array.
pub fn array() -> Plan {
    plan(PATH, 1, 0, &[None])
}

/// What a text gives, which is the same wherever it is cut.
pub fn every_cut(text: &[u8], plan: &Plan, options: &DecodeOptions, records: bool) -> Given {
    let whole = given(text, &[], plan, options, records);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(given(text, &(1..text.len()).collect::<Vec<_>>(), plan, options, records), whole, "{shown:?} by bytes");
    for cut in (0..=text.len()).step_by(if cfg!(miri) { 5 } else { 1 }) {
        assert_eq!(given(text, &[cut], plan, options, records), whole, "{shown:?} cut at {cut}");
    }
    whole
}

/// Values as JSON texts, and errors as kind, offset and path, for comparison with what a test expects.
pub fn shown(Given(given): &Given) -> Vec<String> {
    given
        .iter()
        .map(|item| match item {
            Ok(tree) => json(tree),
            Err((kind, offset, _, _, path)) => format!("{kind:?} {offset} {path}"),
        })
        .collect()
}

fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".into(),
        Tree::Boolean(value) => value.to_string(),
        Tree::Integer(negative, digits) => format!("{}{digits}", if *negative { "-" } else { "" }),
        Tree::Float(bits) => f64::from_bits(*bits).to_string(),
        Tree::Decimal(..) => "decimal".into(),
        Tree::String(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Tree::Array(all) => format!("[{}]", all.iter().map(json).collect::<Vec<_>>().join(",")),
        Tree::Object(all) => {
            let members = all.iter().map(|(key, value)| format!("{:?}:{}", String::from_utf8_lossy(key), json(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

/// Compares what texts give, wherever they are cut, with what is expected.
pub fn check(plan: &Plan, records: bool, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        let found = every_cut(text.as_bytes(), plan, &DecodeOptions::default(), records);
        assert_eq!(shown(&found), *expected, "{text:?}");
    }
}
