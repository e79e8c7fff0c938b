//! Values at pointers.

use super::{decoded, text_at, u32s, usual};
use crate::naive::parse;
use crate::naive::tree::Tree;
use rustyjson_core::DecodeOptions;
use rustyjson_core::options::Duplicates;
use std::collections::BTreeMap;

/// The tokens of a pointer.
pub type Path = Vec<String>;

pub const RAW: u8 = 1;
pub const TRUSTED: u8 = 2;

#[derive(Default)]
struct Node {
    answer: bool,
    below: BTreeMap<Vec<u8>, Node>,
}

/// The index that a token is.
fn index(token: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(token).ok()?;
    let plain = text == "0" || !text.starts_with(['0', '+']);
    if plain { text.parse().ok() } else { None }
}

/// Writes a node that stands at `at`. The paths of answers are listed in their order.
fn write(node: &Node, at: usize, nodes: &mut usize, path: &mut Path, answers: &mut Vec<Path>) -> Vec<u8> {
    let (own, first) = (*nodes, answers.len());
    *nodes += 1;
    if node.answer {
        answers.push(path.clone());
    }
    let mut indices: Vec<_> = node.below.keys().enumerate().filter_map(|(n, name)| Some((index(name)?, n))).collect();
    indices.sort_unstable();
    let start = at + 24 + 4 * (node.below.len() + indices.len());
    let (mut blobs, mut places) = (Vec::new(), Vec::new());
    for (name, below) in &node.below {
        places.push(start + blobs.len());
        blobs.extend(index(name).unwrap_or(0).to_le_bytes());
        u32s(&mut blobs, [name.len()]);
        blobs.extend(name);
        path.push(String::from_utf8(name.clone()).expect("a token is text"));
        let below = write(below, start + blobs.len(), nodes, path, answers);
        path.pop();
        blobs.extend(below);
    }
    let mut bytes = Vec::new();
    u32s(&mut bytes, [own, if node.answer { first + 1 } else { 0 }, first, answers.len(), places.len()]);
    u32s(&mut bytes, places.iter().map(|place| place + 8));
    u32s(&mut bytes, [indices.len()]);
    u32s(&mut bytes, indices.iter().map(|(_, n)| places[*n]));
    bytes.extend(blobs);
    bytes
}

/// The plan for these pointers, and the pointers in the order of the answers.
pub fn plan(flags: u8, paths: &[Path]) -> (Vec<u8>, Vec<Path>) {
    let mut root = Node::default();
    for path in paths {
        let mut node = &mut root;
        for token in path {
            node = node.below.entry(token.clone().into_bytes()).or_default();
        }
        node.answer = true;
    }
    let (mut nodes, mut answers) = (0, Vec::new());
    let tree = write(&root, 12, &mut nodes, &mut Vec::new(), &mut answers);
    let mut bytes = vec![1, flags];
    bytes.extend((paths.len() as u16).to_le_bytes());
    u32s(&mut bytes, [answers.len(), nodes]);
    bytes.extend(tree);
    (bytes, answers)
}

/// The value at a pointer.
pub fn look_up<'t>(tree: &'t Tree, path: &[String]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |tree, token| match tree {
        Tree::Object(members) => members.iter().find(|(key, _)| key == token.as_bytes()).map(|(_, value)| value),
        Tree::Array(elements) => elements.get(usize::try_from(index(token.as_bytes())?).ok()?),
        _ => None,
    })
}

/// The values at pointers are those of a look-up, and the errors those of the naive parser.
pub fn assert_selects(json: &[u8], flags: u8, paths: &[Path], options: &DecodeOptions) {
    let options = usual(options);
    let (plan, answers) = plan(flags, paths);
    let found = decoded(json, &plan, &options).map_err(|failed| super::first(&failed).expect("one error"));
    let trusted = flags & TRUSTED != 0;
    let duplicates = if trusted { Duplicates::First } else { options.duplicates };
    let read = DecodeOptions { duplicates, ..options };
    match (parse(json, &read), found) {
        (Ok(tree), found) => assert_found(json, &tree, flags, &answers, &read, found.expect("the text is right")),
        (Err(_), Ok(_)) => assert!(trusted, "a fault was passed over"),
        (Err(error), Err(found)) => assert!(trusted || found == error, "{found:?} instead of {error:?}"),
    }
}

fn assert_found(json: &[u8], tree: &Tree, flags: u8, answers: &[Path], options: &DecodeOptions, found: Tree) {
    let Tree::Array(found) = found else { panic!("answers are a list") };
    let mut found = found.into_iter();
    for (number, path) in answers.iter().enumerate() {
        let Some(value) = look_up(tree, path) else { continue };
        assert_eq!(found.next(), Some(Tree::integer(false, &number.to_string())), "{path:?}");
        if flags & RAW == 0 {
            assert_eq!(found.next().as_ref(), Some(value), "{path:?}");
        } else {
            let place = [found.next(), found.next()];
            assert_eq!(text_at(json, &place.map(|part| part.expect("a place")), options).as_ref(), Some(value));
        }
    }
    assert_eq!(found.next(), None);
}
