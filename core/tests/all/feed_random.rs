//! Streams in pieces: random texts give the values that the naive parser finds, wherever they are cut.

use super::cuts::every_cut;
use crate::naive::feed::{Given, LINES, PATH, VALUES, plan};
use crate::naive::parse;
use crate::naive::tree::{Builder, Tree, decoded};
use proptest::prelude::*;
use rustyjson_core::scan::{Piece, State, feed};
use rustyjson_core::{DecodeOptions, Scratch};

const CASES: u32 = if cfg!(miri) { 4 } else { 1500 };

fn text() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![Just(String::from("null")), "-?[1-9][0-9]{0,9}", "\"[a-z\u{e9}\\n]{0,8}\"", "[x1,\\]}\"]{1,2}"];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|all| format!("[{}]", all.join(" ,"))),
            prop::collection::vec(("[ab0-2]{0,2}", inner), 0..5).prop_map(|all| {
                let members: Vec<_> = all.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", members.join(",\n"))
            }),
        ]
    })
}

fn found(tree: &Tree, path: &[Option<&str>]) -> Vec<Tree> {
    let Some((step, rest)) = path.split_first() else { return vec![tree.clone()] };
    match tree {
        Tree::Array(all) => {
            let wanted = |i: usize| step.is_none_or(|name| name == i.to_string());
            all.iter().enumerate().filter(|(i, _)| wanted(*i)).flat_map(|(_, value)| found(value, rest)).collect()
        }
        Tree::Object(all) => {
            let wanted = |key: &[u8]| step.is_none_or(|name| name.as_bytes() == key);
            all.iter().filter(|(key, _)| wanted(key)).flat_map(|(_, value)| found(value, rest)).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn every_path_in_every_text(text in text(), flags in 0u8..3) {
        for path in [&[None][..], &[Some("a")], &[None, None], &[Some("1"), None], &[None, Some("0"), None], &[]] {
            let plan = plan(PATH, flags & 2, 0, path);
            let options = DecodeOptions { ordered_objects: true, ..DecodeOptions::default() };
            let Given(given) = every_cut(text.as_bytes(), &plan, &options, false);
            let values: Vec<_> = given.iter().filter_map(|item| item.clone().ok()).collect();
            match parse(text.as_bytes(), &options) {
                Ok(tree) if flags & 2 == 0 => prop_assert_eq!(values, found(&tree, path)),
                Ok(tree) => prop_assert_eq!(values.len(), 2 * found(&tree, path).len()),
                Err(error) => {
                    let Some(Err((kind, offset, _, _, _))) = given.last() else { panic!("an error in {text}") };
                    prop_assert_eq!((*kind, *offset), (error.kind, error.offset as i64));
                }
            }
        }
    }

    #[test]
    fn the_error_of_a_value_that_is_too_long_does_not_depend_on_the_cuts(text in text(), max in 1u64..20, flags in 0u8..2) {
        for path in [&[][..], &[None], &[Some("a")], &[None, None]] {
            every_cut(text.as_bytes(), &plan(PATH, flags, max, path), &DecodeOptions::default(), false);
        }
        every_cut(text.as_bytes(), &plan(VALUES, 0, max, &[]), &DecodeOptions::default(), false);
        every_cut(text.as_bytes(), &plan(LINES, 0, max, &[]), &DecodeOptions::default(), true);
    }

    #[test]
    fn values_side_by_side(texts in prop::collection::vec(text(), 0..6)) {
        let text = texts.join("\n");
        let Given(given) = every_cut(text.as_bytes(), &plan(VALUES, 0, 0, &[]), &DecodeOptions::default(), false);
        let all: Result<Vec<_>, _> = texts.iter().map(|text| decoded(text.as_bytes(), &DecodeOptions::default())).collect();
        if let Ok(all) = all {
            prop_assert_eq!(given, all.into_iter().map(Ok).collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_line_is_a_document(texts in prop::collection::vec(text(), 0..6)) {
        let texts: Vec<_> = texts.iter().map(|text| text.replace('\n', " ")).collect();
        let Given(given) = every_cut(texts.join("\n").as_bytes(), &plan(LINES, 0, 0, &[]), &DecodeOptions::default(), true);
        prop_assert_eq!(given.len(), texts.len());
        let mut base = 0;
        for (text, item) in texts.iter().zip(given) {
            match (decoded(text.as_bytes(), &DecodeOptions::default()), item) {
                (Ok(tree), Ok(item)) => prop_assert_eq!(tree, item),
                (Err(error), Err((kind, offset, ..))) => {
                    prop_assert_eq!((error.kind, (base + error.offset) as i64), (kind, offset));
                }
                other => panic!("{other:?} for {text:?}"),
            }
            base += text.len() + 1;
        }
    }

    #[test]
    fn any_state_and_any_piece_end_without_a_panic(
        state in prop::collection::vec(any::<u8>(), 0..80), bytes in prop::collection::vec(any::<u8>(), 0..60),
        format in 0u8..5, flags in 0u8..4, held in any::<u32>(), last in any::<bool>(),
    ) {
        let path: &[Option<&str>] = if format == PATH { &[None, Some("a")] } else { &[] };
        if let Some(mut state) = State::read(&state) {
            let piece = Piece { bytes: &bytes, held: u64::from(held), last };
            feed(piece, &mut state, &plan(format, flags, 0, path), &DecodeOptions::default(), &mut Scratch::default(), &mut Builder::default());
        }
    }
}
