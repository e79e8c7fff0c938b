//! Shared by the fuzz targets: options from the last bytes of the input, and the comparison with the naive parser.

pub mod guest;
// The same judge as in the tests.
#[path = "../../core/tests/naive/mod.rs"]
pub mod naive;

use naive::etf::{encoded, term, written};
use naive::options::{WAYS, encode_options};
use naive::tree::{Tree, decoded};
use rustyjson_core::DecodeOptions;
use rustyjson_core::etf::check::{Policy, check};

/// Splits off the last two bytes as options; zeros are the defaults.
pub fn options(data: &[u8]) -> (DecodeOptions, &[u8]) {
    let (json, [first, second]) = data.split_last_chunk().unwrap_or((data, &[0, 0]));
    let way = WAYS[usize::from(first & 7)];
    let pick = |bit: u8, limit: u8| second & bit != 0 && limit > 0;
    let max_depth = if pick(0x80, 1) { u32::from(second & 7) + 1 } else { 128 };
    let digit_limit = if pick(0x40, 1) { u32::from(second & 15) + 1 } else { 1024 };
    let max_nodes = if pick(0x20, 1) { u64::from(second & 15) + 1 } else { 0 };
    (DecodeOptions { max_depth, digit_limit, max_nodes, seed: u64::from(*first), ..way }, json)
}

/// Places in a text of this length, in order.
pub fn cuts(places: &[u8], len: usize) -> Vec<usize> {
    let mut cuts: Vec<_> = places.iter().map(|&place| usize::from(place) % (len + 1)).collect();
    cuts.sort_unstable();
    cuts
}

/// The core's decoder gives the tree or the error of the naive parser, and so does its External Term Format.
pub fn assert_decodes(json: &[u8], options: &DecodeOptions) -> Option<Tree> {
    let naive = naive::parse(json, options);
    // Names of atoms can be too long or invalid UTF-8.
    let strings = DecodeOptions { keys: rustyjson_core::options::Keys::Strings, ..*options };
    assert_eq!(decoded(json, &strings), naive, "{options:?}");
    match written(json, options) {
        Ok(etf) => {
            let tree =
                if options.validate_strings { term(&etf).and_then(|term| term.tree(options)) } else { naive.ok() };
            assert_eq!(check(&etf, &Policy::new(options, json.len())), Ok(()));
            tree
        }
        Err(error) => {
            assert!(naive == Err(error) || error.kind == rustyjson_core::ErrorKind::AtomTooLong);
            None
        }
    }
}

/// A decoded tree is encoded, with every option, to a text that decodes to the same tree.
pub fn assert_round_trip(json: &[u8]) {
    let options = DecodeOptions::default();
    let Ok(etf) = written(json, &options) else { return };
    let tree = decoded(json, &options).expect("it was decoded before");
    for flags in 0..16 {
        let text = encoded(&etf, &encode_options(flags)).expect("what is decoded can be encoded");
        let again = decoded(&text, &options).expect("output is JSON");
        assert_eq!(sorted(again), sorted(tree.clone()));
        if flags & 3 == 3 {
            assert!(text.is_ascii(), "unicode_safe");
        }
    }
}

/// Sorts members by key, because sort_keys changes their order.
fn sorted(tree: Tree) -> Tree {
    match tree {
        Tree::Array(elements) => Tree::Array(elements.into_iter().map(sorted).collect()),
        Tree::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Tree::Object(members)
        }
        scalar => scalar,
    }
}

/// Makes a text from tokens: every byte chooses one.
pub fn tokens(data: &[u8], tokens: &[&[u8]]) -> Vec<u8> {
    data.iter().flat_map(|byte| tokens[usize::from(*byte) % tokens.len()]).copied().collect()
}
