//! Types, and the bytes that stand for them in a plan.

use super::rules::Rules;
use super::u32s;
use std::cell::OnceCell;
use std::rc::{Rc, Weak};

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// One of the kinds without more: any, string, integer, float, number, boolean, decimal, four of dates, raw.
    Plain(u8),
    List(Box<Type>),
    /// A list; null is an empty one.
    Many(Box<Type>),
    Map(Box<Type>),
    Nullable(Box<Type>),
    Enum(Vec<String>),
    Struct(Record),
    Tagged(String, Vec<(String, Record)>),
    Loaded(u32),
    /// A type with constraints.
    Checked(Box<Type>, Rules),
    /// A struct, or several, that can stand in itself.
    Named(Rc<OnceCell<Type>>),
    /// The type with a name around it.
    Again(Weak<OnceCell<Type>>),
}

impl Type {
    /// The kind of a plain type.
    pub fn kind(&self) -> Option<u8> {
        if let Self::Plain(kind) = self { Some(*kind) } else { None }
    }

    /// Where the type stands that this one names.
    pub fn cell(&self) -> Option<Rc<OnceCell<Self>>> {
        match self {
            Self::Named(cell) => Some(cell.clone()),
            Self::Again(cell) => Some(cell.upgrade().expect("the type is around it")),
            _ => None,
        }
    }
}

/// The fields of a struct: key, whether it is required, whether it is passed over, and its type.
#[derive(Clone, Debug)]
pub struct Record {
    pub strict: bool,
    pub fields: Vec<(String, bool, bool, Type)>,
}

/// The shape of a type that asks for the value, or the first error.
pub fn shape(of: &Type) -> Vec<u8> {
    asking(of, 0, Left::Judged(&[]))
}

/// What is done about the values that Elixir has to judge.
#[derive(Clone, Copy, Debug)]
pub enum Left<'a> {
    /// They are listed.
    Listed,
    /// Elixir refused these of them.
    Judged(&'a [usize]),
}

/// The shape of a type that asks for so many errors; 0 for the first one.
pub fn asking(of: &Type, most: usize, left: Left<'_>) -> Vec<u8> {
    let mut keys = Vec::new();
    tags(of, &mut keys);
    keys.sort();
    keys.dedup();
    let mut bytes = vec![2, u8::from(!keys.is_empty()), u8::from(matches!(left, Left::Listed)), 0];
    u32s(&mut bytes, [most, 0, 0]);
    put(of, &Around { keys: &keys, named: &[] }, &mut bytes);
    set(12, &mut bytes);
    let places = list(&mut bytes, keys.len());
    keys.iter().zip(places).for_each(|(key, place)| put_text(place, key, &mut bytes));
    if let Left::Judged(numbers @ [_, ..]) = left {
        set(8, &mut bytes);
        u32s(&mut bytes, [numbers.len()]);
        u32s(&mut bytes, numbers.iter().copied());
    }
    bytes
}

/// The keys of tagged structs in it.
fn tags(of: &Type, keys: &mut Vec<String>) {
    match of {
        Type::Tagged(key, variants) => {
            keys.push(key.clone());
            variants.iter().flat_map(|(_, record)| &record.fields).for_each(|field| tags(&field.3, keys));
        }
        Type::List(inner) | Type::Many(inner) | Type::Map(inner) | Type::Nullable(inner) | Type::Checked(inner, _) => {
            tags(inner, keys)
        }
        Type::Struct(record) => record.fields.iter().for_each(|field| tags(&field.3, keys)),
        Type::Named(cell) => tags(defined(cell), keys),
        _ => {}
    }
}

/// The type that a cell holds.
pub fn defined(cell: &OnceCell<Type>) -> &Type {
    cell.get().expect("a type that is made")
}

/// What a node has to know: the keys of tags, and the places of the types with a name around it.
struct Around<'a> {
    keys: &'a [String],
    named: &'a [(Rc<OnceCell<Type>>, usize)],
}

/// Appends a node, unless it is there, and returns its place. What is below it follows. Places are filled in when they are known.
fn put(of: &Type, around: &Around<'_>, out: &mut Vec<u8>) -> usize {
    let here = out.len();
    match of {
        Type::Named(cell) => {
            let named = [around.named, &[(cell.clone(), here)]].concat();
            put(defined(cell), &Around { named: &named, ..*around }, out)
        }
        Type::Again(cell) => {
            let cell = cell.upgrade().expect("the type is around it");
            around.named.iter().find(|(named, _)| Rc::ptr_eq(named, &cell)).expect("it is around").1
        }
        _ => {
            put_here(of, around, out);
            here
        }
    }
}

fn put_here(of: &Type, around: &Around<'_>, out: &mut Vec<u8>) {
    match of {
        Type::Plain(kind) => out.push(*kind),
        Type::List(inner) => put_one(12, inner, around, out),
        Type::Many(inner) => put_one(19, inner, around, out),
        Type::Map(inner) => put_one(13, inner, around, out),
        Type::Nullable(inner) => put_one(14, inner, around, out),
        Type::Checked(inner, rules) => {
            let rules = rules.bytes();
            out.push(21);
            let place = out.len();
            u32s(out, [0, rules.len()]);
            out.extend(rules);
            put_below(inner, place, around, out);
        }
        Type::Loaded(kind) => {
            out.push(18);
            out.extend(kind.to_le_bytes());
        }
        Type::Enum(names) => {
            out.push(15);
            u32s(out, [0]);
            let places = list(out, names.len());
            put_sorted(names.iter(), out);
            names.iter().zip(places).for_each(|(name, place)| put_text(place, name, out));
        }
        Type::Struct(record) => put_record(record, around, out),
        Type::Tagged(key, variants) => {
            out.push(17);
            let number = around.keys.iter().position(|other| other == key).expect("it is among them");
            u32s(out, [number, key.len()]);
            out.extend(key.as_bytes());
            let names = list(out, variants.len());
            put_sorted(variants.iter().map(|(name, _)| name), out);
            let nodes = list(out, variants.len());
            for (((name, record), at), node) in variants.iter().zip(names).zip(nodes) {
                put_text(at, name, out);
                set(node, out);
                put_record(record, around, out);
            }
        }
        Type::Named(_) | Type::Again(_) => unreachable!("they stand for other types"),
    }
}

fn put_one(kind: u8, inner: &Type, around: &Around<'_>, out: &mut Vec<u8>) {
    out.push(kind);
    let place = out.len();
    u32s(out, [0]);
    put_below(inner, place, around, out);
}

/// Appends a node, and tells this place where it stands.
fn put_below(of: &Type, place: usize, around: &Around<'_>, out: &mut Vec<u8>) {
    let node = put(of, around, out) as u32;
    out[place..place + 4].copy_from_slice(&node.to_le_bytes());
}

fn put_record(record: &Record, around: &Around<'_>, out: &mut Vec<u8>) {
    out.extend([16, u8::from(record.strict)]);
    u32s(out, [record.fields.iter().filter(|field| field.1).count(), 0]);
    let bit = |key: &[u8]| match (key.first(), key.last()) {
        (Some(first), Some(last)) => (key.len() + 5 * usize::from(*first) + 11 * usize::from(*last)) % 64,
        _ => 0,
    };
    let mask = record.fields.iter().fold(0_u64, |mask, field| mask | 1 << bit(field.0.as_bytes()));
    out.extend(mask.to_le_bytes());
    u32s(out, [record.fields.len()]);
    let entries = out.len();
    out.resize(entries + 32 * record.fields.len(), 0);
    put_sorted(record.fields.iter().map(|field| &field.0), out);
    for (number, (key, required, ignored, of)) in record.fields.iter().enumerate() {
        let quoted = format!("\"{key}\":").into_bytes();
        let mut entry = Vec::new();
        // No name here has anything to escape.
        let flags = usize::from(*required) + 2 * usize::from(*ignored) + 4;
        u32s(&mut entry, [flags, 0, out.len(), key.len()]);
        let mut words = quoted.iter().copied().take(8).collect::<Vec<_>>();
        words.resize(8, 0);
        words.extend(quoted.last_chunk::<8>().unwrap_or(&[0; 8]));
        entry.extend(words);
        out[entries + 32 * number..][..32].copy_from_slice(&entry);
        out.extend(quoted);
        put_below(of, entries + 32 * number + 4, around, out);
    }
}

/// Appends the numbers of texts in the order of these.
fn put_sorted<'a>(texts: impl Iterator<Item = &'a String>, out: &mut Vec<u8>) {
    let mut sorted: Vec<_> = texts.map(String::as_bytes).zip(0..).collect();
    sorted.sort_unstable();
    u32s(out, [sorted.len()]);
    u32s(out, sorted.into_iter().map(|(_, number)| number));
}

/// Room for places, and where each stands.
fn list(out: &mut Vec<u8>, count: usize) -> Vec<usize> {
    u32s(out, [count]);
    let start = out.len();
    out.resize(start + 4 * count, 0);
    (0..count).map(|number| start + 4 * number).collect()
}

/// The next thing is what this place stands for.
fn set(place: usize, out: &mut [u8]) {
    let here = out.len() as u32;
    out[place..place + 4].copy_from_slice(&here.to_le_bytes());
}

fn put_text(place: usize, text: &str, out: &mut Vec<u8>) {
    set(place, out);
    u32s(out, [text.len()]);
    out.extend(text.as_bytes());
}
