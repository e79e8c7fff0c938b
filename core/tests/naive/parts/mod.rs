//! Parts of documents, written for clarity: look-ups in a tree, and the types of a schema held to a tree. Plans are written as
//! Elixir writes them (lib/rustyjson/paths.ex and lib/rustyjson/schema/shape.ex).

pub mod choices;
pub mod judged;
pub mod pointers;
pub mod rules;
pub mod typed;
pub mod types;
pub mod wrong;

use super::parse;
use super::tree::{Builder, Tree};
use rustyjson_core::etf::check::check;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::Keys;
use rustyjson_core::parts::{Failed, Parts};
use rustyjson_core::{DecodeOptions, Error, Scratch};

fn u32s(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        out.extend((number as u32).to_le_bytes());
    }
}

/// What the core makes of it, and whether the check of a guest's answer accepts that.
fn decoded(json: &[u8], plan: &[u8], options: &DecodeOptions) -> Result<Tree, Failed> {
    let parts = Parts::read(plan).expect("a plan");
    let mut writer = Writer::new(json, Vec::new(), options);
    let written = parts.decode(json, options, 0, &mut Scratch::default(), &mut writer);
    let mut builder = Builder::default();
    let built = parts.decode(json, options, 0, &mut Scratch::default(), &mut builder);
    assert_eq!(written, built, "both builders are told the same");
    if built? {
        let etf = writer.finish().expect("there is memory");
        assert_eq!(check(&etf, &parts.policy(options, json.len())), Ok(()));
        if let Parts::Typed(shape) = &parts
            && plan.get(2) == Some(&0)
        {
            judged::assert_passes(&etf, shape, json, options);
        }
    }
    assert_eq!(builder.values.len(), 1, "exactly one value is left");
    Ok(builder.values.remove(0))
}

fn usual(options: &DecodeOptions) -> DecodeOptions {
    DecodeOptions { ordered_objects: false, keys: Keys::Strings, ..*options }
}

/// The value of the text at an offset, of a length.
fn text_at(json: &[u8], place: &[Tree], options: &DecodeOptions) -> Option<Tree> {
    let [Tree::Integer(false, start), Tree::Integer(false, len)] = place else { return None };
    let (start, len): (usize, usize) = (start.parse().ok()?, len.parse().ok()?);
    parse(json.get(start..start + len)?, options).ok()
}

/// The first error of what was not decoded.
fn first(failed: &Failed) -> Option<Error> {
    match failed {
        Failed::First(wrong) => Some(wrong.error),
        Failed::All(found) => found.list.first().map(|wrong| wrong.error),
    }
}
